package upgrade

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/matryer/is"
	"golang.org/x/sys/unix"
	"pgregory.net/rapid"

	"svc/tools/database"
)

// folder is a job that makes files: each step two, of which the second one says
// that the step is whole.
type folder struct {
	Directory string
	Count     int

	cut int // operations until the power is cut; none where negative
	bad int // the step that fails; none where negative
}

// powerCut ends a run as SIGKILL does: nothing is done any more.
type powerCut struct{}

var errBad = errors.New("the step is a bad one")

func (f *folder) Look(context.Context, *Host, Request) error { return nil }

func (f *folder) Written(context.Context, *Host) (Written, error) { return Written{}, nil }

func (f *folder) Recheck(context.Context, *Host) error { return nil }

func (f *folder) About() About {
	return About{From: database.Place{Engine: "folder", Version: "1"}, To: database.Place{Engine: "folder", Version: "2"}, Directory: f.Directory}
}

func (f *folder) Afterwards(*Host) []string { return []string{"look at " + f.Directory} }

func (f *folder) Steps(*Host) (steps []Step) {
	for i := range f.Count {
		begun, whole := fmt.Sprintf("%d.begun", i), fmt.Sprintf("%d.whole", i)
		steps = append(steps, Step{
			Name: fmt.Sprintf("step-%d", i),
			Do: func(context.Context) error {
				if got, want := f.files(), f.upTo(i); !slices.Equal(got, want) {
					return fmt.Errorf("step %d begins with %v, not %v", i, got, want)
				}
				err := errors.Join(f.make(begun), f.make(whole))
				if f.bad == i {
					err = errBad
				}
				return err
			},
			Undo: func(context.Context) error { return errors.Join(f.remove(whole), f.remove(begun)) },
			Holds: func(context.Context) bool {
				return slices.Contains(f.files(), whole)
			},
		})
	}
	return steps
}

// operate counts down to the power cut.
func (f *folder) operate() {
	if f.cut == 0 {
		panic(powerCut{})
	}
	f.cut--
}

func (f *folder) make(name string) error {
	f.operate()
	return os.WriteFile(filepath.Join(f.Directory, name), nil, 0o600)
}

func (f *folder) remove(name string) error {
	f.operate()
	return os.RemoveAll(filepath.Join(f.Directory, name))
}

func (f *folder) files() []string {
	names := []string{}
	entries, _ := os.ReadDir(f.Directory)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// upTo are the files of the steps before one.
func (f *folder) upTo(step int) []string {
	names := []string{}
	for i := range step {
		names = append(names, fmt.Sprintf("%d.begun", i), fmt.Sprintf("%d.whole", i))
	}
	return names
}

// start begins an upgrade in new directories.
func start(t interface{ Fatal(...any) }, dir string, job *folder) *run {
	backup, data := filepath.Join(dir, "backup"), filepath.Join(dir, "data")
	if err := errors.Join(os.RemoveAll(dir), os.MkdirAll(backup, 0o700), os.MkdirAll(data, 0o700)); err != nil {
		t.Fatal(err)
	}
	job.Directory = data
	h := newHost(Options{Backup: backup})
	j, err := beginJournal(backup, Entry{Schema: JournalSchema, ID: "x", Engine: "folder", Job: []byte("{}")}, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	return &run{h, job, job.Steps(h), j, nil}
}

// reopen is what another process does after the power came back.
func (r *run) reopen() (*run, error) {
	r.file.Close()
	j, err := openJournal(r.host.Backup, time.Now)
	return &run{r.host, r.job, r.steps, j, nil}, err
}

// until runs fn to its end or to the power cut.
func until(fn func() error) (cut bool, err error) {
	defer func() {
		if p := recover(); p != nil {
			if _, ok := p.(powerCut); !ok {
				panic(p)
			}
			cut = true
		}
	}()
	return false, fn()
}

// TestAnyPowerCutCanBeResumedOrRolledBack cuts the power again and again, leaves
// half a line in the journal, and then goes on to one of the ends.
func TestAnyPowerCutCanBeResumedOrRolledBack(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		is := is.New(t)
		job := &folder{Count: rapid.IntRange(1, 4).Draw(t, "steps"), bad: rapid.IntRange(-3, 3).Draw(t, "bad")}
		r := start(t, dir, job)
		ctx := context.Background()
		for range rapid.IntRange(0, 4).Draw(t, "cuts") {
			job.cut = rapid.IntRange(0, 12).Draw(t, "cut")
			forward := rapid.Bool().Draw(t, "forward")
			_, _ = until(func() error { return r.to(ctx, forward) })
			b := rapid.SliceOfN(rapid.Byte(), 0, 40).Draw(t, "torn line")
			_, err := r.file.Write(slices.DeleteFunc(b, func(c byte) bool { return c == '\n' }))
			is.NoErr(err)
			r, err = r.reopen()
			is.NoErr(err) // half a line stops nothing
			if r.so.outcome == RolledBack {
				break
			}
		}
		job.cut = -1
		if r.so.outcome != RolledBack && rapid.Bool().Draw(t, "resume") {
			err := r.to(ctx, true)
			if job.bad >= 0 && job.bad < job.Count && r.so.outcome != Upgraded {
				is.True(errors.Is(err, errBad))
				is.Equal(job.files(), []string{}) // a failure is rolled back
				return
			}
			is.NoErr(err)
			is.Equal(job.files(), job.upTo(job.Count))
			return
		}
		is.NoErr(r.to(ctx, false))
		is.Equal(job.files(), []string{})
	})
}

