package host

import (
	"context"
	"errors"
	"io/fs"
	"strconv"
	"strings"
	"time"
)

// Command is a program that a running machine is asked by, with its arguments.
// Those of this package are all that there are: nothing that comes from a
// machine is ever part of one, and none changes anything.
type Command struct{ words []string }

// ListUnits prints the units that systemd knows, a line each: name, whether it
// is loaded, state, state of its kind, description.
var ListUnits = Command{[]string{"systemctl", "list-units", "--all", "--full", "--plain", "--no-legend", "--no-pager"}}

// ShowServices prints what systemd knows of each service, in paragraphs of
// KEY=VALUE.
var ShowServices = Command{[]string{
	"systemctl", "show", "--all", "--no-pager", "--property=Id,Type,LoadState,ActiveState,UnitFileState,ConditionResult,ConditionTimestampMonotonic,TriggeredBy", "*.service",
}}

// Bounds of what a command prints, in bytes, and of how long it may take.
const (
	maxOutput   = 4 << 20
	maxDuration = 30 * time.Second
)

// ErrNotRunning means that a machine is off, so that nothing of it can be asked.
var ErrNotRunning = errors.New("the machine is not running")

// Run gives what a command prints on a running machine; fs.ErrNotExist where it
// has no such program.
func Run(ctx context.Context, h Host, c Command) ([]byte, error) {
	r, ok := h.(interface {
		run(ctx context.Context, c Command) ([]byte, error)
	})
	if !ok || !h.Live() {
		return nil, ErrNotRunning
	}
	return r.run(ctx, c)
}

// Question is a program that a running machine is asked by what it thinks of its
// own settings. Its words are of a table of svc's own, but for names of files of
// the machine that are letters, digits and the like.
type Question struct {
	Words       []string // the program, by its path, and its arguments
	ErrorsAlone bool     // what it prints as its result is not read
}

// Answer is what a program says, and how it ended.
type Answer struct {
	Status int    // of its exit; 137 where it was killed since it took too long
	Text   []byte // the beginning of what it printed
}

// Bounds of an answer, in bytes and in time.
const (
	maxAnswer = 64 << 10
	patience  = 20 * time.Second
)

// killed is the status of a program that took too long, as a shell has it.
const killed = 137

// Ask puts a question to a running machine; fs.ErrNotExist where it has no such
// program, or no means to bound its time.
func Ask(ctx context.Context, h Host, q Question) (Answer, error) {
	r, ok := h.(interface {
		ask(ctx context.Context, q Question) (Answer, error)
	})
	if !ok || !h.Live() {
		return Answer{}, ErrNotRunning
	}
	return r.ask(ctx, q)
}

// ask has the shell run a program of the machine.
func (r *remote) ask(_ context.Context, q Question) (Answer, error) {
	line := "a " + map[bool]string{true: "e", false: "b"}[q.ErrorsAlone]
	for _, word := range q.Words {
		line += " " + quote(word)
	}
	answer, err := r.shell.ask(line+" </dev/null", maxAnswer)
	if err != nil {
		return Answer{}, err
	}
	if err := answer[0].err("run", q.Words[0]); err != nil {
		return Answer{}, err
	}
	status, err := strconv.Atoi(strings.TrimSpace(answer[0].reason))
	if err != nil {
		return Answer{}, &fs.PathError{Op: "run", Path: q.Words[0], Err: errFrame}
	}
	return Answer{status, answer[0].body}, nil
}
