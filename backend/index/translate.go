package index

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"svc/backend/api"
	"svc/backend/index/record"
	"svc/backend/index/table"
	"svc/backend/release"
)

// Codes of the caveats that the index gives.
const (
	CaveatTransitional  = "TRANSITIONAL"      // the package only led to others
	CaveatMajor         = "MAJOR_VERSION"     // the major version changes
	CaveatData          = "DATA_MIGRATION"    // a database's data must be migrated
	CaveatComponent     = "ARCHIVE_COMPONENT" // an archive component must be enabled
	CaveatCandidates    = "CANDIDATES"        // several might be the counterpart
	CaveatNotInSource   = "NOT_IN_SOURCE"     // the source release has no such software
	CaveatStream        = "MODULE_STREAM"     // a module stream must be enabled
	CaveatKernel        = "KERNEL"            // the kernel comes by its metapackage
	CaveatNoCounterpart = "NO_COUNTERPART"    // nothing in the target does its job
)

const (
	sameConfidence     = 0.99
	returnedConfidence = 0.95 // away for a release and back
	absentConfidence   = 0.85 // the source does not have it, the target does
	overConfidence     = 0.95 // by another release that has it
	goneConfidence     = 0.6
	// leastConfidence is what the rules need to name packages; below it they are
	// candidates for a person to choose from. What was measured may be less.
	leastConfidence = 0.5
)

// Translate says what canonicals of the source release become in the target,
// one result for each in the same order. Its errors are an *api.Error
// UNKNOWN_RELEASE, or that the index is damaged.
func (ix *Index) Translate(source, target string, canonicals []string) ([]api.Translation, error) {
	h, err := ix.hops(source, target)
	if err != nil {
		return nil, err
	}
	results := make([]api.Translation, len(canonicals))
	for i, o := range h.followed.of(canonicals) {
		t, err := part(o, &o.answer, func() (api.Translation, error) { return h.answer(canonicals[i], o) })
		if err != nil {
			return nil, err
		}
		results[i] = *t
	}
	return results, nil
}

// answer is what becomes of a canonical.
func (h *hops) answer(canonical string, o *outcome) (api.Translation, error) {
	p, err := h.course(canonical, o)
	if err != nil {
		return api.Translation{}, err
	}
	t, err := h.present(canonical, *p)
	t.Packages, t.Caveats, t.Conditionals = slices.Clip(t.Packages), slices.Clip(t.Caveats), slices.Clip(t.Conditionals)
	return t, err
}

// Become resolves a package of a release and translates it to another; the zero
// of a translation where the index does not know it.
func (ix *Index) Become(source, name, target string) (api.Translation, error) {
	t, _, err := ix.Explain(source, name, target)
	return t, err
}

// Explain is Become with the kind of evidence that the answer is from.
func (ix *Index) Explain(source, name, target string) (t api.Translation, evidence string, err error) {
	h, err := ix.hops(source, target)
	if err != nil {
		return t, "", err
	}
	r, match, _, err := ix.resolve(h.source, name)
	if err != nil || match == api.MatchNone {
		return t, "none", err
	}
	p, err := h.follow(r.Canonical)
	if err != nil {
		return t, "", err
	}
	t, err = h.present(r.Canonical, p)
	if h.target.rpm != nil {
		evidence, err := h.evidence(p)
		return t, evidence, err
	}
	if h.target.apk != nil {
		return t, p.found, err
	}
	return t, p.evidence(), err
}

// SureConfidence is what an answer needs to be acted on without asking.
const SureConfidence = 0.8

// hops is the way between two releases.
type hops struct {
	ix             *Index
	source, target *releaseTables
	trails         []*table.Table // of each hop, in order
	levels         []levelTrails  // of an rpm target's line, by level
	nearest        func() []*hops // to the target from the suites, the nearest first

	noList       string              // says that there is no list of the target
	stated       map[string]bool     // the names that such rows say an rpm target has
	own, general []map[string]string // where an rpm target has names of its own, and an rpm source: the nearest rows first

	followed followed
}

// hops finds the way between two releases, and what is known of it already.
func (ix *Index) hops(source, target string) (*hops, error) {
	from, err := ix.release(source)
	if err != nil {
		return nil, err
	}
	to, err := ix.release(target)
	if err != nil {
		return nil, err
	}
	return ix.followed.way(from, to, ix.way), nil
}

