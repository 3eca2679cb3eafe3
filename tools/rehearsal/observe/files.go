//go:build linux

package observe

import (
	"bytes"
	"errors"
	"io/fs"
	"strings"

	"svc/assess/host"
)

// There reports whether a path is there, as far as this user may look.
func There(fsys host.FS) func(string) bool {
	return func(name string) bool {
		_, err := fsys.Stat(strings.Trim(name, "/"))
		return err == nil || errors.Is(err, fs.ErrPermission)
	}
}

// maxSame bounds the files that are held against each other, in bytes.
const maxSame = 4 << 20

// Same reports whether two machines have a file of one content.
func Same(a, b host.FS) func(string) bool {
	return func(name string) bool {
		was, err := host.ReadFile(a, strings.Trim(name, "/"), maxSame)
		if err != nil {
			return false
		}
		is, err := host.ReadFile(b, strings.Trim(name, "/"), maxSame)
		return err == nil && bytes.Equal(was, is)
	}
}
