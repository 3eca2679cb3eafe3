package service

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/coreos/go-systemd/v22/activation"
	"github.com/coreos/go-systemd/v22/daemon"
	"github.com/peterbourgon/ff/v3/ffcli"

	"svc/backend"
	"svc/backend/server"
	"svc/backend/visible"
	"svc/cmd/svc/exit"
	"svc/cmd/svc/program"
)

// collectLess lets the heap of a service, which is some megabytes, grow to five
// times of what lives before it is collected: that costs little memory and saves
// a tenth of the time.
const collectLess = 400

// checkPages is for how long the store's file is looked through before it is served:
// that reads some gigabytes.
const checkPages = 5 * time.Second

// Serve is `svc serve`.
func (p Commands) Serve() *ffcli.Command {
	fs := p.FlagSet("serve")
	p.Settings.Serving(fs, p.Paths)
	return p.Command(fs, "svc serve [--listen ADDR] [--db STORE]", "run the service",
		program.NoArgs(func(ctx context.Context) error {
			if (p.Settings.TLSCert == "") != (p.Settings.TLSKey == "") {
				return exit.Usagef("--tls-cert and --tls-key belong together: give both, or neither for plain HTTP")
			}
			debug.SetGCPercent(collectLess)
			if strings.HasPrefix(p.Settings.DB, "sqlite:") {
				// A thread that waits for the disk keeps one of Go's processors for a while.
				runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + 1)
			}
			b, err := p.openBackend(ctx)
			if err != nil {
				return err
			}
			c := server.ServeConfig{
				Listen: p.Settings.Listen, MetricsListen: p.Settings.MetricsListen, TLSCert: p.Settings.TLSCert, TLSKey: p.Settings.TLSKey,
				Ready: func(net.Addr) { notify(daemon.SdNotifyReady) },
			}
			if c.Inherited, c.InheritedMetrics, err = inherited(); err != nil {
				return err
			}
			defer context.AfterFunc(ctx, func() { notify(daemon.SdNotifyStopping) })()
			return b.Serve(ctx, c)
		}))
}

// metricsSocket is the name (FileDescriptorName) of the sockets that systemd keeps
// for the operations handler; all others are the service's.
const metricsSocket = "metrics"

// inherited are the sockets that systemd keeps, if it started the program by them:
// https://www.freedesktop.org/software/systemd/man/latest/sd_listen_fds.html
func inherited() (service, metrics []net.Listener, err error) {
	named, err := activation.ListenersWithNames()
	if err != nil {
		return nil, nil, fmt.Errorf("taking over the sockets that were handed over: %w", err)
	}
	for _, name := range slices.Sorted(maps.Keys(named)) {
		if name == metricsSocket {
			metrics = append(metrics, named[name]...)
		} else {
			service = append(service, named[name]...)
		}
	}
	for _, l := range slices.Concat(service, metrics) {
		if l == nil {
			return nil, nil, exit.Usagef("a socket that was handed over (LISTEN_FDS) takes no connections; nothing was served: use ListenStream in the socket unit")
		}
	}
	return service, metrics, nil
}

// notify tells systemd how far the service is. Elsewhere nobody listens, and a
// service that nobody hears serves all the same.
func notify(state string) { _, _ = daemon.SdNotify(false, state) }

// openBackend opens the service as the settings have it; it is closed when the
// program ends.
func (p Commands) openBackend(ctx context.Context) (*backend.Backend, error) {
	log := &lineBuffer{w: p.Stderr}
	b, err := backend.Open(ctx, backend.Config{
		DB: p.Settings.DB, IndexFile: p.Settings.Index, Advisories: p.Settings.Advisories, OwnFeed: true, CheckPages: checkPages,
		SigningKey: p.Settings.SigningKey, Rates: p.Settings.Rates, Version: p.Version, Commit: p.Commit,
		Log: slog.New(slog.NewJSONHandler(visible.JSONWriter(log), nil)),
	})
	if err != nil {
		return nil, errors.Join(err, log.Close())
	}
	p.Closers = append(p.Closers, log, b) // the last is closed first, and may have something to say
	return b, nil
}
