package lookup

import (
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
