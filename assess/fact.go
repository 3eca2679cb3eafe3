package assess

import "svc/backend/sliced"

// RecommendedPackages is the key of the fact, of the area "packages", that most of what
// the installed packages recommend is not installed: "left out".
const RecommendedPackages = "recommended packages"

// Fact notes a setting of the machine that has no list of its own.
func (m *Machine) Fact(area, key, value string, at Evidence) {
	switch n := len(m.A.Facts); {
	case n < maxFacts:
		m.A.Facts = append(m.A.Facts, Fact{area, key, value, at})
	case n == maxFacts:
		m.A.Facts = append(m.A.Facts, Fact{area, key, value, at})
		m.Source("assessment.facts", SourceUnreadable, "more than any real machine has are left out")
	}
}

// Facts are those of an area.
func (r *Reading) Facts(area string) []Fact {
	return sliced.Filter(r.A.Facts, func(f Fact) bool { return f.Area == area })
}

// maxFacts bounds the facts until there is time to weigh them.
const maxFacts = 50_000
