package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/peterbourgon/ff/v3/ffcli"

	"svc/tools"
	"svc/tools/database"
)

func (p *program) dbCommand() *ffcli.Command {
	return p.group("db", "databases: plan what becomes of them; nothing is executed", p.dbUpgradePathCommand())
}

func (p *program) dbUpgradePathCommand() *ffcli.Command {
	var in tools.DBUpgradePathInput
	fs := p.flagSet("upgrade-path")
	fs.StringVar(&in.Engine, "engine", "", "postgresql, mysql, mariadb, mongodb, redis, valkey, openldap or sqlite")
	fs.StringVar(&in.From, "from", "", "version of the data, such as 13 or 8.0.34")
	fs.StringVar(&in.To, "to", "", "a version, engine/version for a change of engine, or a release such as debian-13")
	fs.BoolVar(&in.SourceOffline, "source-offline", false, "the source is stopped and stays so: only ways from its files count")
	return p.command(fs, "svc db upgrade-path --engine ENGINE --from VERSION --to VERSION|ENGINE/VERSION|RELEASE", "rank the ways from a version of a database to another",
		noArgs(func(ctx context.Context) error {
			if in.Engine == "" || in.From == "" || in.To == "" {
				return usagef("db upgrade-path needs --engine, --from and --to")
			}
			return p.dbUpgradePath(ctx, in)
		}))
}

// dbUpgradePath prints the ways; that there is none is a failure.
func (p *program) dbUpgradePath(ctx context.Context, in tools.DBUpgradePathInput) error {
	result, err := tools.DBUpgradePath(ctx, p.toolEnv(), in)
	if err != nil {
		return err
	}
	if err := p.print(result, func(w *view) { viewRoute(w, &result.Route, result.To) }); err != nil {
		return err
	}
	if !result.Possible {
		return fmt.Errorf("there is no way from %s to %s; nothing was changed: see what would make it possible", result.From, result.To)
	}
	return nil
}

func viewRoute(w *view, r *database.Route, to string) {
	if len(r.Paths) == 0 {
		w.line("From %s to %s: IMPOSSIBLE", r.From, to)
	}
	for i, path := range r.Paths {
		w.line("%d. %s → %s%s", i+1, r.From, path.Target.Place, offered(path.Target))
		w.line("   %s", path.Why)
		for _, s := range path.Steps {
			viewStep(w, s)
		}
	}
	if len(r.Barriers) > 0 {
		w.title("What does not work")
	}
	for _, b := range r.Barriers {
		w.line("  %s → %s, %s: %s", b.From, b.To, b.Method, b.Why)
		w.line("             → %s", b.Instead)
	}
}

func viewStep(w *view, s database.Step) {
	w.line("   %s → %s: %s (source %s)", s.From.Version, s.To.Version, s.Method, s.State)
	w.line("      needs  %s", strings.Join(s.Requires, "; "))
	if len(s.Risks) > 0 {
		w.line("      risks  %s", strings.Join(s.Risks, "; "))
	}
}

// offered says how a release offers a version, and by which package.
func offered(o database.Offer) string {
	switch o.How {
	case "":
		return ""
	case "default":
		return fmt.Sprintf(" (%s)", o.Package)
	case "vendor":
		return fmt.Sprintf(" (%s, from the vendor's repository)", o.Package)
	}
	return fmt.Sprintf(" (%s %s)", o.How, o.Package)
}
