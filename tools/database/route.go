package database

import (
	"fmt"
	"slices"
	"strings"

	"svc/backend/release"
	"svc/backend/sliced"
)

// Route is the answer to how a database gets from a version to a version, or to
// what a release offers.
type Route struct {
	From     Place     `json:"from"`
	Offers   []Offer   `json:"offers"`   // what the paths lead to, and what else is to be had
	Possible bool      `json:"possible"` // there is a path
	Paths    []Path    `json:"paths"`    // the best first; none is worse than another in everything
	Barriers []Barrier `json:"barriers"` // ways that do not work, and what would make them possible
}

// To routes to one version of an engine.
func (g Graph) To(from, to Place, m Move) Route {
	return g.route(from, []Offer{{Place: to}}, nil, m)
}

// ToRelease routes to what a release offers: of the same engine, or where the
// release itself offers none, of an engine that takes its place. Versions that
// only a vendor's repository has are listed, and led to where there is no other.
func (g Graph) ToRelease(from Place, r release.Release, m Move) Route {
	own := g.Offers(from.Engine, r)
	offers, vendors := split(own)
	if len(offers) == 0 {
		for _, engine := range Neighbours(g.record[from.Engine]) {
			others, _ := split(g.Offers(engine, r))
			offers = append(offers, others...)
		}
	}
	route := g.route(from, offers, vendors, m)
	if !route.Possible && len(vendors) > 0 {
		return g.route(from, append(offers, vendors...), nil, m)
	}
	return route
}

// split parts what a release offers itself from what vendors do.
func split(offers []Offer) (own, vendors []Offer) {
	i := slices.IndexFunc(offers, func(o Offer) bool { return o.How == "vendor" })
	if i < 0 {
		return offers, nil
	}
	return slices.Clip(offers[:i]), offers[i:]
}

// route finds every path to the first of offers, and the best to each other.
func (g Graph) route(from Place, offers, further []Offer, m Move) Route {
	r := Route{From: from, Offers: append(append([]Offer{}, offers...), further...), Paths: []Path{}, Barriers: []Barrier{}}
	reasons := map[string]bool{} // each is said once, of the first offer that it is about
	for i, o := range offers {
		paths := g.Paths(from, o, m)
		if i > 0 {
			paths = paths[:min(1, len(paths))]
		}
		r.Paths = append(r.Paths, paths...)
		for _, b := range g.Barriers(from, o.Place, m) {
			if !reasons[b.Method+b.Why] {
				reasons[b.Method+b.Why], r.Barriers = true, append(r.Barriers, b)
			}
		}
	}
	rank(r.Paths)
	r.Possible = len(r.Paths) > 0
	switch {
	case len(offers) == 0:
		r.Barriers = append(r.Barriers, g.unoffered(from))
	case !r.Possible:
		r.Barriers = append(r.Barriers, g.unreached(from, offers[0].Place))
	}
	return r
}

// unreached says why there is no path at all, and what can be reached instead.
func (g Graph) unreached(from, to Place) Barrier {
	reached := g.search(from, Place{Engine: to.Engine}, Move{})
	near := sliced.FilterMap(g.Series(to.Engine), func(s Version) (string, bool) { return string(s), len(reached[Place{to.Engine, s}]) > 0 })
	instead := "nothing that is on record: ask the engine's own project"
	if len(near) > 0 {
		instead = fmt.Sprintf("a target that offers %s %s", to.Engine, strings.Join(near, ", "))
	}
	return Barrier{From: from, To: to, Method: "any", Why: "no supported way is on record", Instead: instead}
}

// unoffered says that a release has no version of an engine on record.
func (g Graph) unoffered(from Place) Barrier {
	return Barrier{
		From: from, To: Place{Engine: from.Engine}, Method: "any", Why: "no version that the release offers is on record",
		Instead: "a repository of the engine's own project, or another target; name its version to see the ways there",
	}
}
