package torpm

import (
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
func (h *Path) Follow(canonical string) course.Course {
	h.Seen.Forget()
	if h.Source.RPM != nil {
		return h.amongRPMs(canonical)
	}
	return h.toRPM(canonical)
}

// toRPM follows a package of Debian's family to an rpm release.
func (h *Path) toRPM(canonical string) course.Course {
	return h.afterRows(h.namedInRPM(canonical))
}

// namedInRPM follows it to the names that the rows and tables have.
func (h *Path) namedInRPM(canonical string) course.Course {
	p, found := h.knownToRPM(canonical)
	if found {
		return p
	}
	if vendor, ok := h.vendorRow(p.Source.Name); ok {
		return h.vendorToRPM(p, vendor)
	}
	if general, ok := h.ofAllVersions(&p.Source); ok {
		if meta, ok := h.metapackageToRPM(p, general); ok {
			return meta
		}
	}
	return h.confirmListed(h.guessRPM(p))
}

// vendorRow is the row of a package of another vendor.
func (h *Path) vendorRow(name string) (rpm.Guess, bool) {
	x := &lookup.Names{Tables: h.Tables}
	g, ok := x.Derivative(name)
	return g, ok && rpm.IsVendor(g.Method)
}

// vendorToRPM follows a package of another vendor by its row: over what Debian has in
// its place.
func (h *Path) vendorToRPM(p course.Course, g rpm.Guess) course.Course {
	p.Methods, p.Found = []string{g.Method}, course.ByVendor
	if len(g.Targets) == 0 {
		p.Relation, p.Confidence = api.RelationRemoved, g.Confidence
		return p
	}
	x := &lookup.Names{Tables: h.Tables}
	canonical, _ := x.Package(rpm.FirstThere(x, g.Targets[0]))
	next, found := h.knownToRPM(canonical)
	if !found {
		next = h.confirmListed(h.guessRPM(next))
	}
	next.Source, next.Methods, next.Found = p.Source, p.Methods, course.ByVendor
	next.Confidence = min(next.Confidence, g.Confidence)
	next.Relation = course.Stronger(next.Relation, g.Relation)
	return next
}

// ofAllVersions is the canonical of the package that stands for all versions of one
// that is named by its own.
func (h *Path) ofAllVersions(r *record.Record) (string, bool) {
	name := course.WithoutVersion(r.Name)
	if name == r.Name || r.IsLibrary() {
		return "", false
	}
	x := &lookup.Names{Tables: h.Tables}
	canonical, ok := x.Package(name)
	return canonical, ok && canonical != r.Canonical
}

// metapackageToRPM follows one of several versions, which rpm releases have no
// name for, as the package that stands for all of them.
func (h *Path) metapackageToRPM(p course.Course, canonical string) (course.Course, bool) {
	meta, found := h.knownToRPM(canonical)
	if !found || meta.Relation == api.RelationRemoved {
		return p, false
	}
	meta.Source, meta.Relation = p.Source, course.Stronger(meta.Relation, api.RelationRenamed)
	meta.Confidence, meta.Found = meta.Confidence*record.LineageConfidence, course.ByMetapackage
	return meta, true
}

// knownToRPM follows it by what the index knows: a row, its canonical, or the
// rpms that are of it.
func (h *Path) knownToRPM(canonical string) (p course.Course, found bool) {
	r, ok := h.Source.ByCanonical(canonical)
	p = course.Course{Source: r, Relation: api.RelationUnknown}
	if !ok {
		p.Source = record.Record{Name: canonical, Canonical: canonical}
	}
	if row, ok := h.rowToRPM(p); ok {
		return row, ok
	}
	by, found := h.Seen.By(h.Target, canonical)
	named := counterpart{RPM: by}
	confidence, way := record.RowConfidence, course.ByCanonical
	if !found {
		named, found = h.reverse(p.Source.Name, false)
		confidence, way = record.LineageConfidence, course.ByPart
		if named.whole {
			way = course.ByReverse
		}
	}
	if !found {
		return p, false
	}
	p.Found = way
	p = h.rpm(p, named, confidence)
	if named.among && p.Relation == api.RelationMerged {
		p.Confidence = min(p.Confidence, course.PartConfidence)
	}
	return p, true
}
