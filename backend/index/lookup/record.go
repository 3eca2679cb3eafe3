package lookup

import (
	"strings"

	"svc/backend/index/record"
)

// Find reads the record of a package.
func (t *Release) Find(name string) (record.Record, bool) {
	value, ok := t.Names.Get(name)
	if !ok {
		return t.FindOwn(name)
	}
	return record.DecodeRecord(name, value), true
}

// Has reports whether the release has a package.
func (t *Release) Has(name string) bool {
	if t.Names.Has(name) {
		return true
	}
	_, own := t.FindOwn(name)
	return own
}

// ByCanonical reads the record of the package that a canonical names.
func (t *Release) ByCanonical(canonical string) (record.Record, bool) {
	name, ok := t.canonicals.Get(canonical)
	if !ok {
		name = t.ownCanonical(canonical)
	}
	r, ok := t.Find(name)
	return r, ok && r.Canonical == canonical
}

// FindOwn finds a package that a derived release has and its nearest suite not.
func (t *Release) FindOwn(name string) (record.Record, bool) {
	if t.ownPackages == nil {
		return record.Record{}, false
	}
	canonical, rest, _ := strings.Cut(t.ownPackages.Value(name), "\t")
	major, releases, ok := strings.Cut(rest, "\t")
	if !ok || !record.HasWord(releases, t.Slug) {
		return record.Record{}, false
	}
	return record.Record{Name: name, Canonical: canonical, Major: major, Component: "main", Own: true}, true
}

// ownCanonical is the package of a derived release that a canonical names.
func (t *Release) ownCanonical(canonical string) string {
	if t.ownPackages == nil {
		return canonical
	}
	value, ok := t.ownPackages.Get(canonical)
	if !ok || strings.Contains(value, "\t") {
		return canonical
	}
	return value
}
