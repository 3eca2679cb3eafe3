package upgrade

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"svc/backend/osfile"
	"svc/backend/sliced"
	"svc/tools/database"
	"svc/tools/upgrade/engine"
)

// Options are how an upgrade is run.
type Options struct {
	Backup string // directory for the journal, the log and the backup; absolute
	// Report is told of a step before it is done or undone, and now and then how far
	// it is; nil where nobody looks.
	Report func(Event)
	Now    func() time.Time
	// Discard has a roll-back leave behind what clients have written since.
	Discard bool
}

// Event is a step that is about to be done or undone, or that is being done.
type Event struct {
	Step        engine.Step
	State       State // Started or Undoing
	Done, Total int   // steps of this run
	Filled      int64 // bytes of the directory that the step fills; 0 when it begins
	// Tables of AllTables were begun to be read, and Read bytes of about AllRead, by
	// the server's measure; 0 where the step reads none.
	Tables, AllTables, Read, AllRead int64
	Waits                            string // what is waited for, where that lasts; empty when it begins
}

// Look says what an upgrade would do. Nothing is changed; what stands in the way
// is a Refusals.
func Look(ctx context.Context, in engine.Request, o Options) (Plan, error) {
	h := newHost(o)
	todo, err := look(ctx, h, in)
	if err != nil {
		return Plan{}, err
	}
	return planOf(h, in.Engine, todo, Progress{}), nil
}

func look(ctx context.Context, h *engine.Host, in engine.Request) (engine.Upgrade, error) {
	if err := h.Check(); err != nil {
		return nil, err
	}
	if err := unused(h); err != nil {
		return nil, err
	}
	create := engines[in.Engine]
	if create == nil {
		return nil, engine.Refusef("plan it: svc db upgrade-path", "databases of %q are not upgraded; these are: %s", in.Engine, strings.Join(Engines(), ", "))
	}
	todo := create()
	err := todo.Look(ctx, h, in)
	about := h.AboutOf(todo)
	if _, known := in.Graph.Edge(about.From, about.To, about.Method); !known && about.From.Version != "" {
		return nil, engine.Refusef("svc db upgrade-path says what ways there are", "%s → %s by %s is not on record as supported", about.From, about.To.Version, about.Method)
	}
	if err != nil {
		return nil, err
	}
	return todo, h.Room(about.Needs)
}

func newHost(o Options) *engine.Host { return &engine.Host{Backup: o.Backup} }

// unused refuses a backup directory that has something else in it.
func unused(h *engine.Host) error {
	_, _, err := readJournal(h.Backup)
	if err == nil || errors.Is(err, ErrJournal) {
		return engine.Refusef("go on with --resume or take it back with --roll-back; for another one name another directory", "an upgrade has begun in %s", h.Backup)
	}
	entries, readErr := os.ReadDir(h.Backup)
	if !errors.Is(err, ErrNoJournal) || readErr != nil {
		return errors.Join(err, readErr)
	}
	for _, e := range entries {
		if !slices.Contains([]string{"lost+found", journalFile, "log"}, e.Name()) {
			return engine.Refusef("name an empty directory", "the backup directory %s is not empty: it has %s", h.Backup, e.Name())
		}
	}
	if f, err := h.Open("log", os.O_RDONLY); err == nil {
		f.Close()
	} else if !errors.Is(err, fs.ErrNotExist) {
		return engine.Refusef("name an empty directory", "there is a log that svc has not written: %v", err)
	}
	return nil
}

// Run upgrades a database. What fails, and what a cancelled context cuts short,
// is rolled back: the error then says so.
func Run(ctx context.Context, in engine.Request, o Options) (Result, error) {
	h := newHost(o)
	todo, err := look(ctx, h, in)
	if err != nil {
		return Result{}, err
	}
	unlock, err := h.Lock()
	if err != nil {
		return Result{}, err
	}
	defer unlock()
	state, err := json.Marshal(todo)
	if err != nil {
		return Result{}, fmt.Errorf("keeping what the steps need: %w", err)
	}
	h.ID = rand.Text()
	j, err := beginJournal(h.Backup, Entry{Schema: JournalSchema, ID: h.ID, Engine: in.Engine, Upgrade: state}, o.Now)
	if err != nil {
		return Result{}, err
	}
	defer j.file.Close()
	r := &run{h, todo, todo.Steps(h), j, o.Report}
	return r.forward(ctx)
}

