package lookup

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"svc/backend/api"
	"svc/backend/index/counterpart"
	"svc/backend/index/record"
	"svc/backend/index/table"
	"svc/backend/release"
)

// Tables are those of an open index file: what each release has.
type Tables struct {
	File   *table.File
	BySlug map[string]*Release
	Order  []string   // slugs with data, by distribution and version
	Debian []*Release // the suites of Debian with tables of their own, newest first
	shared
}

// Release are the tables of one release.
type Release struct {
	Slug       string
	Release    release.Release
	Names      *table.Table // name → record
	canonicals *table.Table // canonical → name, where they differ
	Provides   *table.Table // virtual name → its one provider
	sources    *table.Table // source without a binary of its name → main binary
	files      *table.Table // name → configuration, units, sysusers
	Owners     *table.Table // path → names
	units      *table.Table // first word of a name → names of packages that ship units

	// Of a release that is derived from others:
	Nearest, Other *Release
	Versions       []variant     // of software with its version in its names
	ownNames       *table.Table  // release/package of Debian → what the release has in its place
	ownPackages    *table.Table  // package that derived releases have, or its canonical → what it is
	RPM            *Line         // of a release whose packages are rpms
	Counterparts   *Counterparts // of a release whose packages are known by what they are in Debian
}

// variant is the version that a release has of software whose packages bear
// it in their names, and that of its nearest suite.
type variant struct{ Software, Suite, Own string }

// Counterparts are the rows of a release, and which of its packages a canonical names: both
// are made once they are asked for.
type Counterparts struct {
	Names  func() *counterpart.Names
	Owners func() map[string]string
}

func tablesOf(file *table.File, r release.Release) *Release {
	slug := r.Slug
	return &Release{
		Slug:       slug,
		Release:    r,
		Names:      file.Table(slug + record.NamesTable),
		canonicals: file.Table(slug + record.CanonicalsTable),
		Provides:   file.Table(slug + record.ProvidesTable),
		sources:    file.Table(slug + record.SourcesTable),
		files:      file.Table(slug + record.FilesTable),
		Owners:     file.Table(slug + record.OwnersTable),
		units:      file.Table(record.UnitsTable + slug),
	}
}

// Version identifies the content: the beginning of its SHA-256, 16 hex
// characters.
func (ix *Tables) Version() string { return ix.File.Version() }

// Releases lists every known release, and what the index has of its packages.
func (ix *Tables) Releases() []api.ReleaseInfo {
	infos := []api.ReleaseInfo{}
	for _, r := range release.All() {
		info := api.InfoOf(r)
		if info.Aliases == nil {
			info.Aliases = []string{}
		}
		info.List = ix.BySlug[r.Slug].listing()
		if info.List == api.ListWhole {
			count := ix.BySlug[r.Slug].packages()
			info.Packages = &count
		}
		infos = append(infos, info)
	}
	return infos
}

// packages is how many packages the release's own archives have.
func (t *Release) packages() int {
	if t.RPM != nil {
		return t.RPM.rpms.Len()
	}
	return t.Names.Len()
}

// listing says how much of a release's list is known; without tables, nothing.
func (t *Release) listing() api.Listing {
	switch {
	case t == nil:
		return api.ListNone
	case t.Counterparts != nil && !t.Lists():
		return api.ListSome
	case t.RPM == nil && t.Nearest == nil, t.RPM != nil && t.RPM.Lists():
		return api.ListWhole
	case t.RPM == nil:
		return api.ListDerived
	case t.RPM.Line == "el" && t.RPM.Known && t.RPM.Level >= record.WholeLists:
		return api.ListMost
	}
	return api.ListSome
}

// Lists reports whether the own list of a release was imported.
func (t *Release) Lists() bool { return t.Names.Len() > 0 }

// Release finds the tables of a release by slug or alias. Its error is an
// *api.Error that lists the nearest releases with data.
func (ix *Tables) Release(name string) (*Release, error) {
	if r, ok := release.Lookup(name); ok {
		if t, ok := ix.BySlug[r.Slug]; ok {
			return t, nil
		}
	}
	instead := release.Instead(name, 4, slices.Sorted(maps.Keys(ix.BySlug)))
	return nil, api.Errorf(api.UnknownRelease, "the index has no packages of release %.80q: %s", name, instead)
}

// Curated reads the rows of a table whose values are JSON arrays.
func Curated[T any](t *table.Table, key string) ([]T, error) {
	value, ok := t.Get(key)
	if !ok {
		return []T{}, nil
	}
	rows := []T{}
	if err := json.Unmarshal([]byte(value), &rows); err != nil {
		return nil, fmt.Errorf("reading curated rows of %q: %w", key, err)
	}
	return rows, nil
}
