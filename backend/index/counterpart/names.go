package counterpart

import (
	"strings"

	"svc/backend/api"
	"svc/backend/index/record"
	"svc/backend/index/rpm"
)

// Debian is what the rules ask of Debian's packages.
type Debian interface {
	Package(name string) (canonical string, ok bool)
	Canonical(canonical string) (name string, ok bool)
}

// How sure it is what a package is that no row has.
const (
	sameName   = 0.75 // Debian has one of that name
	partOfRow  = 0.97 // it is a part of one that a row has
	partOfName = 0.75 // it is a part of another by its name alone
	listedName = 1.0  // it is in the release's own list
)

// Owners are the packages that canonicals of Debian name in the family: of several the first.
func (n *Names) Owners(x Debian) map[string]string {
	owners := map[string]string{}
	for _, row := range n.Rows {
		if canonical := row.canonical(x); canonical != "" && owners[canonical] == "" {
			owners[canonical] = row.Name
		}
	}
	return owners
}

// canonical is that of the one package of Debian that a row names.
func (r Row) canonical(x Debian) string {
	targets := r.There()
	if len(targets) != 1 || r.Relation == api.RelationIncluded || r.Relation == api.RelationSplit {
		return ""
	}
	for name := range strings.SplitSeq(targets[0], "|") {
		if canonical, ok := x.Package(name); ok {
			return canonical
		}
	}
	return ""
}

// Resolve says what a package is: by its row, else as what Debian has under the name, or
// as a part of another. Its own name stands for what no canonical leads back to.
func (n *Names) Resolve(name string, owners map[string]string, listed bool, x Debian) (canonical string, match api.Match, confidence float64) {
	if row, ok := n.Row(name); ok {
		if canonical := row.canonical(x); owners[canonical] == name {
			return canonical, api.MatchExact, 1
		}
		return name, api.MatchExact, 1
	}
	if canonical, ok := x.Package(name); ok && owners[canonical] == "" {
		if back, _ := x.Canonical(canonical); back == name {
			return canonical, api.MatchHeuristic, sameName
		}
	}
	whole, part := n.Whole(name)
	_, known := n.Row(whole)
	switch {
	case listed:
		return name, api.MatchExact, listedName
	case part && known:
		return name, api.MatchAlias, partOfRow
	case part:
		return name, api.MatchHeuristic, partOfName
	}
	return "", api.MatchNone, 0
}

// By is the package that a canonical names.
func (n *Names) By(canonical string, owners map[string]string, x Debian) string {
	if name := owners[canonical]; name != "" {
		return name
	}
	if _, ok := n.Row(canonical); ok {
		return canonical
	}
	if name, ok := x.Canonical(canonical); ok {
		return name
	}
	return canonical
}

// Trail is what a package is in Debian.
func (n *Names) Trail(name string, x Debian) (record.Trail, bool) {
	if row, ok := n.Row(name); ok {
		return record.Trail{Relation: row.Relation, Confidence: record.RowConfidence, Targets: row.There(), Method: rpm.Curated}, true
	}
	if _, ok := x.Package(name); ok {
		return record.Trail{Relation: api.RelationSame, Confidence: sameName, Targets: []string{name}, Method: "name"}, true
	}
	whole, ok := n.Whole(name)
	if !ok {
		return record.Trail{}, false
	}
	t, ok := n.Trail(whole, x)
	t.Relation = api.RelationIncluded
	return t, ok
}

// Later is what a package of these becomes in another release by its rows, and what that
// is called; nothing where none says.
func (n *Names) Later(name string, in *Names) (names []string, relation api.Relation) {
	if _, ok := in.byName[name]; ok {
		return []string{name}, api.RelationSame
	}
	row, ok := n.Row(name)
	if whole, part := n.Whole(name); !ok && part {
		if later, _ := n.Later(whole, in); len(later) == 1 && later[0] == whole {
			return []string{name}, api.RelationSame
		}
	}
	for _, alternatives := range row.There() {
		for debian := range strings.SplitSeq(alternatives, "|") {
			if names, relation = in.Named(debian); len(names) > 0 {
				if relation == api.RelationSame {
					relation = api.RelationRenamed
				}
				return names, relation
			}
		}
	}
	return nil, ""
}
