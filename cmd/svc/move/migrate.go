// Package move has the commands that move a machine, its data and its databases, or try
// to.
package move

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/peterbourgon/ff/v3/ffcli"

	"svc/assess"
	"svc/assess/ledger"
	"svc/backend/sliced"
	"svc/cmd/svc/exit"
	"svc/cmd/svc/look"
	"svc/cmd/svc/many"
	"svc/cmd/svc/program"
	"svc/tools/cvescan"
	"svc/tools/evidence"
	"svc/tools/fleet/folder"
	"svc/tools/move"
	"svc/tools/readiness"
	"svc/tools/several"
	"svc/tools/tool"
)

// Commands are what moves a machine, its data and its databases.
type Commands struct{ *program.Program }

// Migrate is `svc migrate`.
func (p Commands) Migrate() *ffcli.Command {
	var in move.Input
	var m many.Machines
	fs := p.FlagSet("migrate")
	many.MachineFlags(fs, &in.Machine)
	m.Flags(fs)
	p.Settings.Feed(fs)
	fs.StringVar(&in.Target, "target", "", "release to move to, such as debian-13")
	fs.StringVar(&in.Out, "out", "", "folder to write to: new, empty, or that of an earlier migration; with many machines it gets a folder for each, an inventory and one site.yml for all")
	fs.BoolVar(&in.Confirm, "confirm", false, "write the artifacts, and claim the machine's licence seat")
	fs.BoolVar(&in.Preflight, "preflight", false, "plan, and write nothing; free")
	many.HazardsFlag(fs, &in.Hazards)
	fs.BoolVar(&in.IncludeSecrets, "include-secrets", false, "carry keys, password digests and files closed to others in the role")
	fs.StringVar(&in.Fixes, "fixes", "", "folder of fixes for the role, as svc rehearse takes it")
	fs.StringVar(&in.Rehearsal, "rehearsal", "", "folder of a rehearsal of this move; the attestation names it")
	fs.Func("target-archive", "packages of the target release (folder, mirror or URL): edited files are merged into the target's own; may be given again", program.AppendTo(&in.TargetArchives))
	fs.Func("source-archive", "packages of the machine's release, for original files that the machine does not keep; may be given again", program.AppendTo(&in.SourceArchives))
	fs.Func("keyring", "file of the OpenPGP keys that must have signed the apt archives; without it, this system's keys", program.AppendTo(&in.Keyrings))
	return p.Command(fs, "svc migrate --root DIR | --hosts FILE --target RELEASE (--preflight | --out DIR --confirm)", "plan a machine's move, and write the role that makes it",
		program.NoArgs(func(ctx context.Context) error {
			if m.Given() {
				return migrateMany(ctx, p.Program, m, in)
			}
			if in.Preflight {
				if err := p.BorrowData(); err != nil {
					return err
				}
			}
			program.CollectLate(memoryLimit)
			result, err := move.Migrate(ctx, p.ToolEnv(), in)
			if err == nil {
				look.Commands{Program: p.Program}.SawRelease(result.Source)
				look.Commands{Program: p.Program}.SawRelease(result.Target)
			}
			return cmp.Or(p.Answer(result, err, func(w *program.View) { viewMigration(w, result) }), exit.Differs(len(result.Inhibitors) > 0))
		}))
}

// memoryLimit of a move, in bytes: usual machines need less.
const memoryLimit = 64 << 20

// migrateMany plans and writes the move of many machines. A preflight is what `svc
// readiness` says of them.
func migrateMany(ctx context.Context, p *program.Program, of many.Machines, in move.Input) error {
	of.Out = in.Out
	machines, err := of.Listed(in.Machine)
	if err == nil {
		err = several.Distinct(machines)
	}
	switch {
	case err != nil:
		return err
	case in.Preflight:
		return look.Commands{Program: p}.LookAt(ctx, look.ReadinessCall{In: readiness.Input{Parallel: of.Parallel, Patience: of.Patience, Hazards: in.Hazards}, Targets: []string{in.Target}, Sources: of.Sources})
	case in.Rehearsal != "" || in.PlanDigest != "":
		return exit.Usagef("--rehearsal is of one machine's move")
	case in.Confirm && in.Out == "":
		return exit.Usagef("--out is required: the folder to write to (or --preflight, which writes nothing)")
	}
	moves, err := several.Prepare(ctx, p.ToolEnv(), several.MoveInput{Machines: machines, Migrate: in, Parallel: of.Parallel, Patience: of.Patience})
	if err != nil {
		return err
	}
	err = many.EachHost(ctx, p, of, moves.Order, several.Moved, func(ctx context.Context, env *tool.Env, m several.Listed) (move.Result, error) {
		r, err := moves.Migrate(ctx, env, m, in)
		return r, cmp.Or(err, exit.Differs(len(r.Inhibitors) > 0))
	})
	inventory, playErr := folder.Play(of.Out, moves.Done())
	if playErr != nil {
		return playErr
	}
	p.Note("written to %s: index.html says what came of each; fill in %s, then: ansible-playbook -i %s site.yml", of.Out, inventory, inventory)
	return err
}

