package report

import (
	"fmt"
	"slices"
	"strings"

	"svc/tools/rehearsal"
)

// mostTried is how many functions NEXT.md names that a rehearsal found not to run.
const mostTried = 200

// withTried are the steps of a move with what its rehearsal found, before the way back.
func withTried(all []Step, d *rehearsal.Document) []Step {
	s, ok := lost(d)
	if !ok {
		return all
	}
	at := slices.IndexFunc(all, func(s Step) bool { return s.Back })
	if at < 0 {
		at = len(all)
	}
	return slices.Insert(all, at, s)
}

// lost is what ran on the source and did not on a target that was tried.
func lost(d *rehearsal.Document) (Step, bool) {
	if d == nil {
		return Step{}, false
	}
	var b strings.Builder
	n := 0
	for _, c := range d.Checks {
		if c.Verdict != rehearsal.Fails {
			continue
		}
		if n++; n > mostTried {
			continue
		}
		fmt.Fprintf(&b, "- %s %s: %s", c.Kind, c.Subject, c.Why)
		if at := c.Cause; at != nil && at.Line > 0 {
			fmt.Fprintf(&b, " (%s, line %d) %s", at.Name, at.Line, at.Text)
		} else if at != nil {
			fmt.Fprintf(&b, " (%s) %s", at.Name, at.Text)
		}
		for _, line := range c.Log[min(1, len(c.Log)):] {
			if c.Kind == "program" || c.Kind == "session" {
				fmt.Fprintf(&b, "\n    - %s", line)
			}
		}
		b.WriteByte('\n')
	}
	if n == 0 {
		return Step{}, false
	}
	if n > mostTried {
		fmt.Fprintf(&b, "- and %d more, in rehearsal.json\n", n-mostTried)
	}
	return Step{
		Title: "Mend what the rehearsal found",
		Why:   "These ran on the copy of the source, and not on the target that was tried. What you do about one, add to the role as a fix (svc rehearse --fixes), and rehearse again.\n\n" + b.String(),
	}, true
}
