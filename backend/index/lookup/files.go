package lookup

import (
	"slices"
	"strings"

	"svc/backend/index/record"
)

// HasAll reports whether the release has all of some packages.
func (t *Release) HasAll(names []string) bool {
	return !slices.ContainsFunc(names, func(name string) bool { return !t.Names.Has(name) })
}

// Successor is the record of a package; of an rpm it has the name alone.
func (t *Release) Successor(name string) record.Record {
	if t.RPM != nil {
		return record.Record{Name: name}
	}
	r, _ := t.Find(name)
	return r
}

// Shipped adds the configuration that a package ships in a folder.
func (t *Release) Shipped(files []string, name, folder string) []string {
	for file, rest := "", t.files.Value(name); rest != ""; {
		file, rest = record.Column(rest)
		if strings.HasPrefix(file, folder) {
			files = append(files, t.inOwn(file))
		}
	}
	return files
}

// KnowsUnits reports whether it is known which units the release's packages ship.
func (t *Release) KnowsUnits() bool { return t.units.Len() > 0 }

// UnitsOf are the units of packages whose names begin with a word, with what systemd makes
// of their scripts in init.d.
func (t *Release) UnitsOf(word string) (units []string) {
	for owner := range strings.FieldsSeq(t.units.Value(word)) {
		for file, rest := "", t.files.Value(owner); rest != ""; {
			file, rest = record.Column(rest)
			if unit, ok := record.UnitOf(file); ok {
				units = append(units, t.inOwn(unit))
			}
		}
	}
	return units
}

// OwnersOf are the packages that ship a path.
func (t *Release) OwnersOf(file string) (names string, ok bool) {
	inSuite := t.inSuite(file)
	if t.inOwn(inSuite) != file {
		return "", false // it is of a version that the release does not have
	}
	return t.Owners.Get(inSuite)
}
