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
// part of it: strictly, one that is that package and is named so in that line alone.
func (h *Path) reverse(name string, strictly bool) (course.Counterpart, bool) {
	wholes, parts := record.Column(h.Seen.Reverse(h.Tables, name))
	best := course.Preferred{Line: h.Target.RPM, Strictly: strictly}
	best.AddNamed(h.Pair, wholes, true)
	if !strictly {
		best.AddNamed(h.Pair, parts, false)
	}
	return best.Best()
}

// listedAs answers with the rpm that the target's own list has and that is a package of Debian.
func (h *Path) listedAs(p *course.Course, deb, found string, confidence float64) bool {
	wholes, parts := record.Column(h.Seen.Reverse(h.Tables, deb))
	best := course.Preferred{Line: h.Target.RPM, Listed: true}
	best.AddNamed(h.Pair, wholes, true)
	if whole, ok := best.Best(); !ok || rpm.ForOtherPython(p.Source.Name, whole.Name) || h.Seen.Presence(h.Target, whole.Name) != lookup.InList {
		return false // as of most, whose parts need no look
	}
	best.AddNamed(h.Pair, parts, false)
	named, _ := best.Best()
	if !named.Whole {
		return false
	}
	p.Found = found
	h.rpm(p, named, confidence)
	return true
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
