// Package look has the commands that look at machines before anything is moved.
package look

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/peterbourgon/ff/v3/ffcli"

	"svc/assess"
	"svc/backend/sliced"
	"svc/cmd/svc/exit"
	"svc/cmd/svc/many"
	"svc/cmd/svc/program"
	"svc/tools/assessment"
	"svc/tools/several"
	"svc/tools/tool"
)

// Commands are what looks at machines before anything is moved.
type Commands struct{ *program.Program }

// Assess is `svc assess`.
func (p Commands) Assess() *ffcli.Command {
	var in assessment.Input
	var m many.Machines
	fs := p.FlagSet("assess")
	many.MachineFlags(fs, &in.Machine)
	m.Flags(fs)
	m.Keeps(fs, "assessment.json")
	fs.StringVar(&in.Target, "target", "", "release to look at the machine for, such as debian-13")
	many.HazardsFlag(fs, &in.Hazards)
	many.DetailFlags(fs, &in.Detail, &in.Limit)
	return p.Command(fs, "svc assess --root DIR | --image FILE | --ssh HOST | --hosts FILE", "read a machine and say what it is",
		program.NoArgs(func(ctx context.Context) error {
			if m.Given() {
				return assessMany(ctx, p.Program, m, in)
			}
			if err := m.Alone(); err != nil {
				return err
			}
			return p.assess(ctx, in)
		}))
}

// assessMany reads many machines.
func assessMany(ctx context.Context, p *program.Program, of many.Machines, in assessment.Input) error {
	machines, err := of.Listed(in.Machine)
	if err != nil {
		return err
	}
	return many.EachHost(ctx, p, of, machines, several.Assessed, func(ctx context.Context, env *tool.Env, m several.Listed) (assessment.Result, error) {
		in := in
		in.Machine = m.Machine
		r, err := assessment.Assess(ctx, env, in)
		return r, cmp.Or(err, exit.Differs(inhibited(r.Findings)))
	})
}

// memoryLimit of an assessment, in bytes: that of a usual machine ends before the first
// collection is due.
const memoryLimit = 24 << 20

// assess prints what could be read even where the package database is corrupt.
func (p Commands) assess(ctx context.Context, in assessment.Input) error {
	program.CollectLate(memoryLimit)
	result, err := assessment.Assess(ctx, p.ToolEnv(), in)
	if err != nil && !errors.Is(err, assess.ErrCorrupt) {
		return err
	}
	p.SawRelease(result.Release)
	return cmp.Or(p.Print(result, func(w *program.View) { viewAssessment(w, &result) }), err, exit.Differs(inhibited(result.Findings)))
}

func inhibited(findings []assess.Finding) bool {
	return slices.ContainsFunc(findings, func(f assess.Finding) bool { return f.Inhibitor })
}

func viewAssessment(w *program.View, r *assessment.Result) {
	a := &r.Assessment
	total := func(name string, n int) int { return max(n, r.Total[name]) }
	chosen := sliced.Count(a.Packages, func(p assess.Package) bool { return p.Manual })
	enabled := sliced.Count(a.Services, func(u assess.Unit) bool { return u.State == "enabled" })
	local := sliced.Count(a.Services, func(u assess.Unit) bool { return u.Local })
	people := sliced.Count(a.Users, func(u assess.User) bool { return !u.System })
	w.Line("%s (%s), %s", a.System.Name, a.Release, a.System.Architecture)
	w.Table([][]string{
		{"host", a.System.Hostname},
		{"fingerprint", program.OrNone(a.Fingerprint)},
		{"packages", packagesLine(total("packages", len(a.Packages)), len(a.Packages), chosen)},
		{"services", fmt.Sprintf("%d enabled, %d written here", enabled, local)},
		{"accounts", fmt.Sprintf("%d of people", people)},
		{"cron jobs", fmt.Sprint(total("cron", len(a.Cron)))},
		{"configuration", configLine(a.Configuration)},
		{"network", fmt.Sprintf("%d interfaces, %d firewalls", total("networks", len(a.Networks)), total("firewalls", len(a.Firewalls)))},
		{"databases", databaseLine(a.Databases)},
		{"runtimes", runtimeLine(a.Runtimes)},
		{"other software", fmt.Sprintf("%d by other package managers, %d of container engines", total("software", len(a.Software)), total("containers", len(a.Containers)))},
		{"certificates", fmt.Sprint(total("certificates", len(a.Certificates)))},
	})
	viewRunning(w, a.Running)
	viewFindings(w, a.Findings)
	ViewSources(w, a.Sources)
}

