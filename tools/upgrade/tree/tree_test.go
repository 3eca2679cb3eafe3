package tree

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"
	"golang.org/x/sys/unix"
	"pgregory.net/rapid"
)

// drawTree makes a directory of files and folders.
func drawTree(t *rapid.T, dir string) {
	names := rapid.SliceOfNDistinct(rapid.StringMatching(`[a-c](/[a-c]){0,2}`), 0, 6, rapid.ID[string]).Draw(t, "names")
	for _, name := range names {
		file := filepath.Join(dir, name, "file")
		blocks := rapid.SliceOfN(rapid.Bool(), 0, 6).Draw(t, "blocks")
		if os.MkdirAll(filepath.Dir(file), 0o750) != nil {
			t.Fatal("making a folder")
		}
		f, err := os.Create(file)
		if err != nil {
			t.Fatal(err)
		}
		for i, full := range blocks {
			if full {
				_, err = f.WriteAt([]byte{1, 2, byte(i)}, int64(i)*9000)
			}
		}
		size := int64(len(blocks)) * 9000
		if err != nil || f.Truncate(size) != nil || f.Close() != nil {
			t.Fatal("writing a file")
		}
		if err := os.Chmod(file, os.FileMode(rapid.SampledFrom([]int{0o600, 0o640, 0o444}).Draw(t, "mode"))); err != nil {
			t.Fatal(err)
		}
	}
}

func TestACopyIsWhatItWasMadeFrom(t *testing.T) {
	top := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		is, ctx, from := is.New(t), context.Background(), filepath.Join(top, "from")
		is.NoErr(os.RemoveAll(top))
		is.NoErr(os.MkdirAll(from, 0o700))
		drawTree(t, from)
		listed, err := List(from)
		is.NoErr(err)
		to := filepath.Join(top, "to")
		copied, err := Copy(ctx, listed, from, to)
		is.NoErr(err)
		is.NoErr(copied.Verify(ctx, from))
		is.NoErr(copied.Verify(ctx, to))
		is.True(listed.SameStanding(copied))
		_, err = Copy(ctx, listed, from, to)
		is.True(err != nil) // nothing is written over
	})
}

// changed makes a directory with a file in a folder, and a copy of it, changes
// something of the copy and says whether that was seen.
func changed(t *testing.T, change func(dir string) error) error {
	t.Helper()
	is, ctx, top := is.New(t), context.Background(), t.TempDir()
	from, to := filepath.Join(top, "from"), filepath.Join(top, "to")
	is.NoErr(os.MkdirAll(filepath.Join(from, "in"), 0o700))
	is.NoErr(os.WriteFile(filepath.Join(from, "in", "file"), []byte("whole"), 0o600))
	listed, err := List(from)
	is.NoErr(err)
	copied, err := Copy(ctx, listed, from, to)
	is.NoErr(err)
	is.NoErr(change(to))
	return copied.Verify(ctx, to)
}

func TestWhatChangesACopyIsSeen(t *testing.T) {
	is := is.New(t)
	file := func(dir string) string { return filepath.Join(dir, "in", "file") }
	for name, change := range map[string]func(dir string) error{
		"a byte, at the same time": func(dir string) error {
			info, err := os.Stat(file(dir))
			is.NoErr(err)
			is.NoErr(os.WriteFile(file(dir), []byte("whale"), 0o600))
			return os.Chtimes(file(dir), info.ModTime(), info.ModTime())
		},
		"a time":    func(dir string) error { return os.Chtimes(file(dir), time.Unix(1, 0), time.Unix(1, 0)) },
		"a mode":    func(dir string) error { return os.Chmod(file(dir), 0o640) },
		"a name":    func(dir string) error { return os.Rename(file(dir), file(dir)+"s") },
		"a new one": func(dir string) error { return os.Mkdir(filepath.Join(dir, "more"), 0o700) },
		"none left": func(dir string) error { return os.Remove(file(dir)) },
	} {
		t.Run(name, func(t *testing.T) { is.New(t).True(changed(t, change) != nil) })
	}
	is.NoErr(changed(t, func(dir string) error { return unix.Mkfifo(filepath.Join(dir, "socket"), 0o600) })) // servers make those
}

func TestLinksAreNotCopied(t *testing.T) {
	is, dir := is.New(t), t.TempDir()
	is.NoErr(os.Symlink("/etc/passwd", filepath.Join(dir, "link")))
	_, err := List(dir)
	is.True(err != nil)
	// A file that becomes a link between listing and copying is not followed out.
	is.NoErr(os.Remove(filepath.Join(dir, "link")))
	is.NoErr(os.WriteFile(filepath.Join(dir, "link"), nil, 0o600))
	listed, err := List(dir)
	is.NoErr(err)
	is.NoErr(os.Remove(filepath.Join(dir, "link")))
	is.NoErr(os.Symlink("/etc/passwd", filepath.Join(dir, "link")))
	_, err = Copy(context.Background(), listed, dir, filepath.Join(t.TempDir(), "to"))
	is.True(err != nil)
}

func TestADamagedBackupIsNotRestored(t *testing.T) {
	is, ctx, top := is.New(t), context.Background(), t.TempDir()
	from := filepath.Join(top, "from")
	is.NoErr(os.Mkdir(from, 0o700))
	is.NoErr(os.WriteFile(filepath.Join(from, "file"), []byte("whole"), 0o600))
	listed, err := List(from)
	is.NoErr(err)
	backup, err := Copy(ctx, listed, from, filepath.Join(top, "backup"))
	is.NoErr(err)
	is.NoErr(os.WriteFile(filepath.Join(top, "backup", "file"), []byte("whale"), 0o600))
	_, err = Copy(ctx, backup, filepath.Join(top, "backup"), filepath.Join(top, "to"))
	is.True(err != nil)
}

// TestExchangedFilesAreNotCopied has a file get another owner between list and copy.
func TestExchangedFilesAreNotCopied(t *testing.T) {
	is := is.New(t)
	dir := t.TempDir()
	is.NoErr(os.WriteFile(filepath.Join(dir, "f"), nil, 0o600))
	listed, err := List(dir)
	is.NoErr(err)
	is.NoErr(os.Chmod(filepath.Join(dir, "f"), 0o640))
	_, err = Copy(t.Context(), listed, dir, filepath.Join(t.TempDir(), "to"))
	is.True(strings.Contains(err.Error(), "was exchanged while it was copied"))
	is.NoErr(os.Chmod(filepath.Join(dir, "f"), 0o755|os.ModeSetuid))
	_, err = List(dir)
	is.True(strings.Contains(err.Error(), "with its owner's rights"))
}
