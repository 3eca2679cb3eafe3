// Package tap reads what programs print that check a machine.
package tap

import (
	"cmp"
	"strings"

	"svc/backend/lazyregexp"
)

// Result is how a check ended, on one machine.
type Result struct {
	Name string // the program's, and its own behind that
	OK   bool
	Text string // the line that it printed
}

var tapLine = lazyregexp.New(`^(not )?ok\b\s*([0-9]*)\s*(?:-\s*)?(.*?)\s*(#\s*(?i:skip|todo).*)?$`)

// Parse reads the checks of a program of a person's own: one a line of the Test Anything
// Protocol, or one where it prints none, by its exit code.
func Parse(name string, status int, text string) (all []Result) {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	for _, l := range lines {
		if said, ok := strings.CutPrefix(strings.TrimSpace(l), "# "); ok && len(all) > 0 && !all[len(all)-1].OK {
			all[len(all)-1].Text += " " + said // TAP's diagnostics follow what they are about
			continue
		}
		m := tapLine.FindStringSubmatch(strings.TrimSpace(l))
		if m == nil || m[2] == "" && m[3] == "" {
			continue
		}
		label := cmp.Or(m[3], m[2])
		all = append(all, Result{Name: name + ": " + label, OK: m[1] == "" || m[4] != "", Text: strings.TrimSpace(l)})
	}
	if all == nil {
		all = []Result{{Name: name, OK: status == 0, Text: strings.TrimSpace(lines[len(lines)-1])}}
	}
	return all
}

// Known is what a check is called among others, by name: a program may add to a name why it fails.
func Known(others map[string]Result, name string) string {
	for end := len(strings.TrimSuffix(name, ":")); end > 0; end = strings.LastIndex(name[:end], ": ") {
		if _, ok := others[name[:end]]; ok {
			return name[:end]
		}
	}
	return name
}
