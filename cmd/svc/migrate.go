package main

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/peterbourgon/ff/v3/ffcli"

	"svc/assess/ledger"
	"svc/tools/cvescan"
	"svc/tools/fleet/folder"
	"svc/tools/move"
	"svc/tools/readiness"
	"svc/tools/several"
	"svc/tools/tool"
)

func (p *program) migrateCommand() *ffcli.Command {
	var in move.Input
	var m many
	fs := p.flagSet("migrate")
	machineFlags(fs, &in.Machine)
	m.flags(fs)
	p.settings.feed(fs)
	fs.StringVar(&in.Target, "target", "", "release to move to, such as debian-13")
	fs.StringVar(&in.Out, "out", "", "folder to write to: new, empty, or that of an earlier migration; with many machines it gets a folder for each, an inventory and one site.yml for all")
	fs.BoolVar(&in.Confirm, "confirm", false, "write the artifacts, and claim the machine's licence seat")
	fs.BoolVar(&in.Preflight, "preflight", false, "plan, and write nothing; free")
	hazardsFlag(fs, &in.Hazards)
	fs.BoolVar(&in.IncludeSecrets, "include-secrets", false, "carry keys, password digests and files closed to others in the role")
	fs.StringVar(&in.Fixes, "fixes", "", "folder of fixes for the role, as svc rehearse takes it")
	fs.StringVar(&in.Rehearsal, "rehearsal", "", "folder of a rehearsal of this move; the attestation names it")
	fs.Func("target-archive", "packages of the target release (folder, mirror or URL): edited files are merged into the target's own; may be given again", appendTo(&in.TargetArchives))
	fs.Func("source-archive", "packages of the machine's release, for original files that the machine does not keep; may be given again", appendTo(&in.SourceArchives))
	fs.Func("keyring", "file of the OpenPGP keys that must have signed the apt archives; without it, this system's keys", appendTo(&in.Keyrings))
	return p.command(fs, "svc migrate --root DIR | --hosts FILE --target RELEASE (--preflight | --out DIR --confirm)", "plan a machine's move, and write the role that makes it",
		noArgs(func(ctx context.Context) error {
			if m.Given() {
				return migrateMany(ctx, p, m, in)
			}
			if in.Preflight {
				if err := p.borrowData(); err != nil {
					return err
				}
			}
			result, err := move.Migrate(ctx, p.toolEnv(), in)
			if err != nil {
				return err
			}
			p.sawRelease(result.Source)
			p.sawRelease(result.Target)
			if err := p.print(result, func(w *view) { viewMigration(w, result) }); err != nil {
				return err
			}
			return differs(len(result.Inhibitors) > 0)
		}))
}

// migrateMany plans and writes the move of many machines. A preflight is what `svc
// readiness` says of them.
func migrateMany(ctx context.Context, p *program, many many, in move.Input) error {
	many.out = in.Out
	machines, err := many.machines(in.Machine)
	if err == nil {
		err = several.Distinct(machines)
	}
	switch {
	case err != nil:
		return err
	case in.Preflight:
		return p.readiness(ctx, readinessCall{in: readiness.Input{Parallel: many.parallel, Patience: many.patience, Hazards: in.Hazards}, targets: []string{in.Target}, Sources: many.Sources})
	case in.Rehearsal != "" || in.PlanDigest != "":
		return usagef("--rehearsal is of one machine's move")
	case in.Confirm && in.Out == "":
		return usagef("--out is required: the folder to write to (or --preflight, which writes nothing)")
	}
	moves, err := several.Prepare(ctx, p.toolEnv(), several.MoveInput{Machines: machines, Migrate: in, Parallel: many.parallel, Patience: many.patience})
	if err != nil {
		return err
	}
	err = eachHost(ctx, p, many, moves.Order, several.Moved, func(ctx context.Context, env *tool.Env, m several.Listed) (move.Result, error) {
		r, err := moves.Migrate(ctx, env, m, in)
		if err != nil {
			return r, err
		}
		return r, differs(len(r.Inhibitors) > 0)
	})
	inventory, playErr := folder.Play(many.out, moves.Done())
	if playErr != nil {
		return playErr
	}
	p.note("written to %s: index.html says what came of each; fill in %s, then: ansible-playbook -i %s site.yml", many.out, inventory, inventory)
	return err
}

