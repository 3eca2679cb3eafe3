package relocation

import (
	"maps"
	"slices"
	"strings"

	"svc/backend/api"
	"svc/backend/release"
)

// Software is all that families.tsv has rows of.
func Software() []string { return slices.Sorted(maps.Keys(families().text)) }

// SaysOfIt reports whether a row of the move's own direction leads from a place to
// another, or one of what the target's family changed.
func SaysOfIt(software string, source, target release.Release, r api.Relocation) bool {
	f := families()
	all, n := f.between(software, source, target)
	for line := range strings.Lines(f.text[software]) {
		if ends, others := readEnds(line); ends.sinceThen(target) {
			all, n = ends.read(others).appendTo(all[:n]), n+1
		}
	}
	return slices.ContainsFunc(all[:n], func(own api.Relocation) bool {
		return own.Kind == r.Kind && own.From == r.From && deref(own.To) == deref(r.To)
	})
}
