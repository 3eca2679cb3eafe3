package translate

import (
	"strings"

	"svc/backend/api"
	"svc/backend/index/course"
	"svc/backend/index/lookup"
	"svc/backend/index/record"
)

// fromOwn follows a package that the source has beyond its nearest suite: over a
// suite that has it, else by the curated rows.
func (h *Path) fromOwn(r record.Record) course.Course {
	p := course.Course{Source: r, Relation: api.RelationSame, Confidence: course.SameConfidence, Names: []string{r.Name}}
	if h.Target.Has(r.Name) {
		return p
	}
	if later, ok := h.later(r.Name); ok && len(later.Names) > 0 {
		return later
	}
	if row, ok := h.fromRow(r.Name); ok {
		return row
	}
	if meta, ok := h.toMetapackage(r); ok {
		return meta
	}
	p.Relation, p.Confidence, p.Names = api.RelationRemoved, course.GoneConfidence, nil
	return p
}

// fromRow follows a canonical that only the curated rows of Debian's family have.
func (h *Path) fromRow(canonical string) (course.Course, bool) {
	x := &lookup.Names{Tables: h.Tables}
	g, ok := x.Derivative(canonical)
	if !ok {
		return course.Course{}, false
	}
	return h.byTrail(record.Record{Name: canonical, Canonical: canonical}, g), true
}

// fromDerivative follows the canonical of a package that derivatives of Debian have, and a vendor
// for Debian too, by the row of its name.
func (h *Path) fromDerivative(canonical string) (course.Course, bool) {
	name, ok := h.Tables.DerivativePackages.Get(canonical)
	if !ok || strings.Contains(name, "\t") {
		return course.Course{}, false
	}
	return h.fromRow(name)
}
