package osfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/windows"
)

// Pending is a file that has another name until CloseAtomicallyReplace gives it its
// own; Cleanup removes it where it has none.
type Pending struct {
	*os.File
	name     string
	replaced bool
}

// Create begins a file that is to take the place of name. Windows knows of a mode
// only whether the file may be written to.
func Create(name string, mode fs.FileMode) (*Pending, error) {
	f, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+"-")
	if err != nil {
		return nil, err
	}
	return &Pending{File: f, name: name}, nil
}

// CloseAtomicallyReplace has the disk keep the content, and gives the file its name.
func (p *Pending) CloseAtomicallyReplace() error {
	if err := errors.Join(p.Sync(), p.Close()); err != nil {
		return err
	}
	err := os.Rename(p.Name(), p.name)
	p.replaced = err == nil
	return err
}

// Cleanup removes the file where it has not got its name.
func (p *Pending) Cleanup() error {
	if p.replaced {
		return nil
	}
	_ = p.Close() // it may be closed already
	return os.Remove(p.Name())
}

// SyncNames leaves names to the file system: Windows opens no folder for that.
func SyncNames(string) error { return nil }

// NoFollow is the flag of os.OpenFile with which a link is not followed; here only
// administrators make links.
const NoFollow = 0

// TryLock locks an open file for this process alone, unless another has it.
func TryLock(f *os.File) (locked bool, err error) {
	err = windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &windows.Overlapped{})
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return false, nil
	}
	return err == nil, err
}
