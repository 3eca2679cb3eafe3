package osfile

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/matryer/is"
)

func TestAFileTakesThePlaceOfAnother(t *testing.T) {
	is := is.New(t)
	name := filepath.Join(t.TempDir(), "a")
	is.NoErr(Write(name, []byte("first"), 0o600))
	is.NoErr(Write(name, []byte("second"), 0o644))
	b, err := os.ReadFile(name)
	is.NoErr(err)
	is.Equal(string(b), "second")
	info, err := os.Stat(name)
	is.NoErr(err)
	is.Equal(info.Mode().Perm()&0o077, os.FileMode(0)) // it keeps its mode
	entries, err := os.ReadDir(filepath.Dir(name))
	is.NoErr(err)
	is.Equal(len(entries), 1)
}

func TestWhatIsNotFinishedLeavesTheFile(t *testing.T) {
	is := is.New(t)
	name := filepath.Join(t.TempDir(), "a")
	is.NoErr(Write(name, []byte("first"), 0o644))
	f, err := Create(name, 0o644)
	is.NoErr(err)
	_, err = f.WriteString("half")
	is.NoErr(err)
	is.NoErr(f.Cleanup())
	b, err := os.ReadFile(name)
	is.NoErr(err)
	is.Equal(string(b), "first")
	is.True(Write(filepath.Join(name, "below a file"), nil, 0o644) != nil)
}

func TestALockIsOneHolders(t *testing.T) {
	is := is.New(t)
	name := filepath.Join(t.TempDir(), "lock")
	open := func() *os.File {
		f, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR|NoFollow, 0o600)
		is.NoErr(err)
		return f
	}
	first, second := open(), open()
	defer second.Close()
	locked, err := TryLock(first)
	is.NoErr(err)
	is.True(locked)
	locked, err = TryLock(second)
	is.NoErr(err)
	is.True(!locked)
	is.NoErr(first.Close())
	locked, err = TryLock(second)
	is.NoErr(err)
	is.True(locked)
}
