package index

import (
	"strings"

	"svc/backend/api"
	"svc/backend/index/record"
	"svc/backend/index/rpm"
	"svc/backend/release"
)

// findOwn finds a package that a derived release has and its nearest suite not.
func (t *releaseTables) findOwn(name string) (record.Record, bool, error) {
	if t.ownPackages == nil {
		return record.Record{}, false, nil
	}
	value, _, err := t.ownPackages.Get(name)
	canonical, rest, _ := strings.Cut(value, "\t")
	major, releases, ok := strings.Cut(rest, "\t")
	if !ok || err != nil || !record.HasWord(releases, t.slug) {
		return record.Record{}, false, err
	}
	return record.Record{Name: name, Canonical: canonical, Major: major, Component: "main", Own: true}, true, nil
}

// findFor finds a package for one of the source: what keeps its version there too
// has no other in its place.
func (t *releaseTables) findFor(name string, source record.Record) (record.Record, bool, error) {
	if name == source.Name {
		if r, ok, err := t.findOwn(name); ok || err != nil {
			return r, ok, err
		}
	}
	return t.find(name)
}

// ownCanonical is the package of a derived release that a canonical names.
func (t *releaseTables) ownCanonical(canonical string) (string, error) {
	if t.ownPackages == nil {
		return canonical, nil
	}
	value, ok, err := t.ownPackages.Get(canonical)
	if !ok || err != nil || strings.Contains(value, "\t") {
		return canonical, err
	}
	return value, nil
}

// fromOwn follows a package that the source has beyond its nearest suite: over a
// suite that has it, else by the curated rows.
func (h *hops) fromOwn(r record.Record) (course, error) {
	p := course{source: r, relation: api.RelationSame, confidence: sameConfidence, names: []string{r.Name}}
	if _, ok, err := h.target.find(r.Name); ok || err != nil {
		return p, err
	}
	later, ok, err := h.later(r.Name)
	if err != nil || ok && len(later.names) > 0 {
		return later, err
	}
	if row, ok, err := h.fromRow(r.Name); ok || err != nil {
		return row, err
	}
	if meta, ok, err := h.toMetapackage(r); ok || err != nil {
		return meta, err
	}
	p.relation, p.confidence, p.names = api.RelationRemoved, goneConfidence, nil
	return p, nil
}

// derivedRelease makes the tables of a release that is near to others; nil
// where it is to none that the index has.
func (ix *Index) derivedRelease(r release.Release) (*releaseTables, error) {
	value, ok, err := ix.file.Table(record.DerivedTable).Get(r.Slug)
	if err != nil || !ok {
		return nil, err
	}
	nearest, rest, _ := strings.Cut(value, "\t")
	other, versions, _ := strings.Cut(rest, "\t")
	base := ix.releases[nearest]
	if base == nil {
		return nil, nil
	}
	t := *base
	t.ownPackages, t.ownNames = ix.kinPackages, ix.file.Table(record.UbuntuNames)
	t.slug, t.release, t.nearest, t.other = r.Slug, r, base, ix.releases[other]
	for pair := range strings.FieldsSeq(versions) {
		software, both, _ := strings.Cut(pair, "=")
		own, suite, _ := strings.Cut(both, "/")
		t.versions = append(t.versions, variant{software, suite, own})
	}
	return &t, nil
}

// variant is the version that a release has of software whose packages bear
// it in their names, and that of its nearest suite.
type variant struct{ software, suite, own string }

// respelled is the name of a package or a path with one version of the software
// in it in place of another; the same where it has none.
func respelled(name, software, from, to string) string {
	if from == "" || to == "" {
		return name
	}
	at := strings.Index(name, software)
	if at < 0 {
		return name
	}
	at += len(software)
	next := strings.Index(name[at:], from)
	if next < 0 {
		return name
	}
	next += at
	end := next + len(from)
	if strings.ContainsAny(name[next-1:next], "0123456789.") || end < len(name) && strings.ContainsAny(name[end:end+1], "0123456789") {
		return name
	}
	return name[:next] + to + name[end:]
}

// inSuite is a name with the release's own versions as the nearest suite has it.
func (t *releaseTables) inSuite(name string) string {
	if len(t.versions) == 0 || !record.HasDigit(name) {
		return name
	}
	for _, v := range t.versions {
		name = respelled(name, v.software, v.own, v.suite)
	}
	return name
}

// inOwn is a name of the nearest suite with the release's own versions.
func (t *releaseTables) inOwn(name string) string {
	if len(t.versions) == 0 || !record.HasDigit(name) {
		return name
	}
	for _, v := range t.versions {
		name = respelled(name, v.software, v.suite, v.own)
	}
	return name
}

// suite is the release whose tables answer.
func (t *releaseTables) suite() *releaseTables {
	if t.nearest != nil {
		return t.nearest
	}
	return t
}

// ownName is the name that a package of the nearest suite has in the release:
// another, or that with the release's own version of the software.
func (t *releaseTables) ownName(r record.Record) (string, error) {
	if r.Own {
		return r.Name, nil
	}
	if t.ownNames != nil {
		if own, ok, err := t.ownNames.Get(t.slug + "/" + r.Name); ok || err != nil {
			return own, err
		}
	}
	if t.major(r) == r.Major {
		return t.inOwn(r.Name), nil
	}
	return strings.Replace(r.Name, r.Major, t.major(r), 1), nil
}

