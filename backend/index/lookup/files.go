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

// UnitsBeside are the units that a package ships, and those whose names begin with its first
// word, sorted.
func (t *Release) UnitsBeside(name string) []string { return t.units()[firstWord(name)] }

// shippedUnits are the units of packages, with what systemd makes of their scripts in init.d,
// by the first words of the packages' names.
func (t *Release) shippedUnits() map[string][]string {
	units := map[string][]string{}
	for _, folder := range []struct{ path, suffix string }{{"/etc/init.d/", ".service"}, {"/usr/lib/systemd/system/", ""}} {
		for file, owners := range t.Owners.Under(folder.path) {
			unit := t.inOwn(file[len(folder.path):])
			if strings.Contains(unit, "/") {
				continue
			}
			for owner := range strings.FieldsSeq(owners) {
				word := firstWord(owner)
				units[word] = append(units[word], unit+folder.suffix)
			}
		}
	}
	for word, all := range units {
		slices.Sort(all)
		units[word] = slices.Compact(all)
	}
	return units
}

func firstWord(name string) string {
	word, _, _ := strings.Cut(name, "-")
	return word
}

// OwnersOf are the packages that ship a path.
func (t *Release) OwnersOf(file string) (names string, ok bool) {
	inSuite := t.inSuite(file)
	if t.inOwn(inSuite) != file {
		return "", false // it is of a version that the release does not have
	}
	return t.Owners.Get(inSuite)
}
