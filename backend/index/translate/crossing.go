package translate

import (
	"svc/backend/api"
	"svc/backend/index/course"
	"svc/backend/index/record"
)

// cross finds a package of one distribution in another: under its own name,
// under that which it had or got in either of them, or by its canonical.
func (h *Path) cross(r record.Record) (course.Course, error) {
	p := course.Course{Source: r, Relation: api.RelationSame, Confidence: course.CrossConfidence, Names: []string{r.Name}}
	for _, way := range []func(course.Course) (course.Course, bool, error){h.sameThere, h.overTarget, h.overSource, h.sameJob} {
		found, ok, err := way(p)
		if ok || err != nil {
			return found, err
		}
	}
	if found, ok, err := h.fromRow(r.Name); ok || err != nil {
		return found, err
	}
	p.Relation, p.Confidence, p.Names = api.RelationRemoved, course.GoneConfidence, nil
	return p, nil
}

func (h *Path) sameThere(p course.Course) (course.Course, bool, error) {
	_, ok, err := h.Target.Find(p.Source.Name)
	return p, ok, err
}

// overTarget goes over the release of the target's distribution that is nearest
// to the target and has the name.
func (h *Path) overTarget(p course.Course) (course.Course, bool, error) {
	for _, t := range h.Tables.OtherReleases(h.Target) {
		r, ok, err := t.Find(p.Source.Name)
		if err != nil {
			return p, false, err
		}
		if !ok {
			continue
		}
		found, err := Between(h.Tables, t, h.Target).from(r)
		return found.Since(p), len(found.Names) > 0, err
	}
	return p, false, nil
}

// overSource goes over the other releases of the source's distribution, to one
// where the package has names that the target has.
func (h *Path) overSource(p course.Course) (course.Course, bool, error) {
	for _, t := range h.Tables.OtherReleases(h.Source) {
		found, err := Between(h.Tables, h.Source, t).from(p.Source)
		if err != nil {
			return p, false, err
		}
		there, err := h.Target.HasAll(found.Names)
		if there && len(found.Names) > 0 || err != nil {
			return found.Since(p), err == nil, err
		}
	}
	return p, false, nil
}

// sameJob is the package of the target with the canonical.
func (h *Path) sameJob(p course.Course) (course.Course, bool, error) {
	r, ok, err := h.Target.ByCanonical(p.Source.Canonical)
	p.Relation, p.Confidence, p.Names = api.RelationRenamed, record.LineageConfidence, []string{r.Name}
	if record.Role(p.Source.Canonical) == api.RoleLib {
		p.Relation = api.RelationIncluded
	}
	return p, ok, err
}
