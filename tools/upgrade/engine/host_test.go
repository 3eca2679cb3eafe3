package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/matryer/is"
	"golang.org/x/sys/unix"
)

func TestShortDisks(t *testing.T) {
	is := is.New(t)
	is.NoErr(short([]*disk{{Free: 10, wanted: 10}}))
	err := short([]*disk{{Free: 1 << 20, wanted: 3 << 20, needs: []string{"2 MiB for a copy in /b", "1 MiB for a dump in /b"}}, {Free: 9, wanted: 1}})
	is.Equal(err.Error(), "the upgrade is refused, and nothing was changed\n"+
		"  too little room on a disk: 2 MiB for a copy in /b and 1 MiB for a dump in /b, and 1 MiB are free: free 2 MiB, or name a --backup-dir on another disk")
}

func TestProgramsEndWithTheContext(t *testing.T) {
	is := is.New(t)
	h := &Host{Backup: t.TempDir()}
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	began := time.Now()
	_, err := h.Run(ctx, Command{Args: []string{"sh", "-c", "sleep 30 & wait"}})
	is.True(err != nil)
	is.True(time.Since(began) < 15*time.Second) // the whole group was ended
	out, err := h.Run(context.Background(), Command{Args: []string{"sh", "-c", "cat; echo no >&2"}, Stdin: "in"})
	is.NoErr(err)
	is.Equal(out, "in")
	_, err = h.Run(context.Background(), Command{Args: []string{"sh", "-c", "echo why >&2; exit 3"}})
	is.Equal(err.Error(), "sh: exit status 3: why")
	_, err = h.Run(context.Background(), Command{Args: []string{"sh", "-c", "head -c 70000000 /dev/zero"}})
	is.True(err != nil) // what it said last was not read
}

func TestServersAreStoppedInOrder(t *testing.T) {
	is := is.New(t)
	h := &Host{Backup: t.TempDir()}
	server := Command{Args: []string{"sh", "-c", "trap 'exit 0' INT; while :; do sleep 0.01; done"}, Stop: unix.SIGINT}
	ready := func(context.Context) error { return nil }
	is.NoErr(h.Serve(context.Background(), server, ready, func(context.Context) error { time.Sleep(100 * time.Millisecond); return nil }))
	is.True(errors.Is(h.Serve(context.Background(), server, ready, func(context.Context) error { return errNotYet }), errNotYet))
	gone, cancel := context.WithCancel(context.Background())
	cancel()
	is.True(errors.Is(h.Serve(gone, server, ready, func(ctx context.Context) error { return ctx.Err() }), context.Canceled))
	// One on a copy is killed where it has not started yet, and not afterwards.
	deaf := Command{Args: []string{"sh", "-c", "trap '' INT; while :; do sleep 0.01; done"}, Stop: unix.SIGINT, up: new(atomic.Bool)}
	soon, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
	defer cancel()
	is.True(errors.Is(h.Serve(soon, deaf, func(context.Context) error { return errNotYet }, nil), errNotYet))
	server.up = new(atomic.Bool)
	is.NoErr(h.Serve(context.Background(), server, ready, func(context.Context) error { time.Sleep(100 * time.Millisecond); return nil }))
	server.Args = []string{"false"}
	err := h.Serve(context.Background(), server, func(context.Context) error { return errNotYet }, func(context.Context) error { return nil })
	is.True(strings.Contains(err.Error(), "the server ended")) // before it was ready
}

// TestLeftoversAreEnded starts what survives its parent, also without the
// environment that it was given.
func TestLeftoversAreEnded(t *testing.T) {
	h := &Host{Backup: t.TempDir()}
	h.ID = fmt.Sprintf("test-%d", os.Getpid())
	for _, program := range []string{"sleep 60", "env -i tail -F " + h.Private("socket")} {
		is := is.New(t)
		_, err := h.Run(context.Background(), Command{Args: []string{"sh", "-c", "setsid " + program + " >/dev/null 2>&1 &"}})
		is.NoErr(err)
		is.NoErr(Await(context.Background(), func(context.Context) error { // it is just becoming another program
			if pids, err := h.leftovers(); err != nil || len(pids) != 1 {
				return fmt.Errorf("%v, %w", pids, errors.Join(err, errNotYet))
			}
			return nil
		}))
		is.NoErr(h.EndLeftovers(t.Context()))
		pids, err := h.leftovers()
		is.NoErr(err)
		is.Equal(len(pids), 0)
	}
}

func TestWhatIsKept(t *testing.T) {
	is := is.New(t)
	h := &Host{Backup: t.TempDir()}
	want := map[string]int{"b": 2, "a": 1}
	is.NoErr(h.WriteFile("kept.json", want))
	bytes, err := TreeSize(h.Backup)
	is.NoErr(err)
	is.Equal(bytes, int64(len("{\n \"a\": 1,\n \"b\": 2\n}\n")))
	got := map[string]int{}
	is.NoErr(h.ReadFile("kept.json", &got))
	is.Equal(got, want)
	is.True(errors.Is(h.ReadFile("other.json", &got), os.ErrNotExist))
}

var errNotYet = errors.New("it is not ready")

// TestAtOnce has the first failure end the others, and be the one that is told.
func TestAtOnce(t *testing.T) {
	is := is.New(t)
	is.NoErr(AtOnce(t.Context()))
	failure, done := errors.New("the first"), false
	err := AtOnce(
		t.Context(),
		func(context.Context) error { return failure },
		func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() },
		func(context.Context) error { done = true; return nil },
	)
	is.Equal(err, failure)
	is.True(done)
	during, end := context.WithCancel(t.Context())
	err = AtOnce(during, func(ctx context.Context) error { end(); <-ctx.Done(); return ctx.Err() })
	is.Equal(err, context.Canceled)
}
