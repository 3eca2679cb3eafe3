package translate

import (
	"slices"

	"svc/backend/api"
	"svc/backend/index/course"
	"svc/backend/index/lookup"
	"svc/backend/index/record"
	"svc/backend/release"
)

// What is known of packages of some families is what they are in Debian: every other way
// leads over its newest suite. Sure are names that a row has, or the release's own list where
// one was imported; all else is a question.
const (
	listedThere   = 0.85 // the release's list has Debian's name
	unlistedThere = 0.6  // nobody is known to have it there
)

// counterpartSource is the package of such a family that a canonical names, as the source
// of a course.
func (h *Path) counterpartSource(canonical string) record.Record {
	from := h.Source.Counterparts
	name := from.Names().By(canonical, from.Owners(), &lookup.Names{Tables: h.Tables})
	return record.Record{Name: name, Canonical: canonical, Major: from.Names().VersionIn(name)}
}

// fromCounterpart follows a package of such a family to another system: what it is in
// Debian, and that there.
func (h *Path) fromCounterpart(canonical string) course.Course {
	r := h.counterpartSource(canonical)
	t, ok := h.Source.Counterparts.Names().Trail(r.Name, &lookup.Names{Tables: h.Tables})
	switch {
	case !ok:
		return course.Course{Source: r, Relation: api.RelationUnknown}
	case h.Target.RPM == nil:
		return h.byTrail(r, t)
	}
	return h.overDebian(r, t)
}

// overDebian follows a trail to packages of Debian, and these to a release of rpms.
func (h *Path) overDebian(r record.Record, t record.Trail) course.Course {
	debian := h.Tables.Stable()
	p := Between(h.Tables, h.Source, debian).byTrail(r, t)
	if len(p.Names) == 0 {
		return p
	}
	onward, end := Between(h.Tables, debian, h.Target), course.Course{Source: r, Relation: p.Relation, Confidence: p.Confidence, Found: course.ByDebian}
	for _, name := range p.Names {
		there, _ := debian.Find(name)
		var q course.Course
		onward.Follow(&q, there.Canonical)
		end.Relation, end.Confidence = course.Stronger(end.Relation, q.Relation), min(end.Confidence, p.Confidence*q.Confidence)
		end = end.With(q.Names)
	}
	if len(end.Names) == 0 {
		end.Relation = api.RelationRemoved
	}
	end.Confidence = min(end.Confidence, record.LineageConfidence)
	end.Settle(r.Name)
	return end
}

// toCounterpart follows a package to such a family: by the row of its name in Debian, or of what it is
// there today; else it is taken to have that name, which is a question.
func (h *Path) toCounterpart(canonical string) course.Course {
	if h.Source.Counterparts != nil {
		return h.amongCounterparts(canonical)
	}
	var p course.Course
	Between(h.Tables, h.Source, h.Tables.Stable()).Follow(&p, canonical)
	for _, name := range append([]string{p.Source.Name}, p.Names...) {
		if names, relation := h.Target.Counterparts.Names().Named(name); len(names) > 0 {
			q := course.Course{Source: p.Source, Relation: relation, Confidence: record.RowConfidence, Names: names, Found: course.ByRow}
			q.Settle(p.Source.Name)
			return q
		}
	}
	p.Found, p.Confidence = course.ByGuess, min(p.Confidence*unlistedThere, course.Unsure)
	if len(p.Names) == 0 {
		return p
	}
	p.Names = slices.Clone(p.Names)
	for i, name := range p.Names {
		p.Names[i] = h.Target.Counterparts.Names().Usual(name)
	}
	p.Settle(p.Source.Name)
	return h.listed(p, listedThere, course.Unsure)
}

// amongCounterparts follows a package from one release of the line to another: by the rows of both, else
// under its own name.
func (h *Path) amongCounterparts(canonical string) course.Course {
	r := h.counterpartSource(canonical)
	p := course.Course{Source: r, Relation: api.RelationSame, Confidence: course.SameConfidence, Names: []string{r.Name}, Found: course.ByRow}
	names, relation := h.Source.Counterparts.Names().Later(r.Name, h.Target.Counterparts.Names())
	switch {
	case h.Source == h.Target, relation == api.RelationSame:
		return p
	case len(names) > 0:
		p.Names, p.Relation, p.Confidence = names, relation, record.RowConfidence
		p.Settle(r.Name)
		return p
	}
	p.Confidence, p.Found = course.Unsure, course.ByName
	return h.listed(p, course.SameConfidence, course.DroppedConfidence)
}

// listed makes a guess as sure as it is where the target's own list has all of its names,
// and says as surely as that is that what the list lacks is not there.
func (h *Path) listed(p course.Course, has, lacks float64) course.Course {
	if !h.Target.Lists() {
		return p
	}
	if h.Target.HasAll(p.Names) {
		p.Confidence, p.Found = has, course.ByName
	} else {
		p.Relation, p.Confidence, p.Names, p.Found = api.RelationRemoved, lacks, nil, course.ByAbsence
	}
	return p
}

// presentCounterpart makes the answer of a course that ends at packages of such a family.
func (h *Path) presentCounterpart(canonical string, p course.Course) (api.Translation, error) {
	t := api.Translation{Canonical: canonical, Packages: []api.TargetPackage{}, Caveats: []api.Caveat{}, Conditionals: []api.Conditional{}}
	whole := true
	for _, name := range p.Names {
		r, listed := h.Target.Find(name)
		if h.Target.Lists() && !listed {
			p.Confidence = min(p.Confidence, course.Unsure) // a row says otherwise than the list
		}
		t.Packages = append(t.Packages, api.TargetPackage{Name: name, Version: r.Version, Repository: r.Component})
		whole = whole && listed
	}
	if !whole {
		t.Caveats = append(t.Caveats, api.Caveat{Code: course.CaveatExistence, Severity: api.SeverityInfo, Text: h.NoList})
	}
	t.Relation, t.Confidence = p.Relation, course.Round(p.Confidence)
	t.Caveats = h.OfCourse(t.Caveats, &p, len(p.Names))
	return t, h.AddCurated(canonical, &t, nil)
}

// noCounterparts says what makes a name sure.
func noCounterparts(r release.Release) string {
	c := r.Family.Conventions()
	return "No list that the index has of " + r.Slug + " shows it: " + c.Ask + " NAME says on the target whether it is there. " +
		"A list of your own mirror makes it sure: svc admin index build --" + string(c.Format) + " URL --release " + r.Slug + " --out FILE, then --index FILE."
}
