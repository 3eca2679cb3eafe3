//go:build unix

package osfile

import (
	"errors"
	"io/fs"
	"os"

	"github.com/google/renameio/v2"
	"golang.org/x/sys/unix"
)

// Pending is a file that has no name yet: CloseAtomicallyReplace gives it its own,
// Cleanup removes it where it has none.
type Pending = renameio.PendingFile

// Create begins a file that is to take the place of name.
func Create(name string, mode fs.FileMode) (*Pending, error) {
	options := []renameio.Option{renameio.WithPermissions(mode), renameio.WithExistingPermissions()}
	if isClosed(mode) {
		options = append(options, renameio.IgnoreUmask())
	}
	return renameio.NewPendingFile(name, options...)
}

// SyncNames has the disk keep which names a folder has.
func SyncNames(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// NoFollow is the flag of os.OpenFile with which a link is not followed.
const NoFollow = unix.O_NOFOLLOW

// TryLock locks an open file for this process alone, unless another has it.
func TryLock(f *os.File) (locked bool, err error) {
	for err = unix.EINTR; errors.Is(err, unix.EINTR); {
		err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	}
	if errors.Is(err, unix.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, err
}
