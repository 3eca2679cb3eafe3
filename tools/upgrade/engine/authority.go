package engine

import (
	"errors"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"

	"github.com/google/renameio/v2"
	"golang.org/x/sys/unix"

	"svc/backend/osfile"
	"svc/tools/upgrade/safefile"
)

// Open opens a file of root's in the backup directory.
func (h *Host) Open(name string, flag int) (*os.File, error) {
	return safefile.Open(h.Backup, name, flag)
}

// Acting has fn look at, make and remove files in a directory that may not be
// there yet: as root where root alone can say where its name leads, and else with
// the authority of the database's account, whose directory it is then. So whatever
// that account has put there, svc does nothing that the account can't do by itself.
func Acting(account, dir string, fn func() error) error {
	if _, err := safefile.Directory(Existing(dir)); err == nil {
		return fn()
	}
	who, err := CredentialOf(account)
	if err != nil {
		return err
	}
	return safefile.As(who, fn)
}

// ReadAs reads a file that may be an account's.
func ReadAs(account, name string, most int64) (b []byte, st unix.Stat_t, err error) {
	err = Acting(account, filepath.Dir(name), func() error {
		b, st, err = safefile.Read(name, most)
		return err
	})
	return b, st, err
}

// PutAs writes a file anew, whole or not at all, with an owner and a mode. No name is
// followed for these: the file that was written gets them.
func PutAs(account, name string, b []byte, as unix.Stat_t) error {
	dir, mode := filepath.Dir(name), fs.FileMode(as.Mode).Perm()
	var t *renameio.PendingFile
	err := Acting(account, dir, func() (err error) {
		t, err = renameio.NewPendingFile(name, renameio.WithTempDir(dir), renameio.WithStaticPermissions(mode))
		return err
	})
	if err != nil {
		return err
	}
	if _, err = t.Write(b); err == nil {
		err = t.Chown(int(as.Uid), int(as.Gid))
	}
	return errors.Join(err, Acting(account, dir, func() error {
		if err == nil {
			err = errors.Join(t.CloseAtomicallyReplace(), osfile.SyncNames(dir))
		}
		return errors.Join(err, t.Cleanup()) // does nothing once it stands
	}))
}

// RemoveAs removes what is under a name, whatever it is; nothing may be there.
func RemoveAs(account, name string) error {
	return Acting(account, filepath.Dir(name), func() error { return os.RemoveAll(name) })
}

// MakeFolderAs makes a folder of an account; that it is there already is an error.
func MakeFolderAs(account, dir string, mode fs.FileMode) error {
	who, err := CredentialOf(account)
	if err != nil {
		return err
	}
	return Acting(account, filepath.Dir(dir), func() error {
		return errors.Join(os.Mkdir(dir, mode), os.Lchown(dir, int(who.Uid), int(who.Gid)))
	})
}

// AccountOf is the owner of a file, by name; empty where the number has none.
func AccountOf(info os.FileInfo) string {
	u, err := user.LookupId(strconv.Itoa(int(info.Sys().(*syscall.Stat_t).Uid)))
	if err != nil {
		return ""
	}
	return u.Username
}

// Existing is the innermost directory of a name that is there.
func Existing(dir string) string {
	for dir != "/" {
		if _, err := os.Stat(dir); err == nil {
			break
		}
		dir = filepath.Dir(dir)
	}
	return dir
}
