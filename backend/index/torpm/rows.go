package torpm

import (
	"strings"

	"svc/backend/api"
	"svc/backend/index/course"
	"svc/backend/index/lookup"
	"svc/backend/index/record"
)

// rowToRPM follows a package of Debian's family by its curated row.
func (h *Path) rowToRPM(p *course.Course) bool {
	value, ok := h.Tables.DebianRows.Of(p.Source.Name)
	if !ok {
		return false
	}
	relation, targets, _ := strings.Cut(value, "\t")
	targets, ofSUSE, _ := strings.Cut(targets, "\t")
	if h.Target.RPM.Line == "suse" {
		targets = ofSUSE
	}
	if targets == record.NotSaid {
		return false
	}
	if own, rest, ok := strings.Cut(targets, ": "); ok {
		relation, targets = own, rest
	}
	p.Relation, p.Confidence, p.Found = api.Relation(relation), record.RowConfidence, course.ByRow
	for target := range strings.FieldsSeq(strings.ReplaceAll(targets, "=", p.Source.Name)) {
		h.arriveAtRPM(p, target)
	}
	switch {
	case len(p.Names) == 0:
		p.Relation = api.RelationRemoved
	case p.Relation == api.RelationRemoved: // others of the packages have gone, not these
		p.Relation = api.Relation(relation)
	}
	if p.Settle(p.Source.Name); h.Target.RPM.Line != "suse" {
		h.inOwnNames(p)
	}
	return true
}

// arriveAtRPM adds the first of some alternatives that the target is known to
// have, else the first that EPEL has, else the first. What EL has until a level under the name of something
// else comes in the package's place.
func (h *Path) arriveAtRPM(p *course.Course, alternatives string) {
	best := &lookup.RPM{}
	for name := range strings.SplitSeq(alternatives, "|") {
		name, until := record.PartKey(name)
		if until > 0 && (h.Target.RPM.Line != "el" || h.Target.RPM.Level > until) {
			continue
		}
		if until > 0 {
			p.Relation = course.Stronger(p.Relation, api.RelationReplaced)
		}
		r, _ := h.Seen.Find(h.Target, name)
		_, listed := h.Target.RPM.Own(name)
		if listed || r.Has(h.Target.RPM) {
			*p = p.With([]string{name})
			return
		}
		if best.Name == "" || h.Target.RPM.FromEPEL(r) && !h.Target.RPM.FromEPEL(best) {
			best = r
		}
	}
	if h.Target.RPM.Lists() {
		return // its own list is whole
	}
	later, gone := h.became(course.Course{Names: []string{best.Name}, Relation: p.Relation, Confidence: p.Confidence}, best)
	if gone {
		p.Relation, p.Confidence = later.Relation, later.Confidence
		*p = p.With(later.Names)
		return
	}
	p.Confidence *= course.Listless
	*p = p.With([]string{best.Name})
}
