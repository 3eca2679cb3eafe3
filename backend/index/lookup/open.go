package lookup

import (
	"sync"

	"svc/backend/index/counterpart"
	"svc/backend/index/record"
	"svc/backend/index/table"
	"svc/backend/release"
)

// Open finds the tables of every release in an index file.
func Open(file *table.File) (*Tables, error) {
	ix := &Tables{File: file, BySlug: map[string]*Release{}, shared: sharedTables(file)}
	for _, r := range release.All() {
		if file.Table(r.Slug+record.NamesTable).Len() == 0 || counterpart.Has(r) {
			continue
		}
		t := tablesOf(file, r)
		ix.BySlug[r.Slug] = t
		ix.Order = append(ix.Order, r.Slug)
		if ofDebian(r) {
			ix.Debian = append([]*Release{t}, ix.Debian...)
		}
	}
	return ix, ix.derive()
}

// derive adds the releases that have no tables of their own.
func (ix *Tables) derive() error {
	rpms, others := ix.rpmNames.Len() > 0, sync.OnceValue(ix.suseNames)
	for _, r := range release.All() {
		if _, ok := ix.BySlug[r.Slug]; ok {
			continue
		}
		t, err := ix.derivedRelease(r)
		if err != nil {
			return err
		}
		switch {
		case t == nil && counterpart.Has(r):
			t = ix.counterpartRelease(r)
		case t == nil && rpms:
			t = ix.rpmRelease(r, others)
		}
		if t != nil {
			ix.BySlug[r.Slug] = t
		}
	}
	return nil
}
