package index

import (
	"slices"
	"sync"

	"svc/backend/api"
	"svc/backend/index/apk"
	"svc/backend/index/record"
	"svc/backend/release"
)

// What is known of Alpine's packages is what they are in Debian: every other way leads
// over its newest suite. Sure are names that a row has, or the release's own list where
// one was imported; all else is a question.
const (
	listedAPK   = 0.85 // the release's list has Debian's name
	unlistedAPK = 0.6  // nobody is known to have it there
)

func isAPK(r release.Release) bool { return r.Family.Conventions().Format == release.APK }

// foreign reports whether a release has other packages than Debian's kin.
func (t *releaseTables) foreign() bool { return t.rpm != nil || t.apk != nil }

// lists reports whether the own list of a release of Alpine was imported.
func (t *releaseTables) lists() bool { return t.names.Len() > 0 }

// apkNames are the rows of a release, and which of its packages a canonical names.
type apkNames struct {
	*apk.Names
	owners func() (map[string]string, error)
}

// apkRelease makes the tables of a release of Alpine; nil where the index has no suite of
// Debian that they lead to.
func (ix *Index) apkRelease(r release.Release) *releaseTables {
	if len(ix.debian) == 0 {
		return nil
	}
	t, names := tablesOf(ix.file, r), apk.Of(r)
	t.apk = &apkNames{names, sync.OnceValues(func() (map[string]string, error) {
		x := &lexicon{ix: ix}
		return names.Owners(x), x.err
	})}
	return t
}

// resolveAPK says what a package of Alpine is.
func (ix *Index) resolveAPK(t *releaseTables, name string) (record.Record, api.Match, float64, error) {
	owners, err := t.apk.owners()
	if err != nil {
		return record.Record{}, api.MatchNone, 0, err
	}
	_, listed, err := t.names.Get(name)
	if err != nil {
		return record.Record{}, api.MatchNone, 0, err
	}
	x := &lexicon{ix: ix}
	canonical, match, confidence := t.apk.Resolve(name, owners, listed, x)
	return record.Record{Name: name, Canonical: canonical}, match, confidence, x.err
}

// apkWay is a way from Alpine, or to it.
type apkWay struct{ *hops }

// source is the package of Alpine that a canonical names, as the source of a course.
func (h apkWay) source(canonical string) (record.Record, error) {
	owners, err := h.hops.source.apk.owners()
	x := &lexicon{ix: h.ix}
	if err != nil {
		return record.Record{}, err
	}
	name := h.hops.source.apk.By(canonical, owners, x)
	return record.Record{Name: name, Canonical: canonical, Major: apk.VersionIn(name)}, x.err
}

// from follows a package of Alpine to another system: what it is in Debian, and that there.
func (h apkWay) from(canonical string) (course, error) {
	r, err := h.source(canonical)
	if err != nil {
		return course{}, err
	}
	x := &lexicon{ix: h.ix}
	t, ok := h.hops.source.apk.Trail(r.Name, x)
	switch {
	case x.err != nil || !ok:
		return course{source: r, relation: api.RelationUnknown}, x.err
	case h.target.rpm == nil:
		return h.byTrail(r, t)
	}
	return h.overDebian(r, t)
}

// overDebian follows a trail to packages of Debian, and these to a release of rpms.
func (h apkWay) overDebian(r record.Record, t record.Trail) (course, error) {
	debian := h.ix.stable()
	p, err := h.ix.way(h.hops.source, debian).byTrail(r, t)
	if err != nil || len(p.names) == 0 {
		return p, err
	}
	onward, end := h.ix.way(debian, h.target), course{source: r, relation: p.relation, confidence: p.confidence, found: byDebian}
	for _, name := range p.names {
		there, _, err := debian.find(name)
		if err != nil {
			return p, err
		}
		q, err := onward.follow(there.Canonical)
		if err != nil {
			return p, err
		}
		end.relation, end.confidence = stronger(end.relation, q.relation), min(end.confidence, p.confidence*q.confidence)
		end = end.with(q.names)
	}
	if len(end.names) == 0 {
		end.relation = api.RelationRemoved
	}
	end.confidence = min(end.confidence, record.LineageConfidence)
	return end.settled(r.Name), nil
}

