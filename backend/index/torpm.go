package index

import (
	"errors"
	"strings"

	"svc/backend/api"
	"svc/backend/index/record"
	"svc/backend/index/rpm"
)

// rowToRPM follows a package of Debian's kin by its curated row.
func (h *hops) rowToRPM(p course) (course, bool, error) {
	value, ok, err := h.ix.debianRows.of(p.source.Name)
	if !ok || err != nil {
		return p, false, err
	}
	relation, targets, _ := strings.Cut(value, "\t")
	targets, ofSUSE, _ := strings.Cut(targets, "\t")
	if h.target.rpm.line == "suse" {
		targets = ofSUSE
	}
	if targets == record.NotSaid {
		return p, false, nil
	}
	if own, rest, ok := strings.Cut(targets, ": "); ok {
		relation, targets = own, rest
	}
	p.relation, p.confidence, p.found = api.Relation(relation), record.RowConfidence, byRow
	for target := range strings.FieldsSeq(strings.ReplaceAll(targets, "=", p.source.Name)) {
		if p, err = h.arriveAtRPM(p, target); err != nil {
			return p, false, err
		}
	}
	switch {
	case len(p.names) == 0:
		p.relation = api.RelationRemoved
	case p.relation == api.RelationRemoved: // others of the packages have gone, not these
		p.relation = api.Relation(relation)
	}
	if p = p.settled(p.source.Name); h.target.rpm.line != "suse" {
		p = h.inOwnNames(p)
	}
	return p, true, nil
}

// arriveAtRPM adds the first of some alternatives that the target is known to
// have, else the first. What EL has until a level under the name of something
// else comes in the package's place.
func (h *hops) arriveAtRPM(p course, alternatives string) (course, error) {
	var best rpmRecord
	for name := range strings.SplitSeq(alternatives, "|") {
		name, until := record.PartKey(name)
		if until > 0 && (h.target.rpm.line != "el" || h.target.rpm.level > until) {
			continue
		}
		if until > 0 {
			p.relation = stronger(p.relation, api.RelationReplaced)
		}
		r, _, err := h.target.findRPM(name)
		if err != nil {
			return p, err
		}
		_, listed, err := h.target.rpm.own(name)
		if err != nil {
			return p, err
		}
		if listed || r.has(h.target.rpm) {
			return p.with([]string{name}), nil
		}
		if best.Name == "" {
			best = r
		}
	}
	if h.target.rpm.lists() {
		return p, nil // its own list is whole
	}
	if later, gone, err := h.became(course{names: []string{best.Name}, relation: p.relation, confidence: p.confidence}, best); gone || err != nil {
		p.relation, p.confidence = later.relation, later.confidence
		return p.with(later.names), err
	}
	p.confidence *= listless
	return p.with([]string{best.Name}), nil
}

// vendorToRPM follows a package of another vendor: over what Debian has in its
// place.
func (h *hops) vendorToRPM(p course) (course, bool, error) {
	value, ok, err := h.ix.kinRows.of(p.source.Name)
	if !ok || err != nil {
		return p, false, err
	}
	x := &lexicon{ix: h.ix}
	g, ok := x.guess(value, ok)
	if !ok || !rpm.IsVendor(g.Method) {
		return p, false, x.err
	}
	p.methods, p.found = []string{g.Method}, byVendor
	if len(g.Targets) == 0 {
		p.relation, p.confidence = api.RelationRemoved, g.Confidence
		return p, true, nil
	}
	canonical, _ := x.Package(rpm.FirstThere(x, g.Targets[0]))
	next, found, err := h.knownToRPM(canonical)
	if err == nil && !found {
		next, err = h.confirmListed(h.guessRPM(next))
	}
	next.source, next.methods, next.found = p.source, p.methods, byVendor
	next.confidence = min(next.confidence, g.Confidence)
	next.relation = stronger(next.relation, g.Relation)
	return next, true, errors.Join(x.err, err)
}
