package index

import (
	"cmp"
	"slices"
	"strings"
)

// glob is a curated row for all names of a pattern; an asterisk stands for
// anything.
type glob struct{ pattern, lower, value string }

func newGlob(pattern, value string) glob { return glob{pattern, strings.ToLower(pattern), value} }

// globs are tried from the longest on.
type globs struct {
	rows    []glob
	byFirst map[byte][]glob // those that a name which begins so may be of
}

func (g *globs) sort() {
	slices.SortStableFunc(g.rows, func(a, b glob) int {
		return cmp.Or(cmp.Compare(len(b.pattern), len(a.pattern)), cmp.Compare(a.pattern, b.pattern))
	})
	g.byFirst = map[byte][]glob{'*': nil}
	for _, row := range g.rows {
		g.byFirst[row.lower[0]] = nil
	}
	for first := range g.byFirst {
		for _, row := range g.rows {
			if row.lower[0] == first || row.lower[0] == '*' {
				g.byFirst[first] = append(g.byFirst[first], row)
			}
		}
	}
}

// match finds the value of the first pattern that fits. Case does not count, as
// canonicals have none.
func (g globs) match(name string) (string, bool) {
	row, ok := g.first(name)
	return row.value, ok
}

// first finds the first pattern that fits.
func (g globs) first(name string) (glob, bool) {
	name = strings.ToLower(name)
	if name == "" {
		return glob{}, false
	}
	rows, ok := g.byFirst[name[0]]
	if !ok {
		rows = g.byFirst['*']
	}
	for _, row := range rows {
		if matches(row.lower, name) {
			return row, true
		}
	}
	return glob{}, false
}

// stood is what the asterisk of a pattern with one of them stands for in a name
// that fits.
func (g glob) stood(name string) string {
	first, last, _ := strings.Cut(g.pattern, "*")
	return name[len(first) : len(name)-len(last)]
}

// matches reports whether a name is of a pattern: its parts come one after the
// other, the first at the beginning and the last at the end.
func matches(pattern, name string) bool {
	first, rest, more := strings.Cut(pattern, "*")
	if !more {
		return pattern == name
	}
	name, ok := strings.CutPrefix(name, first)
	for ok {
		part, next, again := strings.Cut(rest, "*")
		if !again {
			return strings.HasSuffix(name, rest)
		}
		_, name, ok = strings.Cut(name, part)
		rest = next
	}
	return false
}
