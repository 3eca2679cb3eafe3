package torpm

import (
	"svc/backend/api"
	"svc/backend/index/course"
	"svc/backend/index/lookup"
	"svc/backend/index/record"
	"svc/backend/index/rpm"
)

// rpm answers with an rpm, or with what became of it.
func (h *Path) rpm(p *course.Course, r course.Counterpart, confidence float64) {
	if h.Target.RPM.Lists() && !r.Has(h.Target.RPM) {
		h.withoutRPM(p)
		return
	}
	if rpm.ForOtherPython(p.Source.Name, r.Name) && h.ownBefore(p) {
		return
	}
	p.Names, p.Confidence, p.Relation = []string{r.Name}, confidence, api.RelationRenamed
	switch {
	case r.Name == p.Source.Name:
		p.Relation = api.RelationSame
	case p.Source.IsLibrary():
		p.Relation = api.RelationIncluded
	case r.Canonical != p.Source.Canonical && !r.Whole:
		p.Relation = api.RelationMerged
	}
	if later, gone := h.became(*p, r.RPM); gone {
		if len(later.Names) > 0 || r.Name == p.Source.Name || !h.ownBefore(p) { // else another went: EL 7's for Python 2
			*p = later
		}
		return
	}
	if p.Relation != api.RelationIncluded {
		p.Confidence *= h.existence(r.RPM) // what comes as a dependency need not be there by name
	} else if h.lacks(r.RPM) || h.Target.RPM.Line == "suse" && h.presenceOf(p.Names) == lookup.Nowhere { // SUSE's libraries bear their sonames
		p.Confidence, p.Names = min(p.Confidence, course.Unlisted), nil
	}
	h.inOwnNames(p)
}

// reverse is the rpm of the target's line that is a package of Debian, or has a
// part of it: strictly, one that is that package and is named so in that line
// alone.
func (h *Path) reverse(name string, strictly bool) (course.Counterpart, bool) {
	wholes, parts := record.Column(h.Tables.RpmReverse.Value(name))
	if strictly {
		parts = ""
	}
	best := course.Preferred{Line: h.Target.RPM}
	for i, names := range []string{wholes, parts} {
		for name := ""; names != ""; {
			name, names = record.Cut(names, ' ')
			line, key := record.LineOf(name)
			if line != "" && line != h.Target.RPM.Line || strictly && (line == "" || rpm.OfVersion(key)) {
				continue
			}
			if r, ok := h.Seen.Find(h.Target, key); ok && r.Key == key && r.Of(h.Target.RPM) {
				best.Add(course.Counterpart{RPM: r, Whole: i == 0})
			}
		}
	}
	return best.Best()
}

// withoutRPM answers where the target's own list has nothing of what is known:
// libraries come as dependencies.
func (h *Path) withoutRPM(p *course.Course) {
	switch r := record.Role(p.Source.Canonical); {
	case r == api.RoleLib || r == api.RoleLang:
		p.Relation, p.Confidence = api.RelationIncluded, course.Unlisted
	default:
		p.Relation, p.Confidence, p.Names = api.RelationRemoved, course.GoneConfidence, nil
	}
}

// guessRPM answers for what no rpm is known for: libraries come as
// dependencies, anything else may have the same name.
func (h *Path) guessRPM(p *course.Course) {
	p.Found = course.ByGuess
	switch r := record.Role(p.Source.Canonical); {
	case r == api.RoleLang, p.Source.IsLibrary():
		p.Relation, p.Confidence = api.RelationIncluded, course.Unlisted
	case r == api.RoleDebug:
		p.Relation, p.Confidence = api.RelationRemoved, course.Unlisted
	case record.IsCanonical(p.Source.Name):
		p.Relation, p.Confidence = api.RelationRemoved, course.GoneConfidence
	default:
		p.Relation, p.Confidence, p.Names = api.RelationRenamed, course.Guessed, []string{h.Tables.RPMName(p.Source.Name)}
		p.Settle(p.Source.Name)
	}
	h.confirmListed(p)
}
