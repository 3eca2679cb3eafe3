package index

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"

	"svc/backend/api"
	"svc/backend/index/data"
	"svc/backend/index/record"
	"svc/backend/index/table"
	"svc/backend/release"
)

// Index answers from one index file. It is safe for concurrent use.
type Index struct {
	file     *table.File
	releases map[string]*releaseTables
	order    []string         // slugs with data, by distribution and version
	debian   []*releaseTables // the suites of Debian with tables of their own, newest first
	engines  sync.Map         // engine → api.UpgradeEdgesResponse, once it is asked for
	followed ways
	embedded bool
	shared
}

// releaseTables are the tables of one release.
type releaseTables struct {
	slug       string
	release    release.Release
	names      *table.Table // name → record
	canonicals *table.Table // canonical → name, where they differ
	provides   *table.Table // virtual name → its one provider
	sources    *table.Table // source without a binary of its name → main binary
	files      *table.Table // name → configuration, units, sysusers
	owners     *table.Table // path → name

	// Of a release that is derived from others:
	nearest, other *releaseTables
	versions       []variant    // of software with its version in its names
	ownNames       *table.Table // release/package of Debian → what the release has in its place
	ownPackages    *table.Table // package that derived releases have, or its canonical → what it is
	rpm            *rpmLine     // of a release whose packages are rpms
	apk            *apkNames    // of a release of Alpine
}

var openEmbedded = sync.OnceValues(func() (*Index, error) {
	file, err := data.Open()
	if err != nil {
		return nil, fmt.Errorf("opening index: %w", err)
	}
	ix, err := open(file)
	if err != nil {
		return nil, err
	}
	ix.embedded = true
	return ix, nil
})

// Embedded opens the index that is part of the program; all callers share it.
func Embedded() (*Index, error) { return openEmbedded() }

// Open checks and opens an index file that Build wrote.
func Open(path string) (*Index, error) {
	file, err := table.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return open(file)
}

func open(file *table.File) (*Index, error) {
	ix := &Index{file: file, releases: map[string]*releaseTables{}, shared: sharedTables(file)}
	for _, r := range release.All() {
		t := tablesOf(file, r)
		if t.names.Len() > 0 && !isAPK(r) {
			ix.releases[r.Slug] = t
			ix.order = append(ix.order, r.Slug)
			if ofDebian(r) {
				ix.debian = append([]*releaseTables{t}, ix.debian...)
			}
		}
	}
	return ix, ix.derive()
}

// derive adds the releases that have no tables of their own.
func (ix *Index) derive() error {
	rpms, others := ix.file.Table(record.RPMNames).Len() > 0, ix.suseNames()
	for _, r := range release.All() {
		if _, ok := ix.releases[r.Slug]; ok {
			continue
		}
		t, err := ix.derivedRelease(r)
		if err != nil {
			return err
		}
		switch {
		case t == nil && isAPK(r):
			t = ix.apkRelease(r)
		case t == nil && rpms:
			t = ix.rpmRelease(r, others)
		}
		if t != nil {
			ix.releases[r.Slug] = t
		}
	}
	return nil
}

func tablesOf(file *table.File, r release.Release) *releaseTables {
	slug := r.Slug
	return &releaseTables{
		slug:       slug,
		release:    r,
		names:      file.Table(slug + record.NamesTable),
		canonicals: file.Table(slug + record.CanonicalsTable),
		provides:   file.Table(slug + record.ProvidesTable),
		sources:    file.Table(slug + record.SourcesTable),
		files:      file.Table(slug + record.FilesTable),
		owners:     file.Table(slug + record.OwnersTable),
	}
}

// Version identifies the content: the beginning of its SHA-256, 16 hex
// characters.
func (ix *Index) Version() string { return ix.file.Version() }

// Date is the day by which the facts of the program's own index had been taken from
// the archives, YYYY-MM-DD; nil of an index that was built elsewhere, which does not say.
func (ix *Index) Date() *string {
	if !ix.embedded {
		return nil
	}
	day := data.Day
	return &day
}

// Releases lists every known release, and what the index has of its packages.
func (ix *Index) Releases() []api.ReleaseInfo {
	infos := []api.ReleaseInfo{}
	for _, r := range release.All() {
		info := api.InfoOf(r)
		if info.Aliases == nil {
			info.Aliases = []string{}
		}
		info.List = ix.releases[r.Slug].listing()
		if info.List == api.ListWhole {
			count := ix.releases[r.Slug].packages()
			info.Packages = &count
		}
		infos = append(infos, info)
	}
	return infos
}

// packages is how many packages the release's own archives have.
func (t *releaseTables) packages() int {
	if t.rpm != nil {
		return t.rpm.rpms.Len()
	}
	return t.names.Len()
}

// listing says how much of a release's list is known; without tables, nothing.
func (t *releaseTables) listing() api.Listing {
	switch {
	case t == nil:
		return api.ListNone
	case t.apk != nil && !t.lists():
		return api.ListSome
	case t.rpm == nil && t.nearest == nil, t.rpm != nil && t.rpm.lists():
		return api.ListWhole
	case t.rpm == nil:
		return api.ListDerived
	case t.rpm.line == "el" && t.rpm.known && t.rpm.level >= record.WholeLists:
		return api.ListMost
	}
	return api.ListSome
}

// Check is the error of a release that the index has nothing of.
func (ix *Index) Check(name string) error {
	_, err := ix.release(name)
	return err
}

// release finds the tables of a release by slug or alias. Its error is an
// *api.Error that lists the nearest releases with data.
func (ix *Index) release(name string) (*releaseTables, error) {
	if r, ok := release.Lookup(name); ok {
		if t, ok := ix.releases[r.Slug]; ok {
			return t, nil
		}
	}
	instead := release.Instead(name, 4, slices.Sorted(maps.Keys(ix.releases)))
	return nil, api.Errorf(api.UnknownRelease, "the index has no packages of release %.80q: %s", name, instead)
}

// curated reads the rows of a table whose values are JSON arrays.
func curated[T any](t *table.Table, key string) ([]T, error) {
	value, ok, err := t.Get(key)
	if err != nil || !ok {
		return []T{}, err
	}
	rows := []T{}
	if err := json.Unmarshal([]byte(value), &rows); err != nil {
		return nil, fmt.Errorf("reading curated rows of %q: %w", key, err)
	}
	return rows, nil
}

// chain is the way from a release to another of the same distribution, both
// included, over every release between them that the index has.
func (ix *Index) chain(source, target *releaseTables) []string {
	from, to := slices.Index(ix.order, source.suite().slug), slices.Index(ix.order, target.suite().slug)
	if from <= to {
		return ix.order[from : to+1]
	}
	way := slices.Clone(ix.order[to : from+1])
	slices.Reverse(way)
	return way
}
