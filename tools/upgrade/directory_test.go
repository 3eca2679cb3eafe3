package upgrade

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/matryer/is"
)

func TestABackupIsNotMadeAmongTheData(t *testing.T) {
	is := is.New(t)
	host := t.TempDir()
	data, beside := filepath.Join(host, "data"), filepath.Join(host, "data-backup")
	is.NoErr(os.MkdirAll(filepath.Join(data, "backup"), 0o700))
	is.NoErr(os.Mkdir(beside, 0o700))
	is.NoErr(os.Symlink(filepath.Join(data, "backup"), filepath.Join(host, "link")))
	f := &directory{Data: data}
	is.NoErr(f.refuseWithin(beside))
	for _, within := range []string{data, filepath.Join(data, "backup"), filepath.Join(host, "link")} {
		is.True(f.refuseWithin(within) != nil) // a copy of it would have to hold itself
	}
}
