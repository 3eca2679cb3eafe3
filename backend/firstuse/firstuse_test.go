package firstuse

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/matryer/is"
)

func TestAllGetTheFirst(t *testing.T) {
	is := is.New(t)
	path := filepath.Join(t.TempDir(), "new", "folder", "secret")
	got := make([]string, 16)
	var wg sync.WaitGroup
	for i := range got {
		wg.Go(func() {
			b, err := File(path, func() ([]byte, error) { return []byte{'a' + byte(i)}, nil })
			if err != nil {
				t.Error(err)
			}
			got[i] = string(b)
		})
	}
	wg.Wait()
	for _, s := range got {
		is.Equal(s, got[0])
	}
	info, err := os.Stat(path)
	is.NoErr(err)
	is.Equal(info.Mode().Perm(), fs.FileMode(0o600))
	is.True(errors.Is(Save(path, []byte("x")), fs.ErrExist))
	is.NoErr(Replace(path, []byte("new")))
	b, err := File(path, nil)
	is.NoErr(err)
	is.Equal(string(b), "new")
	is.NoErr(Replace(filepath.Join(t.TempDir(), "new", "secret"), []byte("new"))) // in a folder that is not there yet
	left, err := os.ReadDir(filepath.Dir(path))
	is.NoErr(err)
	is.Equal(len(left), 1) // no temporary file stays
}

func TestFailuresMakeNothing(t *testing.T) {
	is := is.New(t)
	path := filepath.Join(t.TempDir(), "secret")
	failed := errors.New("failed")
	_, err := File(path, func() ([]byte, error) { return nil, failed })
	is.True(errors.Is(err, failed))
	_, err = os.Stat(path)
	is.True(errors.Is(err, fs.ErrNotExist))
	is.NoErr(os.WriteFile(path, make([]byte, maxFile+1), 0o600))
	_, err = File(path, nil)
	is.True(err != nil) // too large
}
