package translate

import (
	"strings"

	"svc/backend/api"
	"svc/backend/index/course"
	"svc/backend/index/lookup"
	"svc/backend/index/record"
	"svc/backend/index/rpm"
)

// fromOwn follows a package that the source has beyond its nearest suite: over a
// suite that has it, else by the curated rows.
func (h *Path) fromOwn(r record.Record) (course.Course, error) {
	p := course.Course{Source: r, Relation: api.RelationSame, Confidence: course.SameConfidence, Names: []string{r.Name}}
	if _, ok, err := h.Target.Find(r.Name); ok || err != nil {
		return p, err
	}
	later, ok, err := h.later(r.Name)
	if err != nil || ok && len(later.Names) > 0 {
		return later, err
	}
	if row, ok, err := h.fromRow(r.Name); ok || err != nil {
		return row, err
	}
	if meta, ok, err := h.toMetapackage(r); ok || err != nil {
		return meta, err
	}
	p.Relation, p.Confidence, p.Names = api.RelationRemoved, course.GoneConfidence, nil
	return p, nil
}

// fromRow follows a canonical that only the curated rows of Debian's family have.
func (h *Path) fromRow(canonical string) (course.Course, bool, error) {
	x := &lookup.Names{Tables: h.Tables}
	g, ok := x.Derivative(canonical)
	if !ok || x.Err != nil {
		return course.Course{}, false, x.Err
	}
	p, err := h.byTrail(record.Record{Name: canonical, Canonical: canonical}, rpm.TrailOf(g))
	return p, true, err
}

// fromDerivative follows the canonical of a package that derivatives of Debian have, and a vendor
// for Debian too, by the row of its name.
func (h *Path) fromDerivative(canonical string) (course.Course, bool, error) {
	name, ok, err := h.Tables.DerivativePackages.Get(canonical)
	if !ok || err != nil || strings.Contains(name, "\t") {
		return course.Course{}, false, err
	}
	return h.fromRow(name)
}
