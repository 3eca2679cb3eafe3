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
	return &Path{
		Pair: between, ownNames: readOwnNames(between), levels: between.Tables.Levels[between.Target.RPM.Line],
		elsewhere: elsewhere(between.Target), noList: noFullList(between.Target.Slug),
	}
}

// For is the path for another call between the same releases.
func (h *Path) For(call *course.Pair) *Path {
	path := *h
	path.Pair = call
	return &path
}

// Follow makes a course that of a canonical to the target.
func (h *Path) Follow(p *course.Course, canonical string) {
	h.Seen.Forget()
	if h.Source.RPM != nil {
		h.amongRPMs(p, canonical)
		return
	}
	h.namedInRPM(p, canonical)
	if !h.spell(p) && p.Found != course.ByRow && len(p.Names) > 0 && h.presenceOf(p.Names) == lookup.Nowhere {
		h.listedAs(p, p.Source.Name, course.ByReverse, record.LineageConfidence)
	}
	h.afterRows(p)
}

// namedInRPM follows a package of Debian's family to the names that the rows and tables have.
func (h *Path) namedInRPM(p *course.Course, canonical string) {
	if h.knownToRPM(p, canonical) {
		return
	}
	if vendor, ok := vendorRow(h.Tables, p.Source.Name); ok {
		h.vendorToRPM(p, vendor)
		return
	}
	if general, ok := h.ofAllVersions(&p.Source); !ok || !h.metapackageToRPM(p, general) {
		h.guessRPM(p)
	}
}

// vendorRow is the row of a package of another vendor.
func vendorRow(tables *lookup.Tables, name string) (rpm.Guess, bool) {
	x := &lookup.Names{Tables: tables}
	g, ok := x.Derivative(name)
	return g, ok && rpm.IsVendor(g.Method)
}

// vendorToRPM follows a package of another vendor by its row: over what Debian has in
// its place.
func (h *Path) vendorToRPM(p *course.Course, g rpm.Guess) {
	p.Methods, p.Found = []string{g.Method}, course.ByVendor
	if len(g.Targets) == 0 {
		p.Relation, p.Confidence = api.RelationRemoved, g.Confidence
		return
	}
	x := &lookup.Names{Tables: h.Tables}
	canonical, _ := x.Package(rpm.FirstThere(x, g.Targets[0]))
	var next course.Course
	if !h.knownToRPM(&next, canonical) {
		h.guessRPM(&next)
	}
	next.Source, next.Methods, next.Found = p.Source, p.Methods, course.ByVendor
	next.Confidence = min(next.Confidence, g.Confidence)
	next.Relation = course.Stronger(next.Relation, g.Relation)
	*p = next
}

// ofAllVersions is the canonical of the package that stands for all versions of one
// that is named by its own.
func (h *Path) ofAllVersions(r *record.Record) (string, bool) {
	if r.IsLibrary() {
		return "", false
	}
	name := course.WithoutVersion(r.Name)
	if name == r.Name {
		return "", false
	}
	x := &lookup.Names{Tables: h.Tables}
	canonical, ok := x.Package(name)
	return canonical, ok && canonical != r.Canonical
}

// metapackageToRPM follows one of several versions, which rpm releases have no
// name for, as the package that stands for all of them.
func (h *Path) metapackageToRPM(p *course.Course, canonical string) bool {
	var meta course.Course
	if !h.knownToRPM(&meta, canonical) || meta.Relation == api.RelationRemoved {
		return false
	}
	meta.Source, meta.Relation = p.Source, course.Stronger(meta.Relation, api.RelationRenamed)
	meta.Confidence, meta.Found = meta.Confidence*record.LineageConfidence, course.ByMetapackage
	*p = meta
	return true
}

// knownToRPM follows it by what the index knows: a row, its canonical, or the
// rpms that are of it.
func (h *Path) knownToRPM(p *course.Course, canonical string) bool {
	r, ok := h.Source.ByCanonical(canonical)
	if !ok {
		r = record.Record{Name: canonical, Canonical: canonical}
	}
	*p = course.Course{Source: r, Relation: api.RelationUnknown}
	if h.rowToRPM(p) {
		return true
	}
	by, found := h.Seen.By(h.Target, canonical)
	named := course.Counterpart{RPM: by}
	confidence, way := record.RowConfidence, course.ByCanonical
	if !found {
		named, found = h.reverse(p.Source.Name, false)
		confidence, way = record.LineageConfidence, course.ByPart
		if named.Whole {
			way = course.ByReverse
		}
	}
	if !found {
		return false
	}
	p.Found = way
	h.rpm(p, named, confidence)
	if (p.Found == course.ByPart || h.nobodyHas(p)) && h.ownBefore(p) {
		return true
	}
	if named.Among && p.Relation == api.RelationMerged {
		p.Confidence = min(p.Confidence, course.PartConfidence)
	}
	return true
}

// nobodyHas reports whether the rpm of a canonical is in no list near the target: it is what
// another line calls it.
func (h *Path) nobodyHas(p *course.Course) bool {
	return p.Found == course.ByCanonical && len(p.Names) > 0 && h.presenceOf(p.Names) == lookup.Nowhere
}

// ownBefore answers with the name that a package of Debian would have, where a list has that:
// it is more than an rpm which has a part of it, or which no list has.
func (h *Path) ownBefore(p *course.Course) bool {
	own := course.Course{Source: p.Source}
	h.guessRPM(&own)
	if h.spell(&own); len(own.Names) == 0 || h.presenceOf(own.Names) == lookup.Nowhere {
		return false
	}
	*p = own
	return true
}
