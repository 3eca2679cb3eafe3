package main

import (
	"context"
	"flag"
	"fmt"
	"time"

	"github.com/peterbourgon/ff/v3/ffcli"

	"svc/backend"
	"svc/backend/store"
)

// spread moves a store to several servers.
func (p admin) spread(ctx context.Context, s store.Store) error {
	if err := s.Spread(ctx, actor()); err != nil {
		return err
	}
	return p.print(map[string]bool{"spread": true}, func(w *view) { w.line("the accounts are spread over the servers; svc serve may be started") })
}

// checkCommand opens no store that is not there: to make one would hide the loss.
func (p admin) checkCommand() *ffcli.Command {
	return p.storeArgs("check", "svc admin check", "check the store: its pages or shards, and that counters and rows agree", nil, func(ctx context.Context, args []string) error {
		if len(args) > 0 {
			return usagef("unexpected argument %q; nothing was changed", args[0])
		}
		return backend.StoreExists(ctx, p.settings.db)
	}, p.storeCheck)
}

func (p admin) storeCheck(ctx context.Context, s store.Store) error {
	problems, err := s.Check(ctx)
	if err != nil {
		return err
	}
	err = p.print(map[string]any{"consistent": len(problems) == 0, "problems": problems}, func(w *view) {
		for _, problem := range problems {
			w.line("%s", problem)
		}
		if len(problems) == 0 {
			w.line("the store is whole; counters and rows agree")
		}
	})
	if err == nil && len(problems) > 0 {
		return &exitError{code: exitFailed}
	}
	return err
}

func (p admin) backupCommand() *ffcli.Command {
	out := ""
	return p.storeCommand("backup", "svc admin backup --out FILE", "copy the store while it is in use", func(fs *flag.FlagSet) {
		fs.StringVar(&out, "out", "", "new file")
	}, func(ctx context.Context, s store.Store) error {
		if out == "" {
			return usagef("backup needs --out")
		}
		if err := s.Backup(ctx, out); err != nil {
			return err
		}
		return p.print(map[string]string{"file": out}, func(w *view) { w.line("the store is copied to %s", out) })
	})
}

// pruneCommand removes old events; seats, and so what is paid, stay for ever.
func (p admin) pruneCommand() *ffcli.Command {
	before := ""
	return p.storeCommand("prune", "svc admin prune --before DAY", "remove events of before a day; seats stay", func(fs *flag.FlagSet) {
		fs.StringVar(&before, "before", "", "first day that is kept, YYYY-MM-DD")
	}, func(ctx context.Context, s store.Store) error {
		day, err := time.Parse(time.DateOnly, before)
		if err != nil {
			return usagef("prune needs --before with a date like 2026-12-31; nothing was removed")
		}
		n, err := s.Prune(ctx, actor(), day)
		if err != nil {
			return fmt.Errorf("%s removed, seats and other events stay: %w", plural(int(n), "event"), err)
		}
		return p.print(map[string]int64{"removed": n}, func(w *view) { w.line("removed %s", plural(int(n), "event")) })
	})
}

func (p admin) audit(ctx context.Context, s store.Store) error {
	entries, err := s.Audit(ctx)
	if err != nil {
		return err
	}
	return p.print(entries, func(w *view) {
		for _, e := range entries {
			w.line("%s  %s  %s  %s", e.At.Format(time.DateTime), e.Actor, e.Act, e.Detail)
		}
	})
}