func viewMigration(w *view, r move.Result) {
	w.line("%s to %s: %s, each accounted for", r.Source, r.Target, plural(r.Sum.Total, "package"))
	w.table([][]string{
		{"same name", fmt.Sprint(r.Sum.Same)},
		{"renamed", fmt.Sprint(r.Sum.Renamed)},
		{"split, merged, replaced", fmt.Sprintf("%d, %d, %d", r.Sum.Split, r.Sum.Merged, r.Sum.Replaced)},
		{"as dependencies", fmt.Sprint(r.Sum.Included)},
		{"no counterpart", fmt.Sprint(r.Sum.Removed)},
		{"unknown", fmt.Sprint(r.Sum.Unknown)},
	})
	w.line("The role installs %s.", plural(r.Install, "package"))
	actions := ""
	for i, action := range slices.Sorted(maps.Keys(r.Configuration)) {
		if i > 0 {
			actions += ", "
		}
		actions += fmt.Sprintf("%d %s", r.Configuration[action], action)
	}
	w.line("Configuration: %s.", orNone(actions))
	viewFiles(w, r.Files)
	viewHeadlines(w, "Inhibitors", r.Inhibitors)
	viewHeadlines(w, "To know", r.Findings)
	viewExposure(w, r.Exposure)
	if r.Preflight {
		w.title("Nothing was written: this was a preflight. %s", r.Cost)
		return
	}
	w.title("Written to %s", r.Out)
	rows := [][]string{}
	for _, a := range r.Artifacts {
		rows = append(rows, []string{a.SHA256[:12], a.Path})
	}
	w.table(append(rows, []string{"", fmt.Sprintf("role/ (%s)", plural(r.RoleFiles, "file"))}))
	if r.SeatClaimed {
		w.line("A licence seat was claimed for the machine; repeating this costs nothing.")
	}
	w.line("Next: %s/NEXT.md has the steps in their order; report.html says why.", r.Out)
}

// viewFiles shows what everything on the disk belongs to.
func viewFiles(w *view, f *move.FileCounts) {
	if f == nil {
		w.line("What the whole disk holds was not counted: over ssh a preflight does not, and packages have to say whose files are.")
		return
	}
	w.title("Everything on the disk: %s, each in one row", plural(int(f.Total.Paths), "path"))
	rows := [][]string{}
	for _, row := range ledger.Rows {
		rows = append(rows, []string{string(row), fmt.Sprint(f.Rows[row].Paths)})
	}
	w.table(rows)
	if f.Noticed > 0 {
		w.line("%s that no package and no file brings: NEXT.md and the report name them.", plural(f.Noticed, "thing"))
	}
}

func viewHeadlines(w *view, title string, headlines []tool.Headline) {
	if len(headlines) == 0 {
		return
	}
	w.title("%s", title)
	for _, h := range headlines {
		if h.Severity != "info" {
			w.line("  %-6s  %s  (%s)", h.Severity, h.Title, h.Key)
		}
	}
}

func viewExposure(w *view, e *cvescan.MigrateExposure) {
	if !e.Compared {
		w.title("What the move fixes is not known: %s.", e.Why)
		return
	}
	w.title("Of the vulnerabilities of %s that apply to the machine", advisories(e.Before.Total))
	w.table(exposed(*e.Fixed, *e.Stays, *e.Brought, *e.Open))
	for _, warning := range e.Warnings {
		w.line("%s", warning)
	}
}

// exposed is what a move does to vulnerabilities, in numbers.
func exposed(fixed, stays, brought, open int) [][]string {
	return [][]string{
		{"fixed by the move", fmt.Sprint(fixed)},
		{"still there", fmt.Sprint(stays)},
		{"brought by it", fmt.Sprint(brought)},
		{"not known", fmt.Sprint(open)},
	}
}
