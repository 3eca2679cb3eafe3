package upgrade

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/google/renameio/v2"
	"golang.org/x/sys/unix"

	"svc/tools/upgrade/safefile"
)

// open opens a file of root's in the backup directory.
func (h *Host) open(name string, flag int) (*os.File, error) {
	return safefile.Open(h.Backup, name, flag)
}

// acting has fn look at, make and remove files in a directory that may not be
// there yet: as root where root alone can say where its name leads, and else with
// the authority of the database's account, whose directory it is then. So whatever
// that account has put there, svc does nothing that the account can't do by itself.
func acting(account, dir string, fn func() error) error {
	if _, err := safefile.Directory(existing(dir)); err == nil {
		return fn()
	}
	who, err := credentialOf(account)
	if err != nil {
		return err
	}
	return safefile.As(who, fn)
}

// read reads a file that may be an account's.
func read(account, name string, most int64) (b []byte, st unix.Stat_t, err error) {
	err = acting(account, filepath.Dir(name), func() error {
		b, st, err = safefile.Read(name, most)
		return err
	})
	return b, st, err
}

// put writes a file anew, whole or not at all, with an owner and a mode. No name is
// followed for these: the file that was written gets them.
func put(account, name string, b []byte, as unix.Stat_t) error {
	dir, mode := filepath.Dir(name), fs.FileMode(as.Mode).Perm()
	var t *renameio.PendingFile
	err := acting(account, dir, func() (err error) {
		t, err = renameio.NewPendingFile(name, renameio.WithTempDir(dir), renameio.WithStaticPermissions(mode))
		return err
	})
	if err != nil {
		return err
	}
	if _, err = t.Write(b); err == nil {
		err = t.Chown(int(as.Uid), int(as.Gid))
	}
	return errors.Join(err, acting(account, dir, func() error {
		if err == nil {
			err = errors.Join(t.CloseAtomicallyReplace(), syncDir(dir))
		}
		return errors.Join(err, t.Cleanup()) // does nothing once it stands
	}))
}

// remove removes what is under a name, whatever it is; nothing may be there.
func remove(account, name string) error {
	return acting(account, filepath.Dir(name), func() error { return os.RemoveAll(name) })
}

// makeFolder makes a folder of an account; that it is there already is an error.
func makeFolder(account, dir string, mode fs.FileMode) error {
	who, err := credentialOf(account)
	if err != nil {
		return err
	}
	return acting(account, filepath.Dir(dir), func() error {
		return errors.Join(os.Mkdir(dir, mode), os.Lchown(dir, int(who.Uid), int(who.Gid)))
	})
}
