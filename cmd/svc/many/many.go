// Package many is what commands have in common that read one machine or many: their
// flags, and the way through all machines.
package many

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"svc/backend/plainly"
	"svc/backend/visible"
	"svc/cmd/svc/exit"
	"svc/cmd/svc/program"
	"svc/tools/fleet"
	"svc/tools/fleet/folder"
	"svc/tools/machine"
	"svc/tools/several"
	"svc/tools/tool"
)

// Bounds of commands on many machines: how many are read at once, and, where nothing
// is said, how long one may take.
const (
	MaxParallel     = 256
	PatienceOfFleet = 15 * time.Minute
)

// Machines are the machines of a command that takes one machine or many.
type Machines struct {
	several.Sources
	Parallel int
	Patience time.Duration // for one machine; 0 is no limit
	Out      string        // folder of what is written of each, and of all
	Command  string
	file     string // name of the result of each below its folder; empty where the command writes that itself
}

// Flags adds those that name the machines.
func (f *Machines) Flags(fs *flag.FlagSet) {
	f.Command = "svc " + fs.Name()
	fs.StringVar(&f.Hosts, "hosts", "", "many machines, from a file with one a line: a folder, an image or ssh://[user@]host[:port] (also root:DIR, image:FILE, ssh:HOST), and optionally a name; # begins a comment")
	fs.StringVar(&f.Images, "images", "", "many machines: a folder of powered-off disk images, one a machine")
	fs.StringVar(&f.Roots, "roots", "", "many machines: a folder of root folders, one a machine")
	fs.IntVar(&f.Parallel, "parallel", 4, "with many machines: how many are read at once")
	fs.DurationVar(&f.Patience, "patience", PatienceOfFleet, "with many machines: how long one may take")
}

// Keeps adds --out to a command that has none for one machine.
func (f *Machines) Keeps(fs *flag.FlagSet, file string) {
	f.file = file
	fs.StringVar(&f.Out, "out", "", "with many machines: folder for index.html, machines.json, machines.csv and a folder for each machine")
}

// Alone refuses, of a command on one machine, what is for many.
func (f *Machines) Alone() error {
	if f.Out != "" {
		return exit.Usagef("--out goes with --hosts, --images or --roots here: --json prints the result of one machine")
	}
	return nil
}

// Listed are those of all lists and folders, in which beside is what the command was
// given of one machine: only whether images are trusted goes for all.
func (f *Machines) Listed(beside machine.Machine) ([]several.Listed, error) {
	switch {
	case beside != machine.Machine{TrustImage: beside.TrustImage}:
		return nil, exit.Usagef("--hosts takes the place of one machine, as --images and --roots do: leave --root, --image and --ssh out")
	case f.Parallel < 1 || f.Parallel > MaxParallel:
		return nil, exit.Usagef("--parallel takes 1 to %d", MaxParallel)
	}
	f.Trust = beside.TrustImage
	machines, err := f.Machines()
	if err == nil && f.Out != "" {
		err = several.Distinct(machines)
	}
	return machines, err
}

// HostLine is what a command that takes many machines prints of each.
type HostLine[T any] struct {
	Machine string `json:"machine"`
	Exit    int    `json:"exit"` // the exit code that the command has for this machine alone
	Error   string `json:"error,omitempty"`
	Result  *T     `json:"result,omitempty"`
}

// state is what became of the machine of a line, and a few words on it.
func (l HostLine[T]) state(of func(*T) (state, text string)) (state, text string) {
	switch {
	case l.Result != nil:
		return of(l.Result)
	case l.Exit == exit.Interrupted:
		return fleet.StateNotReached, l.Error
	}
	return fleet.StateFailed, l.Error
}

// round is a command on its way through many machines.
type round[T any] struct {
	p    *program.Program
	many Machines
	kept folder.Folder
	of   func(*T) (state, text string)

	mu       sync.Mutex
	progress fleet.Progress
	codes    map[int]int
	states   map[string]int
	rows     [][]string
	outcomes []fleet.Outcome
	failed   error
}

// EachHost runs a command on every machine of a list, several at once: a table for
// people, or a JSON line for each as it is done, a summary on stderr, and one exit code.
// Where run gives an *exitError without a text, its result counts too: of says what
// became of the machine. Where results are kept, an overview of all is, too.
func EachHost[T any](ctx context.Context, p *program.Program, many Machines, machines []several.Listed, of func(*T) (state, text string), run func(context.Context, *tool.Env, several.Listed) (T, error)) error {
	kept, err := folder.Open(many.Out, many.Command, "svc "+p.Version)
	if err != nil {
		return err
	}
	env := p.SharedEnv()
	r := &round[T]{p: p, many: many, kept: kept, of: of, progress: fleet.Progress{Total: len(machines)}, codes: map[int]int{}, states: map[string]int{}}
	machine.Each(machines, many.Parallel, func(_ int, m several.Listed) {
		if ctx.Err() != nil {
			r.record(m, HostLine[T]{Machine: m.Line, Exit: exit.Interrupted, Error: ErrNotReached.Error()})
			return
		}
		r.begin()
		line := lineOf(ctx, m.Line, func() (T, error) {
			return patiently(ctx, many.Patience, func(ctx context.Context) (T, error) { return run(ctx, env, m) })
		})
		r.end(r.record(m, r.keep(m, line)))
	})
	return r.close(machines)
}