// to goes to an end.
func (r *run) to(ctx context.Context, forward bool) error {
	if !forward {
		return r.back(ctx, "test")
	}
	_, err := r.forward(ctx)
	return err
}

func TestASignalIsRolledBack(t *testing.T) {
	is := is.New(t)
	job := &folder{Count: 3, cut: -1, bad: -1}
	r := start(t, t.TempDir(), job)
	ctx, cancel := context.WithCancel(context.Background())
	r.report = func(e Event) {
		if e.Step.Name == "step-1" {
			cancel()
		}
	}
	result, err := r.forward(ctx)
	is.True(errors.Is(err, context.Canceled))
	is.Equal(result.Outcome, RolledBack)
	is.Equal(job.files(), []string{})
}

func TestProgressWithinAStep(t *testing.T) {
	is := is.New(t)
	told := make(chan Event, 100)
	r := &run{host: &Host{}, report: func(e Event) { told <- e }}
	dir := t.TempDir()
	is.NoErr(os.WriteFile(filepath.Join(dir, "file"), []byte("12345"), 0o600))
	end := r.tell(Event{Step: Step{Fills: dir}, State: Started})
	is.Equal((<-told).Filled, int64(0)) // the step begins
	is.Equal((<-told).Filled, int64(5))
	end()
	r.tell(Event{Step: Step{Fills: dir}, State: Undoing})()
	is.Equal((<-told).State, Undoing)
}

// TestAStepThatNoLongerHoldsIsTakenAgain has somebody remove what a step made.
func TestAStepThatNoLongerHoldsIsTakenAgain(t *testing.T) {
	is := is.New(t)
	job := &folder{Count: 3, cut: -1, bad: -1}
	r := start(t, t.TempDir(), job)
	is.NoErr(r.to(context.Background(), true))
	is.NoErr(os.Remove(filepath.Join(job.Directory, "1.whole")))
	r, err := r.reopen()
	is.NoErr(err)
	is.NoErr(r.to(context.Background(), true))
	is.Equal(job.files(), job.upTo(3))
}

// TestAFullDiskStopsNoRollBack has the journal take nothing any more.
func TestAFullDiskStopsNoRollBack(t *testing.T) {
	is := is.New(t)
	job := &folder{Count: 3, cut: -1, bad: 2}
	r := start(t, t.TempDir(), job)
	r.report = func(e Event) {
		if e.Step.Name == "step-2" {
			r.file.Close()
		}
	}
	_, err := r.forward(context.Background())
	is.True(errors.Is(err, errBad))
	is.Equal(job.files(), []string{})
	again, err := r.reopen()
	is.NoErr(err)
	job.bad = -1
	is.NoErr(again.to(context.Background(), true)) // what no longer holds is done again
	is.Equal(job.files(), job.upTo(3))
}

func TestShortDisks(t *testing.T) {
	is := is.New(t)
	is.NoErr(short([]*disk{{free: 10, wanted: 10}}))
	err := short([]*disk{{free: 1 << 20, wanted: 3 << 20, needs: []string{"2 MiB for a copy in /b", "1 MiB for a dump in /b"}}, {free: 9, wanted: 1}})
	is.Equal(err.Error(), "the upgrade is refused, and nothing was changed\n"+
		"  too little room on a disk: 2 MiB for a copy in /b and 1 MiB for a dump in /b, and 1 MiB are free: free 2 MiB, or name a --backup-dir on another disk")
}