func viewMigration(w *program.View, r move.Result) {
	w.Line("%s to %s: %s, each accounted for", r.Source, r.Target, assess.Plural(r.Sum.Total, "package"))
	w.Table([][]string{
		{"same name", fmt.Sprint(r.Sum.Same)},
		{"renamed", fmt.Sprint(r.Sum.Renamed)},
		{"split, merged, replaced", fmt.Sprintf("%d, %d, %d", r.Sum.Split, r.Sum.Merged, r.Sum.Replaced)},
		{"as dependencies", fmt.Sprint(r.Sum.Included)},
		{"no counterpart", fmt.Sprint(r.Sum.Removed)},
		{"unknown", fmt.Sprint(r.Sum.Unknown)},
	})
	w.Line("The role installs %s.", assess.Plural(r.Install, "package"))
	actions := sliced.Map(slices.Sorted(maps.Keys(r.Configuration)), func(action string) string { return fmt.Sprintf("%d %s", r.Configuration[action], action) })
	w.Line("Configuration: %s.", program.OrNone(strings.Join(actions, ", ")))
	viewFiles(w, r.Files)
	viewHeadlines(w, "Inhibitors", r.Inhibitors)
	viewHeadlines(w, "To know", r.Findings)
	viewExposure(w, r.Exposure)
	if r.Preflight {
		w.Title("Nothing was written: this was a preflight. %s", r.Cost)
		return
	}
	viewWritten(w, r.Out, r.Artifacts, fmt.Sprintf("role/ (%s)", assess.Plural(r.RoleFiles, "file")))
	if r.SeatClaimed {
		w.Line("A licence seat was claimed for the machine; repeating this costs nothing.")
	}
	w.Line("Next: %s/NEXT.md has the steps in their order; report.html says why.", r.Out)
}

// viewWritten shows the documents in a folder, and what is there beside them.
func viewWritten(w *program.View, out string, documents []evidence.Artifact, beside string) {
	w.Title("Written to %s", out)
	rows := sliced.Map(documents, func(a evidence.Artifact) []string { return []string{a.SHA256[:12], a.Path} })
	w.Table(append(rows, []string{"", beside}))
}

// viewFiles shows what everything on the disk belongs to.
func viewFiles(w *program.View, f *move.FileCounts) {
	if f == nil {
		w.Line("What the whole disk holds was not counted: over ssh a preflight does not, and packages have to say whose files are.")
		return
	}
	w.Title("Everything on the disk: %s, each in one row", assess.Plural(int(f.Total.Paths), "path"))
	program.List(w, nil, ledger.Rows, func(row ledger.Row) []string {
		return []string{string(row), fmt.Sprint(f.Rows[row].Paths)}
	})
	if f.Noticed > 0 {
		w.Line("%s that no package and no file brings: NEXT.md and the report name them.", assess.Plural(f.Noticed, "thing"))
	}
}

func viewHeadlines(w *program.View, title string, headlines []tool.Headline) {
	if len(headlines) == 0 {
		return
	}
	w.Title("%s", title)
	for _, h := range headlines {
		if h.Severity != "info" {
			w.Line("  %-6s  %s  (%s)", h.Severity, h.Title, h.Key)
		}
	}
}

func viewExposure(w *program.View, e *cvescan.MigrateExposure) {
	if !e.Compared {
		w.Title("What the move fixes is not known: %s.", e.Why)
		return
	}
	w.Title("Of the vulnerabilities of %s that apply to the machine", look.Advisories(e.Before.Total))
	w.Table(look.Exposed(*e.Fixed, *e.Stays, *e.Brought, *e.Open))
	for _, warning := range e.Warnings {
		w.Line("%s", warning)
	}
}
