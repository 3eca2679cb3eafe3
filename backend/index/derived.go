package index

import (
	"io/fs"
	"strings"

	"svc/backend/api"
	"svc/backend/api/release"
)

// derivedTable has the releases that are near to a suite of Debian.
const derivedTable = "curated/derived" // release → nearest, other, versions

// derivations reads derived.tsv.
func derivations(dir fs.FS) (map[string]string, error) {
	all, err := rows(dir, "derived.tsv", 5)
	values := map[string]string{}
	for _, c := range all {
		values[c[0]] = strings.Join(c[1:4], "\t")
		for _, slug := range []string{c[0], c[1], c[2]} {
			if err := known(slug); err != nil {
				return nil, err
			}
		}
	}
	return values, err
}

// derivedRelease makes the tables of a release that is near to others; nil
// where it is to none that the index has.
func (ix *Index) derivedRelease(r release.Release) (*releaseTables, error) {
	value, ok, err := ix.file.Table(derivedTable).Get(r.Slug)
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
	t.slug, t.nearest, t.other, t.versions = r.Slug, base, ix.releases[other], map[string]string{}
	for pair := range strings.FieldsSeq(versions) {
		software, version, _ := strings.Cut(pair, "=")
		t.versions[software] = version
	}
	return &t, nil
}

// suite is the release whose tables answer.
func (t *releaseTables) suite() *releaseTables {
	if t.nearest != nil {
		return t.nearest
	}
	return t
}

// ownName is the name that a package of the nearest suite has in the release:
// with the release's own version of the software in place of the suite's.
func (t *releaseTables) ownName(r record) string {
	next := t.versions[software(r.Canonical, r.Major)]
	if r.Major == "" || next == "" {
		return r.Name
	}
	return strings.Replace(r.Name, r.Major, next, 1)
}

// offers is a package of the release: what the version is where the release's
// own list is known.
func (t *releaseTables) offers(r record) api.TargetPackage {
	if t.nearest == nil {
		return api.TargetPackage{Name: r.Name, Version: r.Version, Repository: r.Component}
	}
	return api.TargetPackage{Name: t.ownName(r)}
}
