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
func (t *Release) FindFor(name string, source record.Record) (record.Record, bool) {
	if name == source.Name {
		if r, ok := t.FindOwn(name); ok {
			return r, true
		}
	}
	return t.Find(name)
}

// derivedRelease makes the tables of a release that is near to others; nil
// where it is to none that the index has.
func (ix *Tables) derivedRelease(r release.Release) *Release {
	value, ok := ix.File.Table(record.DerivedTable).Get(r.Slug)
	if !ok {
		return nil
	}
	nearest, rest, _ := strings.Cut(value, "\t")
	other, versions, _ := strings.Cut(rest, "\t")
	base := ix.BySlug[nearest]
	if base == nil {
		return nil
	}
	t := *base
	t.ownPackages, t.ownNames = ix.DerivativePackages, ix.File.Table(record.UbuntuNames)
	t.Slug, t.Release, t.Nearest, t.Other = r.Slug, r, base, ix.BySlug[other]
	for pair := range strings.FieldsSeq(versions) {
		software, both, _ := strings.Cut(pair, "=")
		own, suite, _ := strings.Cut(both, "/")
		t.Versions = append(t.Versions, variant{software, suite, own})
	}
	return &t
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
func (t *Release) OwnName(r record.Record) string {
	if r.Own {
		return r.Name
	}
	if t.ownNames != nil {
		if own, ok := t.ownNames.Get(t.Slug + "/" + r.Name); ok {
			return own
		}
	}
	if t.Major(r) == r.Major {
		return t.inOwn(r.Name)
	}
	return strings.Replace(r.Name, r.Major, t.Major(r), 1)
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
func (t *Release) Offers(r record.Record) (offer api.TargetPackage, likely float64) {
	if t.Nearest == nil {
		return api.TargetPackage{Name: r.Name, Version: r.Version, Repository: r.Component}, 1
	}
	offer.Name = t.OwnName(r)
	if offer.Name != r.Name || r.Own {
		return offer, ownVersion
	}
	return offer, t.likelihood(r.Name)
}

// likelihood is how sure it is that a derived release has a package of its
// nearest suite under the same name.
func (t *Release) likelihood(name string) float64 {
	if t.Other != nil && t.Other.Has(name) {
		return inBoth
	}
	return inNearest
}

// resolveDerived looks a name up beside the nearest suite of a derived release:
// in the other suite, and in the curated rows.
func (ix *Tables) resolveDerived(t *Release, name string) (record.Record, api.Match, float64) {
	if t.Nearest == nil {
		return record.Record{}, api.MatchNone, 0
	}
	if meta, ok := record.UbuntuKernelMeta(name); ok {
		if r, ok := t.FindOwn(meta); ok {
			return r, api.MatchAlias, kernelConfidence
		}
	}
	if suite := t.inSuite(name); suite != name {
		if r, ok := t.Find(suite); ok {
			r.Major = t.Major(r)
			return r, api.MatchAlias, ownVersion
		}
	}
	if t.Other != nil {
		if r, ok := t.Other.Find(name); ok {
			return r, api.MatchExact, neighbourRPM
		}
	}
	return ix.resolveRow(name)
}

// resolveRow finds what the curated rows of Debian's family say of a name.
func (ix *Tables) resolveRow(name string) (record.Record, api.Match, float64) {
	x := &Names{Tables: ix}
	g, ok := x.Derivative(name)
	if !ok {
		return record.Record{}, api.MatchNone, 0
	}
	if rpm.One(g) && !strings.HasPrefix(g.Method, rpm.Vendor) {
		if canonical, ok := x.Package(rpm.FirstThere(x, g.Targets[0])); ok {
			return record.Record{Name: name, Canonical: canonical}, api.MatchAlias, g.Confidence
		}
	}
	return record.Record{Name: name, Canonical: rpm.Slug(name)}, api.MatchAlias, g.Confidence
}

// resolveVendor resolves what no release of Debian has: other vendors' packages,
// and libraries of other sonames.
func (ix *Tables) resolveVendor(name string) (record.Record, api.Match, float64) {
	r, match, confidence := ix.resolveRow(name)
	if match != api.MatchNone || !strings.HasPrefix(name, "lib") {
		return r, match, confidence
	}
	x := &Names{Tables: ix}
	canonical, ok := x.Library(rpm.Stem(name))
	if !ok || rpm.Stem(name) == rpm.Squeeze(name) {
		return record.Record{}, api.MatchNone, 0
	}
	return record.Record{Name: name, Canonical: canonical}, api.MatchHeuristic, libraryConfidence
}
