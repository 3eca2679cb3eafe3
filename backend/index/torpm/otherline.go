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
func (h *Path) inOtherLine(p *course.Course) bool {
	if h.Target.RPM.Line == "suse" {
		relation, own, ok := strings.Cut(h.ownRPMs(p.Source.Name), "\t")
		if !ok {
			return false
		}
		p.Relation, p.Confidence, p.Names = api.Relation(relation), record.RowConfidence*course.Listless, strings.Fields(own)
		p.Settle(p.Source.Name)
		return true
	}
	name := h.ofEL(p.Source.Name)
	if name == p.Source.Name {
		return false
	}
	relation, _ := record.Column(h.Tables.RpmOwn.Value(record.OwnKey(h.Source.RPM.Line, name)))
	r, _ := h.Seen.Find(h.Target, name)
	p.Relation, p.Confidence, p.Names = course.Stronger(api.RelationRenamed, api.Relation(relation)), record.RowConfidence*h.existence(r), []string{name}
	return true
}

// otherLine follows an rpm of EL to SUSE or back: by its row, the same name, else
// what is the same package of Debian.
func (h *Path) otherLine(p *course.Course, r *lookup.RPM) {
	p.Found = course.ByName
	if rpm.IsIdentity(r.Name) {
		p.Relation, p.Confidence, p.Names, p.Found = api.RelationRemoved, record.RowConfidence, nil, course.ByRow
		return
	}
	if h.inOtherLine(p) {
		p.Found = course.ByRow
		return
	}
	if name, ok := rpm.PythonIn(h.Target.RPM.Line, r.Name); ok && h.presenceOf([]string{name}) != lookup.Nowhere {
		if same, _ := h.Seen.Find(h.Target, name); !h.lacks(same) { // Debian, by which others are followed, has one version
			p.Relation, p.Confidence, p.Names, p.Found = api.RelationRenamed, course.BothHave, []string{name}, course.ByBoth
			return
		}
	}
	if r.Line == "" && r.Key == r.Name && h.Target.RPM.At(r) {
		p.Confidence, p.Found = course.BothHave, course.ByBoth
		h.inOwnNames(p)
		return
	}
	t, known := h.RPMTrail(r)
	if !known {
		h.underItsName(p, course.Guessed)
		return
	}
	nowhere := func() bool { return h.presenceOf(p.Names) == lookup.Nowhere }
	shared := r.Line == "" && (r.Key == r.Name || h.presenceOf(p.Names) == lookup.InList) // the target has the name too
	own, alternatives, name := h.ownName(t.Targets, shared)
	asLibrary := t.Relation == api.RelationIncluded || h.Source.RPM.Line == "suse" && r.IsLibrary()
	if !asLibrary && (own.RPM == nil || t.Relation == api.RelationReplaced || h.lacks(own.RPM)) {
		if h.byDebian(p, t) {
			return
		}
	}
	isPart := own.RPM != nil && !own.Whole && (t.Relation == api.RelationSame || t.Relation == api.RelationRenamed)
	if own.RPM != nil && (!isPart || nowhere()) { // its own name is more than what has a part of it
		p.Found = course.ByDebian
		if isPart {
			p.Found = course.ByPart
		}
		h.rpm(p, own, t.Confidence)
		h.Instead(p, alternatives, name)
		return
	}
	switch {
	case asLibrary:
		p.Relation, p.Confidence, p.Names = api.RelationIncluded, course.Unlisted, nil
		return
	case t.Relation == api.RelationRemoved && h.Target.RPM.Line == "el" && r.Levels == "":
		p.Found = course.ByDebian
		p.Relation, p.Confidence, p.Names = t.Relation, t.Confidence, nil // as from Debian: EL is not known to have it
		if t.Method == rpm.Absent {
			p.Found = course.ByAbsence // no row says so
		}
		return
	}
	if later, gone := h.became(*p, r); gone {
		*p = later
		return
	}
	switch {
	case nowhere() && h.lacks(r):
		p.UnheardOf()
	case t.Relation != api.RelationRemoved && r.Line == "" && h.Source.RPM.Line != h.Target.RPM.Line:
		h.underItsName(p, course.Listless)
	default:
		h.underItsName(p, course.Guessed)
	}
}

// byDebian follows an rpm of SUSE to EL by the row of the package of Debian that a
// trail leads to.
func (h *Path) byDebian(p *course.Course, t record.Trail) bool {
	if h.Target.RPM.Line != "el" {
		return false
	}
	for _, target := range t.Targets {
		for name := range strings.SplitSeq(target, "|") {
			row := course.Course{Source: record.Record{Name: name}}
			if h.rowToRPM(&row) && len(row.Names) > 0 {
				row.Source, row.Relation, row.Found = p.Source, course.Stronger(t.Relation, row.Relation), course.ByDebianRow
				row.Settle(p.Source.Name)
				*p = row
				return true
			}
		}
	}
	return false
}

// asDebianHasIt answers for an rpm that no list near the target has, by its own name, with what
// the package of Debian, which it is, is in the target's list, else with the name that this
// would have there, where a list has that.
func (h *Path) asDebianHasIt(p *course.Course, r *lookup.RPM) bool {
	if p.Found != course.ByName || len(p.Names) == 0 || h.presenceOf(p.Names) != lookup.Nowhere {
		return false
	}
	t, ok := h.RPMTrail(r)
	if !ok || len(t.Targets) != 1 || t.Relation != api.RelationSame && t.Relation != api.RelationRenamed {
		return false
	}
	for name := range strings.SplitSeq(t.Targets[0], "|") {
		if h.listedAs(p, name, course.ByDebian, t.Confidence) {
			return true
		}
		deb, ok := h.Tables.Stable().Find(name)
		own := course.Course{Source: deb}
		if !ok || deb.IsLibrary() || !h.ownBefore(&own) {
			continue
		}
		own.Source, own.Relation, own.Found, own.Confidence = p.Source, api.RelationRenamed, course.ByDebianName, min(t.Confidence, course.Unsure) // two guesses make nobody sure
		own.Settle(p.Source.Name)
		*p = own
		return true
	}
	return false
}

// underItsName answers with the name that an rpm has, if one is known: one that its
// canonical alone leads back to, which may not be spelt so, where a list has it.
func (h *Path) underItsName(p *course.Course, confidence float64) {
	there := h.presenceOf(p.Names)
	if p.Relation, p.Confidence = api.RelationSame, confidence; p.Spelt && there == lookup.Nowhere || record.IsCanonical(p.Source.Name) {
		p.Relation, p.Confidence, p.Names = api.RelationRemoved, course.GoneConfidence, nil
	}
	h.confirmListed(p)
}

// ownName is the rpm of the target's line for the first package of Debian that
// has one, which is named with its alternatives.
func (h *Path) ownName(targets []string, strictly bool) (own course.Counterpart, alternatives []string, name string) {
	for i := range targets {
		alternatives = record.Alternatives(targets, i)
		for _, name = range alternatives {
			if own, found := h.reverse(name, strictly); found {
				return own, alternatives, name
			}
		}
	}
	return own, nil, ""
}
