package host

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/matryer/is"
)

// newRoot is a root with a file outside it that must never be reached.
func newRoot(t *testing.T) (Host, string) {
	t.Helper()
	is := is.New(t)
	parent := t.TempDir()
	is.NoErr(os.WriteFile(filepath.Join(parent, "outside"), []byte("secret"), 0o644))
	dir := filepath.Join(parent, "root")
	is.NoErr(os.MkdirAll(filepath.Join(dir, "etc"), 0o755))
	is.NoErr(os.WriteFile(filepath.Join(dir, "etc/inside"), []byte("content"), 0o640))
	h, err := OpenRoot(dir)
	is.NoErr(err)
	t.Cleanup(func() { h.Close() })
	return h, dir
}

func TestLinksStayInside(t *testing.T) {
	is := is.New(t)
	h, dir := newRoot(t)
	link := func(target, name string) { is.NoErr(os.Symlink(target, filepath.Join(dir, name))) }
	link("/etc/inside", "absolute")
	link("../../../../etc/inside", "climbing")
	link("../outside", "leaving")
	link("/", "self")
	link("loop2", "loop1")
	link("loop1", "loop2")
	for _, name := range []string{"absolute", "climbing", "self/etc/inside", "self/self/self/etc/inside"} {
		b, err := ReadFile(h.FS(), name, 100)
		is.NoErr(err)
		is.Equal(string(b), "content")
	}
	_, err := ReadFile(h.FS(), "leaving", 100)
	is.True(errors.Is(err, fs.ErrNotExist)) // the root's parent is the root
	_, err = ReadFile(h.FS(), "loop1", 100)
	is.True(errors.Is(err, syscall.ELOOP))
	target, err := h.FS().ReadLink("leaving")
	is.NoErr(err)
	is.Equal(target, "../outside")
	info, err := h.FS().Lstat("absolute")
	is.NoErr(err)
	is.True(info.Mode()&fs.ModeSymlink != 0)
}

// TestLinksHoldWhileTheHostIsBusy renames a file elsewhere while links that climb are read.
func TestLinksHoldWhileTheHostIsBusy(t *testing.T) {
	is := is.New(t)
	h, dir := newRoot(t)
	is.NoErr(os.Symlink("../../../../etc/inside", filepath.Join(dir, "climbing")))
	elsewhere := filepath.Join(t.TempDir(), "a")
	is.NoErr(os.WriteFile(elsewhere, nil, 0o600))
	done := make(chan struct{})
	var busy sync.WaitGroup
	busy.Go(func() {
		for from, to := elsewhere, elsewhere+"b"; ; from, to = to, from {
			select {
			case <-done:
				return
			default:
				_ = os.Rename(from, to) // its own result is nothing to this test
			}
		}
	})
	defer busy.Wait()
	defer close(done)
	for range 20_000 {
		_, err := ReadFile(h.FS(), "climbing", 100)
		is.NoErr(err)
	}
}

func TestPathsThatAreNone(t *testing.T) {
	is := is.New(t)
	h, _ := newRoot(t)
	for _, name := range []string{"..", "../outside", "/etc", "etc/..", "", "etc//x", "self/.."} {
		_, err := h.FS().Open(name)
		is.True(errors.Is(err, fs.ErrInvalid))
		_, err = h.FS().Lstat(name)
		is.True(errors.Is(err, fs.ErrInvalid))
		_, err = h.FS().ReadLink(name)
		is.True(errors.Is(err, fs.ErrInvalid))
	}
}

func TestOnlyRegularFilesAreOpened(t *testing.T) {
	is := is.New(t)
	h, dir := newRoot(t)
	is.NoErr(syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o644))
	done := make(chan struct{})
	go func() {
		defer close(done)
		for _, name := range []string{"pipe", "etc"} {
			_, err := ReadFile(h.FS(), name, 100)
			is.True(errors.Is(err, ErrNotRegular))
		}
	}()
	select {
	case <-done:
	case <-time.After(10 * time.Second):
		t.Fatal("reading a pipe hangs")
	}
	_, err := h.FS().ReadDir("pipe")
	is.True(err != nil)
}

func TestReadsAreBounded(t *testing.T) {
	is := is.New(t)
	h, _ := newRoot(t)
	_, err := ReadFile(h.FS(), "etc/inside", 3)
	is.True(errors.Is(err, ErrTooBig))
	b, err := ReadFile(h.FS(), "etc/inside", 7)
	is.NoErr(err)
	is.Equal(len(b), 7)
}

func TestFilesDescribeThemselves(t *testing.T) {
	is := is.New(t)
	h, _ := newRoot(t)
	f, err := h.FS().Open("etc/inside")
	is.NoErr(err)
	defer f.Close()
	info, err := f.Stat()
	is.NoErr(err)
	uid, gid, ok := Owner(info)
	is.True(ok)
	is.Equal([]int{uid, gid}, []int{os.Getuid(), os.Getgid()})
	is.Equal(info.Mode().Perm(), fs.FileMode(0o640))
	entries, err := h.FS().ReadDir("etc")
	is.NoErr(err)
	is.Equal(len(entries), 1)
	is.Equal(entries[0].Name(), "inside")
	is.True(entries[0].Type().IsRegular())
}
