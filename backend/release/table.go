package release

import (
	_ "embed"
	"strings"

	"svc/backend/tsv"
)

//go:embed releases.tsv
var releaseRows string

// table is every release that svc has a name for.
var table = parseReleases(releaseRows)

func parseReleases(rows string) (all []Release) {
	for c := range tsv.Rows(rows, 6) {
		r := Release{Slug: c[0], Name: c[1], Family: Family(c[2]), Released: known(c[4]), EndOfLife: known(c[5])}
		r.ID, r.Version = Split(r.Slug)
		if c[3] != "-" {
			r.Aliases = strings.Fields(c[3])
		}
		all = append(all, r)
	}
	return all
}

// known is a cell of a table, empty where it has a dash.
func known(cell string) string { return strings.TrimPrefix(cell, "-") }
