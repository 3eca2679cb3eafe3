package index

import (
	"fmt"
	"sync"

	"svc/backend/api"
	"svc/backend/index/course"
	"svc/backend/index/data"
	"svc/backend/index/lookup"
	"svc/backend/index/relocation"
	"svc/backend/index/table"
	"svc/backend/index/translate"
)

// Index answers from one index file. It is safe for concurrent use.
type Index struct {
	tables   *lookup.Tables
	embedded bool
	engines  sync.Map // engine → api.UpgradeEdgesResponse, once it is asked for
	kept     paths
}

var program = sync.OnceValues(func() (*Index, error) {
	file, err := data.Open()
	if err != nil {
		return nil, fmt.Errorf("opening index: %w", err)
	}
	ix := open(file)
	ix.embedded = true
	return ix, nil
})

// Embedded opens the index that is part of the program; all callers share it.
func Embedded() (*Index, error) { return program() }

// Open checks and opens an index file that package build wrote; where it has no name,
// the embedded index.
func Open(path string) (*Index, error) {
	if path == "" {
		return Embedded()
	}
	file, err := table.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if err := lookup.Verify(file); err != nil {
		return nil, fmt.Errorf("checking index %s: %w", path, err)
	}
	return open(file), nil
}

func open(file *table.File) *Index {
	return &Index{tables: lookup.Open(file)}
}

// Version identifies the content: the beginning of its SHA-256, 16 hex
// characters.
func (ix *Index) Version() string { return ix.tables.Version() }

// Date is the day by which the facts of the program's own index had been taken from
// the archives, YYYY-MM-DD; nil of an index that was built elsewhere, which does not say.
func (ix *Index) Date() *string {
	if !ix.embedded {
		return nil
	}
	return new(data.Day)
}

// Releases lists every known release, and what the index has of its packages.
func (ix *Index) Releases() []api.ReleaseInfo { return ix.tables.Releases() }

// Check is the error of a release that the index has nothing of.
func (ix *Index) Check(name string) error {
	_, err := ix.tables.Release(name)
	return err
}

// Resolve says what the named packages of a release are, one result for each
// name in the same order. Its errors are an *api.Error UNKNOWN_RELEASE, or that
// the index is damaged.
func (ix *Index) Resolve(release string, names []string) ([]api.Resolution, error) {
	return ix.tables.Resolve(release, names)
}

// Translate says what canonicals of the source release become in the target,
// one result for each in the same order. Its errors are an *api.Error
// UNKNOWN_RELEASE, or that the index is damaged.
func (ix *Index) Translate(source, target string, canonicals []string) ([]api.Translation, error) {
	h, err := ix.path(source, target)
	if err != nil {
		return nil, err
	}
	results := make([]api.Translation, len(canonicals))
	return results, h.follow(canonicals, func(way *translate.Path, i int, p *course.Course) (err error) {
		results[i], err = way.Present(canonicals[i], p)
		return err
	})
}

// Become resolves a package of a release and translates it to another; the zero
// of a translation where the index does not know it.
func (ix *Index) Become(source, name, target string) (api.Translation, error) {
	t, _, err := ix.Explain(source, name, target)
	return t, err
}

// Explain is Become with the kind of evidence that the answer is from.
func (ix *Index) Explain(source, name, target string) (t api.Translation, evidence string, err error) {
	kept, err := ix.path(source, target)
	if err != nil {
		return t, "", err
	}
	h := kept.Anew()
	r, match, _ := ix.tables.ResolveOne(h.Source, name, h.Seen)
	if match == api.MatchNone {
		return t, "none", nil
	}
	var p course.Course
	h.Follow(&p, r.Canonical)
	t, err = h.Present(r.Canonical, &p)
	return t, h.Evidence(p), err
}

// path is the way between two releases.
func (ix *Index) path(source, target string) (*path, error) {
	from, err := ix.tables.Release(source)
	if err != nil {
		return nil, err
	}
	to, err := ix.tables.Release(target)
	if err != nil {
		return nil, err
	}
	return ix.kept.between(ix.tables, from, to), nil
}

// ConfigPaths says where the configuration of canonicals goes: by comparing
// what the package and its successors ship in both releases, and by curated
// rows. One result for each canonical in the same order; its errors are those
// of Translate.
func (ix *Index) ConfigPaths(source, target string, canonicals []string) ([]api.ConfigRelocated, error) {
	h, err := ix.path(source, target)
	if err != nil {
		return nil, err
	}
	results, units := make([]api.ConfigRelocated, len(canonicals)), relocation.Units{Target: h.Target}
	return results, h.follow(canonicals, func(way *translate.Path, i int, p *course.Course) (err error) {
		results[i].Canonical = canonicals[i]
		results[i].Relocations, err = relocation.Of(way.Pair, canonicals[i], p)
		results[i].Units = units.Of(p)
		return err
	})
}
