package lookup

import (
	"strings"

	"svc/backend/index/record"
)

// Find reads the record of a package.
func (t *Release) Find(name string) (record.Record, bool, error) {
	value, ok, err := t.Names.Get(name)
	if err != nil {
		return record.Record{}, false, err
	}
	if !ok {
		return t.FindOwn(name)
	}
	return record.DecodeRecord(name, value), true, nil
}

// ByCanonical reads the record of the package that a canonical names.
func (t *Release) ByCanonical(canonical string) (record.Record, bool, error) {
	name, ok, err := t.canonicals.Get(canonical)
	if err != nil {
		return record.Record{}, false, err
	}
	if !ok {
		if name, err = t.ownCanonical(canonical); err != nil {
			return record.Record{}, false, err
		}
	}
	r, ok, err := t.Find(name)
	return r, ok && r.Canonical == canonical, err
}

// FindOwn finds a package that a derived release has and its nearest suite not.
func (t *Release) FindOwn(name string) (record.Record, bool, error) {
	if t.ownPackages == nil {
		return record.Record{}, false, nil
	}
	value, _, err := t.ownPackages.Get(name)
	canonical, rest, _ := strings.Cut(value, "\t")
	major, releases, ok := strings.Cut(rest, "\t")
	if !ok || err != nil || !record.HasWord(releases, t.Slug) {
		return record.Record{}, false, err
	}
	return record.Record{Name: name, Canonical: canonical, Major: major, Component: "main", Own: true}, true, nil
}

// ownCanonical is the package of a derived release that a canonical names.
func (t *Release) ownCanonical(canonical string) (string, error) {
	if t.ownPackages == nil {
		return canonical, nil
	}
	value, ok, err := t.ownPackages.Get(canonical)
	if !ok || err != nil || strings.Contains(value, "\t") {
		return canonical, err
	}
	return value, nil
}
