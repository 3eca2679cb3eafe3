package program

import (
	"crypto/ed25519"
	"os"
	"path/filepath"
	"strings"
	"time"

	"svc/backend/api"
	"svc/backend/api/attest"
	"svc/tools/register"
	"svc/tools/tool"
)

// Pins are those of this user.
func (p *Program) Pins() Pins { return Pins{p.Paths.Data("keys")} }

// LocalKey is the file of this user's own key.
func (p *Program) LocalKey() string { return p.Paths.Data("local-key.pem") }

// ToolEnv is what the tools run in. The service is opened once, at the first call
// that needs it.
func (p *Program) ToolEnv() *tool.Env {
	return &tool.Env{
		Client:     shared(p.Client),
		Log:        p.Logger(),
		Progress:   p.NewProgress(),
		Now:        time.Now,
		Cache:      filepath.Join(p.Paths.CacheDir, "archives"),
		Rehearsals: filepath.Join(p.Paths.CacheDir, "rehearsals"),
		Version:    p.Version,
		LocalKey:   func() (ed25519.PrivateKey, error) { return attest.LoadOrCreateKey(p.LocalKey()) },
		Hosts:      hostNames(),
		Register:   register.Register{File: filepath.Join(p.Paths.StateDir, "machines.jsonl")},
		Trust: func(published []api.Key) ([]ed25519.PublicKey, error) {
			return p.Pins().Trust(p.Settings.Server, published)
		},
	}
}

// NewProgress shows on stderr what takes long; it is nil where nobody wants to see it.
func (p *Program) NewProgress() func(what string, done, total int) {
	if p.Settings.Quiet {
		return nil
	}
	if p.Drawing == nil {
		p.Drawing = NewDrawing(p.Stderr)
	}
	return p.Drawing.Report
}

// hostNames are the names of the machine that svc runs on; where it has none
// there is nothing to strip.
func hostNames() []string {
	name, err := os.Hostname()
	if err != nil || name == "" {
		return nil
	}
	short, _, _ := strings.Cut(name, ".")
	return []string{name, short}
}

// SharedEnv is a tools' environment for several machines at once, without progress of
// its own.
func (p *Program) SharedEnv() *tool.Env {
	env := p.ToolEnv()
	p.Progress, env.Progress = env.Progress, nil
	return env
}
