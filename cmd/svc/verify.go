package main

import (
	"context"
	"flag"
	"fmt"

	"github.com/peterbourgon/ff/v3/ffcli"

	"svc/tools"
	"svc/tools/parity"
)

// parityFlags are what verify and drift take beside the machine.
func parityFlags(fs *flag.FlagSet, in *tools.VerifyInput, source string) {
	machineFlags(fs, &in.Machine)
	fs.StringVar(&in.Source, "source", "", source)
	fs.StringVar(&in.Accept, "accept", "", "file of differences that a person accepted: lines of DIMENSION SUBJECT # WHY")
	fs.IntVar(&in.Limit, "limit", 0, "checks in a summary")
	fs.Func("detail", "summary or full (default full)", func(s string) error {
		in.Detail = tools.Detail(s)
		return nil
	})
	in.Detail = tools.DetailFull
}

func (p *program) verifyCommand() *ffcli.Command {
	var in tools.VerifyInput
	fs := p.flagSet("verify")
	parityFlags(fs, &in, "out folder of the migration, or an assessment of the source")
	fs.StringVar(&in.Out, "out", "", "folder to write the parity report and its attestation to")
	return p.command(fs, "svc verify --root DIR --source DIR [--out DIR]", "compare a migrated machine with its source, and have that signed",
		noArgs(func(ctx context.Context) error { return p.compare(ctx, in, tools.Verify) }))
}

func (p *program) driftCommand() *ffcli.Command {
	var in tools.VerifyInput
	fs := p.flagSet("drift")
	parityFlags(fs, &in, "out folder of a verification, or of the migration")
	return p.command(fs, "svc drift --root DIR --source DIR", "say what changed on a machine since it was verified",
		noArgs(func(ctx context.Context) error { return p.compare(ctx, in, tools.Drift) }))
}

// compare runs a comparison and ends with the code of differences where there
// are any.
func (p *program) compare(ctx context.Context, in tools.VerifyInput, run func(context.Context, *tools.Env, tools.VerifyInput) (tools.ParityResult, error)) error {
	result, err := run(ctx, p.toolEnv(), in)
	if err != nil {
		return err
	}
	if err := p.print(result, func(w *view) { viewParity(w, &result) }); err != nil {
		return err
	}
	return differs(!result.Parity)
}

func viewParity(w *view, r *tools.ParityResult) {
	verdict := "parity: nothing differs from what was planned"
	switch {
	case !r.Parity:
		verdict = plural(r.Sum.Differs, "difference")
	case r.Kind == "drift":
		verdict = "nothing changed"
	}
	w.line("%s to %s: %s", r.Source, r.Target, verdict)
	rows := [][]string{{"", "match", "planned", "accepted", "differ", "not checkable"}}
	for _, d := range r.Dimensions {
		rows = append(rows, []string{d.Dimension, fmt.Sprint(d.Match), fmt.Sprint(d.Planned), fmt.Sprint(d.Accepted), fmt.Sprint(d.Differs), fmt.Sprint(d.Unknown)})
	}
	w.table(append(rows, []string{"all", fmt.Sprint(r.Sum.Match), fmt.Sprint(r.Sum.Planned), fmt.Sprint(r.Sum.Accepted), fmt.Sprint(r.Sum.Differs), fmt.Sprint(r.Sum.Unknown)}))
	viewChecks(w, "Differences", r.Checks, parity.Differs)
	viewChecks(w, "Not checkable", r.Checks, parity.Unknown)
	viewChecks(w, "Accepted", r.Checks, parity.Accepted)
	for _, unused := range r.Unused {
		w.line("No difference needed the acceptance of %s", unused)
	}
	if r.Out != "" {
		w.title("Written to %s", r.Out)
	}
	if r.SeatClaimed {
		w.line("A licence seat was claimed for the machine; repeating this costs nothing.")
	}
}

func viewChecks(w *view, title string, checks []parity.Check, result parity.Result) {
	titled := false
	for _, c := range checks {
		if c.Result != result {
			continue
		}
		if !titled {
			w.title("%s", title)
			titled = true
		}
		w.line("  %s %s: %s → %s", c.Dimension, c.Subject, orNone(c.Before), orNone(c.After))
		w.line("      %s", c.Why)
	}
}
