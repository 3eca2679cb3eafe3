// Package osfile is what of files differs between operating systems: putting a
// whole file in another's place, having the disk keep it, and locks that end with their
// holder. Read reads a file that is small.
package osfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// Read reads a file of so many bytes at most.
func Read(name string, most int) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, int64(most)+1))
	if err == nil && len(b) > most {
		err = fmt.Errorf("%s has more than %d bytes", name, most)
	}
	return b, err
}

// Write puts a file with this content in the place of name, in one step. A file
// that is there already keeps its mode; of one that is open to others the umask is
// taken off.
func Write(name string, content []byte, mode fs.FileMode) error {
	f, err := Create(name, mode)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if err != nil {
		return errors.Join(err, f.Cleanup())
	}
	return errors.Join(f.CloseAtomicallyReplace(), f.Cleanup())
}

// isClosed reports whether a mode leaves nothing to others.
func isClosed(mode fs.FileMode) bool { return mode&0o077 == 0 }
