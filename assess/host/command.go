package host

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"time"
)

// Command is a program that a running machine is asked by, with its arguments.
// Those of this package are all that there are: nothing that comes from a
// machine is ever part of one, and none changes anything.
type Command struct{ words []string }

// ListUnits prints the units that systemd knows, a line each: name, whether it
// is loaded, state, state of its kind, description.
var ListUnits = Command{[]string{"systemctl", "list-units", "--all", "--full", "--plain", "--no-legend", "--no-pager"}}

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

// run runs a program of this host, whose root this is.
func (r *root) run(ctx context.Context, c Command) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, maxDuration)
	defer cancel()
	cmd := exec.CommandContext(ctx, c.words[0], c.words[1:]...)
	cmd.Env = append(os.Environ(), "LC_ALL=C")
	cmd.WaitDelay = time.Second
	b, err := cmd.Output()
	var exit *exec.ExitError
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return nil, &fs.PathError{Op: "run", Path: c.words[0], Err: fs.ErrNotExist}
	case err != nil && !errors.As(err, &exit):
		return nil, fmt.Errorf("running %s: %w", c.words[0], err)
	}
	return b[:min(len(b), maxOutput)], nil
}