// to follows a package to Alpine: by the row of its name in Debian, or of what it is
// there today; else it is taken to have that name, which is a question.
func (h apkWay) to(canonical string) (course, error) {
	if h.hops.source.apk != nil {
		return h.among(canonical)
	}
	p, err := h.ix.way(h.hops.source, h.ix.stable()).follow(canonical)
	if err != nil {
		return p, err
	}
	for _, name := range append([]string{p.source.Name}, p.names...) {
		if names, relation := h.target.apk.Named(name); len(names) > 0 {
			q := course{source: p.source, relation: relation, confidence: record.RowConfidence, names: names, found: byRow}
			return q.settled(p.source.Name), nil
		}
	}
	p.found, p.confidence = byGuess, min(p.confidence*unlistedAPK, unsure)
	if len(p.names) == 0 {
		return p, nil
	}
	p.names = slices.Clone(p.names)
	for i, name := range p.names {
		p.names[i] = apk.Usual(name)
	}
	return h.listed(p.settled(p.source.Name), listedAPK, unsure)
}

// among follows a package from one release of Alpine to another: by the rows of both, else
// under its own name.
func (h apkWay) among(canonical string) (course, error) {
	r, err := h.source(canonical)
	if err != nil {
		return course{}, err
	}
	p := course{source: r, relation: api.RelationSame, confidence: sameConfidence, names: []string{r.Name}, found: byRow}
	names, relation := h.hops.source.apk.Later(r.Name, h.target.apk.Names)
	switch {
	case h.hops.source == h.target, relation == api.RelationSame:
		return p, nil
	case len(names) > 0:
		p.names, p.relation, p.confidence = names, relation, record.RowConfidence
		return p.settled(r.Name), nil
	}
	p.confidence, p.found = unsure, byName
	return h.listed(p, sameConfidence, droppedConfidence)
}

// listed makes a guess as sure as it is where the target's own list has all of its names,
// and says as surely as that is that what the list lacks is not there.
func (h apkWay) listed(p course, has, lacks float64) (course, error) {
	if !h.target.lists() {
		return p, nil
	}
	there, err := h.target.hasAll(p.names)
	if there {
		p.confidence, p.found = has, byName
	} else {
		p.relation, p.confidence, p.names, p.found = api.RelationRemoved, lacks, nil, byAbsence
	}
	return p, err
}

// stable is the newest suite of Debian that is released.
func (ix *Index) stable() *releaseTables {
	i := slices.IndexFunc(ix.debian, func(t *releaseTables) bool { return t.release.Released != "" })
	return ix.debian[max(i, 0)]
}

// present makes the answer of a course that ends at packages of Alpine.
func (h apkWay) present(canonical string, p course) (api.Translation, error) {
	t := api.Translation{Canonical: canonical, Packages: []api.TargetPackage{}, Caveats: []api.Caveat{}, Conditionals: []api.Conditional{}}
	whole := true
	for _, name := range p.names {
		r, listed, err := h.target.find(name)
		if err != nil {
			return t, err
		}
		if h.target.lists() && !listed {
			p.confidence = min(p.confidence, unsure) // a row says otherwise than the list
		}
		t.Packages = append(t.Packages, api.TargetPackage{Name: name, Version: r.Version, Repository: r.Component})
		whole = whole && listed
	}
	if !whole {
		t.Caveats = append(t.Caveats, api.Caveat{Code: CaveatExistence, Severity: api.SeverityInfo, Text: h.noList})
	}
	t.Relation, t.Confidence = p.relation, round(p.confidence)
	t.Caveats = h.ofCourse(t.Caveats, &p, len(p.names))
	return t, h.addCurated(canonical, &t, nil)
}

// noAPKs says what makes a name sure.
func noAPKs(slug string) string {
	return "No list that the index has of " + slug + " shows it: apk policy NAME says on the target whether it is there. " +
		"A list of your own mirror makes it sure: svc admin index build --apk URL --release " + slug + " --out FILE, then --index FILE."
}
