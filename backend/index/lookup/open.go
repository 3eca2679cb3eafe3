package lookup

import (
	"fmt"
	"strings"
	"sync"

	"svc/backend/index/counterpart"
	"svc/backend/index/record"
	"svc/backend/index/table"
	"svc/backend/release"
)

// Open finds the tables of every release in an index file.
func Open(file *table.File) *Tables {
	ix := &Tables{File: file, BySlug: map[string]*Release{}, shared: sharedTables(file)}
	for _, r := range release.All() {
		if file.Table(r.Slug+record.NamesTable).Len() == 0 || counterpart.Has(r) {
			continue
		}
		t := tablesOf(file, r)
		ix.BySlug[r.Slug] = t
		ix.Order = append(ix.Order, r.Slug)
		if r.Family == release.Debian {
			ix.Debian = append([]*Release{t}, ix.Debian...)
		}
	}
	ix.derive()
	return ix
}

// derive adds the releases that have no tables of their own.
func (ix *Tables) derive() {
	rpms, others := ix.rpmNames.Len() > 0, sync.OnceValue(ix.suseNames)
	for _, r := range release.All() {
		if _, ok := ix.BySlug[r.Slug]; ok {
			continue
		}
		t := ix.derivedRelease(r)
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
}

// Verify checks the trails of an index file: what follows them trusts that they are whole.
// What this program was not made with is to be verified first.
func Verify(file *table.File) error {
	for _, name := range file.Names() {
		if !hasTrails(name) {
			continue
		}
		for key, value := range file.Table(name).All() {
			if name == record.RPMNames {
				value = DecodeRPM(key, value).Trail
			}
			if !record.IsTrail(value) && (value != "" || name != record.RPMNames) {
				return fmt.Errorf("%w: the trail of %q in table %s is %.80q", table.ErrFormat, key, name, value)
			}
		}
	}
	for key := range file.Table(record.RPMOwn).All() {
		if owner, _, own := strings.Cut(key, " "); own && !record.IsOwner(owner) {
			return fmt.Errorf("%w: it was made by an earlier svc: svc admin index build makes it anew", table.ErrFormat)
		}
	}
	return nil
}

// hasTrails reports whether the records of a table have trails.
func hasTrails(name string) bool {
	switch name {
	case record.RPMNames, record.RPMRows, record.DerivativeRows:
		return true
	}
	return strings.HasPrefix(name, record.RPMTrails) || strings.HasSuffix(name, record.TrailsEnd)
}
