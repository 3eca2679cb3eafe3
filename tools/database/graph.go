package database

import (
	"slices"
	"strings"

	"svc/backend/api"
	"svc/backend/release"
	"svc/backend/sliced"
)

// Graph is what is on record of engines.
type Graph struct {
	record map[string]api.UpgradeEdgesResponse // by engine
	series map[string][]Version                // by engine, oldest first
}

// NewGraph makes a graph of what is on record of engines, by engine.
func NewGraph(record map[string]api.UpgradeEdgesResponse) Graph {
	g := Graph{record, map[string][]Version{}}
	for engine, r := range record {
		g.series[engine] = append(g.series[engine], sliced.Map(r.Series, func(s api.EngineSeries) Version { return Version(s.Series) })...)
		slices.SortFunc(g.series[engine], Version.Compare)
	}
	return g
}

// IndexVersion is that of the index that the record is from.
func (g Graph) IndexVersion() string {
	for _, r := range g.record {
		return r.IndexVersion
	}
	return ""
}

// Place is a version of an engine.
type Place struct {
	Engine  string  `json:"engine"`
	Version Version `json:"version"`
}

func (p Place) String() string { return p.Engine + " " + string(p.Version) }

// Neighbours are the engines that edges of an engine lead to.
func Neighbours(r api.UpgradeEdgesResponse) []string {
	engines := sliced.FilterMap(r.Edges, func(e api.UpgradeEdge) (string, bool) {
		engine, _ := aim(r.Engine, e.To)
		return engine, engine != r.Engine
	})
	slices.Sort(engines)
	return slices.Compact(engines)
}

// aim splits where an edge leads to into the engine and the range.
func aim(own, to string) (engine, span string) {
	first, rest, found := strings.Cut(to, " ")
	if !found || first == "newer" {
		return own, to
	}
	return first, rest
}

// Series are the series of an engine, oldest first.
func (g Graph) Series(engine string) []Version { return g.series[engine] }

// SeriesOf is the series of a version, or the newest one that begins so: the
// 6.2 of 6.2.14, and of 6.
func (g Graph) SeriesOf(p Place) (series Version, known bool) {
	for _, s := range g.Series(p.Engine) {
		if p.Version.in(s) {
			return s, true
		}
		if s.in(p.Version) {
			series, known = s, true
		}
	}
	return series, known
}

// reach lists the places to which an edge or a barrier leads, the newest first:
// of two ways that cost the same, that over the newer version counts.
func (g Graph) reach(from Place, to string) []Place {
	engine, span := aim(from.Engine, to)
	own, _ := g.SeriesOf(from)
	series := g.Series(engine)
	var places []Place
	for i, s := range slices.Backward(series) {
		if leads(own, s, span) || span == "beyond" && i > slices.Index(series, own)+1 {
			places = append(places, Place{engine, s})
		}
	}
	return places
}

// leads reports whether a range, seen from a series, has another one.
func leads(own, series Version, span string) bool {
	word, rest, ranged := strings.Cut(span, " ")
	switch word {
	case "same":
		return series == own
	case "older":
		return series.Compare(own) < 0
	case "newer":
		return series.Compare(own) > 0 && (!ranged || series.within(rest))
	}
	return series.within(span)
}

// Offer is a version of an engine that a release offers.
type Offer struct {
	Place
	How     string `json:"how"`     // default, stream, package, collection, extra, repository, vendor
	Package string `json:"package"` // a module's stream where how is stream
	Source  string `json:"source"`
}

// hows are the ways of offering, the nearest at hand first.
var hows = []string{"default", "package", "stream", "extra", "collection", "repository", "vendor"}

// effort is how far a way of offering is from what the release installs by itself.
func (o Offer) effort() int {
	switch o.How {
	case "", "default": // a version that was asked for is nobody's offer
		return 0
	case "repository":
		return 2
	case "vendor":
		return 3
	}
	return 1
}

// Offers lists what a release offers of an engine, the nearest at hand first,
// and of these the newest.
func (g Graph) Offers(engine string, r release.Release) []Offer {
	all := append([]Offer{}, sliced.FilterMap(g.record[engine].Offers, func(o api.EngineOffer) (Offer, bool) {
		return Offer{Place{engine, Version(o.Version)}, o.How, o.Package, o.Source}, slices.Contains([]string{r.Slug, line(r), "*"}, o.Release)
	})...)
	slices.SortStableFunc(all, func(a, b Offer) int {
		if c := slices.Index(hows, a.How) - slices.Index(hows, b.How); c != 0 {
			return c
		}
		return b.Version.Compare(a.Version)
	})
	return all
}

// line is the name under which distributions that are built of the same
// sources are on record.
func line(r release.Release) string {
	if r.Family != release.EL {
		return r.Slug
	}
	_, version := release.Split(r.Slug)
	return "el-" + version
}
