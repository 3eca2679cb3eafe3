//go:build linux

package move

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/peterbourgon/ff/v3/ffcli"

	"svc/cmd/svc/exit"
	"svc/cmd/svc/program"
	"svc/tools/data"
	"svc/tools/dbplan"
	"svc/tools/upgrade"
)

func (p Commands) dbUpgradeCommand() *ffcli.Command {
	var in dbplan.UpgradeInput
	fs := p.FlagSet("upgrade")
	fs.StringVar(&in.Engine, "engine", "", strings.Join(upgrade.Engines(), ", "))
	fs.StringVar(&in.To, "to", "", "version to go to, such as 17; engine/version for a change of engine")
	fs.StringVar(&in.Instance, "instance", "", "which database, where there are several: 13/main")
	fs.StringVar(&in.Backup, "backup-dir", "", "empty directory for the backup, the journal and the log")
	fs.BoolVar(&in.Confirm, "confirm", false, "do it: this host is changed")
	fs.BoolVar(&in.Resume, "resume", false, "go on with the upgrade that was begun with this --backup-dir")
	fs.BoolVar(&in.RollBack, "roll-back", false, "take back the upgrade that was begun with this --backup-dir")
	fs.BoolVar(&in.Discard, "discard-writes", false, "with --roll-back: leave behind what clients have written to the new server; it is kept, but not served")
	return p.Command(fs, "svc db upgrade --engine ENGINE --to VERSION --backup-dir DIR [--confirm], or svc db upgrade --backup-dir DIR --resume | --roll-back [--discard-writes] [--confirm]",
		"upgrade a database of this host, with a verified backup and a way back",
		program.NoArgs(func(ctx context.Context) error {
			again := in.Resume || in.RollBack
			switch {
			case in.Backup == "":
				return exit.Usagef("db upgrade needs --backup-dir: an empty directory, best on a disk of its own, for a backup of the whole database, the journal and the log; nothing was changed")
			case in.Resume && in.RollBack:
				return exit.Usagef("--resume and --roll-back exclude each other; nothing was changed")
			case in.Discard && !in.RollBack:
				return exit.Usagef("--discard-writes goes with --roll-back; nothing was changed")
			case again && (in.Engine != "" || in.To != "" || in.Instance != ""):
				return exit.Usagef("--resume and --roll-back take what the journal says: no --engine, --to or --instance; nothing was changed")
			case !again && (in.Engine == "" || in.To == ""):
				return exit.Usagef("db upgrade needs --engine and --to, or --resume or --roll-back; nothing was changed")
			}
			return p.dbUpgrade(ctx, in)
		}))
}

// dbUpgrade prints the plan of what is not confirmed, and else what became of it:
// of an upgrade that failed too.
func (p Commands) dbUpgrade(ctx context.Context, in dbplan.UpgradeInput) error {
	// A terminal that goes away has it taken back, like any other signal; that
	// nobody reads what is printed any more stops nothing.
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGHUP)
	defer stop()
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	env := p.ToolEnv()
	in.Report = p.upgradeProgress(env.Progress)
	result, err := dbplan.Upgrade(ctx, env, in)
	if p.Drawing != nil {
		p.Drawing.Close()
	}
	if len(result.Steps) > 0 {
		err = errors.Join(err, p.Print(result, func(w *program.View) { viewUpgrade(w, &result) }))
	}
	return err
}

// seldom is how often a line says how far a step is.
const seldom = time.Minute

// upgradeProgress draws a bar on a terminal, of steps or of what a step has
// written, and writes lines elsewhere; what is waited for is said at once.
func (p Commands) upgradeProgress(bar func(what string, done, total int)) func(upgrade.Event) {
	const mib = 1 << 20
	var last time.Time
	waits := false // that it does has been said
	if p.Settings.Quiet {
		return func(upgrade.Event) {}
	}
	if program.TerminalWidth(p.Stderr) == 0 {
		bar = nil
	}
	return func(e upgrade.Event) {
		what := e.Step.Does
		if e.State == upgrade.Undoing {
			what = "taking back: " + what
		}
		now := time.Now()
		switch {
		case bar != nil && e.Waits != "":
			bar(what+", and waits: "+e.Waits, e.Done, e.Total)
		case bar != nil && e.AllTables > 0:
			bar(fmt.Sprintf("%d of %d, table %d of %d, MiB: %s", e.Done+1, e.Total, e.Tables, e.AllTables, what), int(e.Read/mib), -1)
		case bar != nil && e.Filled > 0:
			done, total := int(e.Filled/mib), int(e.Step.Bytes/mib)
			if done >= total { // more than was thought, or nobody knows
				total = -1
			}
			bar(fmt.Sprintf("%d of %d, MiB: %s", e.Done+1, e.Total, what), done, total)
		case bar != nil:
			bar(what, e.Done, e.Total)
		case e.Waits != "":
			if !waits || now.Sub(last) >= seldom {
				last, waits = now, true
				fmt.Fprintf(p.Stderr, "svc: %s waits: %s\n", e.Step.Name, e.Waits)
			}
		case e.Filled == 0 && e.AllTables == 0:
			last, waits = now, false
			fmt.Fprintf(p.Stderr, "svc: %d of %d, %s: %s\n", e.Done+1, e.Total, e.Step.Name, what)
		case now.Sub(last) >= seldom:
			last = now
			fmt.Fprintf(p.Stderr, "svc: %s %s\n", e.Step.Name, soFar(e))
		}
	}
}

// soFar says how far a step is.
func soFar(e upgrade.Event) string {
	var parts []string
	if e.Filled > 0 {
		parts = append(parts, "has written "+data.Size(e.Filled)+" so far")
		if e.Step.Bytes > e.Filled {
			parts[0] += " of about " + data.Size(e.Step.Bytes)
		}
	}
	if e.AllTables > 0 {
		parts = append(parts, fmt.Sprintf("reads table %d of %d, %s of tables of %s", e.Tables, e.AllTables, data.Size(e.Read), data.Size(e.AllRead)))
	}
	return strings.Join(parts, ", ")
}

func viewUpgrade(w *program.View, r *upgrade.Result) {
	w.Line("%s → %s: %s in %s, by %s", r.From, r.To, r.Instance, r.Directory, r.Method)
	if r.Outcome != "" {
		w.Line("%s", r.Outcome)
	}
	if r.Waited > 0 {
		w.Line("clients were cut off for %.1f seconds", r.Waited)
	} else {
		w.Line("clients wait: %s", r.Downtime)
	}
	rows := [][]string{}
	for i, s := range r.Steps {
		where := ""
		if s.Changes {
			where = "changes the host"
		}
		rows = append(rows, []string{fmt.Sprint(i + 1), s.Name, s.Does, where, string(s.State)})
	}
	w.Table(rows)
	if r.Written != nil && r.Outcome != upgrade.RolledBack {
		w.Line("%s", r.Written)
	}
	for _, n := range r.Needs {
		w.Line("  needs  %s for %s in %s", data.Size(n.Bytes), n.For, n.Directory)
	}
	for _, n := range r.Notes {
		w.Line("  note   %s", n)
	}
	if len(r.Afterwards) > 0 {
		w.Title("Afterwards")
	}
	for _, a := range r.Afterwards {
		w.Line("  %s", a)
	}
	if r.Journal != "" {
		w.Line("journal %s, log %s", r.Journal, r.Log)
	}
}
