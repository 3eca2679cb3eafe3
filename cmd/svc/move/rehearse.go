//go:build linux

package move

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/peterbourgon/ff/v3/ffcli"

	"svc/assess"
	"svc/backend/sliced"
	"svc/cmd/svc/exit"
	"svc/cmd/svc/many"
	"svc/cmd/svc/program"
	"svc/tools/fleet"
	"svc/tools/machine"
	"svc/tools/rehearsal"
	"svc/tools/rehearse"
	"svc/tools/sandbox"
	"svc/tools/several"
	"svc/tools/tool"
)

// Rehearse is `svc rehearse`.
func (p Commands) Rehearse() *ffcli.Command {
	var in rehearse.Input
	var memory, disk int64
	var groups string
	fs := p.FlagSet("rehearse")
	many.MachineFlags(fs, &in.Machine)
	p.Settings.Feed(fs)
	fs.StringVar(&in.Target, "target", "", "release to move to, such as debian-13")
	fs.StringVar(&in.Out, "out", "", "folder to write to: new, empty, or that of an earlier rehearsal")
	fs.BoolVar(&in.WithData, "with-data", false, "move the data, too, from the disk")
	fs.StringVar(&in.Base, "base", "", "folder or disk image with a fresh root of the target, only read; without it, one is made and kept")
	fs.StringVar(&in.Archive, "archive", "", "archive of the target's packages, in place of the release's own")
	fs.StringVar(&in.Fixes, "fixes", "", "folder of fixes for the role: a folder each, with files/, packages and commands")
	fs.StringVar(&in.Checks, "checks", "", "folder of programs that check a machine, by their exit code or by TAP")
	many.HazardsFlag(fs, &in.Hazards)
	fs.StringVar(&groups, "fleet", "", "fleet.json of svc readiness, in place of one machine: the first machine of each group of alike ones is rehearsed, into a folder of out, whose index.html has all")
	fs.Int64Var(&memory, "memory-mib", 0, "memory that each of the two machines may take (default 2048)")
	fs.Int64Var(&disk, "disk-mib", 0, "what each may write (default 20480)")
	fs.DurationVar(&in.Limits.Time, "time", time.Hour, "time that each may take")
	return p.Command(fs, "svc rehearse (--root DIR | --image FILE | --ssh HOST) --target RELEASE --out DIR [--with-data]", "try a move on a throw-away target, and say what runs there",
		program.NoArgs(func(ctx context.Context) error {
			if err := sandbox.AsRootOfItsOwn(in.Root); err != nil {
				return err
			}
			in.Limits.Memory, in.Limits.Disk = memory<<20, disk<<20
			if groups != "" {
				return p.rehearseGroups(ctx, groups, in)
			}
			result, err := rehearse.Move(ctx, p.ToolEnv(), in)
			return cmp.Or(p.Answer(result, err, func(w *program.View) { viewRehearsal(w, &result) }), exit.Differs(!result.Passed()))
		}))
}

func viewRehearsal(w *program.View, r *rehearse.Result) {
	w.Line("%s to %s, tried on a throw-away target (%s): %d run, %d do not, %d could not be tried", r.Source, r.Target, r.Level, r.Sum.Runs, r.Sum.Fails, r.Sum.Untried)
	if r.Level == rehearsal.Chroot {
		w.Line("Level chroot: the role was applied and programs were asked, but nothing was started. What only a started service shows could not be tried.")
	}
	if !r.Role.Applied {
		w.Title("The role did not come to its end")
		for _, f := range r.Role.Failures {
			w.Line("  %s", f)
		}
	}
	for _, verdict := range []rehearsal.Verdict{rehearsal.Fails, rehearsal.Untried} {
		many.ViewFunctions(w, r.Checks, verdict)
	}
	for _, f := range r.Fixes {
		w.Line("The fix %s mended %s.", f.Name, assess.Plural(len(f.Mended), "check"))
	}
	if len(r.Remarks) > 0 {
		w.Title("To know")
		for _, s := range r.Remarks {
			w.Line("  %s", s)
		}
	}
	w.Title("Written to %s", r.Out)
	w.Line("report.html has all of it; rehearsal.json is for programs. Nothing of the machine was changed, and the target is gone.")
}

// maxFleet bounds the document of a fleet, in bytes.
const maxFleet = 256 << 20

// rehearseGroups rehearses one machine of each group of a fleet, one after the other.
func (p Commands) rehearseGroups(ctx context.Context, file string, in rehearse.Input) error {
	if in.Machine != (machine.Machine{TrustImage: in.TrustImage}) || in.Out == "" {
		return exit.Usagef("--fleet takes the place of one machine, and needs --out: leave --root, --image and --ssh out")
	}
	f, err := os.Open(file)
	if err != nil {
		return fmt.Errorf("reading the fleet: %w", err)
	}
	defer f.Close()
	var d fleet.Document
	if err := json.NewDecoder(io.LimitReader(f, maxFleet)).Decode(&d); err != nil || d.Schema != fleet.Schema {
		return exit.Usagef("%s is no fleet.json of `svc readiness`; nothing was done", file)
	}
	places := sliced.Index(d.Machines, func(m fleet.Machine) (string, string) { return m.Name, m.Place })
	machines := []several.Listed{}
	for _, g := range d.Groups {
		one := machine.MachineAt(places[g.Machines[0]])
		one.TrustImage = in.TrustImage
		machines = append(machines, several.Listed{Line: fmt.Sprintf("%s (for %s)", g.Name, assess.Plural(len(g.Machines), "machine")), Called: g.Machines[0], Machine: one})
	}
	if len(machines) == 0 {
		return exit.Usagef("%s has no group of machines; nothing was done", file)
	}
	if err := several.Distinct(machines); err != nil {
		return err
	}
	return many.EachHost(ctx, p.Program, many.Machines{Parallel: 1, Out: in.Out, Command: "svc rehearse"}, machines, several.Rehearsed, func(ctx context.Context, env *tool.Env, m several.Listed) (rehearse.Result, error) {
		one := in
		one.Machine, one.Out = m.Machine, filepath.Join(in.Out, m.Name())
		r, err := rehearse.Move(ctx, env, one)
		return r, cmp.Or(err, exit.Differs(!r.Passed()))
	})
}
