package lookup

import (
	"strings"

	"svc/backend/api"
	"svc/backend/index/record"
	"svc/backend/index/rpm"
	"svc/backend/release"
)

// FindFor finds a package for one of the source: what keeps its version there too
// has no other in its place.
func (t *Release) FindFor(name string, source record.Record) (record.Record, bool, error) {
	if name == source.Name {
		if r, ok, err := t.FindOwn(name); ok || err != nil {
			return r, ok, err
		}
	}
	return t.Find(name)
}

// derivedRelease makes the tables of a release that is near to others; nil
// where it is to none that the index has.
func (ix *Tables) derivedRelease(r release.Release) (*Release, error) {
	value, ok, err := ix.File.Table(record.DerivedTable).Get(r.Slug)
	if err != nil || !ok {
		return nil, err
	}
	nearest, rest, _ := strings.Cut(value, "\t")
	other, versions, _ := strings.Cut(rest, "\t")
	base := ix.BySlug[nearest]
	if base == nil {
		return nil, nil
	}
	t := *base
	t.ownPackages, t.ownNames = ix.DerivativePackages, ix.File.Table(record.UbuntuNames)
	t.Slug, t.Release, t.Nearest, t.Other = r.Slug, r, base, ix.BySlug[other]
	for pair := range strings.FieldsSeq(versions) {
		software, both, _ := strings.Cut(pair, "=")
		own, suite, _ := strings.Cut(both, "/")
		t.Versions = append(t.Versions, variant{software, suite, own})
	}
	return &t, nil
}

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
func (t *Release) inSuite(name string) string {
	if len(t.Versions) == 0 || !record.HasDigit(name) {
		return name
	}
	for _, v := range t.Versions {
		name = respelled(name, v.Software, v.Own, v.Suite)
	}
	return name
}

// inOwn is a name of the nearest suite with the release's own versions.
func (t *Release) inOwn(name string) string {
	if len(t.Versions) == 0 || !record.HasDigit(name) {
		return name
	}
	for _, v := range t.Versions {
		name = respelled(name, v.Software, v.Suite, v.Own)
	}
	return name
}

// Suite is the release whose tables answer.
func (t *Release) Suite() *Release {
	if t.Nearest != nil {
		return t.Nearest
	}
	return t
}

// OwnName is the name that a package of the nearest suite has in the release:
// another, or that with the release's own version of the software.
func (t *Release) OwnName(r record.Record) (string, error) {
	if r.Own {
		return r.Name, nil
	}
	if t.ownNames != nil {
		if own, ok, err := t.ownNames.Get(t.Slug + "/" + r.Name); ok || err != nil {
			return own, err
		}
	}
	if t.Major(r) == r.Major {
		return t.inOwn(r.Name), nil
	}
	return strings.Replace(r.Name, r.Major, t.Major(r), 1), nil
}

// Major is the major version of a package in the release.
func (t *Release) Major(r record.Record) string {
	if r.Major == "" {
		return ""
	}
	of := record.Software(r.Canonical, r.Major)
	for _, v := range t.Versions {
		if v.Software == of || v.Suite == r.Major && respelled(r.Name, v.Software, v.Suite, v.Own) != r.Name {
			return v.Own
		}
	}
	return r.Major
}

// Offers is a package of the release, and how sure it is that it has it; with
// the version where its own list is known.
func (t *Release) Offers(r record.Record) (offer api.TargetPackage, likely float64, err error) {
	if t.Nearest == nil {
		return api.TargetPackage{Name: r.Name, Version: r.Version, Repository: r.Component}, 1, nil
	}
	if offer.Name, err = t.OwnName(r); err != nil {
		return offer, 0, err
	}
	if offer.Name != r.Name || r.Own {
		return offer, ownVersion, nil
	}
	likely, err = t.likelihood(r.Name)
	return offer, likely, err
}

// likelihood is how sure it is that a derived release has a package of its
// nearest suite under the same name.
func (t *Release) likelihood(name string) (float64, error) {
	if t.Other == nil {
		return inNearest, nil
	}
	_, ok, err := t.Other.Find(name)
	if ok {
		return inBoth, err
	}
	return inNearest, err
}

// resolveDerived looks a name up beside the nearest suite of a derived release:
// in the other suite, and in the curated rows.
func (ix *Tables) resolveDerived(t *Release, name string) (record.Record, api.Match, float64, error) {
	if t.Nearest == nil {
		return record.Record{}, api.MatchNone, 0, nil
	}
	if meta, ok := record.UbuntuKernelMeta(name); ok {
		if r, ok, err := t.FindOwn(meta); ok || err != nil {
			return r, api.MatchAlias, kernelConfidence, err
		}
	}
	if suite := t.inSuite(name); suite != name {
		if r, ok, err := t.Find(suite); ok || err != nil {
			r.Major = t.Major(r)
			return r, api.MatchAlias, ownVersion, err
		}
	}
	if t.Other != nil {
		if r, ok, err := t.Other.Find(name); ok || err != nil {
			return r, api.MatchExact, neighbourRPM, err
		}
	}
	return ix.resolveRow(name)
}

// resolveRow finds what the curated rows of Debian's family say of a name.
func (ix *Tables) resolveRow(name string) (record.Record, api.Match, float64, error) {
	x := &Names{Tables: ix}
	g, ok := x.Derivative(name)
	if !ok || x.Err != nil {
		return record.Record{}, api.MatchNone, 0, x.Err
	}
	if rpm.One(g) && !strings.HasPrefix(g.Method, rpm.Vendor) {
		if canonical, ok := x.Package(rpm.FirstThere(x, g.Targets[0])); ok {
			return record.Record{Name: name, Canonical: canonical}, api.MatchAlias, g.Confidence, x.Err
		}
	}
	return record.Record{Name: name, Canonical: rpm.Slug(name)}, api.MatchAlias, g.Confidence, x.Err
}

// resolveVendor resolves what no release of Debian has: other vendors' packages,
// and libraries of other sonames.
func (ix *Tables) resolveVendor(name string) (record.Record, api.Match, float64, error) {
	r, match, confidence, err := ix.resolveRow(name)
	if match != api.MatchNone || err != nil || !strings.HasPrefix(name, "lib") {
		return r, match, confidence, err
	}
	x := &Names{Tables: ix}
	canonical, ok := x.Library(rpm.Stem(name))
	if !ok || rpm.Stem(name) == rpm.Squeeze(name) {
		return record.Record{}, api.MatchNone, 0, x.Err
	}
	return record.Record{Name: name, Canonical: canonical}, api.MatchHeuristic, libraryConfidence, x.Err
}