// viewRunning says what a machine that runs tells beside its disk.
func viewRunning(w *program.View, r *assess.Running) {
	if r == nil {
		return
	}
	failed := sliced.FilterMap(r.Units, func(u assess.RunningUnit) (string, bool) { return u.Name, u.State == "failed" })
	w.Title("Running")
	w.Table([][]string{
		{"kernel", r.Kernel},
		{"up since", program.OrNone(r.BootedAt)},
		{"listens on", program.OrNone(socketLine(r.Sockets))},
		{"failed units", program.OrNone(strings.Join(failed, ", "))},
	})
	ViewSources(w, r.Sources)
}

// socketLine names ports and who holds them, each once.
func socketLine(sockets []assess.Socket) string {
	names := []string{}
	for _, s := range sockets {
		name := strings.TrimSpace(fmt.Sprintf("%d/%s %s", s.Port, s.Transport(), s.Program))
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}

func viewFindings(w *program.View, findings []assess.Finding) {
	if len(findings) == 0 {
		return
	}
	w.Title("Findings")
	for _, f := range findings {
		mark := string(f.Severity)
		if f.Inhibitor {
			mark = "INHIBITOR"
		}
		w.Line("  %-9s  %s  (%s)", mark, f.Title, f.Key)
		for _, e := range f.Evidence[:min(3, len(f.Evidence))] {
			w.Line("             %s", place(e))
		}
		for _, r := range f.Remediations {
			w.Line("             → %s", r.Text)
		}
	}
}

// ViewSources says what could not be read; what is just not there is normal.
func ViewSources(w *program.View, sources []assess.Source) {
	rows := sliced.FilterMap(sources, func(s assess.Source) ([]string, bool) {
		return []string{string(s.State), s.What, s.Detail}, s.State == assess.SourceUnreadable || s.State == assess.SourceCorrupt
	})
	if len(rows) > 0 {
		w.Title("Not looked at")
		w.Table(rows)
	}
}

func place(e assess.Evidence) string {
	if e.Line == 0 {
		return e.Path
	}
	return fmt.Sprintf("%s:%d", e.Path, e.Line)
}

// packagesLine says how many packages were chosen; where none is marked as pulled in,
// as on images that were never installed by hand, nothing records that.
func packagesLine(total, shown, chosen int) string {
	if chosen == shown && shown > 1 {
		return fmt.Sprintf("%d; which a person chose is not recorded", total)
	}
	return fmt.Sprintf("%d, %d chosen by a person", total, chosen)
}

func configLine(files []assess.ConfigFile) string {
	counts := map[assess.ConfigState]int{}
	for _, f := range files {
		if !f.Machine {
			counts[f.State]++
		}
	}
	return fmt.Sprintf("%d changed, %d that no package owns, %d deleted, %d unreadable",
		counts[assess.ConfigChanged], counts[assess.ConfigUnowned], counts[assess.ConfigMissing], counts[assess.ConfigUnreadable])
}

func runtimeLine(runtimes []assess.Runtime) string {
	return program.OrNone(strings.Join(slices.Compact(sliced.Map(runtimes, func(r assess.Runtime) string { return strings.TrimSpace(r.Language + " " + r.Version) })), ", "))
}

func databaseLine(databases []assess.Database) string {
	return program.OrNone(strings.Join(sliced.Map(databases, func(d assess.Database) string { return d.Engine + " " + d.Version }), ", "))
}