// Begun is what the journal of a backup directory says of its upgrade, and what
// clients have written since.
func Begun(ctx context.Context, o Options) (Plan, Outcome, error) {
	h := newHost(o)
	if err := h.Check(); err != nil {
		return Plan{}, "", err
	}
	so, _, err := readJournal(h.Backup)
	if err != nil {
		return Plan{}, "", err
	}
	todo, err := upgradeOf(so)
	if err != nil {
		return Plan{}, "", err
	}
	plan := planOf(h, so.begin.Engine, todo, so)
	if err := todo.Recheck(ctx, h); err != nil {
		return Plan{}, "", err
	}
	r := &run{h, todo, todo.Steps(h), &journal{so: so}, o.Report}
	seen := r.begins()
	plan.Written = r.written(h.Watched(ctx))
	seen()
	return plan, so.outcome, nil
}

// upgradeOf makes the upgrade of a journal.
func upgradeOf(so Progress) (engine.Upgrade, error) {
	create := engines[so.begin.Engine]
	if create == nil {
		return nil, fmt.Errorf("%w: it is of the engine %q", ErrJournal, so.begin.Engine)
	}
	todo := create()
	if err := json.Unmarshal(so.begin.Upgrade, todo, json.RejectUnknownMembers(true)); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrJournal, err)
	}
	known := sliced.SetOf(todo.Steps(&engine.Host{}), func(s engine.Step) string { return s.Name })
	for name := range so.steps {
		if !known[name] {
			return nil, fmt.Errorf("%w: this version of svc knows no step %q", ErrJournal, name)
		}
	}
	return todo, nil
}

// Resume goes on with an upgrade that was cut short.
func Resume(ctx context.Context, o Options) (Result, error) {
	return again(o, Upgraded, func(r *run) (Result, error) { return r.forward(ctx) })
}

// RollBack takes back what an upgrade has done, from wherever it is.
func RollBack(ctx context.Context, o Options) (Result, error) {
	return again(o, RolledBack, func(r *run) (Result, error) {
		seen := r.begins()
		err := r.lose(r.host.Watched(ctx), o.Discard)
		if seen(); err != nil {
			return Result{}, err
		}
		err = r.back(context.WithoutCancel(ctx), "a person asked for it")
		return r.result(RolledBack), err
	})
}

// again goes on with what a journal has; where the end that is wanted was reached
// already, nothing is done.
func again(o Options, end Outcome, on func(*run) (Result, error)) (Result, error) {
	h := newHost(o)
	if err := h.Check(); err != nil {
		return Result{}, err
	}
	unlock, err := h.Lock()
	if err != nil {
		return Result{}, err
	}
	defer unlock()
	j, err := openJournal(h.Backup, o.Now)
	if err != nil {
		return Result{}, err
	}
	defer j.file.Close()
	todo, err := upgradeOf(j.so)
	if err != nil {
		return Result{}, err
	}
	h.ID = j.so.begin.ID
	r := &run{h, todo, todo.Steps(h), j, o.Report}
	switch {
	case j.so.outcome == end:
		return r.result(end), nil
	case j.so.outcome == RolledBack:
		return Result{}, engine.Refusef("begin again, with another backup directory", "the upgrade in %s was rolled back", h.Backup)
	}
	if err := todo.Recheck(context.Background(), h); err != nil {
		return Result{}, err
	}
	seen := r.begins()
	err = h.EndLeftovers(h.Watched(context.Background()))
	if seen(); err != nil {
		return Result{}, err
	}
	return on(r)
}

// run is a run over the steps of an upgrade.
type run struct {
	host  *engine.Host
	of    engine.Upgrade
	steps []engine.Step
	*journal
	report func(Event)
}

// act is a step to be done, or to be undone.
type act struct {
	step int
	undo bool
}

