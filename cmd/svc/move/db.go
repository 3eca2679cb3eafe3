package move

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/peterbourgon/ff/v3/ffcli"

	"svc/assess"
	"svc/assess/datadir"
	"svc/backend/sliced"
	"svc/cmd/svc/exit"
	"svc/cmd/svc/look"
	"svc/cmd/svc/many"
	"svc/cmd/svc/program"
	"svc/tools/data"
	"svc/tools/database"
	"svc/tools/dbplan"
)

// DB is `svc db`.
func (p Commands) DB() *ffcli.Command {
	return p.Group("svc db", "databases: plan what becomes of them, and upgrade those of this host", p.dbPlanCommand(), p.dbUpgradePathCommand(), p.dbUpgradeCommand())
}

func (p Commands) dbPlanCommand() *ffcli.Command {
	var in dbplan.PlanInput
	fs := p.FlagSet("plan")
	many.MachineFlags(fs, &in.Machine)
	fs.StringVar(&in.Target, "target", "", "release to move to, such as debian-13")
	return p.Command(fs, "svc db plan --root DIR | --image FILE | --ssh HOST --target RELEASE", "say of every database what its files state, and how it gets to a release",
		program.NoArgs(func(ctx context.Context) error {
			if in.Target == "" {
				return exit.Usagef("db plan needs --target")
			}
			if err := p.BorrowData(); err != nil {
				return err
			}
			result, err := dbplan.Plan(ctx, p.ToolEnv(), in)
			return p.Answer(result, err, func(w *program.View) { viewDBPlan(w, &result) })
		}))
}

func viewDBPlan(w *program.View, r *dbplan.PlanResult) {
	w.Line("%s → %s, %s", r.Source, r.Target, assess.Plural(len(r.Databases), "database"))
	for i := range r.Databases {
		viewDatabase(w, &r.Databases[i])
	}
	look.ViewSources(w, r.Sources)
}

func viewDatabase(w *program.View, d *database.Plan) {
	w.Title("%s %s  %s", d.Engine, cmp.Or(string(d.Version), "of unknown version"), d.Directory)
	target := "nothing that takes these data"
	if d.Target != nil {
		target = fmt.Sprintf("%s%s %s", d.Target.Place, offered(d.Target.Offer), d.Target.Exact)
	}
	holds := []string{}
	for _, c := range d.Data.Databases {
		how := strings.Join(strings.Fields(c.Encoding+" "+c.Provider+" "+c.Collate), " ")
		holds = append(holds, strings.TrimSuffix(c.Name+" ("+how+")", " ()"))
	}
	rows := [][]string{
		{"gap", string(d.Gap)},
		{"target", target},
		{"also offered", strings.Join(options(d), ", ")},
		{"form", strings.TrimSpace(d.Data.Form + "  " + d.Data.State)},
		{"checksums", d.Data.Checksums},
		{"size", fmt.Sprintf("%s in %s", data.Size(d.Data.Bytes), assess.Plural(d.Data.Files, "file"))},
		{"databases", strings.Join(holds, ", ")},
		{"storage", counts(d.Data.Engines)},
		{"plugins", strings.Join(stated(d, "plugin"), ", ")},
		{"authentication", counts(d.Data.Auth)},
		{"replication", strings.Join(d.Data.Replication, ", ")},
	}
	w.Table(slices.DeleteFunc(rows, func(row []string) bool { return row[1] == "" })) // what was not read is said below
	for _, e := range d.Extensions {
		w.Line("  extension  %s %s, on the target: %s %s", e.Name, e.Version, e.Offered, strings.Join(e.Targets, " "))
	}
	for _, n := range d.Notes {
		w.Line("  %-9s  %s", n.Severity, n.Text)
	}
	for _, x := range d.Reindex {
		w.Line("  reindex    %s: %s", x.Database, x.Why)
	}
	for i, path := range d.Paths {
		if i > 0 {
			w.Line("  or         %s: %s", path.Methods(), path.Why)
			continue
		}
		w.Line("  way        %s", path.Why)
		for _, s := range path.Steps {
			viewStep(w, s)
		}
	}
	for _, b := range d.Barriers {
		w.Line("  not by     %s: %s → %s", b.Method, b.Why, b.Instead)
	}
	for _, u := range d.Data.Unread {
		w.Line("  not read   %s", u)
	}
}

