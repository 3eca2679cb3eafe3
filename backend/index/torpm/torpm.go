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
	vendor, ok, err := h.vendorRow(p.Source.Name)
	if err != nil {
		return p, err
	}
	if ok {
		return h.vendorToRPM(p, vendor)
	}
	general, ok, err := h.ofAllVersions(&p.Source)
	if err != nil {
		return p, err
	}
	if ok {
		if meta, ok, err := h.metapackageToRPM(p, general); ok || err != nil {
			return meta, err
		}
	}
	return h.confirmListed(h.guessRPM(p))
}

// vendorRow is the row of a package of another vendor.
func (h *Path) vendorRow(name string) (rpm.Guess, bool, error) {
	x := &lookup.Names{Tables: h.Tables}
	g, ok := x.Derivative(name)
	return g, ok && rpm.IsVendor(g.Method), x.Err
}

// vendorToRPM follows a package of another vendor by its row: over what Debian has in
// its place.
func (h *Path) vendorToRPM(p course.Course, g rpm.Guess) (course.Course, error) {
	p.Methods, p.Found = []string{g.Method}, course.ByVendor
	if len(g.Targets) == 0 {
		p.Relation, p.Confidence = api.RelationRemoved, g.Confidence
		return p, nil
	}
	x := &lookup.Names{Tables: h.Tables}
	canonical, _ := x.Package(rpm.FirstThere(x, g.Targets[0]))
	next, found, err := h.knownToRPM(canonical)
	if err == nil && !found {
		next, err = h.confirmListed(h.guessRPM(next))
	}
	next.Source, next.Methods, next.Found = p.Source, p.Methods, course.ByVendor
	next.Confidence = min(next.Confidence, g.Confidence)
	next.Relation = course.Stronger(next.Relation, g.Relation)
	return next, errors.Join(x.Err, err)
}

// ofAllVersions is the canonical of the package that stands for all versions of one
// that is named by its own.
func (h *Path) ofAllVersions(r *record.Record) (string, bool, error) {
	name := course.WithoutVersion(r.Name)
	if name == r.Name || r.IsLibrary() {
		return "", false, nil
	}
	x := &lookup.Names{Tables: h.Tables}
	canonical, ok := x.Package(name)
	return canonical, ok && canonical != r.Canonical, x.Err
}

// metapackageToRPM follows one of several versions, which rpm releases have no
// name for, as the package that stands for all of them.
func (h *Path) metapackageToRPM(p course.Course, canonical string) (course.Course, bool, error) {
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
