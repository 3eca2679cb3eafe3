package translate

import (
	"slices"

	"svc/backend/api"
	"svc/backend/index/course"
	"svc/backend/index/lookup"
	"svc/backend/index/record"
)

// cross finds a package of one distribution in another: under its own name,
// under that which it had or got in either of them, or by its canonical.
func (h *Path) cross(r record.Record) course.Course {
	p := course.Course{Source: r, Relation: api.RelationSame, Confidence: course.CrossConfidence, Names: []string{r.Name}}
	if h.Target.Has(r.Name) {
		return p
	}
	for _, way := range []func(course.Course) (course.Course, bool){h.overTarget, h.overSource, h.sameJob} {
		if found, ok := way(p); ok {
			return found
		}
	}
	if !leadsBack(&lookup.Names{Tables: h.Tables}, r.Name) {
		if found, ok := h.fromRow(r.Name); ok {
			return found
		}
	}
	p.Relation, p.Confidence, p.Names = api.RelationRemoved, course.GoneConfidence, nil
	return p
}

// leadsBack reports whether the rows lead from a package back to itself: who follows them
// where it is in no list of the target would never end.
func leadsBack(x *lookup.Names, name string) bool {
	names := []string{name}
	for at := 0; at < len(names); at++ {
		g, _ := x.Derivative(names[at])
		for i := range g.Targets {
			alternatives := record.Alternatives(g.Targets, i)
			if slices.Contains(alternatives, name) {
				return true
			}
			names = record.AppendNew(names, alternatives...)
		}
	}
	return false
}

// overTarget goes over the release of the target's distribution that is nearest
// to the target and has the name.
func (h *Path) overTarget(p course.Course) (course.Course, bool) {
	for _, t := range h.Tables.OtherReleases(h.Target) {
		if r, ok := t.Find(p.Source.Name); ok {
			found := Between(h.Tables, t, h.Target).from(r)
			return found.Since(p), len(found.Names) > 0
		}
	}
	return p, false
}

// overSource goes over the other releases of the source's distribution, to one
// where the package has names that the target has.
func (h *Path) overSource(p course.Course) (course.Course, bool) {
	for _, t := range h.Tables.OtherReleases(h.Source) {
		found := Between(h.Tables, h.Source, t).from(p.Source)
		if len(found.Names) > 0 && h.Target.HasAll(found.Names) {
			return found.Since(p), true
		}
	}
	return p, false
}

// sameJob is the package of the target with the canonical.
func (h *Path) sameJob(p course.Course) (course.Course, bool) {
	r, ok := h.Target.ByCanonical(p.Source.Canonical)
	p.Relation, p.Confidence, p.Names = api.RelationRenamed, record.LineageConfidence, []string{r.Name}
	if record.Role(p.Source.Canonical) == api.RoleLib {
		p.Relation = api.RelationIncluded
	}
	return p, ok
}
