package main

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"runtime/debug"
	"strings"

	"github.com/peterbourgon/ff/v3/ffcli"

	"svc/tools/fleet"
	"svc/tools/machine"
	"svc/tools/readiness"
	"svc/tools/several"
)

// readinessCall is what `svc readiness` was given.
type readinessCall struct {
	in      readiness.Input
	targets []string
	several.Sources
}

func (p *program) readinessCommand() *ffcli.Command {
	var c readinessCall
	fs := p.flagSet("readiness")
	fs.Func("target", "release to move to, such as debian-13; may be given again, to compare", appendTo(&c.targets))
	fs.StringVar(&c.Hosts, "hosts", "", "file with one machine a line: a folder, an image or ssh://[user@]host[:port], and optionally a name; # begins a comment")
	fs.StringVar(&c.Images, "images", "", "folder of powered-off disk images, one a machine")
	fs.StringVar(&c.Roots, "roots", "", "folder of root folders, one a machine")
	trustFlag(fs, &c.Trust)
	fs.IntVar(&c.in.Parallel, "parallel", 4, "machines read at once")
	fs.DurationVar(&c.in.Patience, "patience", patienceOfFleet, "how long one machine may take")
	fs.StringVar(&c.in.Out, "out", "", "folder for fleet.json, index.html, machines.csv and a report of each machine; a repeat continues there")
	hazardsFlag(fs, &c.in.Hazards)
	fs.BoolVar(&c.in.Fresh, "fresh", false, "with --out: read all machines again, also images and folders that did not change")
	return p.command(fs, "svc readiness (--hosts FILE | --images DIR | --roots DIR)… --target RELEASE [--out DIR]", "say which machines of many can move, what each needs, and in which order to begin; free",
		noArgs(func(ctx context.Context) error { return p.readiness(ctx, c) }))
}

// collectOften has garbage collected when there is half as much of it as of what is
// kept: of machines that are read at once, most is soon garbage.
const collectOften = 50

// readiness looks at the fleet for each target.
func (p *program) readiness(ctx context.Context, c readinessCall) (err error) {
	switch {
	case len(c.targets) == 0:
		return usagef("--target is required: a release such as debian-13; nothing was done")
	case c.in.Parallel < 1 || c.in.Parallel > maxParallel:
		return usagef("--parallel takes 1 to %d", maxParallel)
	}
	if c.in.Members, err = c.members(); err != nil {
		return err
	}
	if err := p.borrowData(); err != nil {
		return err
	}
	debug.SetGCPercent(collectOften)
	env := p.toolEnv()
	var documents []*fleet.Document
	for _, target := range c.targets {
		in := c.in
		if in.Target = target; in.Out != "" && len(c.targets) > 1 {
			in.Out = filepath.Join(in.Out, machine.FolderName(target))
		}
		d, err := readiness.Of(ctx, env, in)
		if err != nil {
			return err
		}
		documents = append(documents, d)
	}
	if len(documents) == 1 {
		err = p.print(documents[0], func(w *view) { viewFleet(w, documents[0], c.in.Out) })
	} else {
		err = p.print(struct {
			Schema string            `json:"schema"`
			Fleets []*fleet.Document `json:"fleets"`
		}{"svc.fleets/v1", documents}, func(w *view) { viewFleets(w, documents, c.in.Out) })
	}
	return cmp.Or(err, verdict(documents))
}

// verdict is the exit code of what was found: a machine that can't be read is a
// failure, one that is blocked a finding.
func verdict(documents []*fleet.Document) error {
	blocked := false
	for _, d := range documents {
		if d.Totals.Unreadable > 0 {
			return &exitError{code: exitFailed}
		}
		blocked = blocked || d.Totals.Blocked > 0
	}
	return differs(blocked)
}

// members are the machines of all lists and folders, by names of their own.
func (c *readinessCall) members() (members []machine.Member, err error) {
	if !c.Given() {
		return nil, usagef("name the machines by --hosts FILE, --images DIR or --roots DIR; nothing was done: see `svc readiness -h`")
	}
	listed, err := c.Machines()
	for _, m := range listed {
		members = append(members, m.Member())
	}
	return machine.Distinct(members), err
}

// viewFleet is one target's answer.
func viewFleet(w *view, d *fleet.Document, out string) {
	rows := [][]string{{"MACHINE", "RELEASE", "VERDICT", "WAVE", "WHAT"}}
	for _, m := range d.Machines {
		wave := ""
		if m.Wave > 0 {
			wave = fmt.Sprint(m.Wave)
		}
		rows = append(rows, []string{m.Name, m.Source, strings.ToUpper(string(m.Verdict)), wave, m.Why()})
	}
	w.table(rows)
	w.title("%s to %s: %d ready, %d with work, %d blocked, %d could not be read", plural(d.Totals.Machines, "machine"), d.Target, d.Totals.Ready, d.Totals.Work, d.Totals.Blocked, d.Totals.Unreadable)
	w.line("%s", d.Cost.Line())
	for _, wave := range d.Waves {
		w.line("Wave %d, %s: %s.", wave.Number, plural(len(wave.Machines), "machine"), wave.Why)
	}
	for i, s := range d.Shared {
		if i == 0 {
			w.title("What many share")
		}
		if i == mostShared {
			w.line("  and %d more, in fleet.json", len(d.Shared)-mostShared)
			break
		}
		w.line("  %-4d  %s", len(s.Machines), s.Title)
	}
	for i, f := range d.Fixes {
		if i == 0 {
			w.title("What to fix first, and how many machines are ready then")
		}
		if i == mostShared {
			w.line("  and %d more, in fleet.json", len(d.Fixes)-mostShared)
			break
		}
		w.line("  %-4d  %s (%d need it)", f.Ready, f.Title, len(f.Machines))
	}
	if out != "" {
		w.title("Written to %s: index.html for people, fleet.json, machines.csv, and a report of each machine.", out)
	}
}

// mostShared is how many findings of several machines a person's view has.
const mostShared = 10

// viewFleets compares targets.
func viewFleets(w *view, documents []*fleet.Document, out string) {
	rows := [][]string{{"TARGET", "READY", "WORK", "BLOCKED", "UNREADABLE"}}
	for _, d := range documents {
		rows = append(rows, []string{d.Target, fmt.Sprint(d.Totals.Ready), fmt.Sprint(d.Totals.Work), fmt.Sprint(d.Totals.Blocked), fmt.Sprint(d.Totals.Unreadable)})
	}
	w.table(rows)
	header := []string{"MACHINE"}
	for _, d := range documents {
		header = append(header, strings.ToUpper(d.Target))
	}
	rows = [][]string{header}
	for i, m := range documents[0].Machines {
		row := []string{m.Name}
		for _, d := range documents {
			row = append(row, string(d.Machines[i].Verdict))
		}
		rows = append(rows, row)
	}
	w.line("")
	w.table(rows)
	if out != "" {
		w.title("Written to %s, a folder for each target.", out)
	}
}