// ahead lists what leads from where a journal stands to the end: what is begun
// after the last step that is done and holds is undone, the last first, and then
// all the rest is done. from is the first step that is not done.
func ahead(states []State, from int) []act {
	acts := behind(states, from)
	for i := from; i < len(states); i++ {
		acts = append(acts, act{i, false})
	}
	return acts
}

// behind lists what leads back to the beginning of a step: the undoing of what
// was begun from there on, the last first.
func behind(states []State, to int) (acts []act) {
	for i := len(states) - 1; i >= to; i-- {
		if states[i] != "" && states[i] != Undone {
			acts = append(acts, act{i, true})
		}
	}
	return acts
}

// states are what became of each step.
func (r *run) states() []State {
	return append([]State{}, sliced.Map(r.steps, func(s engine.Step) State { return r.so.steps[s.Name] })...)
}

// firstOpen is the first step that is not done, or no longer holds.
func (r *run) firstOpen(ctx context.Context) int {
	return slices.IndexFunc(append(slices.Clip(r.steps), engine.Step{}), func(s engine.Step) bool {
		return r.so.steps[s.Name] != Done || s.Holds != nil && !s.Holds(ctx)
	})
}

// forward does what is left to do; if that can't be, everything is undone.
func (r *run) forward(ctx context.Context) (Result, error) {
	why := r.perform(ctx, ahead(r.states(), r.firstOpen(ctx)), "a try that was cut short", stop)
	if why == nil {
		return r.result(Upgraded), r.write(Entry{Outcome: Upgraded})
	}
	if ctx.Err() != nil {
		why = fmt.Errorf("interrupted: %w", why)
	}
	err := r.back(context.WithoutCancel(ctx), why.Error())
	if left := (*Left)(nil); errors.As(err, &left) {
		return r.result(RolledBack), fmt.Errorf("%w; %w", why, err)
	}
	if err != nil {
		return r.result(""), fmt.Errorf("%w; and then rolling back failed, so the host is half way: %w; when what stands in the way is gone: svc db upgrade --backup-dir %s --roll-back --confirm", why, err, r.host.Backup)
	}
	return r.result(RolledBack), fmt.Errorf("%w; all was rolled back: %s is as it was; %s says more", why, r.of.About().From, r.host.LogFile())
}

// back undoes everything.
func (r *run) back(ctx context.Context, why string) error {
	if w := r.written(ctx); w != nil {
		_ = r.host.WriteFile(writtenFile, w) // a full disk stops no roll-back
	}
	var left []error
	err := r.perform(ctx, behind(r.states(), 0), why, func(s engine.Step, err error) error {
		if s.Changes {
			return err
		}
		left = append(left, err)
		return nil
	})
	if err != nil {
		return err
	}
	if len(left) == 0 {
		left = append(left, r.write(Entry{Outcome: RolledBack}))
	}
	if err := errors.Join(left...); err != nil {
		return &Left{r.of.About().From, r.host.Backup, err}
	}
	return nil
}

// Left is a roll-back that gave the host its database back, and could not clear
// or write the backup directory.
type Left struct {
	From   database.Place
	Backup string
	Err    error
}

func (e *Left) Error() string {
	return fmt.Sprintf("%s is as it was, but %s could not be cleared or written: %v; when it can: svc db upgrade --backup-dir %s --roll-back --confirm", e.From, e.Backup, e.Err, e.Backup)
}

func (e *Left) Unwrap() error { return e.Err }

// stop has the failure of a step be that of the run.
func stop(_ engine.Step, err error) error { return err }

// perform does and undoes steps, each after it was written down; failed says
// what a failure is to the run. That a disk has no room for that line stops no
// undoing: the step stays on record as begun, and to undo it once more does no
// harm.
func (r *run) perform(ctx context.Context, acts []act, why string, failed func(engine.Step, error) error) error {
	for i, a := range acts {
		s := r.steps[a.step]
		entry, end, fn := Entry{Step: s.Name, State: Started}, Done, s.Do
		if a.undo {
			entry, end, fn = Entry{Step: s.Name, State: Undoing, Why: why}, Undone, s.Undo
		} else if s.Learnt != nil {
			s.Does += s.Learnt()
		}
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("%s: %w", s.Name, err)
		}
		if err := r.write(entry); err != nil && !a.undo {
			return err
		}
		seen := r.tell(Event{Step: s, State: entry.State, Done: i, Total: len(acts)})
		err := r.lastingly(r.host.Watched(ctx), s, fn)
		seen()
		if err != nil {
			if err := failed(s, fmt.Errorf("%s: %w", s.Name, err)); err != nil {
				return err
			}
			continue
		}
		if err := r.write(Entry{Step: s.Name, State: end}); err != nil && !a.undo {
			return err
		}
	}
	return nil
}

