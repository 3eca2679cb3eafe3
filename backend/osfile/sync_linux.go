package osfile

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// SyncFiles has the disk keep a folder: one call for all its files and folders, and
// for what else lies on the same disk.
func SyncFiles(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(unix.Syncfs(int(d.Fd())), d.Close())
}
