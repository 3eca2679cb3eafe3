package rpm

import (
	"strings"

	"svc/backend/api"
	"svc/backend/index/record"
)

func GuessOf(t record.Trail) Guess {
	return Guess{Relation: t.Relation, Confidence: t.Confidence, Targets: t.Targets, Method: t.Method}
}

func TrailOf(g Guess) record.Trail {
	return record.Trail{Relation: g.Relation, Confidence: g.Confidence, Targets: g.Targets, Method: g.Method}
}

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

func IsVendor(method string) bool { return strings.HasPrefix(method, Vendor) }