// options are what the target has beside what it installs by itself.
func options(d *database.Plan) []string {
	return sliced.Map(d.Options, func(o database.Offer) string { return o.Place.String() + offered(o) })
}

// stated are the facts of a kind.
func stated(d *database.Plan, key string) []string {
	return sliced.FilterMap(d.Data.Facts, func(f datadir.Fact) (string, bool) { return f.Value, f.Key == key })
}

func counts(list []datadir.Count) string {
	return strings.Join(sliced.Map(list, func(c datadir.Count) string { return fmt.Sprintf("%s %d", c.Name, c.Count) }), ", ")
}

func (p Commands) dbUpgradePathCommand() *ffcli.Command {
	var in dbplan.UpgradePathInput
	fs := p.FlagSet("upgrade-path")
	fs.StringVar(&in.Engine, "engine", "", "postgresql, mysql, mariadb, mongodb, redis, valkey, openldap or sqlite")
	fs.StringVar(&in.From, "from", "", "version of the data, such as 13 or 8.0.34, or a release: what it installs by default")
	fs.StringVar(&in.To, "to", "", "a version, engine/version for a change of engine, or a release such as debian-13")
	fs.BoolVar(&in.SourceOffline, "source-offline", false, "the source is stopped and stays stopped: only ways that use its files are listed")
	fs.BoolVar(&in.InPlace, "in-place", false, "upgrade on the same host; without it, the data move to a fresh host")
	return p.Command(fs, "svc db upgrade-path --engine ENGINE --from VERSION --to VERSION|ENGINE/VERSION|RELEASE", "rank the ways from a version of a database to another",
		program.NoArgs(func(ctx context.Context) error {
			if in.Engine == "" || in.From == "" || in.To == "" {
				return exit.Usagef("db upgrade-path needs --engine, --from and --to")
			}
			return p.dbUpgradePath(ctx, in)
		}))
}

// dbUpgradePath prints the ways; that there is none is a failure.
func (p Commands) dbUpgradePath(ctx context.Context, in dbplan.UpgradePathInput) error {
	if err := p.BorrowData(); err != nil {
		return err
	}
	result, err := dbplan.UpgradePath(ctx, p.ToolEnv(), in)
	err = p.Answer(result, err, func(w *program.View) { viewRoute(w, &result.Route, result.To) })
	if err == nil && !result.Possible {
		return fmt.Errorf("there is no way from %s to %s; nothing was changed: see what would make it possible", result.From, result.To)
	}
	return err
}

func viewRoute(w *program.View, r *database.Route, to string) {
	if len(r.Paths) == 0 {
		w.Line("From %s to %s: IMPOSSIBLE", r.From, to)
	}
	for i, path := range r.Paths {
		w.Line("%d. %s → %s%s", i+1, r.From, path.Target.Place, offered(path.Target))
		w.Line("   %s", path.Why)
		for _, s := range path.Steps {
			viewStep(w, s)
		}
	}
	if len(r.Barriers) > 0 {
		w.Title("What does not work")
	}
	for _, b := range r.Barriers {
		w.Line("  %s → %s, %s: %s", b.From, b.To, b.Method, b.Why)
		w.Line("             → %s", b.Instead)
	}
}

func viewStep(w *program.View, s database.Step) {
	w.Line("   %s → %s: %s (source %s)", s.From.Version, s.To.Version, s.Method, s.State)
	w.Line("      needs  %s", strings.Join(s.Requires, "; "))
	if len(s.Risks) > 0 {
		w.Line("      risks  %s", strings.Join(s.Risks, "; "))
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
