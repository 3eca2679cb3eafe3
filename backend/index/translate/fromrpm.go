package translate

import (
	"slices"
	"strings"

	"svc/backend/api"
	"svc/backend/index/course"
	"svc/backend/index/lookup"
	"svc/backend/index/record"
	"svc/backend/index/rpm"
	"svc/backend/sliced"
)

// fromRPM follows a canonical of an rpm release to one of Debian's family.
func (h *Path) fromRPM(canonical string) course.Course {
	h.Seen.Forget()
	r, found := h.Seen.By(h.Source, canonical)
	if !found {
		r = &lookup.RPM{Record: record.Record{Name: canonical, Canonical: canonical}}
	}
	t, ok := h.RPMTrail(r)
	if !found && len(t.Targets) == 1 && strings.HasPrefix(t.Targets[0], "python3-") {
		r.Name = t.Targets[0] // modules of Python have this name in every family
	}
	if !ok {
		return course.Course{Source: r.Record, Relation: api.RelationUnknown}
	}
	return h.byTrail(r.Record, t)
}

// byTrail follows a trail that leads to packages of Debian to the target.
func (h *Path) byTrail(r record.Record, t record.Trail) course.Course {
	r.Component = "main"
	p := course.Course{Source: r, Relation: t.Relation, Confidence: t.Confidence, Methods: []string{t.Method}}
	if t.Method == rpm.Curated && t.Relation == api.RelationIncluded {
		p.Confidence, p.Methods = min(t.Confidence, course.IncludedConfidence), []string{course.Included}
	}
	for i := range t.Targets {
		h.arrive(&p, record.Alternatives(t.Targets, i))
	}
	if len(t.Targets) > 0 && len(p.Names) == 0 {
		return h.nowhere(p, t.Targets)
	}
	p.Settle(r.Name)
	return p
}

// nowhere answers where a row leads to nothing that the target has: what any list has
// was dropped, if nothing there may be its successor; what none has is of a repository
// that the row's author knows.
func (h *Path) nowhere(p course.Course, targets []string) course.Course {
	if len(p.Candidates) > 0 {
		p.Relation, p.Confidence = api.RelationUnknown, course.CandidateConfidence
		return p
	}
	x := &lookup.Names{Tables: h.Tables}
	for _, target := range targets {
		first, _, _ := strings.Cut(target, "|")
		if rpm.FirstThere(x, target) == "" && lookup.IsName(first) {
			p = p.With([]string{first})
		}
	}
	if len(p.Names) < len(targets) {
		p.Relation, p.Confidence, p.Names = api.RelationRemoved, course.DroppedIn, nil
		return p
	}
	p.Confidence, p.Methods = p.Confidence*course.Listless, append(slices.Clip(p.Methods), course.OwnRepository)
	p.Settle(p.Source.Name)
	return p
}

// arrive adds what one of the alternatives is in the target: the first that it
// has, else what became of the first that another release had.
func (h *Path) arrive(p *course.Course, alternatives []string) {
	for i, name := range alternatives {
		if h.offers(name, p.Relation) {
			h.Instead(p, alternatives, name)
			*p = p.With(alternatives[i : i+1])
			h.chosen(p, name, alternatives[i+1:])
			return
		}
	}
	for _, name := range alternatives {
		later, ok := h.later(name)
		if ok && len(later.Names) > 0 {
			p.Confidence *= min(1, later.Confidence/course.SameConfidence)
			p.Relation = course.Stronger(p.Relation, later.Relation)
			p.Candidates = append(p.Candidates, later.Candidates...)
			*p = p.With(later.Names)
			return
		}
		if ok && later.Relation == api.RelationUnknown {
			p.Candidates = append(p.Candidates, later.Candidates...)
		}
	}
}

// offers reports whether the target has a package: in the place of another not one
// that only leads on, for that says which.
func (h *Path) offers(name string, relation api.Relation) bool {
	return h.Target.Has(name) && (relation != api.RelationReplaced || !h.onlyLeads(name))
}

// onlyLeads reports whether a package of the target's suite only leads to
// others, as the trail from the suite before it says.
func (h *Path) onlyLeads(name string) bool {
	suite, newestFirst := h.Target.Suite(), h.Tables.Debian
	at := slices.Index(newestFirst, suite)
	if _, own := h.Target.FindOwn(name); at < 0 || at+1 == len(newestFirst) || own {
		return false
	}
	value, ok := h.Tables.File.Table(record.TrailsTable(newestFirst[at+1].Slug, suite.Slug)).Get(name)
	return ok && record.DecodeTrail(value).Method == record.TransitionalInTarget
}

// chosen makes a course less sure where the target has others of a row's
// alternatives that are called like the rpm too: the row prefers one of them,
// not everybody does.
func (h *Path) chosen(p *course.Course, name string, others []string) {
	renamed := p.Relation == api.RelationRenamed || p.Relation == api.RelationSame
	if h.Source.RPM == nil || !renamed || name == p.Source.Name {
		return
	}
	for _, other := range others {
		if h.rivals(name, other) && rpm.Alike(p.Source.Name, other) {
			p.Candidates = append(slices.Clip(p.Candidates), other)
			p.Confidence, p.Methods = min(p.Confidence, course.ChoiceConfidence), append(slices.Clip(p.Methods), course.Choice)
		}
	}
}

// rivals reports whether the target has another package that may be meant in the
// place of one: not the same part of another GCC than the default, which rows name first.
func (h *Path) rivals(name, other string) bool {
	if ofGCC(name) && rpm.Unnumbered(other) == rpm.Unnumbered(name) {
		return false
	}
	return h.Target.Has(other)
}

// ofGCC reports whether a package is a part of one of the versions of GCC.
func ofGCC(name string) bool {
	return slices.ContainsFunc([]string{"gcc-", "libgccjit-", "libstdc++-"}, func(prefix string) bool {
		return strings.HasPrefix(name, prefix)
	})
}

// later is what became of a package, by the suite that is nearest to the
// target's and has it.
func (h *Path) later(name string) (course.Course, bool) {
	for _, way := range h.nearest() {
		if r, ok := way.Source.Find(name); ok {
			return way.from(r), true
		}
	}
	return course.Course{}, false
}

// waysTo are the ways from the suites to a target, the nearest first.
func waysTo(ix *lookup.Tables, target *lookup.Release) []*Path {
	return sliced.Map(ix.NearestSuites(target.Suite()), func(suite *lookup.Release) *Path { return Between(ix, suite, target) })
}
