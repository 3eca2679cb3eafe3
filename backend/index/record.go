package index

import (
	"svc/backend/index/record"
)

// find reads the record of a package.
func (t *releaseTables) find(name string) (record.Record, bool, error) {
	value, ok, err := t.names.Get(name)
	if err != nil {
		return record.Record{}, false, err
	}
	if !ok {
		return t.findOwn(name)
	}
	return record.DecodeRecord(name, value), true, nil
}

// byCanonical reads the record of the package that a canonical names.
func (t *releaseTables) byCanonical(canonical string) (record.Record, bool, error) {
	name, ok, err := t.canonicals.Get(canonical)
	if err != nil {
		return record.Record{}, false, err
	}
	if !ok {
		if name, err = t.ownCanonical(canonical); err != nil {
			return record.Record{}, false, err
		}
	}
	r, ok, err := t.find(name)
	return r, ok && r.Canonical == canonical, err
}
