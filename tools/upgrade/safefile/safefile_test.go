package safefile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/matryer/is"
	"golang.org/x/sys/unix"
)

// nobody is an account that root can become.
var nobody = &syscall.Credential{Uid: 65534, Gid: 65534}

// TestDirectories goes the ways that lead to a directory, by a folder that stands
// for the root of the file system.
func TestDirectories(t *testing.T) {
	is := is.New(t)
	root := t.TempDir()
	for name, mode := range map[string]os.FileMode{"srv/a": 0o711, "srv/open": 0o777, "srv/open/in": 0o700, "tmp": 0o777 | os.ModeSticky, "tmp/in": 0o700, "group": 0o770} {
		is.NoErr(os.MkdirAll(filepath.Join(root, name), 0o755))
		is.NoErr(os.Chmod(filepath.Join(root, name), mode))
	}
	for name, to := range map[string]string{"link": "srv/a", "srv/up": "../srv/a", "far": "/srv/a", "round": "round", "over": "tmp/back", "tmp/back": "/srv/a", "out": "../../.."} {
		is.NoErr(os.Symlink(to, filepath.Join(root, name)))
	}
	is.NoErr(os.WriteFile(filepath.Join(root, "file"), nil, 0o600))
	for _, c := range []struct{ name, want, unsafe string }{
		{"/", "/", ""},
		{"/srv/a", "/srv/a", ""},
		{"/srv//./a/", "/srv/a", ""},
		{"/srv/../srv/a", "/srv/a", ""},
		{"/../..", "/", ""},
		{"/link", "/srv/a", ""},
		{"/srv/up", "/srv/a", ""},
		{"/far", "/srv/a", ""},
		{"/out", "/", ""},
		{"/srv/open", "", "/srv/open can be written to by others: its mode is 0777"},
		{"/srv/open/in", "", "/srv/open can be written"},
		{"/tmp/in", "", "/tmp can be written to by others: its mode is 1777"},
		{"/group", "", "/group can be written to by others: its mode is 0770"},
		{"/over", "", "/tmp can be"}, // who can change the link decides where it leads
		{"/round", "", "too many levels of symbolic links"},
		{"/file", "", "not a directory"},
		{"/none", "", "no such file"},
	} {
		got, err := directoryUnder(root, c.name)
		is.Equal(got, c.want) // c.name
		is.Equal(err == nil, c.unsafe == "")
		if err != nil && !strings.Contains(err.Error(), c.unsafe) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	_, err := directoryUnder(root, "/none")
	is.True(errors.Is(err, fs.ErrNotExist))
	if os.Geteuid() != 0 {
		return
	}
	is.NoErr(os.Chown(filepath.Join(root, "srv/a"), 65534, -1))
	_, err = directoryUnder(root, "/srv/a")
	is.Equal(err.Error(), "/srv/a belongs to the account with the number 65534")
}

func TestFilesOfOurs(t *testing.T) {
	is := is.New(t)
	dir := t.TempDir()
	f, err := Open(dir, "log", os.O_WRONLY|os.O_CREATE|os.O_APPEND)
	is.NoErr(err)
	_, err = f.WriteString("a")
	is.NoErr(errors.Join(err, f.Close()))
	is.NoErr(os.WriteFile(filepath.Join(dir, "victim"), []byte("v"), 0o600))
	is.NoErr(os.Symlink("victim", filepath.Join(dir, "link")))
	is.NoErr(os.WriteFile(filepath.Join(dir, "two"), nil, 0o600))
	is.NoErr(os.Link(filepath.Join(dir, "two"), filepath.Join(dir, "names")))
	is.NoErr(os.WriteFile(filepath.Join(dir, "read"), nil, 0o644))
	is.NoErr(unix.Mkfifo(filepath.Join(dir, "pipe"), 0o600))
	is.NoErr(os.Mkdir(filepath.Join(dir, "folder"), 0o700))
	for name, why := range map[string]string{"log": "", "link": "is a link", "two": "has further names", "read": "is open to others: its mode is 0644", "pipe": "is no regular file", "folder": "is no regular file"} {
		f, err := Open(dir, name, os.O_RDONLY)
		if why == "" {
			is.NoErr(errors.Join(err, f.Close()))
			continue
		}
		var refused *Unsafe
		is.True(errors.As(err, &refused)) // name
		is.Equal(refused.Why, why)
	}
	_, err = Open(dir, "link", os.O_WRONLY|os.O_CREATE|os.O_APPEND)
	is.True(err != nil)
	if os.Geteuid() == 0 {
		is.NoErr(os.Chown(filepath.Join(dir, "log"), 65534, -1))
		_, err = Open(dir, "log", os.O_RDONLY)
		is.True(strings.HasSuffix(err.Error(), "belongs to the account with the number 65534"))
	}
}

func TestReading(t *testing.T) {
	is := is.New(t)
	dir := t.TempDir()
	is.NoErr(os.WriteFile(filepath.Join(dir, "f"), []byte("four"), 0o640))
	is.NoErr(unix.Mkfifo(filepath.Join(dir, "pipe"), 0o600))
	b, st, err := Read(filepath.Join(dir, "f"), 4)
	is.NoErr(err)
	is.Equal(string(b), "four")
	is.Equal(st.Mode&0o777, uint32(0o640))
	_, _, err = Read(filepath.Join(dir, "f"), 3)
	is.True(errors.Is(err, ErrLong))
	_, _, err = Read(filepath.Join(dir, "pipe"), 4) // nobody writes to it
	is.True(err != nil)
}

// TestTheAuthorityOfAnAccount has root do what an account may not, and make what
// then is the account's; others go on as root meanwhile and afterwards.
func TestTheAuthorityOfAnAccount(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can become another account")
	}
	is := is.New(t)
	dir := t.TempDir()
	roots, theirs := filepath.Join(dir, "root's"), filepath.Join(dir, "theirs")
	is.NoErr(errors.Join(os.WriteFile(roots, []byte("secret"), 0o600), os.Mkdir(theirs, 0o700), os.Chown(theirs, 65534, 65534)))
	is.NoErr(errors.Join(os.Chmod(dir, 0o711), os.Chmod(filepath.Dir(dir), 0o711)))
	if As(nobody, func() error { _, err := os.Stat(theirs); return err }) != nil {
		t.Skip("other accounts don't get into TMPDIR")
	}
	is.NoErr(os.Symlink(roots, filepath.Join(theirs, "link")))
	err := As(nobody, func() error {
		_, _, err := Read(filepath.Join(theirs, "link"), 100)
		is.True(errors.Is(err, fs.ErrPermission))
		is.True(errors.Is(os.WriteFile(filepath.Join(dir, "new"), nil, 0o600), fs.ErrPermission))
		is.True(errors.Is(os.Chown(filepath.Join(theirs, "link"), 65534, 65534), fs.ErrPermission))
		return os.WriteFile(filepath.Join(theirs, "own"), nil, 0o600)
	})
	is.NoErr(err)
	info, err := os.Stat(filepath.Join(theirs, "own"))
	is.NoErr(err)
	is.Equal(info.Sys().(*syscall.Stat_t).Uid, uint32(65534))
	for range 100 {
		is.NoErr(os.WriteFile(filepath.Join(dir, "new"), nil, 0o600)) // no thread was left with it
	}
}
