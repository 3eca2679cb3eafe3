package engine

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/matryer/is"
	"golang.org/x/sys/unix"
)

// theirs makes a directory of the account nobody, and one of root's beside it.
func theirs(t *testing.T) (own, roots string) {
	if os.Geteuid() != 0 {
		t.Skip("only root can act as another account")
	}
	dir := t.TempDir()
	own, roots = filepath.Join(dir, "own"), filepath.Join(dir, "root's")
	err := errors.Join(os.Chmod(filepath.Dir(dir), 0o711), os.Chmod(dir, 0o711), os.Mkdir(own, 0o700), os.Chown(own, 65534, 65534), os.Mkdir(roots, 0o755), os.WriteFile(filepath.Join(roots, "shadow"), []byte("secret"), 0o600))
	if err != nil {
		t.Fatal(err)
	}
	if Acting("nobody", own, func() error { _, err := os.Stat(own); return err }) != nil {
		t.Skip("other accounts don't get into TMPDIR")
	}
	return own, roots
}

// TestLinksOfAnAccountLeadRootNowhere plants links where root reads, writes and
// removes, as a database's account could.
func TestLinksOfAnAccountLeadRootNowhere(t *testing.T) {
	is := is.New(t)
	own, roots := theirs(t)
	is.NoErr(os.Symlink(roots, filepath.Join(own, "conf.d")))
	is.NoErr(os.Symlink(filepath.Join(roots, "shadow"), filepath.Join(own, "start.conf")))
	denied := func(err error) { t.Helper(); is.True(errors.Is(err, fs.ErrPermission)) }
	_, _, err := ReadAs("nobody", filepath.Join(own, "start.conf"), 100)
	denied(err)
	denied(PutAs("nobody", filepath.Join(own, "conf.d", "evil"), []byte("x"), unix.Stat_t{Mode: 0o644}))
	denied(MakeFolderAs("nobody", filepath.Join(own, "conf.d", "evil"), 0o700))
	denied(RemoveAs("nobody", filepath.Join(own, "conf.d", "shadow")))
	entries, err := os.ReadDir(roots)
	is.NoErr(err)
	is.Equal(len(entries), 1)
}

// TestFilesKeepTheirOwners writes files anew in an account's directory.
func TestFilesKeepTheirOwners(t *testing.T) {
	is := is.New(t)
	own, _ := theirs(t)
	for _, uid := range []uint32{0, 65534} {
		name := filepath.Join(own, "f")
		is.NoErr(PutAs("nobody", name, []byte("text"), unix.Stat_t{Uid: uid, Gid: 65534, Mode: 0o4640}))
		b, st, err := ReadAs("nobody", name, 100)
		is.NoErr(err)
		is.Equal(string(b), "text")
		is.Equal(st.Uid, uid)
		is.Equal(st.Mode&0o7777, uint32(0o640)) // no program that runs as its owner
	}
	is.NoErr(MakeFolderAs("nobody", filepath.Join(own, "d"), 0o700))
	is.True(errors.Is(MakeFolderAs("nobody", filepath.Join(own, "d"), 0o700), fs.ErrExist))
	is.NoErr(RemoveAs("nobody", filepath.Join(own, "d")))
	left, err := filepath.Glob(filepath.Join(own, "*"))
	is.NoErr(err)
	is.Equal(left, []string{filepath.Join(own, "f")})
}

// TestBackupDirectoriesAreRootsAlone looks at a directory under TMPDIR, which is
// commonly open to all.
func TestBackupDirectoriesAreRootsAlone(t *testing.T) {
	is := is.New(t)
	own, _ := theirs(t)
	h := &Host{Backup: own}
	err := h.Check()
	is.True(err != nil)
	is.True(strings.Contains(err.Error(), "is not root's alone"))
}
