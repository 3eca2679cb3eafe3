package service

import (
	"context"
	"flag"
	"fmt"
	"time"

	"github.com/peterbourgon/ff/v3/ffcli"

	"svc/assess"
	"svc/backend"
	"svc/backend/store"
	"svc/cmd/svc/exit"
	"svc/cmd/svc/program"
)

// spread moves a store to several servers.
func (p Commands) spread(ctx context.Context, s store.Store) error {
	return p.Answer(map[string]bool{"spread": true}, s.Spread(ctx, actor()), func(w *program.View) { w.Line("the accounts are spread over the servers; svc serve may be started") })
}

// checkCommand opens no store that is not there: to make one would hide the loss.
func (p Commands) checkCommand() *ffcli.Command {
	return p.storeArgs("check", "svc admin check", "check the store: its pages or shards, and that counters and rows agree", nil, func(ctx context.Context, args []string) error {
		if len(args) > 0 {
			return exit.Usagef("unexpected argument %q; nothing was changed", args[0])
		}
		return backend.StoreExists(ctx, p.Settings.DB)
	}, p.storeCheck)
}

func (p Commands) storeCheck(ctx context.Context, s store.Store) error {
	problems, err := s.Check(ctx)
	err = p.Answer(map[string]any{"consistent": len(problems) == 0, "problems": problems}, err, func(w *program.View) {
		for _, problem := range problems {
			w.Line("%s", problem)
		}
		if len(problems) == 0 {
			w.Line("the store is whole; counters and rows agree")
		}
	})
	if err == nil && len(problems) > 0 {
		return &exit.Error{Code: exit.Failed}
	}
	return err
}

func (p Commands) backupCommand() *ffcli.Command {
	out := ""
	return p.storeCommand("backup", "svc admin backup --out FILE", "copy the store while it is in use", func(fs *flag.FlagSet) {
		fs.StringVar(&out, "out", "", "new file")
	}, func(ctx context.Context, s store.Store) error {
		if out == "" {
			return exit.Usagef("backup needs --out")
		}
		return p.Answer(map[string]string{"file": out}, s.Backup(ctx, out), func(w *program.View) { w.Line("the store is copied to %s", out) })
	})
}

// pruneCommand removes old events; seats, and so what is paid, stay for ever.
func (p Commands) pruneCommand() *ffcli.Command {
	before := ""
	return p.storeCommand("prune", "svc admin prune --before DAY", "remove events of before a day; seats stay", func(fs *flag.FlagSet) {
		fs.StringVar(&before, "before", "", "first day that is kept, YYYY-MM-DD")
	}, func(ctx context.Context, s store.Store) error {
		day, err := time.Parse(time.DateOnly, before)
		if err != nil {
			return exit.Usagef("prune needs --before with a date like 2026-12-31; nothing was removed")
		}
		n, err := s.Prune(ctx, actor(), day)
		if err != nil {
			return fmt.Errorf("%s removed, seats and other events stay: %w", assess.Plural(int(n), "event"), err)
		}
		return p.Print(map[string]int64{"removed": n}, func(w *program.View) { w.Line("removed %s", assess.Plural(int(n), "event")) })
	})
}

func (p Commands) audit(ctx context.Context, s store.Store) error {
	entries, err := s.Audit(ctx)
	return listed(p, entries, err, func(w *program.View, e store.AuditEntry) {
		w.Line("%s  %s  %s  %s", e.At.Format(time.DateTime), e.Actor, e.Act, e.Detail)
	})
}
