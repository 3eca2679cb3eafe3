package safefile

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// SyncDisk has everything written on the disk of a directory: not every storage
// engine sees to that.
func SyncDisk(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(unix.Syncfs(int(d.Fd())), d.Close())
}

// SyncDir has the names in a directory on the disk.
func SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
