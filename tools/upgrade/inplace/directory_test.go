package inplace

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"
	"golang.org/x/sys/unix"

	"svc/tools/upgrade/engine"
)

func TestABackupIsNotMadeAmongTheData(t *testing.T) {
	is := is.New(t)
	host := t.TempDir()
	data, beside := filepath.Join(host, "data"), filepath.Join(host, "data-backup")
	is.NoErr(os.MkdirAll(filepath.Join(data, "backup"), 0o700))
	is.NoErr(os.Mkdir(beside, 0o700))
	is.NoErr(os.Symlink(filepath.Join(data, "backup"), filepath.Join(host, "link")))
	f := &Directory{Data: data}
	is.NoErr(f.refuseWithin(beside))
	for _, within := range []string{data, filepath.Join(data, "backup"), filepath.Join(host, "link")} {
		is.True(f.refuseWithin(within) != nil) // a copy of it would have to hold itself
	}
}

// silent is the dialect of a server that never answers.
type silent struct{ Dialect }

func (silent) Answers(context.Context) error { return errors.New("it says nothing") }

// TestDataAreNotMovedFromUnderAServer has a server that does not stop stand in
// the way of going back.
func TestDataAreNotMovedFromUnderAServer(t *testing.T) {
	is := is.New(t)
	data := filepath.Join(t.TempDir(), "data")
	f := Directory{Data: data, Names: []string{"sleep"}, Quit: unix.SIGWINCH} // which it takes no notice of
	h := &engine.Host{Backup: t.TempDir()}
	is.NoErr(errors.Join(os.Mkdir(f.Kept(), 0o700), os.Mkdir(data, 0o700)))
	var err error
	f.Inode, err = inodeOf(f.Kept())
	is.NoErr(err)
	sleep := exec.Command("sleep", "60")
	sleep.Dir = data
	is.NoErr(sleep.Start())
	defer func() { _ = sleep.Wait() }()
	defer sleep.Process.Kill()
	is.NoErr(engine.Await(t.Context(), func(context.Context) error {
		if s, err := f.ServerIn(data); s == nil {
			return errors.Join(errors.New("there is no process"), err)
		}
		return nil
	}))
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	err = f.exchangeBack(h, silent{})(ctx)
	is.True(err != nil && strings.Contains(err.Error(), "does not stop"))
	_, err = os.Stat(data)
	is.NoErr(err) // it is where it was
}
