// Package prove has the commands that compare, and that check what was signed.
package prove

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"path/filepath"

	"github.com/peterbourgon/ff/v3/ffcli"

	"svc/assess"
	"svc/cmd/svc/exit"
	"svc/cmd/svc/many"
	"svc/cmd/svc/program"
	"svc/tools/parity"
	"svc/tools/rehearsal"
	"svc/tools/several"
	"svc/tools/tool"
	"svc/tools/verification"
)

// Commands are what proves a move.
type Commands struct{ *program.Program }

// comparison is what verify and drift take, and which of the two it is.
type comparison struct {
	in   verification.Input
	key  string // file of public keys, or ""
	many many.Machines
	run  func(context.Context, *tool.Env, verification.Input) (verification.Result, error)
}

// parityFlags are what verify and drift take both.
func parityFlags(fs *flag.FlagSet, c *comparison, source string) {
	many.MachineFlags(fs, &c.in.Machine)
	c.many.Flags(fs)
	fs.StringVar(&c.in.Source, "source", "", source+"; with --hosts also a folder that has such a folder for each machine, by its name")
	fs.StringVar(&c.in.Accept, "accept", "", "file of differences that a person accepted: lines of DIMENSION SUBJECT # WHY")
	fs.StringVar(&c.key, "key", "", "file of public keys (PEM), for a source that a colleague made; without it, the keys of the service")
	many.DetailFlags(fs, &c.in.Detail, &c.in.Limit)
}

// Verify is `svc verify`.
func (p Commands) Verify() *ffcli.Command {
	c := comparison{run: verification.Verify}
	fs := p.FlagSet("verify")
	parityFlags(fs, &c, "out folder of the migration, or an assessment of the source")
	fs.StringVar(&c.in.Data, "data", "", "folder of the data plan by which the data moved: its places are counted; with --hosts also a folder that has such a folder for each machine")
	fs.BoolVar(&c.in.Digests, "digests", false, "read the contents of those places too, and hold their digests against those of 30-before.sh")
	fs.BoolVar(&c.in.Ask, "ask", false, "have the migrated machine, while it runs, run its services' own checks of their configuration (nginx -t, sshd -t and their like, a fixed list): it needs --ssh root@HOST, or root and --root / on the machine itself")
	fs.StringVar(&c.in.Rehearsal, "rehearsal", "", "folder of a rehearsal of the move: the report also names what did not run there")
	fs.StringVar(&c.in.Out, "out", "", "folder to write the parity report and its attestation to; with --hosts a folder in it for each machine, by its name")
	return p.Command(fs, "svc verify --root DIR | --image FILE | --ssh HOST | --hosts FILE --source DIR [--out DIR]", "compare a migrated machine with its source, and have that signed",
		program.NoArgs(func(ctx context.Context) error { return p.compare(ctx, c) }))
}

// Drift is `svc drift`.
func (p Commands) Drift() *ffcli.Command {
	c := comparison{run: verification.Drift}
	fs := p.FlagSet("drift")
	parityFlags(fs, &c, "out folder of a verification, or of the migration")
	c.many.Keeps(fs, "drift.json")
	return p.Command(fs, "svc drift --root DIR | --image FILE | --ssh HOST | --hosts FILE --source DIR", "say what changed on a machine since it was verified",
		program.NoArgs(func(ctx context.Context) error { return p.compare(ctx, c) }))
}

// compare runs a comparison, of one machine or many, and ends with the code of
// differences where there are any.
func (p Commands) compare(ctx context.Context, c comparison) (err error) {
	if c.key != "" {
		if c.in.Keys, err = program.ReadKeys(c.key); err != nil {
			return err
		}
	}
	if c.many.Given() {
		return p.compareMany(ctx, c)
	}
	if err := c.many.Alone(); err != nil {
		return err
	}
	result, err := c.run(ctx, p.ToolEnv(), c.in)
	return cmp.Or(p.Answer(result, err, func(w *program.View) { viewParity(w, &result) }), exit.Differs(!result.Parity))
}

