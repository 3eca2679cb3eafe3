package main

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
	"svc/tools"
	"svc/tools/fleet"
	"svc/tools/fleet/folder"
	"svc/tools/several"
)

// Bounds of commands on many machines: how many are read at once, and, where nothing
// is said, how long one may take.
const (
	maxParallel     = 256
	patienceOfFleet = 15 * time.Minute
)

// many are the machines of a command that takes one machine or many.
type many struct {
	several.Sources
	parallel int
	patience time.Duration // for one machine; 0 is no limit
	out      string        // folder of what is written of each, and of all
	command  string
	file     string // name of the result of each below its folder; empty where the command writes that itself
}

func (f *many) flags(fs *flag.FlagSet) {
	f.command = "svc " + fs.Name()
	fs.StringVar(&f.Hosts, "hosts", "", "many machines, from a file with one a line: a folder, an image or ssh://[user@]host[:port] (also root:DIR, image:FILE, ssh:HOST), and optionally a name; # begins a comment")
	fs.StringVar(&f.Images, "images", "", "many machines: a folder of powered-off disk images, one a machine")
	fs.StringVar(&f.Roots, "roots", "", "many machines: a folder of root folders, one a machine")
	fs.IntVar(&f.parallel, "parallel", 4, "with many machines: how many are read at once")
	fs.DurationVar(&f.patience, "patience", patienceOfFleet, "with many machines: how long one may take")
}

// keeps adds --out to a command that has none for one machine.
func (f *many) keeps(fs *flag.FlagSet, file string) {
	f.file = file
	fs.StringVar(&f.out, "out", "", "with many machines: folder for index.html, machines.json, machines.csv and a folder for each machine")
}

// alone refuses, of a command on one machine, what is for many.
func (f *many) alone() error {
	if f.out != "" {
		return usagef("--out goes with --hosts, --images or --roots here: --json prints the result of one machine")
	}
	return nil
}

// machines are those of all lists and folders, in which beside is what the command was
// given of one machine: only whether images are trusted goes for all.
func (f *many) machines(beside tools.Machine) ([]several.Listed, error) {
	switch {
	case beside != tools.Machine{TrustImage: beside.TrustImage}:
		return nil, usagef("--hosts takes the place of one machine, as --images and --roots do: leave --root, --image and --ssh out")
	case f.parallel < 1 || f.parallel > maxParallel:
		return nil, usagef("--parallel takes 1 to %d", maxParallel)
	}
	machines, err := f.Machines()
	if err == nil && f.out != "" {
		err = several.Distinct(machines)
	}
	for i := range machines {
		machines[i].Machine.TrustImage = beside.TrustImage
	}
	return machines, err
}

// hostLine is what a command that takes many machines prints of each.
type hostLine[T any] struct {
	Machine string `json:"machine"`
	Exit    int    `json:"exit"` // the exit code that the command has for this machine alone
	Error   string `json:"error,omitempty"`
	Result  *T     `json:"result,omitempty"`
}

// state is what became of the machine of a line, and a few words on it.
func (l hostLine[T]) state(of func(*T) (state, text string)) (state, text string) {
	switch {
	case l.Result == nil:
		return fleet.StateFailed, l.Error
	case of != nil:
		return of(l.Result)
	case l.Exit == exitDiffers:
		return fleet.StateFindings, ""
	}
	return fleet.StateClean, ""
}

// eachHost runs a command on every machine of a list, several at once: a JSON
// line for each as it is done, a summary on stderr, and one exit code. Where
// run gives an *exitError without a text, its result is printed too. With of,
// which says what became of a machine, people get a table instead of the lines.
// Where results are kept, an overview of all is, too.
func eachHost[T any](ctx context.Context, p *program, many many, machines []several.Listed, of func(*T) (state, text string), run func(context.Context, *tools.Env, several.Listed) (T, error)) error {
	kept, err := folder.Open(many.out, many.command, "svc "+version())
	if err != nil {
		return err
	}
	env := p.sharedEnv()
	var mu sync.Mutex
	var failed error
	codes, states, done := map[int]int{}, map[string]int{}, 0
	rows, outcomes := [][]string{}, []fleet.Outcome{}
	emit := func(m several.Listed, line hostLine[T]) {
		if many.file != "" && line.Result != nil {
			if err := kept.Put(m.Name(), many.file, line.Result); err != nil {
				line = hostLine[T]{Machine: line.Machine, Exit: exitFailed, Error: plainly.Error(err)}
			}
		}
		mu.Lock()
		defer mu.Unlock()
		p.clearLine()
		codes[line.Exit]++
		done++
		if p.progress != nil {
			p.progress("machines", done, len(machines))
		}
		state, text := line.state(of)
		states[state]++
		outcomes = append(outcomes, fleet.Outcome{Name: m.Name(), Place: m.Machine.Place(), State: state, What: text, Exit: line.Exit, Wave: m.Wave, File: kept.Linked(m.Name(), reportFile, many.file)})
		if of != nil && !p.settings.json {
			rows = append(rows, []string{line.Machine, strings.ToUpper(state), text})
			return
		}
		if err := json.NewEncoder(visible.JSONWriter(p.stdout)).Encode(line); err != nil && failed == nil {
			failed = fmt.Errorf("printing: %w", err)
		}
	}
	queue := make(chan several.Listed)
	var workers sync.WaitGroup
	for range min(many.parallel, len(machines)) {
		workers.Go(func() {
			for m := range queue {
				emit(m, lineOf(m.Line, func() (result T, err error) {
					if ctx.Err() != nil {
						return result, errStopped
					}
					return patiently(ctx, many.patience, func(ctx context.Context) (T, error) { return run(ctx, env, m) })
				}))
			}
		})
	}
	for _, m := range machines {
		queue <- m
	}
	close(queue)
	workers.Wait()
	if len(rows) > 0 {
		slices.SortFunc(rows, slices.Compare)
		w := p.view()
		w.table(append([][]string{{"MACHINE", "STATE", "WHAT"}}, rows...))
		failed = cmp.Or(failed, w.err)
	}
	uncompared := ""
	if n := states[fleet.StateNotCompared]; n > 0 {
		uncompared = fmt.Sprintf("%d not compared, ", n)
	}
	again := ""
	if n := several.Again(machines); n > 0 {
		again = fmt.Sprintf("; %s named more than once, and counted each time", plural(n, "machine"))
	}
	p.note("%s: %d without findings, %d with, %s%d failed%s", plural(len(machines), "machine"), states[fleet.StateClean], states[fleet.StateFindings], uncompared, states[fleet.StateFailed], again)
	if failed = cmp.Or(failed, kept.Close(outcomes)); failed != nil {
		return failed
	}
	return fleetExit(codes)
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

// errStopped is the error of machines whose turn did not come.
var errStopped = errors.New("stopped before it was looked at")

// lineOf runs a command on one machine; a fault there is a line like others.
func lineOf[T any](name string, run func() (T, error)) hostLine[T] {
	result, err := run()
	line := hostLine[T]{Machine: name, Exit: exitCode(err)}
	var own *exitError
	if err == nil || errors.As(err, &own) && own.err == nil {
		line.Result = &result
		return line
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
		if code != exitDone && code != exitDiffers && code != exitNotCompared {
			failures = append(failures, code)
		}
	}
	switch {
	case len(failures) > 1:
		return &exitError{code: exitFailed}
	case len(failures) == 1:
		return &exitError{code: failures[0]}
	}
	if codes[exitDiffers] == 0 && codes[exitNotCompared] > 0 {
		return &exitError{code: exitNotCompared}
	}
	return differs(codes[exitDiffers] > 0)
}
