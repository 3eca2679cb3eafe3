//go:build !linux

package host

import (
	"fmt"
	"runtime"
)

// OpenRoot refuses: the owners, modes and links of a Linux machine are only whole
// where Linux keeps its folder.
func OpenRoot(dir string) (Host, error) {
	return nil, fmt.Errorf("opening root %s: a machine's folder can be read on Linux alone, and this is %s; nothing was read: name its disk image (image), or the machine over ssh (ssh)", dir, runtime.GOOS)
}
