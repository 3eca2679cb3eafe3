// Package firstuse makes the secret files that a program needs the first time
// it runs: a key, a token.
package firstuse

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"svc/backend/osfile"
)

// maxFile bounds a file that is read, in bytes.
const maxFile = 1 << 20

// File reads a file. Where there is none it makes one, 0600, of what create
// gives, and its folder, 0700; of several processes that do so at once, all get
// the first's.
func File(path string, create func() ([]byte, error)) ([]byte, error) {
	b, err := osfile.Read(path, maxFile)
	if !errors.Is(err, fs.ErrNotExist) {
		return b, err
	}
	if b, err = create(); err != nil {
		return nil, err
	}
	if err := Save(path, b); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	return osfile.Read(path, maxFile)
}

// Save makes a new file appear, 0600, whole or not at all. A file that is
// there stays: the error is then fs.ErrExist.
func Save(path string, b []byte) error {
	// A link, unlike a rename, replaces nothing.
	return appear(path, b, os.Link)
}

// Replace puts a file, 0600, in the place of one that may be there, whole or
// not at all.
func Replace(path string, b []byte) error { return appear(path, b, os.Rename) }

// appear writes a file beside its place, then moves it there.
func appear(path string, b []byte, move func(from, to string) error) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".new-*") // 0600
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(b)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := move(f.Name(), path); err != nil {
		return err
	}
	// What a new key signed is worth nothing where the key is gone after a power failure.
	return osfile.SyncNames(filepath.Dir(path))
}
