package packages

import (
	"slices"
	"strings"

	"svc/assess"
	"svc/backend/deb822"
)

// leastRecommendations is the number of recommendations from which on a machine shows
// what its people chose. A base system has 5 to 15, none of which debootstrap
// installs, whatever is chosen afterwards (roots of Debian 11 to 14, counted).
const leastRecommendations = 20

// recommendations are what installed packages recommend, and what would meet it.
type recommendations struct {
	asked []string // "a | b", each of one package
	there map[string]bool
}

// add takes an installed package. What the base system's own recommend is left out:
// no installer brings all of it.
func (r *recommendations) add(m *assess.Machine, pkg assess.Package, p deb822.Paragraph) {
	for name := range relations(pkg.Name + "," + p.Get("Provides")) {
		if m.Book.Keep(len(name)) {
			r.there[strings.Clone(name)] = true
		}
	}
	if pkg.Base || pkg.Essential {
		return
	}
	for asked := range strings.SplitSeq(p.Get("Recommends"), ",") {
		if strings.TrimSpace(asked) != "" && m.Book.Keep(len(asked)) {
			r.asked = append(r.asked, strings.Clone(asked))
		}
	}
}

// take notes what is not met. Where that is most of it, the machine was installed without
// what its packages recommend: who does that leaves no other trace.
func (r *recommendations) take(m *assess.Machine) {
	unmet := 0
	for _, asked := range r.asked {
		names := slices.Collect(relations(asked))
		if !slices.ContainsFunc(names, func(name string) bool { return r.there[name] }) {
			unmet++
			m.A.Unmet = append(m.A.Unmet, names...)
		}
	}
	slices.Sort(m.A.Unmet)
	m.A.Unmet = slices.Compact(m.A.Unmet)
	if len(r.asked) >= leastRecommendations && 2*unmet > len(r.asked) {
		m.Fact("packages", assess.RecommendedPackages, "left out", assess.Evidence{Path: "/var/lib/dpkg/status", Line: 0})
	}
}
