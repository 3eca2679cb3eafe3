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

// Run runs a program of this host, whose root this is.
func (r *root) Run(ctx context.Context, c Command) ([]byte, error) {
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
	return b[:min(len(b), MaxOutput)], nil
}

// Ask runs a program of this host, whose root this is.
func (r *root) Ask(ctx context.Context, q Question) (Answer, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, q.Words[0], q.Words[1:]...)
	cmd.Env = []string{"LC_ALL=C", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/", "TERM=dumb"}
	cmd.WaitDelay = time.Second
	var said beginning
	cmd.Stderr = &said
	if !q.ErrorsAlone {
		cmd.Stdout = &said // of one and the same writer there is one pipe
	}
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil && !errors.Is(ctx.Err(), context.DeadlineExceeded):
		return Answer{}, ctx.Err()
	case ctx.Err() != nil:
		return Answer{killed, said.kept}, nil
	case errors.As(err, &exit):
		return Answer{max(exit.ExitCode(), 1), said.kept}, nil // a signal has no code
	case err != nil && !errors.Is(err, exec.ErrWaitDelay):
		return Answer{}, fmt.Errorf("running %s: %w", q.Words[0], err)
	}
	return Answer{0, said.kept}, nil
}

// beginning keeps the beginning of what is written to it.
type beginning struct{ kept []byte }

func (b *beginning) Write(p []byte) (int, error) {
	b.kept = append(b.kept, p[:min(len(p), MaxAnswer-len(b.kept))]...)
	return len(p), nil
}
