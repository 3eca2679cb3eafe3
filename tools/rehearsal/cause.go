package rehearsal

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"svc/tools/migration"
	"svc/tools/migration/naming"
)

// explain finds the likely cause of what does not run: the first of these that the
// last lines of its log, or its own name, point to.
func (j judge) explain(c *Check) {
	if c.Verdict != Fails || c.Cause != nil {
		return
	}
	text := strings.Join(append([]string{c.Subject, c.Why}, c.Log...), "\n")
	paths := slices.Compact(naming.Paths.FindAllString(text, -1))
	for _, find := range []func(c *Check, text string, paths []string) *Cause{j.stepCause, j.dataCause, j.mentionCause, j.configurationCause, j.serviceCause, j.packageCause} {
		if c.Cause = find(c, text, paths); c.Cause != nil {
			break
		}
	}
	if c.Cause != nil && c.Cause.Kind == "data" && !j.WithData {
		c.Verdict, c.Why = Untried, needsData
	}
}

// stepCause is a step of the data's move that failed, where the check is about what it was to
// bring: one cause is told once, and what follows from it as that.
func (j judge) stepCause(c *Check, text string, _ []string) *Cause {
	text = strings.ToLower(text)
	for _, s := range j.Data {
		if !s.OK && c.Kind != "data" && slices.ContainsFunc(s.About, func(word string) bool { return strings.Contains(text, word) }) {
			return &Cause{Kind: "step", Name: s.Name, Text: "It follows from this step of the data's move, which failed."}
		}
	}
	return nil
}

// dataCause is a path that the source has, the target lacks, and no row carries.
func (j judge) dataCause(c *Check, _ string, paths []string) *Cause {
	paths = slices.Concat(paths, j.startedBy(c))
	for _, p := range paths {
		if carried := slices.ContainsFunc(j.Plan.Configuration, func(row migration.Config) bool { return row.From == p }); !carried && strings.Count(p, "/") > 1 && j.lacks(p) && !strings.HasPrefix(p, "/run/") && !packaged(p) {
			return &Cause{Kind: "data", Name: p, Text: "It is on the source, and not on the target: it comes with the data, or by hand."}
		}
	}
	return nil
}

// packaged reports whether a path is of a place that packages alone fill.
func packaged(p string) bool {
	return slices.ContainsFunc([]string{"/usr/bin/", "/usr/sbin/", "/usr/lib/", "/usr/share/", "/bin/", "/sbin/", "/lib/", "/proc/", "/sys/", "/dev/", "/var/lib/dpkg/", "/var/log/"}, func(s string) bool { return strings.HasPrefix(p, s) })
}

// startedBy are paths that the unit of a check names to be started.
func (j judge) startedBy(c *Check) (paths []string) {
	for _, u := range j.Before.Services {
		if c.Kind == "unit" && u.Local && j.unitNow(serviceName(u)) == c.Subject {
			paths = append(paths, j.UnitPaths(u.Path)...)
		}
	}
	return paths
}

// mentionCause is a line that the plan says names what the target lacks.
func (j judge) mentionCause(c *Check, text string, paths []string) *Cause {
	for _, m := range j.Plan.Mentions {
		if m.Line > 0 && (strings.Contains(text, m.Name) && len(m.Name) > 3 || slices.Contains(paths, m.Path) || strings.Contains(m.Path, "/"+strings.TrimSuffix(c.Subject, ".service")+".service")) {
			return &Cause{Kind: "mention", Name: m.Path, Line: m.Line, Text: fmt.Sprintf("It names %s. %s", m.Name, m.Why)}
		}
	}
	return nil
}

// configurationCause is a file of configuration that did not come as it was: one
// that the log names, or one of the service's own.
func (j judge) configurationCause(c *Check, _ string, paths []string) *Cause {
	var own *Cause
	for _, row := range j.Plan.Configuration {
		if row.Action != migration.Manual && len(row.Changes) == 0 && len(row.Refusals) == 0 && row.Action != migration.LeftOut {
			if slices.Contains(paths, row.To) && row.To != "" && own == nil {
				own = &Cause{Kind: "configuration", Name: row.From, Line: lineOf(c.Log, row.To), Text: row.Reason}
			}
			continue
		}
		if slices.Contains(paths, row.From) || row.To != "" && slices.Contains(paths, row.To) {
			cause := &Cause{Kind: "configuration", Name: row.From, Line: lineOf(c.Log, row.To), Text: row.Reason}
			if len(row.Refusals) > 0 {
				cause.Line, cause.Text = row.Refusals[0].Line, row.Refusals[0].Why
			}
			return cause
		}
	}
	return own
}

// lineOf is the line of a file that a log names: name:12, or "in name:12".
func lineOf(log []string, name string) (n int) {
	for _, l := range log {
		if _, rest, ok := strings.Cut(l, name); ok && name != "" {
			if _, err := fmt.Sscanf(strings.TrimLeft(rest, ": line"), "%d", &n); err == nil {
				return n
			}
		}
	}
	return 0
}

// serviceCause is the row of the unit, where its state was not set.
func (j judge) serviceCause(c *Check, _ string, _ []string) *Cause {
	for _, s := range j.Plan.Services {
		if c.Kind == "unit" && s.To == c.Subject && !s.Apply && s.State == "enabled" && s.Reason != "" {
			return &Cause{Kind: "service", Name: s.Unit, Text: s.Reason}
		}
	}
	return nil
}

// packageCause is the row of the package that the function is of.
func (j judge) packageCause(c *Check, _ string, _ []string) *Cause {
	name := ""
	for _, u := range j.Before.Services {
		if j.unitNow(serviceName(u)) == c.Subject {
			name = u.Package
		}
	}
	row, ok := relevant(j.Plan, name)
	if !ok {
		first := path.Base(strings.Fields(c.Subject + " -")[0])
		row, ok = relevant(j.Plan, first)
	}
	if !ok || row.Relation == "same" && len(row.Caveats) == 0 {
		return nil
	}
	said := row.Why
	for _, v := range row.Caveats {
		said += " " + v.Text
	}
	return &Cause{Kind: "package", Name: row.Name, Text: fmt.Sprintf("%s. %s", row.Relation, said)}
}
