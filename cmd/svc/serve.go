package main

import (
	"context"
	"log/slog"

	"github.com/peterbourgon/ff/v3/ffcli"

	"svc/backend"
	"svc/backend/server"
)

func (p *program) serveCommand() *ffcli.Command {
	fs := p.flagSet("serve")
	p.settings.serving(fs, p.paths)
	return p.command(fs, "svc serve [--listen ADDR] [--db STORE]", "run the service",
		noArgs(func(ctx context.Context) error {
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
	b, err := backend.Open(ctx, backend.Config{
		DB: p.settings.db, IndexFile: p.settings.index, SigningKey: p.settings.signingKey, Version: version(), Commit: commit(),
		Log: slog.New(slog.NewJSONHandler(p.stderr, nil)),
	})
	if err != nil {
		return nil, err
	}
	p.closers = append(p.closers, b)
	return b, nil
}
