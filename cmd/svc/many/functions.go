package many

import (
	"fmt"

	"svc/cmd/svc/program"
	"svc/tools/rehearsal"
)

// ViewFunctions shows what a rehearsal said of those with a verdict.
func ViewFunctions(w *program.View, all []rehearsal.Check, verdict rehearsal.Verdict) {
	first := true
	for _, c := range all {
		if c.Verdict != verdict {
			continue
		}
		if first {
			w.Title("%s", map[rehearsal.Verdict]string{rehearsal.Fails: "Does not run", rehearsal.Untried: "Could not be tried"}[verdict])
			first = false
		}
		w.Line("  %-13s %s: %s", c.Kind, c.Subject, c.Why)
		if verdict == rehearsal.Untried {
			continue
		}
		for _, l := range c.Log[max(0, len(c.Log)-3):] {
			w.Line("      | %s", l)
		}
		if c.Cause != nil {
			at := c.Cause.Name
			if c.Cause.Line > 0 {
				at = fmt.Sprintf("%s, line %d", at, c.Cause.Line)
			}
			w.Line("      likely: %s %s: %s", c.Cause.Kind, at, c.Cause.Text)
		}
		if len(c.MendedBy) > 0 {
			w.Line("      mended by %v", c.MendedBy)
		}
	}
}
