package look

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"runtime/debug"
	"strings"

	"github.com/peterbourgon/ff/v3/ffcli"

	"svc/assess"
	"svc/backend/sliced"
	"svc/cmd/svc/exit"
	"svc/cmd/svc/many"
	"svc/cmd/svc/program"
	"svc/tools/fleet"
	"svc/tools/machine"
	"svc/tools/readiness"
	"svc/tools/several"
)

// ReadinessCall is what `svc readiness` was given.
type ReadinessCall struct {
	In      readiness.Input
	Targets []string
	several.Sources
}

// Readiness is `svc readiness`.
func (p Commands) Readiness() *ffcli.Command {
	var c ReadinessCall
	fs := p.FlagSet("readiness")
	fs.Func("target", "release to move to, such as debian-13; may be given again, to compare", program.AppendTo(&c.Targets))
	fs.StringVar(&c.Hosts, "hosts", "", "file with one machine a line: a folder, an image or ssh://[user@]host[:port], and optionally a name; # begins a comment")
	fs.StringVar(&c.Images, "images", "", "folder of powered-off disk images, one a machine")
	fs.StringVar(&c.Roots, "roots", "", "folder of root folders, one a machine")
	many.TrustFlag(fs, &c.Trust)
	fs.IntVar(&c.In.Parallel, "parallel", 4, "machines read at once")
	fs.DurationVar(&c.In.Patience, "patience", many.PatienceOfFleet, "how long one machine may take")
	fs.StringVar(&c.In.Out, "out", "", "folder for fleet.json, index.html, machines.csv and a report of each machine; a repeat continues there")
	many.HazardsFlag(fs, &c.In.Hazards)
	fs.BoolVar(&c.In.Fresh, "fresh", false, "with --out: read all machines again, also images and folders that did not change")
	return p.Command(fs, "svc readiness (--hosts FILE | --images DIR | --roots DIR)… --target RELEASE [--out DIR]", "say which machines of many can move, what each needs, and in which order to begin; free",
		program.NoArgs(func(ctx context.Context) error { return p.LookAt(ctx, c) }))
}

// collectOften has garbage collected when there is half as much of it as of what is
// kept: of machines that are read at once, most is soon garbage.
const collectOften = 50

// LookAt looks at the fleet for each target.
func (p Commands) LookAt(ctx context.Context, c ReadinessCall) (err error) {
	switch {
	case len(c.Targets) == 0:
		return exit.Usagef("--target is required: a release such as debian-13; nothing was done")
	case c.In.Parallel < 1 || c.In.Parallel > many.MaxParallel:
		return exit.Usagef("--parallel takes 1 to %d", many.MaxParallel)
	}
	if c.In.Members, err = c.members(); err != nil {
		return err
	}
	if err := p.BorrowData(); err != nil {
		return err
	}
	debug.SetGCPercent(collectOften)
	env := p.ToolEnv()
	var documents []*fleet.Document
	for _, target := range c.Targets {
		in := c.In
		if in.Target = target; in.Out != "" && len(c.Targets) > 1 {
			in.Out = filepath.Join(in.Out, machine.FolderName(target))
		}
		d, err := readiness.Of(ctx, env, in)
		if err != nil {
			return err
		}
		documents = append(documents, d)
	}
	if len(documents) == 1 {
		err = p.Print(documents[0], func(w *program.View) { viewFleet(w, documents[0], c.In.Out) })
	} else {
		err = p.Print(struct {
			Schema string            `json:"schema"`
			Fleets []*fleet.Document `json:"fleets"`
		}{"svc.fleets/v1", documents}, func(w *program.View) { viewFleets(w, documents, c.In.Out) })
	}
	return cmp.Or(err, verdict(documents))
}

// verdict is the exit code of what was found: a machine that can't be read is a
// failure, one that is blocked a finding.
func verdict(documents []*fleet.Document) error {
	blocked := false
	for _, d := range documents {
		if d.Totals.Unreadable > 0 {
			return &exit.Error{Code: exit.Failed}
		}
		blocked = blocked || d.Totals.Blocked > 0
	}
	return exit.Differs(blocked)
}

// members are the machines of all lists and folders, by names of their own.
func (c *ReadinessCall) members() (members []machine.Member, err error) {
	if !c.Given() {
		return nil, exit.Usagef("name the machines by --hosts FILE, --images DIR or --roots DIR; nothing was done: see `svc readiness -h`")
	}
	listed, err := c.Machines()
	members = append(members, sliced.Map(listed, several.Listed.Member)...)
	return machine.Distinct(members), err
}

// viewFleet is one target's answer.
func viewFleet(w *program.View, d *fleet.Document, out string) {
	program.List(w, []string{"MACHINE", "RELEASE", "VERDICT", "WAVE", "WHAT"}, d.Machines, func(m fleet.Machine) []string {
		wave := ""
		if m.Wave > 0 {
			wave = fmt.Sprint(m.Wave)
		}
		return []string{m.Name, m.Source, strings.ToUpper(string(m.Verdict)), wave, m.Why()}
	})
	w.Title("%s to %s: %d ready, %d with work, %d blocked, %d could not be read", assess.Plural(d.Totals.Machines, "machine"), d.Target, d.Totals.Ready, d.Totals.Work, d.Totals.Blocked, d.Totals.Unreadable)
	w.Line("%s", d.Cost.Line())
	for _, wave := range d.Waves {
		w.Line("Wave %d, %s: %s.", wave.Number, assess.Plural(len(wave.Machines), "machine"), wave.Why)
	}
	viewFirst(w, "What many share", d.Shared, func(s fleet.Shared) { w.Line("  %-4d  %s", len(s.Machines), s.Title) })
	viewFirst(w, "What to fix first, and how many machines are ready then", d.Fixes, func(f fleet.Fix) { w.Line("  %-4d  %s (%d need it)", f.Ready, f.Title, len(f.Machines)) })
	if out != "" {
		w.Title("Written to %s: index.html for people, fleet.json, machines.csv, and a report of each machine.", out)
	}
}

// mostShared is how many findings of several machines a person's view has.
const mostShared = 10

// viewFirst shows the first of what machines share.
func viewFirst[T any](w *program.View, title string, all []T, line func(T)) {
	if len(all) > 0 {
		w.Title("%s", title)
	}
	for _, one := range all[:min(len(all), mostShared)] {
		line(one)
	}
	if more := len(all) - mostShared; more > 0 {
		w.Line("  and %d more, in fleet.json", more)
	}
}

// viewFleets compares targets.
func viewFleets(w *program.View, documents []*fleet.Document, out string) {
	program.List(w, []string{"TARGET", "READY", "WORK", "BLOCKED", "UNREADABLE"}, documents, func(d *fleet.Document) []string {
		return []string{d.Target, fmt.Sprint(d.Totals.Ready), fmt.Sprint(d.Totals.Work), fmt.Sprint(d.Totals.Blocked), fmt.Sprint(d.Totals.Unreadable)}
	})
	header := append([]string{"MACHINE"}, sliced.Map(documents, func(d *fleet.Document) string { return strings.ToUpper(d.Target) })...)
	rows := [][]string{header}
	for i, m := range documents[0].Machines {
		row := append([]string{m.Name}, sliced.Map(documents, func(d *fleet.Document) string { return string(d.Machines[i].Verdict) })...)
		rows = append(rows, row)
	}
	w.Line("")
	w.Table(rows)
	if out != "" {
		w.Title("Written to %s, a folder for each target.", out)
	}
}
