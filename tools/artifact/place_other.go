//go:build !linux

package artifact

import (
	"errors"
	"io"
	"io/fs"
	"os"
)

// checkReplaceable leaves it to the exchange to find out.
func checkReplaceable(string, string) error { return nil }

// writable reports whether this user may make files in a folder.
func writable(dir string) bool {
	f, err := os.CreateTemp(dir, stagingName)
	if err != nil {
		return false
	}
	return errors.Join(f.Close(), os.Remove(f.Name())) == nil
}

type unlocked struct{}

func (unlocked) Close() error { return nil }

// lockFolder locks nothing: nobody sweeps here.
func lockFolder(string) (io.Closer, error) { return unlocked{}, nil }

// abandoned says that nothing is known to be.
func abandoned(string) (release func(), ok bool) { return nil, false }

// allocate takes room for a file by writing it: not every system has another way.
func allocate(f *os.File, bytes int64) error {
	_, err := io.CopyN(f, zeros{}, bytes)
	return err
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// rename has a folder take the place of nothing or of an empty one; occupied says
// that another is there.
func rename(from, to string) (occupied bool, err error) {
	if entries, err := os.ReadDir(to); err == nil && len(entries) > 0 {
		return true, nil
	}
	if err := os.Remove(to); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	return false, os.Rename(from, to)
}

// exchange has two folders change their names, in three steps: where it is cut off
// the old one is beside, and lacks nothing.
func exchange(a, b string) error {
	aside := b + stagingName + "old"
	if err := os.Rename(b, aside); err != nil {
		return err
	}
	if err := os.Rename(a, b); err != nil {
		return errors.Join(err, os.Rename(aside, b))
	}
	return os.Rename(aside, a)
}
