package look

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/peterbourgon/ff/v3/ffcli"

	"svc/assess"
	"svc/backend/api"
	"svc/backend/release"
	"svc/backend/sliced"
	"svc/backend/visible"
	"svc/cmd/svc/exit"
	"svc/cmd/svc/many"
	"svc/cmd/svc/program"
	"svc/tools/cvescan"
	"svc/tools/exposure"
	"svc/tools/several"
	"svc/tools/tool"
)

// The forms of a scan's result.
var scanFormats = []string{"table", "json", "sarif", "cyclonedx-vex"}

// scanFlags are what cve-scan takes beside the machine.
type scanFlags struct {
	in             cvescan.Input
	many           many.Machines
	failOn, format string
}

// CVEScan is `svc cve-scan`.
func (p Commands) CVEScan() *ffcli.Command {
	var f scanFlags
	fs := p.FlagSet("cve-scan")
	many.MachineFlags(fs, &f.in.Machine)
	f.many.Flags(fs)
	f.many.Keeps(fs, "cve-scan.json")
	p.Settings.Feed(fs)
	fs.StringVar(&f.in.Target, "target", "", "release to compare with: which vulnerabilities a move there fixes, and which it adds")
	many.DetailFlags(fs, &f.in.Detail, &f.in.Limit)
	fs.Func("fail-on", "critical, high, medium or low: exit 6 where an advisory has this severity or a higher one; low includes unknown severities", func(s string) error {
		if f.failOn = s; !slices.Contains(exposure.Severities[:4], s) {
			return fmt.Errorf("it takes critical, high, medium or low")
		}
		return nil
	})
	fs.Func("format", strings.Join(scanFormats, ", "), func(s string) error {
		if f.format = s; !slices.Contains(scanFormats, s) {
			return fmt.Errorf("it takes %s", strings.Join(scanFormats, ", "))
		}
		return nil
	})
	return p.Command(fs, "svc cve-scan --root DIR | --image FILE | --ssh HOST | --hosts FILE", "compare a machine's packages with the security advisories of its release",
		program.NoArgs(func(ctx context.Context) error { return p.cveScan(ctx, f) }))
}

func (p Commands) cveScan(ctx context.Context, f scanFlags) error {
	if f.format == "" {
		f.format = "table"
		if p.Settings.JSON {
			f.format = "json"
		}
	}
	if f.format != "table" && f.format != "json" {
		f.in.Detail = tool.DetailFull
	}
	if !f.many.Given() {
		if err := f.many.Alone(); err != nil {
			return err
		}
		result, err := p.scanOne(ctx, p.ToolEnv(), f)
		if err != nil && !found(err) {
			return err
		}
		for _, w := range result.Warnings {
			p.Note("%s", visible.Text(w))
		}
		if printErr := p.printScan(f.format, &result); printErr != nil {
			return printErr
		}
		return err
	}
	machines, err := f.many.Listed(f.in.Machine)
	if err != nil {
		return err
	}
	if f.format != "table" && f.format != "json" {
		return exit.Usagef("--hosts prints a table, or with --json a line for each machine: --format is for one")
	}
	var warned several.Warnings
	err = many.EachHost(ctx, p.Program, f.many, machines, several.Scanned, func(ctx context.Context, env *tool.Env, m several.Listed) (cvescan.Result, error) {
		f := f
		f.in.Machine = m.Machine
		r, err := p.scanOne(ctx, env, f)
		warned.Add(m.Line, r.Warnings)
		return r, err
	})
	for _, w := range warned.Lines() {
		p.Note("%s", visible.Text(w))
	}
	return err
}

// found tells an exit code that only says what was found from a failure.
func found(err error) bool {
	var own *exit.Error
	return errors.As(err, &own) && own.Err == nil
}

// scanOne scans a machine. A scan that compared nothing has an exit code of its own:
// nobody may take it for clean.
func (p Commands) scanOne(ctx context.Context, env *tool.Env, f scanFlags) (cvescan.Result, error) {
	result, err := cvescan.Scan(ctx, env, f.in)
	if err != nil {
		return result, err
	}
	p.SawRelease(result.Release)
	switch {
	case !result.Feed.Loaded:
		return result, &exit.Error{Code: exit.NotCompared}
	case f.failOn == "":
		return result, nil
	}
	return result, exit.Differs(result.Counts.Reach(f.failOn))
}

// printScan prints a result in one of the forms.
func (p Commands) printScan(format string, r *cvescan.Result) error {
	subject := exposure.Subject{Release: r.Release, Database: databaseOf(r.Release), Tool: p.Version, Warnings: r.Warnings}
	switch format {
	case "sarif":
		return p.PrintJSON(exposure.NewSARIF(subject, r.Matches))
	case "cyclonedx-vex":
		return p.PrintJSON(exposure.NewVEX(subject, r.Matches, time.Now()))
	case "json":
		return p.PrintJSON(r)
	}
	w := p.View()
	viewScan(w, r)
	return w.Err
}