func TestProgramsEndWithTheContext(t *testing.T) {
	is := is.New(t)
	h := newHost(Options{Backup: t.TempDir()})
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	began := time.Now()
	_, err := h.run(ctx, command{args: []string{"sh", "-c", "sleep 30 & wait"}})
	is.True(err != nil)
	is.True(time.Since(began) < 15*time.Second) // the whole group was ended
	out, err := h.run(context.Background(), command{args: []string{"sh", "-c", "cat; echo no >&2"}, stdin: "in"})
	is.NoErr(err)
	is.Equal(out, "in")
	_, err = h.run(context.Background(), command{args: []string{"sh", "-c", "echo why >&2; exit 3"}})
	is.Equal(err.Error(), "sh: exit status 3: why")
	_, err = h.run(context.Background(), command{args: []string{"sh", "-c", "head -c 70000000 /dev/zero"}})
	is.True(err != nil) // what it said last was not read
}

func TestServersAreStoppedInOrder(t *testing.T) {
	is := is.New(t)
	h := newHost(Options{Backup: t.TempDir()})
	server := command{args: []string{"sh", "-c", "trap 'exit 0' INT; while :; do sleep 0.01; done"}, stop: unix.SIGINT}
	ready := func(context.Context) error { return nil }
	is.NoErr(h.serve(context.Background(), server, ready, func(context.Context) error { time.Sleep(100 * time.Millisecond); return nil }))
	is.True(errors.Is(h.serve(context.Background(), server, ready, func(context.Context) error { return errBad }), errBad))
	gone, cancel := context.WithCancel(context.Background())
	cancel()
	is.True(errors.Is(h.serve(gone, server, ready, func(ctx context.Context) error { return ctx.Err() }), context.Canceled))
	// One on a copy is killed where it has not started yet, and not afterwards.
	deaf := command{args: []string{"sh", "-c", "trap '' INT; while :; do sleep 0.01; done"}, stop: unix.SIGINT, up: new(atomic.Bool)}
	soon, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
	defer cancel()
	is.True(errors.Is(h.serve(soon, deaf, func(context.Context) error { return errBad }, nil), errBad))
	server.up = new(atomic.Bool)
	is.NoErr(h.serve(context.Background(), server, ready, func(context.Context) error { time.Sleep(100 * time.Millisecond); return nil }))
	server.args = []string{"false"}
	err := h.serve(context.Background(), server, func(context.Context) error { return errBad }, func(context.Context) error { return nil })
	is.True(strings.Contains(err.Error(), "the server ended")) // before it was ready
}

// TestLeftoversAreEnded starts what survives its parent, also without the
// environment that it was given.
func TestLeftoversAreEnded(t *testing.T) {
	h := newHost(Options{Backup: t.TempDir()})
	h.id = fmt.Sprintf("test-%d", os.Getpid())
	for _, program := range []string{"sleep 60", "env -i tail -F " + h.private("socket")} {
		is := is.New(t)
		_, err := h.run(context.Background(), command{args: []string{"sh", "-c", "setsid " + program + " >/dev/null 2>&1 &"}})
		is.NoErr(err)
		is.NoErr(await(context.Background(), func(context.Context) error { // it is just becoming another program
			if pids, err := h.leftovers(); err != nil || len(pids) != 1 {
				return fmt.Errorf("%v, %w", pids, errors.Join(err, errBad))
			}
			return nil
		}))
		is.NoErr(h.endLeftovers())
		pids, err := h.leftovers()
		is.NoErr(err)
		is.Equal(len(pids), 0)
	}
}

func TestWhatIsKept(t *testing.T) {
	is := is.New(t)
	h := newHost(Options{Backup: t.TempDir()})
	want := map[string]int{"b": 2, "a": 1}
	is.NoErr(h.writeFile("kept.json", want))
	bytes, err := treeSize(h.Backup)
	is.NoErr(err)
	is.Equal(bytes, int64(len("{\n \"a\": 1,\n \"b\": 2\n}\n")))
	got := map[string]int{}
	is.NoErr(h.readFile("kept.json", &got))
	is.Equal(got, want)
	is.True(errors.Is(h.readFile("other.json", &got), os.ErrNotExist))
}
