package migration

import (
	"slices"
	"strings"

	"svc/assess"
	"svc/assess/judge"
	"svc/tools/convert"
	"svc/tools/migration/naming"
)

// troubles are the known ones that the machine meets on the way.
func troubles(in Input, p *Plan, places naming.Places) []assess.Finding {
	if in.Machine == nil {
		return nil
	}
	in.Machine.Brought, in.Machine.Placed = conversion(in, p).Brought, places.Now
	return judge.Hazards(in.Hazards, in.Machine, &in.Target)
}

// told are troubles as a plan tells them: what a converter, a merge, a dump or a step of the
// plan mends, line by line, is only told.
func told(p *Plan, all []assess.Finding) []assess.Finding {
	for i := range all {
		if f := &all[i]; p.mended(*f) {
			f.Severity, f.Inhibitor, f.Remediations = assess.Info, false, nil
			f.Summary = "It is mended: what takes the place of these lines on the target does without, as the plan's changes say, or the dump has it written. Without that: " + f.Summary
		}
	}
	return all
}

// mended reports whether each line that a finding names is changed in what the role
// brings, by a step after the data, or with a dump. Where it names a file whole, its place is the
// trouble: another place mends that, of all of its lines. Of a certificate the whole is the
// trouble, wherever it stands.
func (p *Plan) mended(f assess.Finding) bool {
	placed := map[string]bool{}
	commands := slices.ContainsFunc(f.Remediations, func(r assess.Remediation) bool { return r.BeforeData }) // which a dump's load does
	for _, e := range f.Evidence {
		placed[e.Path] = placed[e.Path] || e.Line == 0 && !strings.HasPrefix(f.Key, "hazard.tls.cert-")
	}
	return len(f.Evidence) > 0 && !slices.ContainsFunc(f.Evidence, func(e assess.Evidence) bool {
		if e.Line > 0 && slices.ContainsFunc(p.Mentions, func(m naming.Mention) bool { return m.Path == e.Path && m.Line == e.Line && m.Now != "" }) {
			return false
		}
		return !slices.ContainsFunc(p.Configuration, func(c Config) bool {
			return c.From == e.Path && (c.Reason == ComesWithDump && commands || c.Action == Convert && (c.changes(e.Line) || placed[e.Path] && c.To != "" && c.To != c.From))
		})
	})
}

// changes reports whether a line of the source is not on the target as it was.
func (c Config) changes(line int) bool {
	return slices.ContainsFunc(c.Changes, func(change convert.Change) bool { return change.Line == line })
}