// databaseOf is where a release keeps its package database.
func databaseOf(slug string) string {
	r, _ := release.Lookup(slug)
	return cmp.Or(r.Family.Conventions().DatabasePath, "var/lib/rpm")
}

func viewScan(w *program.View, r *cvescan.Result) {
	if !r.Feed.Loaded {
		w.Line("NOT COMPARED: there are no advisories for %s, so nothing is known of its %s. No seat was claimed.", r.Release, assess.Plural(r.Scanned, "package"))
		return
	}
	c := r.Counts
	w.Line("%s: %s, %s (%d critical, %d high, %d medium, %d low, %d unknown)", r.Release, assess.Plural(r.Scanned, "package"), apply(c.Total), c.Critical, c.High, c.Medium, c.Low, c.Unknown)
	w.Line("%s of %s, feed %s", Advisories(r.Feed.Advisories), *r.Feed.UpdatedAt, r.Feed.Version)
	rows := [][]string{}
	for _, g := range byAdvisory(r.Matches) {
		m := g[0]
		rows = append(rows, []string{m.Severity, m.Advisory, some(g), m.Version, remedy(m), m.Summary})
	}
	if len(rows) > 0 {
		w.Line("")
		w.Table(append([][]string{{"SEVERITY", "ADVISORY", "PACKAGES", "INSTALLED", "FIXED IN", "SUMMARY"}}, rows...))
	}
	if n := len(byAdvisory(r.Updates)); n > 0 {
		w.Line("%d bug fixes and enhancements apply too; they are no vulnerabilities.", n)
	}
	viewChange(w, r)
	if r.SeatClaimed {
		w.Line("A licence seat was claimed for the machine: svc account statement says what it was taken from; further scans cost nothing.")
	}
	for _, warning := range r.Warnings {
		w.Line("Warning: %s", warning)
	}
}

func apply(n int) string {
	if n == 1 {
		return "1 advisory applies"
	}
	return Advisories(n) + " apply"
}

// Advisories is how many there are, in words.
func Advisories(n int) string {
	if n == 1 {
		return "1 advisory"
	}
	return fmt.Sprintf("%d advisories", n)
}

// byAdvisory groups sorted matches, in the order of the first of each.
func byAdvisory(matches []api.CVEMatch) (groups [][]api.CVEMatch) {
	at := map[string]int{}
	for _, m := range matches {
		i, seen := at[m.Advisory]
		if !seen {
			i = len(groups)
			at[m.Advisory], groups = i, append(groups, nil)
		}
		groups[i] = append(groups[i], m)
	}
	return groups
}

// some names the first packages of a group.
func some(group []api.CVEMatch) string {
	const most = 2
	names := sliced.Map(group[:min(most, len(group))], func(m api.CVEMatch) string { return m.Package })
	if len(group) > most {
		names = append(names, fmt.Sprintf("+%d", len(group)-most))
	}
	return strings.Join(names, " ")
}

func remedy(m api.CVEMatch) string {
	return cmp.Or(m.FixedVersion, strings.ReplaceAll(m.Status, "_", " "))
}

func viewChange(w *program.View, r *cvescan.Result) {
	t := r.Target
	if t == nil || !t.Compared {
		return
	}
	w.Title("After a move to %s (%s compared)", t.Release, assess.Plural(t.Scanned, "planned package"))
	whole := func(name string, shown int) int { return max(r.Total["target."+name], shown) } // of what a summary cuts
	w.Table(Exposed(whole("fixed", len(t.Fixed)), whole("stays", len(t.Stays)), whole("brought", len(t.Brought)), whole("open", len(t.Open))))
	for _, group := range []struct {
		title string
		list  []exposure.Vulnerability
	}{{"Still there", t.Stays}, {"Brought by the move", t.Brought}} {
		rows := [][]string{}
		for _, v := range group.list[:min(20, len(group.list))] {
			rows = append(rows, []string{v.Severity, v.ID, strings.Join(v.Packages[:min(3, len(v.Packages))], " ")})
		}
		if len(rows) > 0 {
			w.Title("%s", group.title)
			w.Table(rows)
		}
	}
}

// Exposed is what a move does to vulnerabilities, in numbers.
func Exposed(fixed, stays, brought, open int) [][]string {
	return [][]string{
		{"fixed by the move", fmt.Sprint(fixed)},
		{"still there", fmt.Sprint(stays)},
		{"brought by it", fmt.Sprint(brought)},
		{"not known", fmt.Sprint(open)},
	}
}
