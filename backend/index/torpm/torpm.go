package torpm

import (
	"errors"

	"svc/backend/api"
	"svc/backend/index/course"
	"svc/backend/index/lookup"
	"svc/backend/index/record"
	"svc/backend/index/rpm"
)

// New is the path between two releases.
func New(between *course.Pair) *Path {
	h := &Path{Pair: between, ownNames: readOwnNames(between), elsewhere: elsewhere(between.Target)}
	h.levels = h.levelTrails()
	return h
}

// For is the path for another call between the same releases.
func (h *Path) For(call *course.Pair) *Path {
	path := *h
	path.Pair = call
	return &path
}

// Follow follows a canonical to the target.
func (h *Path) Follow(canonical string) (course.Course, error) {
	h.Seen.Forget()
	if h.Source.RPM != nil {
		return h.amongRPMs(canonical)
	}
	return h.toRPM(canonical)
}

// toRPM follows a package of Debian's family to an rpm release.
func (h *Path) toRPM(canonical string) (course.Course, error) {
	p, err := h.namedInRPM(canonical)
	if err != nil {
		return p, err
	}
	return h.afterRows(p)
}

// namedInRPM follows it to the names that the rows and tables have.
func (h *Path) namedInRPM(canonical string) (course.Course, error) {
	p, found, err := h.knownToRPM(canonical)
	if found || err != nil {
		return p, err
	}
	if vendor, ok, err := h.vendorToRPM(p); ok || err != nil {
		return vendor, err
	}
	if meta, ok, err := h.metapackageToRPM(p); ok || err != nil {
		return meta, err
	}
	return h.confirmListed(h.guessRPM(p))
}

// vendorToRPM follows a package of another vendor: over what Debian has in its
// place.
func (h *Path) vendorToRPM(p course.Course) (course.Course, bool, error) {
	value, ok, err := h.Tables.DerivativeRows.Of(p.Source.Name)
	if !ok || err != nil {
		return p, false, err
	}
	x := &lookup.Names{Tables: h.Tables}
	g, ok := x.Guess(value, ok)
	if !ok || !rpm.IsVendor(g.Method) {
		return p, false, x.Err
	}
	p.Methods, p.Found = []string{g.Method}, course.ByVendor
	if len(g.Targets) == 0 {
		p.Relation, p.Confidence = api.RelationRemoved, g.Confidence
		return p, true, nil
	}
	canonical, _ := x.Package(rpm.FirstThere(x, g.Targets[0]))
	next, found, err := h.knownToRPM(canonical)
	if err == nil && !found {
		next, err = h.confirmListed(h.guessRPM(next))
	}
	next.Source, next.Methods, next.Found = p.Source, p.Methods, course.ByVendor
	next.Confidence = min(next.Confidence, g.Confidence)
	next.Relation = course.Stronger(next.Relation, g.Relation)
	return next, true, errors.Join(x.Err, err)
}

// metapackageToRPM follows one of several versions, which rpm releases have no
// name for, as the package that stands for all of them.
func (h *Path) metapackageToRPM(p course.Course) (course.Course, bool, error) {
	name := course.WithoutVersion(p.Source.Name)
	if name == p.Source.Name || p.Source.IsLibrary() {
		return p, false, nil
	}
	x := &lookup.Names{Tables: h.Tables}
	canonical, ok := x.Package(name)
	if !ok || canonical == p.Source.Canonical || x.Err != nil {
		return p, false, x.Err
	}
	meta, found, err := h.knownToRPM(canonical)
	if err != nil || !found || meta.Relation == api.RelationRemoved {
		return p, false, err
	}
	meta.Source, meta.Relation = p.Source, course.Stronger(meta.Relation, api.RelationRenamed)
	meta.Confidence, meta.Found = meta.Confidence*record.LineageConfidence, course.ByMetapackage
	return meta, true, nil
}

// knownToRPM follows it by what the index knows: a row, its canonical, or the
// rpms that are of it.
func (h *Path) knownToRPM(canonical string) (p course.Course, found bool, err error) {
	r, ok, err := h.Source.ByCanonical(canonical)
	if err != nil {
		return course.Course{}, false, err
	}
	p = course.Course{Source: r, Relation: api.RelationUnknown}
	if !ok {
		p.Source = record.Record{Name: canonical, Canonical: canonical}
	}
	if row, ok, err := h.rowToRPM(p); ok || err != nil {
		return row, ok, err
	}
	by, found, err := h.Seen.By(h.Target, canonical)
	named := counterpart{RPM: by}
	confidence, way := record.RowConfidence, course.ByCanonical
	if !found && err == nil {
		named, found, err = h.reverse(p.Source.Name, false)
		confidence, way = record.LineageConfidence, course.ByPart
		if named.whole {
			way = course.ByReverse
		}
	}
	if !found || err != nil {
		return p, false, err
	}
	p.Found = way
	p, err = h.rpm(p, named, confidence)
	if named.among && p.Relation == api.RelationMerged {
		p.Confidence = min(p.Confidence, course.PartConfidence)
	}
	return p, true, err
}