// glance is how often it is looked how far a step is.
const glance = 2 * time.Second

// tell reports a step, and how far it is until the function that it gives is called.
func (r *run) tell(e Event) (end func()) {
	if r.report == nil {
		return func() {}
	}
	r.report(e)
	return r.watch(e)
}

// watch reports how far a step is, and what it waits for, until the function that it
// gives is called.
func (r *run) watch(e Event) (end func()) {
	if r.report == nil {
		return func() {}
	}
	so := &r.host.Reach
	so.Begin(0, 0)
	over, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-over:
				return
			case <-time.After(glance):
			}
			e.Tables, e.AllTables, e.Read, e.AllRead = so.Tables.Load(), so.AllTables.Load(), so.Bytes.Load(), so.AllBytes.Load()
			if e.Waits = so.Waits(); e.Step.Fills != "" && e.State == Started {
				e.Filled, _ = engine.TreeSize(e.Step.Fills)
			}
			if e.Filled > 0 || e.AllTables > 0 || e.Waits != "" {
				r.report(e)
			}
		}
	}()
	return func() { close(over); <-ended }
}

// begins watches what goes before the first step.
func (r *run) begins() (end func()) {
	return r.watch(Event{Step: engine.Step{Name: "begin", Does: "looks at what the run before has left"}, State: Started, Total: 1})
}

// lastingly does or undoes a step, and has what it changed on the disks before
// the journal, which may be on another one, says so.
func (r *run) lastingly(ctx context.Context, s engine.Step, fn func(context.Context) error) error {
	if fn == nil {
		return nil
	}
	if err := fn(ctx); err != nil || !s.Changes {
		return err
	}
	about := r.host.AboutOf(r.of)
	places := append([]string{"/etc", about.Directory}, sliced.Map(about.Needs, func(n engine.Need) string { return n.Directory })...)
	for _, place := range places {
		if place == r.host.Backup { // writing the journal sees to it
			continue
		}
		if err := osfile.SyncFiles(engine.Existing(place)); err != nil {
			return fmt.Errorf("having all on the disk of %s: %w", place, err)
		}
	}
	return nil
}

// result is what became of the upgrade.
func (r *run) result(end Outcome) Result {
	res := Result{
		Plan: planOf(r.host, r.so.begin.Engine, r.of, r.so), Outcome: end,
		Journal: filepath.Join(r.host.Backup, journalFile), Log: r.host.LogFile(), Afterwards: []string{},
	}
	res.Waited = waited(r.steps, r.so.at).Seconds()
	switch end {
	case Upgraded:
		res.Afterwards = r.of.Afterwards(r.host)
	case RolledBack:
		if err := r.host.ReadFile(writtenFile, &res.Written); err == nil {
			res.Afterwards = leftBehind(res.Written)
		}
	}
	notes, err := r.host.Notes()
	if err != nil {
		notes = []string{err.Error()}
	}
	res.Afterwards = append(res.Afterwards, notes...)
	return res
}

// waited is how long clients were cut off: from when the step that cuts them off
// last began, to when one that serves them was done, or that one undone.
func waited(steps []engine.Step, at map[string]time.Time) time.Duration {
	var from, to time.Time
	for _, s := range steps {
		if s.Cuts {
			from, to = at[s.Name+" "+string(Started)], at[s.Name+" "+string(Undone)]
		}
		if done := at[s.Name+" "+string(Done)]; s.Serves && done.After(to) {
			to = done
		}
	}
	return max(0, to.Sub(from))
}
