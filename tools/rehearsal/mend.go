package rehearsal

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Mend says which fixes mended what an earlier rehearsal of the machine had fail: of
// those that are new or changed since then, the ones that name what failed or its
// cause, or all of them where none does.
func (d *Document) Mend(before *Document) {
	if before == nil || before.Fingerprint != d.Fingerprint || before.Target != d.Target {
		return
	}
	failed := map[string]Check{}
	for _, c := range before.Checks {
		if c.Verdict == Fails {
			failed[c.ID()] = c
		}
	}
	for i := range d.Checks {
		c := &d.Checks[i]
		was, ok := failed[c.ID()]
		if !ok {
			if was, ok := mendedBefore(before, c); ok {
				c.MendedBy = was
				d.note(c, was)
			}
			continue
		}
		if c.Verdict == Runs {
			c.MendedBy = d.mended(before, was)
			d.note(c, c.MendedBy)
		}
	}
}

// mendedBefore are the fixes that an earlier rehearsal said mended a check that runs.
func mendedBefore(before *Document, c *Check) ([]string, bool) {
	for _, b := range before.Checks {
		if c.Verdict == Runs && b.ID() == c.ID() && len(b.MendedBy) > 0 {
			return b.MendedBy, true
		}
	}
	return nil, false
}

func (d *Document) note(c *Check, fixes []string) {
	for i := range d.Fixes {
		if slices.Contains(fixes, d.Fixes[i].Name) {
			d.Fixes[i].Mended = append(d.Fixes[i].Mended, c.ID())
		}
	}
}

// mended are the names of the fixes that came since an earlier rehearsal.
func (d *Document) mended(before *Document, was Check) (names []string) {
	said := was.Subject + " " + was.Why + " " + strings.Join(was.Log, " ")
	if was.Cause != nil {
		said += " " + was.Cause.Name + " " + was.Cause.Text
	}
	var about []string
	for _, f := range d.Fixes {
		if slices.ContainsFunc(before.Fixes, func(b Fix) bool { return b.Name == f.Name && b.SHA256 == f.SHA256 }) {
			continue
		}
		names = append(names, f.Name)
		if slices.ContainsFunc(f.about, func(s string) bool { return s != "" && strings.Contains(said, s) }) {
			about = append(about, f.Name)
		}
	}
	if about != nil {
		return about
	}
	return names
}

// NewFix is a fix of the role, and the paths and packages that it is about.
func NewFix(name, digest string, about []string) Fix {
	return Fix{Name: name, SHA256: digest, Mended: []string{}, about: about}
}

var tapLine = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(not )?ok\b\s*([0-9]*)\s*(?:-\s*)?(.*?)\s*(#\s*(?i:skip|todo).*)?$`)
})

// TAP are the checks of a program of a person's own: one a line of the Test Anything
// Protocol, or one where it prints none, by its exit code.
func TAP(name string, status int, text string) (all []Own) {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	for _, l := range lines {
		if said, ok := strings.CutPrefix(strings.TrimSpace(l), "# "); ok && len(all) > 0 && !all[len(all)-1].OK {
			all[len(all)-1].Text += " " + said // TAP's diagnostics follow what they are about
			continue
		}
		m := tapLine().FindStringSubmatch(strings.TrimSpace(l))
		if m == nil || m[2] == "" && m[3] == "" {
			continue
		}
		label := m[3]
		if label == "" {
			label = m[2]
		}
		all = append(all, Own{Name: name + ": " + label, OK: m[1] == "" || m[4] != "", Text: strings.TrimSpace(l)})
	}
	if all == nil {
		all = []Own{{Name: name, OK: status == 0, Text: strings.TrimSpace(lines[len(lines)-1])}}
	}
	return all
}
