package index

import (
	"slices"

	"svc/backend/api"
	"svc/backend/index/record"
	"svc/backend/release"
)

// crossConfidence is that of the same name in another distribution of one kin,
// where both lists are known.
const crossConfidence = 0.97

// crosses reports whether the way leads from one distribution of Debian's kin to
// another whose own lists are known.
func (h *hops) crosses() bool {
	return !h.source.foreign() && !h.target.foreign() &&
		record.Distribution(h.source.suite().slug) != record.Distribution(h.target.suite().slug)
}

// cross finds a package of one distribution in another: under its own name,
// under that which it had or got in either of them, or by its canonical.
func (h *hops) cross(r record.Record) (course, error) {
	p := course{source: r, relation: api.RelationSame, confidence: crossConfidence, names: []string{r.Name}}
	for _, way := range []func(course) (course, bool, error){h.sameThere, h.overTarget, h.overSource, h.sameJob} {
		found, ok, err := way(p)
		if ok || err != nil {
			return found, err
		}
	}
	if found, ok, err := h.fromRow(r.Name); ok || err != nil {
		return found, err
	}
	p.relation, p.confidence, p.names = api.RelationRemoved, goneConfidence, nil
	return p, nil
}

func (h *hops) sameThere(p course) (course, bool, error) {
	_, ok, err := h.target.find(p.source.Name)
	return p, ok, err
}

// overTarget goes over the release of the target's distribution that is nearest
// to the target and has the name.
func (h *hops) overTarget(p course) (course, bool, error) {
	for _, t := range h.ix.kinOf(h.target) {
		r, ok, err := t.find(p.source.Name)
		if err != nil {
			return p, false, err
		}
		if !ok {
			continue
		}
		found, err := h.ix.way(t, h.target).from(r)
		return found.since(p), len(found.names) > 0, err
	}
	return p, false, nil
}

// overSource goes over the other releases of the source's distribution, to one
// where the package has names that the target has.
func (h *hops) overSource(p course) (course, bool, error) {
	for _, t := range h.ix.kinOf(h.source) {
		found, err := h.ix.way(h.source, t).from(p.source)
		if err != nil {
			return p, false, err
		}
		there, err := h.target.hasAll(found.names)
		if there && len(found.names) > 0 || err != nil {
			return found.since(p), err == nil, err
		}
	}
	return p, false, nil
}

// sameJob is the package of the target with the canonical.
func (h *hops) sameJob(p course) (course, bool, error) {
	r, ok, err := h.target.byCanonical(p.source.Canonical)
	p.relation, p.confidence, p.names = api.RelationRenamed, record.LineageConfidence, []string{r.Name}
	if record.Role(p.source.Canonical) == api.RoleLib {
		p.relation = api.RelationIncluded
	}
	return p, ok, err
}

// since is a course that went on from another.
func (p course) since(before course) course {
	p.source, p.confidence = before.source, p.confidence*before.confidence
	return p
}

// kinOf are the other releases of a distribution that have lists of their own,
// newest first.
func (ix *Index) kinOf(t *releaseTables) []*releaseTables {
	var all []*releaseTables
	for _, slug := range slices.Backward(ix.order) {
		if other := ix.releases[slug]; record.Distribution(slug) == record.Distribution(t.suite().slug) && other != t.suite() {
			all = append(all, other)
		}
	}
	return all
}

// ofDebian reports whether a release is one of Debian itself.
func ofDebian(r release.Release) bool { return r.Family == release.Debian }
