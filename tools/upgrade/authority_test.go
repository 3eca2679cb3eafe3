package upgrade

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
	if acting("nobody", own, func() error { _, err := os.Stat(own); return err }) != nil {
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
	_, _, err := read("nobody", filepath.Join(own, "start.conf"), 100)
	denied(err)
	denied(put("nobody", filepath.Join(own, "conf.d", "evil"), []byte("x"), unix.Stat_t{Mode: 0o644}))
	denied(makeFolder("nobody", filepath.Join(own, "conf.d", "evil"), 0o700))
	denied(remove("nobody", filepath.Join(own, "conf.d", "shadow")))
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
		is.NoErr(put("nobody", name, []byte("text"), unix.Stat_t{Uid: uid, Gid: 65534, Mode: 0o4640}))
		b, st, err := read("nobody", name, 100)
		is.NoErr(err)
		is.Equal(string(b), "text")
		is.Equal(st.Uid, uid)
		is.Equal(st.Mode&0o7777, uint32(0o640)) // no program that runs as its owner
	}
	is.NoErr(makeFolder("nobody", filepath.Join(own, "d"), 0o700))
	is.True(errors.Is(makeFolder("nobody", filepath.Join(own, "d"), 0o700), fs.ErrExist))
	is.NoErr(remove("nobody", filepath.Join(own, "d")))
	left, err := filepath.Glob(filepath.Join(own, "*"))
	is.NoErr(err)
	is.Equal(left, []string{filepath.Join(own, "f")})
}

// TestBackupDirectoriesAreRootsAlone looks at a directory under TMPDIR, which is
// commonly open to all.
func TestBackupDirectoriesAreRootsAlone(t *testing.T) {
	is := is.New(t)
	own, _ := theirs(t)
	h := newHost(Options{Backup: own})
	err := h.check()
	is.True(err != nil)
	is.True(strings.Contains(err.Error(), "is not root's alone"))
}

// TestForgedJournalsAreNotRead has journals that root has not written alone.
func TestForgedJournalsAreNotRead(t *testing.T) {
	is := is.New(t)
	dir := t.TempDir()
	name := filepath.Join(dir, journalFile)
	is.NoErr(os.WriteFile(name, []byte(beginLine), 0o600))
	_, _, err := readJournal(dir)
	is.NoErr(err)
	is.NoErr(os.Chmod(name, 0o644))
	_, _, err = readJournal(dir)
	is.True(strings.Contains(err.Error(), "is open to others"))
	is.NoErr(os.Rename(name, filepath.Join(dir, "elsewhere")))
	is.NoErr(os.Symlink("elsewhere", name))
	_, _, err = readJournal(dir)
	is.True(strings.Contains(err.Error(), "is a link"))
	if os.Geteuid() == 0 {
		is.NoErr(errors.Join(os.Remove(name), os.WriteFile(name, []byte(beginLine), 0o600), os.Chown(name, 65534, 65534)))
		_, _, err = readJournal(dir)
		is.True(strings.Contains(err.Error(), "belongs to the account"))
	}
}

// TestExchangedFilesAreNotCopied has a file get another owner between list and copy.
func TestExchangedFilesAreNotCopied(t *testing.T) {
	is := is.New(t)
	dir := t.TempDir()
	is.NoErr(os.WriteFile(filepath.Join(dir, "f"), nil, 0o600))
	listed, err := listTree(dir)
	is.NoErr(err)
	is.NoErr(os.Chmod(filepath.Join(dir, "f"), 0o640))
	_, err = copyTree(t.Context(), listed, dir, filepath.Join(t.TempDir(), "to"))
	is.True(strings.Contains(err.Error(), "was exchanged while it was copied"))
	is.NoErr(os.Chmod(filepath.Join(dir, "f"), 0o755|os.ModeSetuid))
	_, err = listTree(dir)
	is.True(strings.Contains(err.Error(), "with its owner's rights"))
}
