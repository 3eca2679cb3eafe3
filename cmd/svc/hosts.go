package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"svc/backend/visible"
	"svc/tools"
)

// Limits of a list of machines.
const (
	maxHostsFile = 8 << 20 // bytes
	maxParallel  = 256
)

// many are the machines of a command that takes one machine or many.
type many struct {
	file     string
	parallel int
}

func (f *many) flags(fs *flag.FlagSet) {
	fs.StringVar(&f.file, "hosts", "", "file with a machine a line, instead of one machine: a folder, an image, or an ssh destination, also as root:, image: or ssh: and the place; then, if you like, a name")
	fs.IntVar(&f.parallel, "parallel", 4, "machines of --hosts read at once")
}

// machines reads the list, in which beside is what the command was given of one
// machine: only whether images are trusted goes for all.
func (f *many) machines(beside tools.Machine) ([]listed, error) {
	switch {
	case beside != tools.Machine{TrustImage: beside.TrustImage}:
		return nil, usagef("--hosts takes the place of one machine: leave --root, --image and --ssh out")
	case f.parallel < 1 || f.parallel > maxParallel:
		return nil, usagef("--parallel takes 1 to %d", maxParallel)
	}
	machines, err := readHosts(f.file)
	for i := range machines {
		machines[i].machine.TrustImage = beside.TrustImage
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

// What became of a machine of many, whatever its exit code means.
const (
	withFindings    = "findings"
	withoutFindings = "without findings"
	notCompared     = "not compared"
	failedHost      = "failed"
)

// state is what became of the machine of a line, and a few words on it.
func (l hostLine[T]) state(of func(*T) (state, text string)) (state, text string) {
	switch {
	case l.Result == nil:
		return failedHost, l.Error
	case of != nil:
		return of(l.Result)
	case l.Exit == exitDiffers:
		return withFindings, ""
	}
	return withoutFindings, ""
}

// eachHost runs a command on every machine of a list, several at once: a JSON
// line for each as it is done, a summary on stderr, and one exit code. Where
// run gives an *exitError without a text, its result is printed too. With of,
// which says what became of a machine, people get a table instead of the lines.
func eachHost[T any](ctx context.Context, p *program, machines []listed, parallel int, of func(*T) (state, text string), run func(context.Context, *tools.Env, listed) (T, error)) error {
	env := p.sharedEnv(ctx)
	var mu sync.Mutex
	var failed error
	codes, states, done := map[int]int{}, map[string]int{}, 0
	rows := [][]string{}
	emit := func(line hostLine[T]) {
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
		if of != nil && !p.settings.json {
			rows = append(rows, []string{line.Machine, strings.ToUpper(state), text})
			return
		}
		if err := json.NewEncoder(visible.JSONWriter(p.stdout)).Encode(line); err != nil && failed == nil {
			failed = fmt.Errorf("printing: %w", err)
		}
	}
	queue := make(chan listed)
	var workers sync.WaitGroup
	for range min(parallel, len(machines)) {
		workers.Go(func() {
			for m := range queue {
				emit(lineOf(m.line, func() (result T, err error) {
					if ctx.Err() != nil {
						return result, errStopped
					}
					return run(ctx, env, m)
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
	if n := states[notCompared]; n > 0 {
		uncompared = fmt.Sprintf("%d not compared, ", n)
	}
	p.note("%s: %d without findings, %d with, %s%d failed", plural(len(machines), "machine"), states[withoutFindings], states[withFindings], uncompared, states[failedHost])
	if failed != nil {
		return failed
	}
	return fleetExit(codes)
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
	line.Error = plain(err)
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

// listed is a machine of a list.
type listed struct {
	line    string // as it is written there
	called  string // the name that it is given there, if any
	machine tools.Machine
}

// name is what a machine's own folder is called among those of many: the name that
// it is given, the end of its path, or its ssh destination.
func (l listed) name() string {
	m := l.machine
	return filepath.Base(filepath.Clean("/" + cmp.Or(l.called, m.Root, m.Image, m.SSH)))
}

// distinct refuses a list in which two machines would share a folder.
func distinct(machines []listed) error {
	lines := map[string]string{}
	for _, m := range machines {
		if other, taken := lines[m.name()]; taken {
			return usagef("%s and %s have the same name, so both would be kept in %s: write another name after one of them", other, m.line, m.name())
		}
		lines[m.name()] = m.line
	}
	return nil
}

// readHosts reads a list of machines; # begins a comment.
func readHosts(path string) (machines []listed, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("reading the machines: %w", err)
	}
	defer f.Close()
	lines := bufio.NewScanner(io.LimitReader(f, maxHostsFile))
	for lines.Scan() {
		line, _, _ := strings.Cut(lines.Text(), "#")
		if line = strings.TrimSpace(line); line != "" {
			place, called := placeOf(line)
			machines = append(machines, listed{line, called, tools.MachineAt(place)})
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("reading the machines: %w", err)
	}
	if len(machines) == 0 {
		return nil, usagef("%s names no machine", path)
	}
	return machines, nil
}

// placeOf parts a line into where a machine is, and the name after it, if there is
// one. A path may have spaces in it: one that is there is taken whole.
func placeOf(line string) (place, called string) {
	_, path, _ := strings.Cut(line, ":")
	for _, whole := range []string{line, path} {
		if _, err := os.Lstat(whole); err == nil {
			return line, ""
		}
	}
	if i := strings.LastIndexAny(line, " \t"); i >= 0 {
		return strings.TrimSpace(line[:i]), line[i+1:]
	}
	return line, ""
}
