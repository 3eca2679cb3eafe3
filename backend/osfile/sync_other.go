//go:build !linux

package osfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// SyncFiles has the disk keep each file of a folder.
func SyncFiles(dir string) error {
	return filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		f, err := os.OpenFile(name, os.O_RDWR, 0)
		if err != nil {
			return err
		}
		return errors.Join(f.Sync(), f.Close())
	})
}
