package torpm

import (
	"svc/backend/api"
	"svc/backend/index/course"
	"svc/backend/index/lookup"
	"svc/backend/index/record"
	"svc/backend/index/rpm"
	"svc/backend/pkgversion"
)

// counterpart is an rpm that is a package of Debian, or has a part of it.
type counterpart struct {
	*lookup.RPM
	whole bool // it is the package, not a part of it
	among bool // others have parts of the package too
}

// rpm answers with an rpm, or with what became of it.
func (h *Path) rpm(p *course.Course, r counterpart, confidence float64) {
	if h.Target.RPM.Lists() && !r.Has(h.Target.RPM) {
		h.withoutRPM(p)
		return
	}
	p.Names, p.Confidence = []string{r.Name}, confidence
	p.Relation = api.RelationRenamed
	switch {
	case r.Name == p.Source.Name:
		p.Relation = api.RelationSame
	case p.Source.IsLibrary():
		p.Relation = api.RelationIncluded
	case r.Canonical != p.Source.Canonical && !r.whole:
		p.Relation = api.RelationMerged
	}
	if h.Target.RPM.MayHaveLost(r.RPM) {
		if later, gone := h.became(*p, r.RPM); gone {
			*p = later
			return
		}
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
func (h *Path) reverse(name string, strictly bool) (counterpart, bool) {
	wholes, parts := record.Column(h.Tables.RpmReverse.Value(name))
	if strictly {
		parts = ""
	}
	best := preferred{line: h.Target.RPM}
	for i, names := range []string{wholes, parts} {
		for name := ""; names != ""; {
			name, names = record.Cut(names, ' ')
			line, key := record.LineOf(name)
			if line != "" && line != h.Target.RPM.Line || strictly && (line == "" || rpm.OfVersion(key)) {
				continue
			}
			if r, ok := h.Seen.Find(h.Target, key); ok && r.Key == key && r.Of(h.Target.RPM) {
				best.add(counterpart{RPM: r, whole: i == 0})
			}
		}
	}
	best.rpm.among = best.others && !best.rpm.whole
	return best.rpm, best.rpm.RPM != nil
}

// preferred is the rpm to be preferred of several: the first that the release is
// known to have, or the newest version where they are versions of one software. What
// is a package of Debian comes before what has a part of it.
type preferred struct {
	line   *lookup.Line
	rpm    counterpart
	others bool // it is not alone with its versions
}

func (p *preferred) add(r counterpart) {
	if p.rpm.RPM == nil {
		p.rpm = r
		return
	}
	presence := r.Presence(p.line) - p.rpm.Presence(p.line)
	switch {
	case presence > 0:
		p.rpm, p.others = r, false
	case presence < 0 || p.others || p.rpm.whole && !r.whole: // it stays
	case rpm.OfVersion(r.Name) != rpm.OfVersion(p.rpm.Name): // that of the version which programs mean comes first
		if rpm.OfVersion(p.rpm.Name) {
			p.rpm = r
		}
	case rpm.Unnumbered(r.Name) != rpm.Unnumbered(p.rpm.Name):
		p.others = true
	case pkgversion.Compare(pkgversion.RPM, r.Name, p.rpm.Name) > 0:
		p.rpm = r
	}
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