// begin and end tell how far the round is.
func (r *round[T]) begin() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tell(r.progress.Begins(time.Now()))
}

func (r *round[T]) end(state string) {
	how := fleet.WasRead
	if state == fleet.StateFailed {
		how = fleet.HasFailed
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tell(r.progress.Ends(how, time.Now()))
}

func (r *round[T]) tell(what string, done, total int) {
	if r.p.Progress != nil {
		r.p.Progress(what, done, total)
	}
}

// keep writes the result of a machine to its folder, where the command does not itself.
func (r *round[T]) keep(m several.Listed, line HostLine[T]) HostLine[T] {
	if r.many.file == "" || line.Result == nil {
		return line
	}
	if err := r.kept.Put(m.Name(), r.many.file, line.Result); err != nil {
		return HostLine[T]{Machine: line.Machine, Exit: exit.Failed, Error: plainly.Error(err)}
	}
	return line
}

// record takes what became of a machine, and prints it where a program reads it.
func (r *round[T]) record(m several.Listed, line HostLine[T]) (state string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	state, text := line.state(r.of)
	r.codes[line.Exit]++
	r.states[state]++
	r.outcomes = append(r.outcomes, fleet.Outcome{Name: m.Name(), Place: m.Machine.Place(), State: state, What: text, Exit: line.Exit, Wave: m.Wave, File: r.kept.Linked(m.Name(), reportFile, r.many.file)})
	if !r.p.Settings.JSON {
		if state != fleet.StateNotReached { // they are counted
			r.rows = append(r.rows, []string{line.Machine, strings.ToUpper(state), text})
		}
		return state
	}
	r.p.ClearLine()
	if err := json.NewEncoder(visible.JSONWriter(r.p.Stdout)).Encode(line); err != nil && r.failed == nil {
		r.failed = fmt.Errorf("printing: %w", err)
	}
	return state
}

// close prints the table and the summary, and writes the overview.
func (r *round[T]) close(machines []several.Listed) error {
	r.p.ClearLine()
	if len(r.rows) > 0 {
		slices.SortFunc(r.rows, slices.Compare)
		w := r.p.View()
		w.Table(append([][]string{{"MACHINE", "STATE", "WHAT"}}, r.rows...))
		r.failed = cmp.Or(r.failed, w.Err)
	}
	r.p.Note("%s", several.Summary(machines, r.states))
	err := r.kept.Close(r.outcomes)
	if r.states[fleet.StateNotReached] > 0 {
		r.p.Note("%s", several.Stopped(r.many.Out))
	}
	if err = cmp.Or(r.failed, err); err != nil {
		return err
	}
	return fleetExit(r.codes)
}

// reportFile is the page of a machine, where a command writes one.
const reportFile = "report.html"

// patiently ends what takes longer than one machine may, and says so.
func patiently[T any](ctx context.Context, patience time.Duration, run func(context.Context) (T, error)) (T, error) {
	if patience == 0 {
		return run(ctx)
	}
	one, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf("it took longer than %s", patience))
	defer cancel()
	result, err := run(one)
	if err != nil && one.Err() != nil && ctx.Err() == nil {
		err = context.Cause(one)
	}
	return result, err
}

// What is said of machines that an interruption comes before.
var (
	ErrNotReached = errors.New("stopped before its turn came")
	errCutOff     = errors.New("stopped before it was done")
)

// lineOf runs a command on one machine; a fault there is a line like others. One that
// comes with an interruption comes of it: programs that svc ran die of the same signal.
func lineOf[T any](ctx context.Context, name string, run func() (T, error)) HostLine[T] {
	result, err := run()
	line := HostLine[T]{Machine: name, Exit: exit.Code(err)}
	var own *exit.Error
	if err == nil || errors.As(err, &own) && own.Err == nil {
		line.Result = &result
		return line
	}
	if ctx.Err() != nil {
		line.Exit, err = exit.Interrupted, errCutOff
	}
	line.Error = plainly.Error(err)
	return line
}

// fleetExit is the one exit code of many: that of the failures where they agree,
// else 1; without failures 6 where something was found, else 7 where nothing could
// be compared.
func fleetExit(codes map[int]int) error {
	failures := []int{}
	for code := range codes {
		if code != exit.Done && code != exit.Differ && code != exit.NotCompared {
			failures = append(failures, code)
		}
	}
	switch {
	case len(failures) > 1:
		return &exit.Error{Code: exit.Failed}
	case len(failures) == 1:
		return &exit.Error{Code: failures[0]}
	}
	if codes[exit.Differ] == 0 && codes[exit.NotCompared] > 0 {
		return &exit.Error{Code: exit.NotCompared}
	}
	return exit.Differs(codes[exit.Differ] > 0)
}
