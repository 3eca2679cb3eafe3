package lookup

import (
	"slices"

	"svc/backend/index/record"
)

// NearestSuites are the suites by their distance from one.
func (ix *Tables) NearestSuites(from *Release) []*Release {
	at := slices.Index(ix.Debian, from)
	all := slices.Clone(ix.Debian)
	slices.SortStableFunc(all, func(a, b *Release) int {
		return abs(slices.Index(ix.Debian, a)-at) - abs(slices.Index(ix.Debian, b)-at)
	})
	return all
}

func abs(n int) int { return max(n, -n) }

// Stable is the newest suite of Debian that is released.
func (ix *Tables) Stable() *Release {
	i := slices.IndexFunc(ix.Debian, func(t *Release) bool { return t.Release.Released != "" })
	return ix.Debian[max(i, 0)]
}

// OtherReleases are the other releases of a distribution that have lists of their own,
// newest first.
func (ix *Tables) OtherReleases(t *Release) []*Release {
	var all []*Release
	for _, slug := range slices.Backward(ix.Order) {
		if other := ix.BySlug[slug]; record.Distribution(slug) == record.Distribution(t.Suite().Slug) && other != t.Suite() {
			all = append(all, other)
		}
	}
	return all
}

// Chain is the way from a release to another of the same distribution, both
// included, over every release between them that the index has.
func (ix *Tables) Chain(source, target *Release) []string {
	from, to := slices.Index(ix.Order, source.Suite().Slug), slices.Index(ix.Order, target.Suite().Slug)
	if from <= to {
		return ix.Order[from : to+1]
	}
	way := slices.Clone(ix.Order[to : from+1])
	slices.Reverse(way)
	return way
}
