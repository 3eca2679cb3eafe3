package main

import (
	"context"
	"errors"
	"log/slog"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"github.com/peterbourgon/ff/v3/ffcli"

	"svc/backend"
	"svc/backend/server"
	"svc/backend/visible"
)

// collectLess lets the heap of a service, which is some megabytes, grow to five
// times of what lives before it is collected: that costs little memory and saves
// a tenth of the time.
const collectLess = 400

// checkPages is for how long the store's file is looked through before it is served:
// that reads some gigabytes.
const checkPages = 5 * time.Second

func (p *program) serveCommand() *ffcli.Command {
	fs := p.flagSet("serve")
	p.settings.serving(fs, p.paths)
	return p.command(fs, "svc serve [--listen ADDR] [--db STORE]", "run the service",
		noArgs(func(ctx context.Context) error {
			if (p.settings.tlsCert == "") != (p.settings.tlsKey == "") {
				return usagef("--tls-cert and --tls-key belong together: give both, or neither for plain HTTP")
			}
			debug.SetGCPercent(collectLess)
			if strings.HasPrefix(p.settings.db, "sqlite:") {
				// A thread that waits for the disk keeps one of Go's processors for a while.
				runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + 1)
			}
			b, err := p.openBackend(ctx)
			if err != nil {
				return err
			}
			return b.Serve(ctx, server.ServeConfig{
				Listen: p.settings.listen, MetricsListen: p.settings.metricsListen, TLSCert: p.settings.tlsCert, TLSKey: p.settings.tlsKey,
			})
		}))
}

// openBackend opens the service as the settings have it; it is closed when the
// program ends.
func (p *program) openBackend(ctx context.Context) (*backend.Backend, error) {
	log := &lineBuffer{w: p.stderr}
	b, err := backend.Open(ctx, backend.Config{
		DB: p.settings.db, IndexFile: p.settings.index, Advisories: p.settings.advisories, OwnFeed: true, CheckPages: checkPages,
		SigningKey: p.settings.signingKey, Rates: p.settings.rates, Version: version(), Commit: commit(),
		Log: slog.New(slog.NewJSONHandler(visible.JSONWriter(log), nil)),
	})
	if err != nil {
		return nil, errors.Join(err, log.Close())
	}
	p.closers = append(p.closers, b, log)
	return b, nil
}