// major is the major version of a package in the release.
func (t *releaseTables) major(r record.Record) string {
	if r.Major == "" {
		return ""
	}
	of := record.Software(r.Canonical, r.Major)
	for _, v := range t.versions {
		if v.software == of || v.suite == r.Major && respelled(r.Name, v.software, v.suite, v.own) != r.Name {
			return v.own
		}
	}
	return r.Major
}

// offers is a package of the release, and how sure it is that it has it; with
// the version where its own list is known.
func (t *releaseTables) offers(r record.Record) (offer api.TargetPackage, likely float64, err error) {
	if t.nearest == nil {
		return api.TargetPackage{Name: r.Name, Version: r.Version, Repository: r.Component}, 1, nil
	}
	if offer.Name, err = t.ownName(r); err != nil {
		return offer, 0, err
	}
	if offer.Name != r.Name || r.Own {
		return offer, ownVersion, nil
	}
	likely, err = t.likelihood(r.Name)
	return offer, likely, err
}

// The likelihood that a derived release has what its nearest suite has.
const (
	inBoth     = 0.985 // the other suite has it too
	inNearest  = 0.93
	ownVersion = 0.96 // by the release's own version, or its own name
)

// likelihood is how sure it is that a derived release has a package of its
// nearest suite under the same name.
func (t *releaseTables) likelihood(name string) (float64, error) {
	if t.other == nil {
		return inNearest, nil
	}
	_, ok, err := t.other.find(name)
	if ok {
		return inBoth, err
	}
	return inNearest, err
}

// resolveDerived looks a name up beside the nearest suite of a derived release:
// in the other suite, and in the curated rows.
func (ix *Index) resolveDerived(t *releaseTables, name string) (record.Record, api.Match, float64, error) {
	if t.nearest == nil {
		return record.Record{}, api.MatchNone, 0, nil
	}
	if meta, ok := record.UbuntuKernelMeta(name); ok {
		if r, ok, err := t.findOwn(meta); ok || err != nil {
			return r, api.MatchAlias, kernelConfidence, err
		}
	}
	if suite := t.inSuite(name); suite != name {
		if r, ok, err := t.find(suite); ok || err != nil {
			r.Major = t.major(r)
			return r, api.MatchAlias, ownVersion, err
		}
	}
	if t.other != nil {
		if r, ok, err := t.other.find(name); ok || err != nil {
			return r, api.MatchExact, neighbourRPM, err
		}
	}
	return ix.resolveRow(name)
}

// resolveRow finds what the curated rows of Debian's kin say of a name.
func (ix *Index) resolveRow(name string) (record.Record, api.Match, float64, error) {
	x := &lexicon{ix: ix}
	g, ok := x.kin(name)
	if !ok || x.err != nil {
		return record.Record{}, api.MatchNone, 0, x.err
	}
	if rpm.One(g) && !strings.HasPrefix(g.Method, rpm.Vendor) {
		if canonical, ok := x.Package(rpm.FirstThere(x, g.Targets[0])); ok {
			return record.Record{Name: name, Canonical: canonical}, api.MatchAlias, g.Confidence, x.err
		}
	}
	return record.Record{Name: name, Canonical: rpm.Slug(name)}, api.MatchAlias, g.Confidence, x.err
}

// libraryConfidence is that of a library with a soname that no release has.
const libraryConfidence = 0.85

// resolveKin resolves what no release of Debian has: other vendors' packages,
// and libraries of other sonames.
func (ix *Index) resolveKin(name string) (record.Record, api.Match, float64, error) {
	r, match, confidence, err := ix.resolveRow(name)
	if match != api.MatchNone || err != nil || !strings.HasPrefix(name, "lib") {
		return r, match, confidence, err
	}
	x := &lexicon{ix: ix}
	canonical, ok := x.Library(rpm.Stem(name))
	if !ok || rpm.Stem(name) == rpm.Squeeze(name) {
		return record.Record{}, api.MatchNone, 0, x.err
	}
	return record.Record{Name: name, Canonical: canonical}, api.MatchHeuristic, libraryConfidence, x.err
}

// fromRow follows a canonical that only the curated rows of Debian's kin have.
func (h *hops) fromRow(canonical string) (course, bool, error) {
	x := &lexicon{ix: h.ix}
	g, ok := x.kin(canonical)
	if !ok || x.err != nil {
		return course{}, false, x.err
	}
	p, err := h.byTrail(record.Record{Name: canonical, Canonical: canonical}, rpm.TrailOf(g))
	return p, true, err
}

// fromKin follows the canonical of a package that kin of Debian has, and a vendor
// for Debian too, by the row of its name.
func (h *hops) fromKin(canonical string) (course, bool, error) {
	name, ok, err := h.ix.kinPackages.Get(canonical)
	if !ok || err != nil || strings.Contains(name, "\t") {
		return course{}, false, err
	}
	return h.fromRow(name)
}
