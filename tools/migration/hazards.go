package migration

import (
	"slices"

	"svc/assess"
)

// told are the known troubles that the machine meets on the way. What a converter
// or a merge has mended, line by line, is only told.
func told(in Input, p *Plan) []assess.Finding {
	if in.Machine == nil {
		return nil
	}
	in.Machine.Brought = conversion(in, p).Brought
	all := assess.Hazards(in.Hazards, in.Machine, &in.Target)
	for i := range all {
		if f := &all[i]; p.mended(*f) {
			f.Severity, f.Inhibitor = assess.Info, false
			f.Summary = "It is mended: what the role brings in place of these lines does without, as the plan's changes say. Without that: " + f.Summary
		}
	}
	return all
}

// mended reports whether each line that a finding names is changed in what the role
// brings.
func (p *Plan) mended(f assess.Finding) bool {
	return len(f.Evidence) > 0 && !slices.ContainsFunc(f.Evidence, func(e assess.Evidence) bool {
		return e.Line == 0 || !slices.ContainsFunc(p.Configuration, func(c Config) bool { return c.From == e.Path && c.Action == Convert && c.changes(e.Line) })
	})
}

// changes reports whether a line of the source is not on the target as it was.
func (c Config) changes(line int) bool {
	for _, change := range c.Changes {
		if change.Line == line {
			return true
		}
	}
	return false
}