// way is the way between two releases: over the suites of Debian, or straight.
func (ix *Index) way(from, to *releaseTables) *hops {
	h := &hops{ix: ix, source: from, target: to, nearest: sync.OnceValue(func() []*hops { return ix.waysTo(to) })}
	if to.rpm != nil {
		h.levels = h.levelTrails()
		h.readOwnNames()
	}
	if to.apk != nil {
		h.noList = noAPKs(to.slug)
	}
	if to.nearest != nil {
		h.noList = "The index has no list of " + to.slug + "; the answer is that of " + to.nearest.slug + ", which is nearest to it."
	}
	if from.foreign() || to.foreign() || h.crosses() {
		return h
	}
	way := ix.chain(from, to)
	for i := 1; i < len(way); i++ {
		h.trails = append(h.trails, ix.file.Table(record.TrailsTable(way[i-1], way[i])))
	}
	return h
}

// course follows a canonical, once.
func (h *hops) course(canonical string, o *outcome) (*course, error) {
	return o.course.get(func() (course, error) { return h.follow(canonical) })
}

// follow follows a canonical by what the two releases are.
func (h *hops) follow(canonical string) (course, error) {
	switch from, to := h.source.rpm != nil, h.target.rpm != nil; {
	case !isName(canonical):
		return course{relation: api.RelationUnknown}, nil
	case h.target.apk != nil:
		return apkWay{h}.to(canonical)
	case h.source.apk != nil:
		return apkWay{h}.from(canonical)
	case from && to:
		return h.amongRPMs(canonical)
	case from:
		return h.fromRPM(canonical)
	case to:
		return h.toRPM(canonical)
	}
	return h.translate(canonical)
}

// course is what became of one package, as far as it was followed.
type course struct {
	source     record.Record // its zero where the source release has no such package
	relation   api.Relation
	confidence float64
	names      []string
	methods    []string
	candidates []string
	found      string // how it was found, where it ends at rpms; see rates.tsv
	spelt      bool   // the name of its source is what its canonical alone leads back to
}

// translate follows a canonical from the source's package to the target's.
func (h *hops) translate(canonical string) (course, error) {
	r, ok, err := h.source.byCanonical(canonical)
	if err != nil {
		return course{}, err
	}
	if r.Own && ok {
		return h.fromOwn(r)
	}
	if !ok && h.source.other != nil {
		if r, ok, err = h.source.other.byCanonical(canonical); err != nil {
			return course{}, err
		}
		if ok {
			return h.ix.way(h.source.other, h.target).from(r)
		}
	}
	if !ok {
		return h.absent(canonical)
	}
	return h.from(r)
}

// from follows a package of the source over all hops.
func (h *hops) from(r record.Record) (p course, err error) {
	if _, ok, err := h.target.findOwn(r.Name); ok || err != nil {
		return course{source: r, relation: api.RelationSame, confidence: sameConfidence, names: []string{r.Name}}, err
	}
	if h.crosses() {
		return h.cross(r)
	}
	p = course{source: r, relation: api.RelationSame, confidence: 1, names: []string{r.Name}}
	for _, trails := range h.trails {
		if p, err = p.follow(trails.Get); err != nil {
			return course{}, err
		}
	}
	if len(p.names) == 0 {
		return h.returned(p)
	}
	if len(p.names) == 1 && len(p.methods) > 0 {
		return h.confirmed(p)
	}
	p.confidence = min(p.confidence, sameConfidence)
	return p, nil
}

// confirmed makes surer of an answer that bears the name or the canonical it
// set out with, whatever it was called on the way.
func (h *hops) confirmed(p course) (course, error) {
	r, _, err := h.target.find(p.names[0])
	switch {
	case r.Name == p.source.Name:
		p.confidence = max(p.confidence, returnedConfidence)
	case r.Canonical == p.source.Canonical:
		p.confidence = max(p.confidence, record.LineageConfidence)
	}
	p.confidence = min(p.confidence, sameConfidence)
	return p, err
}

// absent answers for software that the source release does not have.
func (h *hops) absent(canonical string) (course, error) {
	if p, ok, err := h.fromRow(canonical); ok || err != nil {
		return p, err
	}
	r, ok, err := h.target.byCanonical(canonical)
	if err != nil {
		return course{}, err
	}
	if ok {
		return course{relation: api.RelationSame, confidence: absentConfidence, names: []string{r.Name}}, nil
	}
	if p, ok, err := h.fromKin(canonical); ok || err != nil {
		return p, err
	}
	if p, ok, err := h.overSuite(canonical); ok || err != nil {
		return p, err
	}
	p, _, err := h.toMetapackage(record.Record{Name: canonical, Canonical: canonical})
	return p, err
}

