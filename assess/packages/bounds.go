package packages

import (
	"strings"

	"svc/assess"
	"svc/backend/lazyregexp"
	"svc/backend/pkgversion"
)

// bounded is one need of a package that ends with a version: "git (<< 1:2.39.5-.)".
// One with an alternative is none.
var bounded = lazyregexp.New(`^\s*([a-z0-9][a-z0-9+.-]+)(?::any)?\s*\((<<|<=|=)\s*([^\s|]+)\)\s*$`)

// addBounds takes up to which versions a package needs others.
func addBounds(m *assess.Machine, pkg, depends string) {
	if !strings.ContainsAny(depends, "<=") {
		return
	}
	for need := range strings.SplitSeq(depends, ",") {
		b := bounded.FindStringSubmatch(need)
		if b == nil || !pkgversion.Valid(pkgversion.Deb, b[3]) || !m.Book.Keep(len(need)) {
			continue
		}
		if m.A.Bounds == nil {
			m.A.Bounds = map[string][]assess.Bound{}
		}
		m.A.Bounds[pkg] = append(m.A.Bounds[pkg], assess.Bound{Needs: strings.Clone(b[1]), Relation: strings.Clone(b[2]), Version: strings.Clone(b[3])})
	}
}
