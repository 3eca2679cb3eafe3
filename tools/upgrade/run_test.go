package upgrade

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/matryer/is"
	"pgregory.net/rapid"

	"svc/tools/database"
	"svc/tools/upgrade/engine"
)

// folder is an upgrade that makes files: each step two, of which the second one says
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

func (f *folder) Look(context.Context, *engine.Host, engine.Request) error { return nil }

func (f *folder) Written(context.Context, *engine.Host) (engine.Written, error) {
	return engine.Written{}, nil
}

func (f *folder) Recheck(context.Context, *engine.Host) error { return nil }

func (f *folder) About() engine.About {
	return engine.About{From: database.Place{Engine: "folder", Version: "1"}, To: database.Place{Engine: "folder", Version: "2"}, Directory: f.Directory}
}

func (f *folder) Afterwards(*engine.Host) []string { return []string{"look at " + f.Directory} }

func (f *folder) Steps(*engine.Host) (steps []engine.Step) {
	for i := range f.Count {
		begun, whole := fmt.Sprintf("%d.begun", i), fmt.Sprintf("%d.whole", i)
		steps = append(steps, engine.Step{
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
func start(t interface{ Fatal(...any) }, dir string, todo *folder) *run {
	backup, data := filepath.Join(dir, "backup"), filepath.Join(dir, "data")
	if err := errors.Join(os.RemoveAll(dir), os.MkdirAll(backup, 0o700), os.MkdirAll(data, 0o700)); err != nil {
		t.Fatal(err)
	}
	todo.Directory = data
	h := &engine.Host{Backup: backup}
	j, err := beginJournal(backup, Entry{Schema: JournalSchema, ID: "x", Engine: "folder", Upgrade: []byte("{}")}, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	return &run{h, todo, todo.Steps(h), j, nil}
}

// reopen is what another process does after the power came back.
func (r *run) reopen() (*run, error) {
	r.file.Close()
	j, err := openJournal(r.host.Backup, time.Now)
	return &run{r.host, r.of, r.steps, j, nil}, err
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
		todo := &folder{Count: rapid.IntRange(1, 4).Draw(t, "steps"), bad: rapid.IntRange(-3, 3).Draw(t, "bad")}
		r := start(t, dir, todo)
		ctx := context.Background()
		for range rapid.IntRange(0, 4).Draw(t, "cuts") {
			todo.cut = rapid.IntRange(0, 12).Draw(t, "cut")
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
		todo.cut = -1
		if r.so.outcome != RolledBack && rapid.Bool().Draw(t, "resume") {
			err := r.to(ctx, true)
			if todo.bad >= 0 && todo.bad < todo.Count && r.so.outcome != Upgraded {
				is.True(errors.Is(err, errBad))
				is.Equal(todo.files(), []string{}) // a failure is rolled back
				return
			}
			is.NoErr(err)
			is.Equal(todo.files(), todo.upTo(todo.Count))
			return
		}
		is.NoErr(r.to(ctx, false))
		is.Equal(todo.files(), []string{})
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
	todo := &folder{Count: 3, cut: -1, bad: -1}
	r := start(t, t.TempDir(), todo)
	ctx, cancel := context.WithCancel(context.Background())
	r.report = func(e Event) {
		if e.Step.Name == "step-1" {
			cancel()
		}
	}
	result, err := r.forward(ctx)
	is.True(errors.Is(err, context.Canceled))
	is.Equal(result.Outcome, RolledBack)
	is.Equal(todo.files(), []string{})
}

func TestProgressWithinAStep(t *testing.T) {
	is := is.New(t)
	told := make(chan Event, 100)
	r := &run{host: &engine.Host{}, report: func(e Event) { told <- e }}
	dir := t.TempDir()
	is.NoErr(os.WriteFile(filepath.Join(dir, "file"), []byte("12345"), 0o600))
	end := r.tell(Event{Step: engine.Step{Fills: dir}, State: Started})
	is.Equal((<-told).Filled, int64(0)) // the step begins
	is.Equal((<-told).Filled, int64(5))
	end()
	r.tell(Event{Step: engine.Step{Fills: dir}, State: Undoing})()
	is.Equal((<-told).State, Undoing)
}

// TestAWaitIsToldOf has a roll-back wait for a server that does not stop.
func TestAWaitIsToldOf(t *testing.T) {
	is := is.New(t)
	told := make(chan Event, 100)
	r := start(t, t.TempDir(), &folder{cut: -1, bad: -1})
	r.report = func(e Event) { told <- e }
	ctx, cancel := context.WithCancel(t.Context())
	undo := func(ctx context.Context) error {
		return engine.Await(ctx, func(context.Context) error { return errBad })
	}
	r.steps = []engine.Step{{Name: "stop", Undo: undo}}
	ended := make(chan error)
	go func() { ended <- r.perform(ctx, []act{{0, true}}, "a test", stop) }()
	is.Equal((<-told).Waits, "") // it begins
	is.Equal((<-told).Waits, errBad.Error())
	cancel()
	is.True(errors.Is(<-ended, errBad))
	is.Equal(r.host.Reach.Waits(), "")
}

// TestAStepThatNoLongerHoldsIsTakenAgain has somebody remove what a step made.
func TestAStepThatNoLongerHoldsIsTakenAgain(t *testing.T) {
	is := is.New(t)
	todo := &folder{Count: 3, cut: -1, bad: -1}
	r := start(t, t.TempDir(), todo)
	is.NoErr(r.to(context.Background(), true))
	is.NoErr(os.Remove(filepath.Join(todo.Directory, "1.whole")))
	r, err := r.reopen()
	is.NoErr(err)
	is.NoErr(r.to(context.Background(), true))
	is.Equal(todo.files(), todo.upTo(3))
}

// TestAFullDiskStopsNoRollBack has the journal take nothing any more.
func TestAFullDiskStopsNoRollBack(t *testing.T) {
	is := is.New(t)
	todo := &folder{Count: 3, cut: -1, bad: 2}
	r := start(t, t.TempDir(), todo)
	r.report = func(e Event) {
		if e.Step.Name == "step-2" {
			r.file.Close()
		}
	}
	_, err := r.forward(context.Background())
	is.True(errors.Is(err, errBad))
	is.Equal(todo.files(), []string{})
	again, err := r.reopen()
	is.NoErr(err)
	todo.bad = -1
	is.NoErr(again.to(context.Background(), true)) // what no longer holds is done again
	is.Equal(todo.files(), todo.upTo(3))
}
