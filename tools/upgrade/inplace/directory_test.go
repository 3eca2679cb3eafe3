package inplace

import (
	"context"
	"errors"
	"fmt"
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

// sleeper is a server of a directory that takes no notice of how it is stopped.
func sleeper(t *testing.T, is *is.I, f *Directory) {
	f.Names, f.Quit = []string{"sleep"}, unix.SIGWINCH
	sleep := exec.Command("sleep", "60")
	sleep.Dir = f.Data
	is.NoErr(sleep.Start())
	t.Cleanup(func() { _, _ = sleep.Process.Kill(), sleep.Wait() })
	is.NoErr(engine.Await(t.Context(), func(context.Context) error {
		if s, err := f.ServerIn(f.Data); s == nil {
			return errors.Join(errors.New("there is no process"), err)
		}
		return nil
	}))
}

// TestDataAreNotMovedFromUnderAServer has a server that does not stop stand in
// the way of going back.
func TestDataAreNotMovedFromUnderAServer(t *testing.T) {
	is := is.New(t)
	f := &Directory{Data: filepath.Join(t.TempDir(), "data")}
	h := &engine.Host{Backup: t.TempDir()}
	is.NoErr(errors.Join(os.Mkdir(f.Kept(), 0o700), os.Mkdir(f.Data, 0o700)))
	var err error
	f.Inode, err = inodeOf(f.Kept())
	is.NoErr(err)
	sleeper(t, is, f)
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	err = exchange{f, h, silent{}}.exchangeBack(ctx)
	is.True(err != nil && strings.Contains(err.Error(), "does not stop"))
	_, err = os.Stat(f.Data)
	is.NoErr(err) // it is where it was
}

// TestNoServerIsStartedBesideOne has a server run that clients don't reach.
func TestNoServerIsStartedBesideOne(t *testing.T) {
	is := is.New(t)
	started := filepath.Join(t.TempDir(), "started")
	f := &Directory{Data: t.TempDir(), Runs: true, Again: true, Account: "root", Command: []string{"touch", started}}
	sleeper(t, is, f)
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	err := exchange{f, &engine.Host{Backup: t.TempDir()}, silent{}}.startAgain(ctx)
	is.True(err != nil && strings.Contains(err.Error(), "runs and does not answer: it says nothing"))
	_, err = os.Stat(started)
	is.True(os.IsNotExist(err))
}

func TestDataThatTwoServersWorkOnAreRefused(t *testing.T) {
	is := is.New(t)
	f := &Directory{Data: t.TempDir()}
	sleeper(t, is, f)
	is.NoErr(f.running())
	is.True(f.Runs)
	sleeper(t, is, f)
	is.NoErr(engine.Await(t.Context(), func(context.Context) error {
		if err := f.running(); err == nil || !strings.Contains(err.Error(), "2 servers work in "+f.Data) {
			return fmt.Errorf("it is not refused: %w", err)
		}
		return nil
	}))
}
