package relocation

import (
	"maps"
	"slices"

	"svc/backend/api"
	"svc/backend/release"
)

// Software is all that families.tsv has rows of.
func Software() []string { return slices.Sorted(maps.Keys(families().rows)) }

// SaysOfIt reports whether a row of the move's own direction leads from a place to
// another, or one of what the target's family changed.
func SaysOfIt(software string, source, target release.Release, r api.Relocation) bool {
	f := families()
	all, n := f.between(software, source, target)
	for _, rows := range f.rows[software] {
		if !rows.sinceThen(target) {
			continue
		}
		for row := range rows.all() {
			all, n = row.appendTo(all[:n]), n+1
		}
	}
	return slices.ContainsFunc(all[:n], func(own api.Relocation) bool {
		return own.Kind == r.Kind && own.From == r.From && own.Place() == r.Place()
	})
}
