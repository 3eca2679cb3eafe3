package rpm

import (
	"strings"

	"svc/backend/api"
)

// One reports whether a guess says that the rpm is one package of Debian.
func One(g Guess) bool {
	return len(g.Targets) == 1 && (g.Relation == api.RelationSame || g.Relation == api.RelationRenamed)
}

// FirstThere is the first of alternatives that Debian has.
func FirstThere(x Debian, alternatives string) string {
	for name := range strings.SplitSeq(alternatives, "|") {
		if _, ok := x.Package(name); ok {
			return name
		}
	}
	return ""
}

// IsLibraryName reports whether an rpm is called as libraries are. One that has the name of
// software may have its programs too.
func IsLibraryName(name string) bool {
	return strings.HasPrefix(strings.ToLower(name), "lib") || strings.HasSuffix(name, "-libs")
}

func IsVendor(method string) bool { return strings.HasPrefix(method, Vendor) }
