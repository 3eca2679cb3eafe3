package translate

import (
	"fmt"
	"slices"
	"sync"

	"svc/backend/api"
	"svc/backend/index/course"
	"svc/backend/index/lookup"
	"svc/backend/index/record"
	"svc/backend/index/table"
	"svc/backend/index/torpm"
)

// Path is the way between two releases, step by step.
type Path struct {
	*course.Pair
	trails  []*table.Table // of each step, in order
	nearest func() []*Path // to the target from the suites, the nearest first
	rpms    *torpm.Path    // where the target's packages are rpms
}

// Between is the way between two releases: over the suites of Debian, or straight.
func Between(ix *lookup.Tables, from, to *lookup.Release) *Path {
	h := &Path{Pair: &course.Pair{Tables: ix, Source: from, Target: to, Rates: course.Measured(from.Release.Family, to.Release.Family), Seen: new(lookup.Memo)}, nearest: sync.OnceValue(func() []*Path { return waysTo(ix, to) })}
	if to.RPM != nil {
		h.rpms = torpm.New(h.Pair)
	}
	if to.Counterparts != nil {
		h.NoList = noCounterparts(to.Release)
	}
	if to.Nearest != nil {
		h.NoList = "The index has no list of " + to.Slug + "; the answer is that of " + to.Nearest.Slug + ", which is nearest to it. " +
			"A list of your own mirror makes it sure: svc admin index build --apt URL --release " + to.Slug + " --out FILE, then --index FILE."
	}
	if from.Foreign() || to.Foreign() || h.Crosses() {
		return h
	}
	way := ix.Chain(from, to)
	for i := 1; i < len(way); i++ {
		h.trails = append(h.trails, ix.File.Table(record.TrailsTable(way[i-1], way[i])))
	}
	return h
}

// Anew is the path for another call: one at a time may follow it.
func (h *Path) Anew() *Path {
	pair, path := *h.Pair, *h
	pair.Seen = new(lookup.Memo)
	path.Pair = &pair
	if h.rpms != nil {
		path.rpms = h.rpms.For(&pair)
	}
	return &path
}

// Follow makes a course that of a canonical, by what the two releases are.
func (h *Path) Follow(p *course.Course, canonical string) {
	switch {
	case !lookup.IsName(canonical):
		*p = course.Course{Relation: api.RelationUnknown}
	case h.Target.Counterparts != nil:
		*p = h.toCounterpart(canonical)
	case h.Source.Counterparts != nil:
		*p = h.fromCounterpart(canonical)
	case h.rpms != nil:
		h.rpms.Follow(p, canonical)
	case h.Source.RPM != nil:
		*p = h.fromRPM(canonical)
	default:
		*p = h.translate(canonical)
	}
}

// Evidence is the kind of evidence that a course ends with.
func (h *Path) Evidence(p course.Course) string {
	switch {
	case h.rpms != nil:
		return h.rpms.Evidence(p)
	case h.Target.Counterparts != nil:
		return p.Found
	}
	return p.Evidence()
}

// translate follows a canonical from the source's package to the target's.
func (h *Path) translate(canonical string) course.Course {
	r, ok := h.Source.ByCanonical(canonical)
	if r.Own && ok {
		return h.fromOwn(r)
	}
	if !ok && h.Source.Other != nil {
		if r, ok := h.Source.Other.ByCanonical(canonical); ok {
			return Between(h.Tables, h.Source.Other, h.Target).from(r)
		}
	}
	if !ok {
		return h.absent(canonical)
	}
	return h.from(r)
}

// from follows a package of the source over all steps.
func (h *Path) from(r record.Record) course.Course {
	if _, ok := h.Target.FindOwn(r.Name); ok {
		return course.Course{Source: r, Relation: api.RelationSame, Confidence: course.SameConfidence, Names: []string{r.Name}}
	}
	if h.Crosses() {
		return h.cross(r)
	}
	p := course.Course{Source: r, Relation: api.RelationSame, Confidence: 1, Names: []string{r.Name}}
	for _, trails := range h.trails {
		p.Follow(trails.Get)
	}
	if len(p.Names) == 0 {
		return h.returned(p)
	}
	if len(p.Names) == 1 && len(p.Methods) > 0 {
		return h.confirmed(p)
	}
	p.Confidence = min(p.Confidence, course.SameConfidence)
	return p
}

// confirmed makes surer of an answer that bears the name or the canonical it
// set out with, whatever it was called on the way.
func (h *Path) confirmed(p course.Course) course.Course {
	r, _ := h.Target.Find(p.Names[0])
	switch {
	case r.Name == p.Source.Name:
		p.Confidence = max(p.Confidence, course.ReturnedConfidence)
	case r.Canonical == p.Source.Canonical:
		p.Confidence = max(p.Confidence, record.LineageConfidence)
	}
	p.Confidence = min(p.Confidence, course.SameConfidence)
	return p
}

// absent answers for software that the source release does not have.
func (h *Path) absent(canonical string) course.Course {
	if p, ok := h.fromRow(canonical); ok {
		return p
	}
	if r, ok := h.Target.ByCanonical(canonical); ok {
		return course.Course{Relation: api.RelationSame, Confidence: course.AbsentConfidence, Names: []string{r.Name}}
	}
	if p, ok := h.fromDerivative(canonical); ok {
		return p
	}
	if p, ok := h.overSuite(canonical); ok {
		return p
	}
	p, _ := h.toMetapackage(record.Record{Name: canonical, Canonical: canonical})
	return p
}

