package program

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"

	"svc/agent/token"
	"svc/backend"
	"svc/backend/client"
	"svc/cmd/svc/exit"
)

// Client opens the service: the server that is set, or the backend built in.
func (p *Program) Client(ctx context.Context) (*client.Client, error) {
	t, _, err := p.Tokens().Get()
	switch none := errors.Is(err, token.ErrNone); {
	case err != nil && !none:
		return nil, err
	case none && p.Settings.Server == "":
		c, err := p.embedded(ctx)
		return p.Drawing.of(c, err)
	case none:
		return nil, exit.Usagef("a server is set (%s) but no token: store one with svc auth --server URL TOKEN, or set %s", p.Settings.Server, token.Variable)
	case p.Settings.Server == "":
		return nil, exit.Usagef("a token is set but no server: use --server, SVC_SERVER or svc auth --server URL TOKEN; or remove the token (svc auth logout) to use the backend built in")
	}
	c, err := client.New(p.Settings.Server, t, client.Options{UserAgent: "svc/" + p.Version})
	return p.Drawing.of(c, err)
}

// embedded opens the backend in this process, on the user's own data.
func (p *Program) embedded(ctx context.Context) (*client.Client, error) {
	c, closer, err := backend.OpenEmbedded(ctx, p.Paths.DataDir, backend.Config{
		Advisories: p.Settings.Advisories, Log: p.Logger(), Version: p.Version, Commit: p.Commit,
	})
	if err != nil {
		return nil, err
	}
	p.Closers = append(p.Closers, closer)
	return c, nil
}

// BorrowData lets a call that keeps nothing do without the user's own data, where they
// can't be written: it gets a folder that goes when svc ends.
func (p *Program) BorrowData() error {
	if writable(p.Paths.DataDir) {
		return nil
	}
	dir, err := os.MkdirTemp("", "svc-")
	if err != nil {
		return fmt.Errorf("making a folder for what this call needs: %w; name another place by TMPDIR", err)
	}
	p.Paths.DataDir = dir
	p.Closers = append(p.Closers, removal(dir))
	return nil
}

// removal removes the folder of its name when it is closed.
type removal string

// Close removes the folder.
func (r removal) Close() error { return os.RemoveAll(string(r)) }

// writable reports whether files can be made in a folder, which is made where there
// is none.
func writable(dir string) bool {
	if os.MkdirAll(dir, 0o700) != nil {
		return false
	}
	probe, err := os.CreateTemp(dir, ".svc-")
	if err != nil {
		return false
	}
	return errors.Join(probe.Close(), os.Remove(probe.Name())) == nil
}

// shared opens a client once; a failure is tried again at the next call.
func shared(open func(context.Context) (*client.Client, error)) func(context.Context) (*client.Client, error) {
	var mu sync.Mutex
	var opened *client.Client
	return func(ctx context.Context) (*client.Client, error) {
		mu.Lock()
		defer mu.Unlock()
		if opened != nil {
			return opened, nil
		}
		// The client outlives the call that opens it.
		c, err := open(context.WithoutCancel(ctx))
		if err == nil {
			opened = c
		}
		return c, err
	}
}
