package torpm

import (
	"svc/backend/api"
	"svc/backend/index/course"
	"svc/backend/index/lookup"
	"svc/backend/index/record"
	"svc/backend/index/rpm"
)

// amongRPMs follows an rpm to another release of rpms.
func (h *Path) amongRPMs(p *course.Course, canonical string) {
	r, found := h.Seen.By(h.Source, canonical)
	if !found {
		r = &lookup.RPM{Record: record.Record{Name: h.Tables.UsualName(h.Source, canonical), Canonical: canonical}}
	}
	*p = course.Course{Source: r.Record, Relation: api.RelationSame, Confidence: 1, Names: []string{r.Name}, Found: course.ByName}
	if h.Source.RPM.Line != h.Target.RPM.Line {
		if record.IsCanonical(r.Name) {
			if name, ok := rpm.Usual(r.Name); ok {
				r, p.Source.Name, p.Names[0], p.Spelt = r.Called(name), name, name, true
			}
		}
		h.otherLine(p, r)
		if !h.spell(p) {
			h.asDebianHasIt(p, r)
		}
		h.afterRows(p)
		return
	}
	if today := h.nameToday(r.Name); today != r.Name {
		r = r.Called(today)
	}
	p.Source.Name, p.Names[0] = r.Name, r.Name
	if h.otherSoname(r) {
		p.Relation, p.Confidence, p.Names = api.RelationIncluded, course.Soname, nil
		return
	}
	if record.IsCanonical(r.Name) {
		h.underUsualName(p)
		return
	}
	switch general := h.ofEL(r.Name); {
	case general != r.Name:
		p.Names[0], p.Relation, p.Confidence = general, api.RelationReplaced, record.RowConfidence
		p.Found = course.ByRow
	case !h.Source.RPM.Known && h.Target.RPM.Known && r.Levels == "":
		if _, row := h.trail(h.Source.RPM.Level, r.Name); !row {
			h.otherLine(p, r)
			h.spell(p)
			return
		}
	}
	h.overLevels(p)
	h.spell(p)
}

// otherSoname reports whether an rpm is a library of SUSE, whose name has its
// soname, that the target's level is not known to have: what needs it brings it.
func (h *Path) otherSoname(r *lookup.RPM) bool {
	l := h.Target.RPM
	return l.Line == "suse" && l.Level != h.Source.RPM.Level && r.IsLibrary() && !l.Lists() && !l.At(r)
}

// underUsualName answers for an rpm that nobody is known to have, by the name
// that such packages have.
func (h *Path) underUsualName(p *course.Course) {
	name, ok := rpm.Usual(p.Source.Canonical)
	if !ok {
		h.underItsName(p, course.Guessed)
		return
	}
	p.Source.Name, p.Names, p.Confidence, p.Found = name, []string{name}, course.Guessed, course.ByGuess
	if h.Target.RPM.Line == "suse" {
		p.Confidence = course.Listless // the source has it, by a name that its canonical leads back to
	}
	if h.spell(p) {
		return
	}
	h.climb(p, h.Source.RPM.Level)
	_, known := h.Seen.Find(h.Target, name)
	if h.isUnheard(p, name, known) {
		p.UnheardOf()
		return
	}
	h.confirmListed(p)
}