// compareMany compares the machines of a list, each with its own source.
func (p Commands) compareMany(ctx context.Context, c comparison) error {
	c.many.Out = cmp.Or(c.in.Out, c.many.Out)
	machines, err := c.many.Listed(c.in.Machine)
	if err == nil {
		err = several.Distinct(machines) // each has its own source
	}
	if err != nil {
		return err
	}
	return many.EachHost(ctx, p.Program, c.many, machines, several.Compared, func(ctx context.Context, env *tool.Env, m several.Listed) (verification.Result, error) {
		in := c.in
		in.Machine = m.Machine
		in.Source, in.Data = verification.OwnFolder(in.Source, m.Name()), verification.OwnFolder(in.Data, m.Name())
		if in.Out != "" {
			in.Out = filepath.Join(in.Out, m.Name())
		}
		result, err := c.run(ctx, env, in)
		return result, cmp.Or(err, exit.Differs(!result.Parity))
	})
}

func viewParity(w *program.View, r *verification.Result) {
	w.Line("%s to %s: %s", r.Source, r.Target, verdictOf(r))
	for _, s := range []struct {
		title  string
		result parity.Result
	}{{"Differences", parity.Differs}, {"Left to a person", parity.Manual}, {"Not checkable", parity.Unknown}, {"Accepted", parity.Accepted}} {
		viewChecks(w, s.title, r.Checks, s.result)
	}
	if h := r.Rehearsal; h != nil {
		w.Title("The rehearsal: %d ran, %d did not, %d could not be tried", h.Sum.Runs, h.Sum.Fails, h.Sum.Untried)
		many.ViewFunctions(w, h.Failed, rehearsal.Fails)
	}
	viewSums(w, r)
	for _, what := range r.NotLooked {
		w.Line("Not looked at: %s", what)
	}
	for _, unused := range r.Unused {
		w.Line("No difference needed the acceptance of %s", unused)
	}
	if r.Out != "" {
		w.Title("Written to %s", r.Out)
	}
	if r.SeatClaimed {
		w.Line("A licence seat was claimed for the machine; repeating this costs nothing.")
	}
}

func verdictOf(r *verification.Result) string {
	switch {
	case !r.Parity:
		return assess.Plural(r.Sum.Differs, "difference")
	case r.Kind == "drift":
		return "nothing changed"
	}
	return "parity: nothing differs from what was planned"
}

// viewSums counts the checks by dimension.
func viewSums(w *program.View, r *verification.Result) {
	w.Title("Checks")
	rows := [][]string{{"", "match", "planned", "accepted", "left", "differ", "not checkable"}}
	row := func(name string, s parity.Sum) {
		rows = append(rows, []string{name, fmt.Sprint(s.Match), fmt.Sprint(s.Planned), fmt.Sprint(s.Accepted), fmt.Sprint(s.Manual), fmt.Sprint(s.Differs), fmt.Sprint(s.Unknown)})
	}
	for _, d := range r.Dimensions {
		row(d.Dimension, d.Sum)
	}
	row("all", r.Sum)
	w.Table(rows)
}

// viewChecks lists the checks that ended in one way.
func viewChecks(w *program.View, title string, checks []parity.Check, result parity.Result) {
	titled := false
	for _, c := range checks {
		if c.Result != result {
			continue
		}
		if !titled {
			w.Title("%s", title)
			titled = true
		}
		w.Line("  %s %s%s", c.Dimension, c.Subject, transition(c))
		w.Line("      %s", c.Why)
	}
}

// transition says what was and what is, as far as anything is known of either.
func transition(c parity.Check) string {
	if c.Before == "" && c.After == "" || c.Before == c.After {
		return ""
	}
	return fmt.Sprintf(": %s → %s", program.OrNone(c.Before), program.OrNone(c.After))
}
