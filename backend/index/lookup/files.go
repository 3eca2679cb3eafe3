package lookup

import (
	"strings"

	"svc/backend/index/record"
)

// HasAll reports whether the release has all of some packages.
func (t *Release) HasAll(names []string) (bool, error) {
	for _, name := range names {
		if _, ok, err := t.Names.Get(name); !ok || err != nil {
			return false, err
		}
	}
	return true, nil
}

// Successor is the record of a package; of an rpm it has the name alone.
func (t *Release) Successor(name string) (record.Record, error) {
	if t.RPM != nil {
		return record.Record{Name: name}, nil
	}
	r, _, err := t.Find(name)
	return r, err
}

// Shipped adds the configuration that a package ships in a folder.
func (t *Release) Shipped(files []string, name, folder string) ([]string, error) {
	value, ok, err := t.files.Get(name)
	if err != nil || !ok {
		return files, err
	}
	for file, rest := "", value; rest != ""; {
		file, rest = record.Column(rest)
		if strings.HasPrefix(file, folder) {
			files = append(files, t.inOwn(file))
		}
	}
	return files, nil
}

// OwnersOf are the packages that ship a path.
func (t *Release) OwnersOf(file string) (names string, ok bool, err error) {
	inSuite := t.inSuite(file)
	if t.inOwn(inSuite) != file {
		return "", false, nil // it is of a version that the release does not have
	}
	return t.Owners.Get(inSuite)
}
