package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"svc/agent/token"
	"svc/backend"
	"svc/backend/client"
)

// client opens the service: the server that is set, or the backend built in.
func (p *program) client(ctx context.Context) (*client.Client, error) {
	t, _, err := p.tokens().Get()
	switch none := errors.Is(err, token.ErrNone); {
	case err != nil && !none:
		return nil, err
	case none && p.settings.server == "":
		c, err := p.embedded(ctx)
		return p.drawing.of(c, err)
	case none:
		return nil, usagef("a server is set (%s) but no token: store one with svc auth --server URL TOKEN, or set %s", p.settings.server, token.Variable)
	case p.settings.server == "":
		return nil, usagef("a token is set but no server: use --server, SVC_SERVER or svc auth --server URL TOKEN; or remove the token (svc auth logout) to use the backend built in")
	}
	c, err := client.New(p.settings.server, t, client.Options{UserAgent: "svc/" + version()})
	return p.drawing.of(c, err)
}

// embedded opens the backend in this process, on the user's own data.
func (p *program) embedded(ctx context.Context) (*client.Client, error) {
	c, closer, err := backend.OpenEmbedded(ctx, p.paths.dataDir, backend.Config{
		Advisories: p.settings.advisories, Log: p.logger(), Version: version(), Commit: commit(),
	})
	if err != nil {
		return nil, err
	}
	p.closers = append(p.closers, closer)
	return c, nil
}

// borrowData lets a call that keeps nothing do without the user's own data, where they
// can't be written: it gets a folder that goes when svc ends.
func (p *program) borrowData() error {
	if writable(p.paths.dataDir) {
		return nil
	}
	dir, err := os.MkdirTemp("", "svc-")
	if err != nil {
		return fmt.Errorf("making a folder for what this call needs: %w; name another place by TMPDIR", err)
	}
	p.paths.dataDir = dir
	p.closers = append(p.closers, removal(dir))
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
