package torpm

import (
	"strings"

	"svc/backend/api"
	"svc/backend/index/course"
	"svc/backend/index/lookup"
	"svc/backend/index/record"
	"svc/backend/index/rpm"
)

// inOtherLine follows an rpm of EL to SUSE or back by the row of its name.
func (h *Path) inOtherLine(p course.Course) (course.Course, bool, error) {
	if h.Target.RPM.Line == "suse" {
		relation, own, ok := strings.Cut(h.ownRPMs(p.Source.Name), "\t")
		p.Relation, p.Confidence, p.Names = api.Relation(relation), record.RowConfidence*course.Listless, strings.Fields(own)
		return p.Settled(p.Source.Name), ok, nil
	}
	name := h.ofEL(p.Source.Name)
	if name == p.Source.Name {
		return p, false, nil
	}
	value, _, err := h.Tables.RpmOwn.Get(name + " " + h.Source.RPM.Line)
	if err != nil {
		return p, false, err
	}
	relation, _, _ := strings.Cut(value, "\t")
	r, _, err := h.Seen.Find(h.Target, name)
	p.Relation, p.Confidence, p.Names = course.Stronger(api.RelationRenamed, api.Relation(relation)), record.RowConfidence*h.existence(r), []string{name}
	return p, true, err
}

// otherLine follows an rpm of EL to SUSE or back: by its row, the same name, else
// what is the same package of Debian.
func (h *Path) otherLine(p course.Course, r *lookup.RPM) (course.Course, error) {
	p.Found = course.ByName
	if rpm.IsIdentity(r.Name) {
		p.Relation, p.Confidence, p.Names, p.Found = api.RelationRemoved, record.RowConfidence, nil, course.ByRow
		return p, nil
	}
	if row, ok, err := h.inOtherLine(p); ok || err != nil {
		row.Found = course.ByRow
		return row, err
	}
	if r.Line == "" && r.Key == r.Name && h.Target.RPM.At(r) {
		p.Confidence, p.Found = course.BothHave, course.ByBoth
		return h.inOwnNames(p), nil
	}
	t, known, err := h.RPMTrail(r)
	if err != nil {
		return p, err
	}
	if !known {
		return h.underItsName(p, course.Guessed)
	}
	there, err := h.presenceOf(p.Names)
	if err != nil {
		return p, err
	}
	shared := r.Line == "" && (r.Key == r.Name || there == lookup.InList) // the target has the name too
	own, alternatives, name, err := h.ownName(t.Targets, shared)
	if err != nil {
		return p, err
	}
	asLibrary := t.Relation == api.RelationIncluded || h.Source.RPM.Line == "suse" && r.IsLibrary()
	if !asLibrary && (own.RPM == nil || t.Relation == api.RelationReplaced || h.lacks(own.RPM)) {
		if row, ok, err := h.byDebian(p, t); ok || err != nil {
			return row, err
		}
	}
	if own.RPM != nil {
		p.Found = course.ByDebian
		p, err = h.rpm(p, own, t.Confidence)
		return h.Instead(p, alternatives, name), err
	}
	switch {
	case asLibrary:
		p.Relation, p.Confidence, p.Names = api.RelationIncluded, course.Unlisted, nil
		return p, nil
	case t.Relation == api.RelationRemoved && h.Target.RPM.Line == "el" && r.Levels == "":
		p.Found = course.ByDebian
		p.Relation, p.Confidence, p.Names = t.Relation, t.Confidence, nil // as from Debian: EL is not known to have it
		return p, nil
	}
	if h.Target.RPM.MayHaveLost(r) {
		if later, gone, err := h.became(p, r); gone || err != nil {
			return later, err
		}
	}
	switch {
	case there == lookup.Nowhere && h.lacks(r):
		return p.UnheardOf(), nil
	case t.Relation != api.RelationRemoved && r.Line == "" && h.Source.RPM.Line != h.Target.RPM.Line:
		return h.underItsName(p, course.Listless)
	}
	return h.underItsName(p, course.Guessed)
}

// byDebian follows an rpm of SUSE to EL by the row of the package of Debian that a
// trail leads to.
func (h *Path) byDebian(p course.Course, t record.Trail) (course.Course, bool, error) {
	if h.Target.RPM.Line != "el" {
		return p, false, nil
	}
	for _, target := range t.Targets {
		for name := range strings.SplitSeq(target, "|") {
			row, ok, err := h.rowToRPM(course.Course{Source: record.Record{Name: name}})
			if err != nil {
				return p, false, err
			}
			if ok && len(row.Names) > 0 {
				row.Source, row.Relation, row.Found = p.Source, course.Stronger(t.Relation, row.Relation), course.ByDebianRow
				return row.Settled(p.Source.Name), true, nil
			}
		}
	}
	return p, false, nil
}

// underItsName answers with the name that an rpm has, if one is known: one that its
// canonical alone leads back to, which may not be spelt so, where a list has it.
func (h *Path) underItsName(p course.Course, confidence float64) (course.Course, error) {
	there, err := h.presenceOf(p.Names)
	if err != nil {
		return p, err
	}
	if p.Relation, p.Confidence = api.RelationSame, confidence; p.Spelt && there == lookup.Nowhere || record.IsCanonical(p.Source.Name) {
		p.Relation, p.Confidence, p.Names = api.RelationRemoved, course.GoneConfidence, nil
	}
	return h.confirmListed(p)
}

// ownName is the rpm of the target's line for the first package of Debian that
// has one, which is named with its alternatives.
func (h *Path) ownName(targets []string, strictly bool) (own counterpart, alternatives []string, name string, err error) {
	for i, target := range targets {
		alternatives = targets[i : i+1]
		if strings.Contains(target, "|") {
			alternatives = strings.Split(target, "|")
		}
		for _, name = range alternatives {
			own, found, err := h.reverse(name, strictly)
			if found || err != nil {
				return own, alternatives, name, err
			}
		}
	}
	return own, nil, "", nil
}
