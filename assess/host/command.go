package host

import (
	"context"
	"errors"
	"slices"
	"time"
)

// Command is a program that a running machine is asked by, with its arguments.
// Those of this package are all that there are: nothing that comes from a
// machine is ever part of one, and none changes anything.
type Command struct{ words []string }

// Words are the program's name and its arguments.
func (c Command) Words() []string { return slices.Clone(c.words) }

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
	MaxOutput   = 4 << 20
	maxDuration = 30 * time.Second
)

// ErrNotRunning means that a machine is off, so that nothing of it can be asked.
var ErrNotRunning = errors.New("the machine is not running")

// Run gives what a command prints on a running machine; fs.ErrNotExist where it
// has no such program.
func Run(ctx context.Context, h Host, c Command) ([]byte, error) {
	r, ok := h.(interface {
		Run(ctx context.Context, c Command) ([]byte, error)
	})
	if !ok || !h.Live() {
		return nil, ErrNotRunning
	}
	return r.Run(ctx, c)
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
	MaxAnswer = 64 << 10
	patience  = 20 * time.Second
)

// killed is the status of a program that took too long, as a shell has it.
const killed = 137

// Ask puts a question to a running machine; fs.ErrNotExist where it has no such
// program, or no means to bound its time.
func Ask(ctx context.Context, h Host, q Question) (Answer, error) {
	r, ok := h.(interface {
		Ask(ctx context.Context, q Question) (Answer, error)
	})
	if !ok || !h.Live() {
		return Answer{}, ErrNotRunning
	}
	return r.Ask(ctx, q)
}