// toMetapackage answers with the package for all versions of what a name has one of.
func (h *hops) toMetapackage(source record.Record) (course, bool, error) {
	r, ok, err := h.target.find(withoutVersion(source.Name))
	if err != nil || !ok {
		return course{relation: api.RelationUnknown}, false, err
	}
	return course{
		source: source, relation: api.RelationReplaced, confidence: record.LineageConfidence, names: []string{r.Name},
	}, true, nil
}

// withoutVersion is the usual name of the metapackage for all versions of what
// is named: golang-go for golang-1.18-go.
func withoutVersion(name string) string {
	before, _, after, ok := record.AVersion(name)
	if !ok || before == "" {
		return name
	}
	return strings.TrimSuffix(before, "-") + after
}

// overSuite follows a canonical from the suite that is nearest to the target and
// has it.
func (h *hops) overSuite(canonical string) (course, bool, error) {
	for _, way := range h.nearest() {
		r, ok, err := way.source.byCanonical(canonical)
		if err != nil {
			return course{}, false, err
		}
		if !ok {
			continue
		}
		p, err := way.from(r)
		p.confidence *= overConfidence
		if len(p.names) == 0 {
			p.relation, p.confidence = api.RelationRemoved, goneConfidence
		}
		return p, true, err
	}
	return course{}, false, nil
}

// returned looks whether what got lost on the way is in the target after all.
func (h *hops) returned(p course) (course, error) {
	r, ok, err := h.target.find(p.source.Name)
	if err != nil || ok {
		p.relation, p.confidence, p.names = api.RelationSame, returnedConfidence, []string{r.Name}
		return p, err
	}
	if r, ok, err = h.target.byCanonical(p.source.Canonical); err == nil && ok {
		p.relation, p.confidence, p.names = api.RelationRenamed, record.LineageConfidence, []string{r.Name}
	}
	return p, err
}

// trails are what becomes of packages from one release to the next, by name.
type trails func(name string) (trail string, ok bool, err error)

// follow takes every name one release further.
func (p course) follow(trails trails) (course, error) {
	if len(p.names) == 0 {
		return p, nil
	}
	if len(p.names) == 1 {
		if _, changes, err := trails(p.names[0]); !changes || err != nil {
			return p, err
		}
	}
	next := course{source: p.source, confidence: p.confidence, methods: p.methods, found: p.found}
	lost := api.RelationRemoved
	relation := api.RelationSame
	for _, name := range p.names {
		t, err := step(trails, name)
		if err != nil {
			return course{}, err
		}
		next.confidence = min(next.confidence, after(p.confidence, t))
		next.candidates = append(next.candidates, t.Candidates...)
		if t.Method != "" {
			next.methods = append(slices.Clip(next.methods), t.Method)
		}
		if len(t.Targets) == 0 {
			if t.Relation == api.RelationUnknown {
				lost = t.Relation
			}
			continue
		}
		relation = stronger(relation, t.Relation)
		for _, target := range t.Targets {
			if !slices.Contains(next.names, target) {
				next.names = append(next.names, target)
			}
		}
	}
	next.relation = compose(p.relation, relation, len(next.names), lost)
	return next, nil
}

// after is the confidence once a trail was followed. What is found by its
// software and version is found as surely from any release: there the hops are
// not independent.
func after(before float64, t record.Trail) float64 {
	switch t.Method {
	case record.Soname, record.Lineage, record.Default:
		return min(before, t.Confidence)
	}
	return before * t.Confidence
}

// step reads the trail of a package; without one it stays.
func step(trails trails, name string) (record.Trail, error) {
	value, ok, err := trails(name)
	if err != nil {
		return record.Trail{}, err
	}
	if !ok {
		return record.Trail{Relation: api.RelationSame, Confidence: 1, Targets: []string{name}}, nil
	}
	return record.DecodeTrail(value)
}

// strength orders the relations by which of two in a row names the whole.
var strength = []api.Relation{
	api.RelationSame, api.RelationRenamed, api.RelationReplaced, api.RelationMerged, api.RelationSplit, api.RelationIncluded,
}

// stronger is the one of two relations that names both together.
func stronger(a, b api.Relation) api.Relation {
	if slices.Index(strength, a) >= slices.Index(strength, b) {
		return a
	}
	return b
}

