package lookup

import (
	"iter"
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

// ShippedBeside is the configuration of a package, and of those whose names begin with its
// first word.
func (t *Release) ShippedBeside(name string) iter.Seq[string] {
	word, _, _ := strings.Cut(name, "-")
	return func(yield func(string) bool) {
		for other, files := range t.files.Under(word) {
			if other != word && !strings.HasPrefix(other, word+"-") {
				continue
			}
			for file := ""; files != ""; {
				if file, files = record.Column(files); !yield(t.inOwn(file)) {
					return
				}
			}
		}
	}
}

// OwnersOf are the packages that ship a path.
func (t *Release) OwnersOf(file string) (names string, ok bool) {
	inSuite := t.inSuite(file)
	if t.inOwn(inSuite) != file {
		return "", false // it is of a version that the release does not have
	}
	return t.Owners.Get(inSuite)
}
