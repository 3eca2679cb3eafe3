package parity

import (
	"cmp"
	"fmt"
	"slices"

	"svc/assess"
	"svc/backend/lazyregexp"
	"svc/backend/visible"
)

// origins say of what dimension the sources of an assessment tell, by how their
// names begin.
var origins = []beginning{
	{"packages.", Packages},
	{"units.", Services},
	{"services.", Services},
	{"running.units", Services},
	{"cron.", Jobs},
	{"accounts.sudoers", Sudoers},
	{"accounts.authorized-keys", Keys},
	{"accounts.group", Groups},
	{"accounts.", Users},
	{"configuration.", Configuration},
	{"ssh.", Ports},
	{"running.sockets", Ports},
	{"running.processes", Ports},
	{"web.", Sites},
	{"certificates", Certificates},
	{"mounts.", Mounts},
	{"sysctl.", Sysctl},
	{"firewall.", Firewall},
	{"databases.", Databases},
	{"software.", Software},
	{"containers.", Containers},
}

// originOf is the dimension that a source tells of, or Facts.
func originOf(source string) string {
	return cmp.Or(first(origins, source), Facts)
}

// pathIn finds the path in what an assessment says of a source.
var pathIn = lazyregexp.New(`/[^\s:]+`)

// unread are the checks that a machine did not let anybody make: a source that
// was there and could not be read.
func unread(a *assess.Assessment, whose string) (all []Check) {
	sources := a.Sources
	if a.Running != nil {
		sources = slices.Concat(sources, a.Running.Sources)
	}
	for _, s := range sources {
		if s.State != assess.SourceUnreadable && s.State != assess.SourceCorrupt {
			continue
		}
		c := Check{Dimension: originOf(s.What), Subject: visible.Name(s.What) + " of the " + whose, Result: Unknown, Why: fmt.Sprintf("It is %s: %s", s.State, s.Detail)}
		if file := pathIn.FindString(s.Detail); file != "" {
			c.Evidence = []assess.Evidence{{Path: file}}
		}
		all = append(all, c)
	}
	return all
}

// notLooked says what of two machines could not be looked at.
func notLooked(before, after *assess.Assessment) (all []string) {
	if !bothRun(before, after) {
		all = append(all, "ports on which programs listen: not both machines ran while they were read; the ports that configuration names are compared; on a migrated machine that runs, a port that a program of no known service opens is named too")
	}
	if before.Programs == nil {
		all = append(all, "programs: the assessment of what was is of an earlier version of svc, which did not look at them")
	}
	return all
}

// unseen are the files that a machine has and that could not be read.
func unseen(checks []Check) map[string]bool {
	files := map[string]bool{}
	for _, c := range checks {
		for _, e := range c.Evidence {
			files[e.Path] = true
		}
	}
	return files
}

// hiddenWhy is what is said of a thing that may stand where nobody could look.
const hiddenWhy = "It was not seen, but the file where it would stand could not be read."

// isIn reports whether a thing was read from one of these files.
func (i item) isIn(files map[string]bool) bool {
	return slices.ContainsFunc(i.evidence, func(e assess.Evidence) bool { return files[e.Path] })
}