// compose is the relation of two hops in a row that end at n packages. What
// other software is merged into does the job as it did.
func compose(first, second api.Relation, n int, lost api.Relation) api.Relation {
	whole := stronger(first, second)
	if first == api.RelationReplaced && second == api.RelationMerged {
		whole = first
	}
	switch {
	case n == 0:
		return lost
	case n > 1 && whole != api.RelationIncluded && whole != api.RelationReplaced:
		return api.RelationSplit
	case n == 1 && whole == api.RelationSplit:
		return api.RelationRenamed
	}
	return whole
}

// doubted turns an answer that is not sure enough into candidates.
func (p course) doubted() course {
	if len(p.names) > 0 && p.confidence < leastConfidence {
		p.relation, p.candidates, p.names = api.RelationUnknown, append(slices.Clip(p.candidates), p.names...), nil
	}
	return p
}

// present makes the answer of a course: packages with versions, and caveats.
func (h *hops) present(canonical string, p course) (api.Translation, error) {
	if h.target.rpm != nil {
		return h.presentRPM(canonical, p.doubted())
	}
	if h.target.apk != nil {
		return apkWay{h}.present(canonical, p.doubted())
	}
	var one [1]record.Record // most courses end at one package: it need not be allocated
	targets, packages, err := h.offered(canonical, &p, one[:0])
	if err != nil {
		return api.Translation{}, err
	}
	if p = p.doubted(); len(p.names) == 0 {
		targets, packages = nil, []api.TargetPackage{}
	}
	if r, ok := measured(h.source.release.Family, release.Debian, p.evidence(), whole); ok && p.confidence < SureConfidence {
		p.confidence = min(p.confidence, r.claim())
	}
	relation, err := h.relation(&p, targets, packages)
	if err != nil {
		return api.Translation{}, err
	}
	t := api.Translation{
		Canonical: canonical, Relation: relation, Confidence: round(p.confidence),
		Packages: packages, Caveats: []api.Caveat{}, Conditionals: []api.Conditional{},
	}
	if t.Caveats, err = h.ofVendor(t.Caveats, &p); err != nil {
		return t, err
	}
	t.Caveats = h.caveats(t.Caveats, &p, targets)
	return t, h.addCurated(canonical, &t, targets)
}

// relation is that of a course to what the target offers.
func (h *hops) relation(p *course, targets []record.Record, offered []api.TargetPackage) (api.Relation, error) {
	if len(targets) != 1 {
		return p.relation, nil
	}
	switch t := targets[0]; {
	case t.Name == p.source.Name && !h.source.foreign():
		from, _, err := h.source.findFor(p.source.Name, p.source)
		if err != nil {
			return p.relation, err
		}
		own, err := h.source.ownName(from)
		if own == offered[0].Name {
			return api.RelationSame, err
		}
		return api.RelationRenamed, err // each has a name or a version of its own
	case h.source.foreign() && p.relation == api.RelationSame && offered[0].Name != p.source.Name:
		return api.RelationRenamed, nil // the target calls it otherwise than its nearest suite
	case h.source.foreign() && p.relation == api.RelationRenamed && offered[0].Name == p.source.Name:
		return api.RelationSame, nil
	case p.relation == api.RelationRenamed && p.source.KeepsMajor() && t.Canonical != p.source.Canonical:
		return api.RelationReplaced, nil // openjdk-11 is not openjdk-17
	}
	return p.relation, nil
}

// offered finds what the target has of the names of a course, adds its records to
// some, and lowers the confidence where that is not known for sure.
func (h *hops) offered(canonical string, p *course, targets []record.Record) (_ []record.Record, packages []api.TargetPackage, err error) {
	packages = make([]api.TargetPackage, 0, len(p.names))
	for _, name := range p.names {
		r, ok, err := h.target.findFor(name, p.source)
		if err != nil {
			return nil, nil, err
		}
		if !ok && slices.Contains(p.methods, ownRepository) {
			packages = append(packages, api.TargetPackage{Name: name})
			continue
		}
		if !ok {
			return nil, nil, fmt.Errorf("the index leads %s of %s to %s, which %s does not have", canonical, h.source.slug, name, h.target.slug)
		}
		offer, likely, err := h.target.offers(r)
		if err != nil {
			return nil, nil, err
		}
		if p.relation != api.RelationIncluded {
			p.confidence = min(p.confidence, p.confidence*likely)
		}
		if !slices.Contains(packages, offer) {
			targets, packages = append(targets, r), append(packages, offer)
		}
	}
	return targets, packages, nil
}

// round keeps two digits, so that products print as people write them.
func round(c float64) float64 { return float64(int(c*100+0.5)) / 100 }