// toMetapackage answers with the package for all versions of what a name has one of.
func (h *Path) toMetapackage(source record.Record) (course.Course, bool) {
	r, ok := h.Target.Find(course.WithoutVersion(source.Name))
	if !ok {
		return course.Course{Relation: api.RelationUnknown}, false
	}
	return course.Course{
		Source: source, Relation: api.RelationReplaced, Confidence: record.LineageConfidence, Names: []string{r.Name},
	}, true
}

// overSuite follows a canonical from the suite that is nearest to the target and
// has it.
func (h *Path) overSuite(canonical string) (course.Course, bool) {
	for _, way := range h.nearest() {
		r, ok := way.Source.ByCanonical(canonical)
		if !ok {
			continue
		}
		p := way.from(r)
		p.Confidence *= course.OverConfidence
		if len(p.Names) == 0 {
			p.Relation, p.Confidence = api.RelationRemoved, course.GoneConfidence
		}
		return p, true
	}
	return course.Course{}, false
}

// returned looks whether what got lost on the way is in the target after all.
func (h *Path) returned(p course.Course) course.Course {
	if r, ok := h.Target.Find(p.Source.Name); ok {
		p.Relation, p.Confidence, p.Names = api.RelationSame, course.ReturnedConfidence, []string{r.Name}
		return p
	}
	if r, ok := h.Target.ByCanonical(p.Source.Canonical); ok {
		p.Relation, p.Confidence, p.Names = api.RelationRenamed, record.LineageConfidence, []string{r.Name}
	}
	return p
}

// Present makes the answer of a course: packages with versions, and caveats.
func (h *Path) Present(canonical string, of *course.Course) (api.Translation, error) {
	if h.rpms != nil {
		return h.rpms.Present(canonical, of)
	}
	p := *of
	if h.Target.Counterparts != nil {
		p.Doubt()
		return h.presentCounterpart(canonical, p)
	}
	h.trust(&p)
	var one [1]record.Record // most courses end at one package: it need not be allocated
	targets, packages, err := h.offered(canonical, &p, one[:0])
	if err != nil {
		return api.Translation{}, err
	}
	if p.Doubt(); len(p.Names) == 0 {
		targets, packages = nil, []api.TargetPackage{}
	}
	if p.Confidence < course.SureConfidence {
		if claim, ok := h.Rates.Claim(p.Evidence(), course.Whole); ok {
			p.Confidence = min(p.Confidence, claim)
		}
	}
	t := api.Translation{
		Canonical: canonical, Relation: h.relation(&p, targets, packages), Confidence: course.Round(p.Confidence),
		Packages: packages, Caveats: []api.Caveat{}, Conditionals: []api.Conditional{},
	}
	t.Caveats = h.OfVendor(t.Caveats, &p)
	t.Caveats = h.Caveats(t.Caveats, &p, targets)
	return t, h.AddCurated(canonical, &t, targets)
}

// trust makes as sure of a package that an rpm leads to as answers of the kind were measured
// right, and no surer than the rules where these have a doubt of their own.
func (h *Path) trust(p *course.Course) {
	if h.Source.RPM == nil || len(p.Names) == 0 {
		return
	}
	claim, ok := h.Rates.Claim(p.Evidence(), course.Whole)
	switch {
	case !ok:
	case p.Confidence >= course.Undoubted:
		p.Confidence = claim
	default:
		p.Confidence = min(p.Confidence, claim)
	}
}

// relation is that of a course to what the target offers.
func (h *Path) relation(p *course.Course, targets []record.Record, offered []api.TargetPackage) api.Relation {
	if len(targets) != 1 {
		return p.Relation
	}
	switch t := targets[0]; {
	case t.Name == p.Source.Name && !h.Source.Foreign():
		from, _ := h.Source.FindFor(p.Source.Name, p.Source)
		if h.Source.OwnName(from) == offered[0].Name {
			return api.RelationSame
		}
		return api.RelationRenamed // each has a name or a version of its own
	case h.Source.Foreign() && p.Relation == api.RelationSame && offered[0].Name != p.Source.Name:
		return api.RelationRenamed // the target calls it otherwise than its nearest suite
	case h.Source.Foreign() && p.Relation == api.RelationRenamed && offered[0].Name == p.Source.Name:
		return api.RelationSame
	case p.Relation == api.RelationRenamed && p.Source.KeepsMajor() && t.Canonical != p.Source.Canonical:
		return api.RelationReplaced // openjdk-11 is not openjdk-17
	}
	return p.Relation
}

// offered finds what the target has of the names of a course, adds its records to
// some, and lowers the confidence where that is not known for sure.
func (h *Path) offered(canonical string, p *course.Course, targets []record.Record) (_ []record.Record, packages []api.TargetPackage, err error) {
	packages = make([]api.TargetPackage, 0, len(p.Names))
	for _, name := range p.Names {
		r, ok := h.Target.FindFor(name, p.Source)
		if !ok && slices.Contains(p.Methods, course.OwnRepository) {
			packages = append(packages, api.TargetPackage{Name: name})
			continue
		}
		if !ok {
			return nil, nil, fmt.Errorf("the index leads %s of %s to %s, which %s does not have", canonical, h.Source.Slug, name, h.Target.Slug)
		}
		offer, likely := h.Target.Offers(r)
		if p.Relation != api.RelationIncluded {
			p.Confidence = min(p.Confidence, p.Confidence*likely)
		}
		if !slices.Contains(packages, offer) {
			targets, packages = append(targets, r), append(packages, offer)
		}
	}
	return targets, packages, nil
}
