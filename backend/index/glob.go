package index

import "strings"

// glob is a curated row for all names of a pattern; an asterisk stands for
// anything.
type glob struct {
	pattern, value string
	first, last    string   // of the pattern in small letters: what is before its asterisks, and behind them
	between        []string // and between them
	next           *glob    // another whose pattern begins with the same letter
}

// globs are rows by the letter with which their patterns begin. Of those that fit
// a name the longest counts.
type globs [256]*glob

// add adds a row; what has no asterisk is none.
func (g *globs) add(pattern, value string) {
	first, last, ok := strings.Cut(strings.ToLower(pattern), "*")
	if !ok {
		return
	}
	begin := (first + "*")[0]
	row := &glob{pattern: pattern, value: value, first: first, last: last, next: g[begin]}
	if i := strings.LastIndexByte(last, '*'); i >= 0 {
		row.between, row.last = strings.Split(last[:i], "*"), last[i+1:]
	}
	g[begin] = row
}

// match finds the value of the longest pattern that fits. Case does not count, as
// canonicals have none.
func (g *globs) match(name string) (string, bool) {
	row := g.longest(name)
	if row == nil {
		return "", false
	}
	return row.value, true
}

// longest finds the longest pattern that fits; nil where none does.
func (g *globs) longest(name string) (best *glob) {
	if name == "" {
		return nil
	}
	name = strings.ToLower(name)
	for _, begin := range []byte{name[0], '*'} {
		for row := g[begin]; row != nil; row = row.next {
			if row.fits(name) && (best == nil || row.before(best)) {
				best = row
			}
		}
	}
	return best
}

// before orders patterns: the longer first, of equal ones by the alphabet.
func (g *glob) before(other *glob) bool {
	if len(g.pattern) != len(other.pattern) {
		return len(g.pattern) > len(other.pattern)
	}
	return g.pattern < other.pattern
}

// stood is what the asterisk of a pattern with one of them stands for in a name
// that fits.
func (g *glob) stood(name string) string { return name[len(g.first) : len(name)-len(g.last)] }

// fits reports whether a name in small letters is of the pattern: its parts come
// one after the other, the first at the beginning and the last at the end.
func (g *glob) fits(name string) bool {
	if len(name) < len(g.first)+len(g.last) || !strings.HasPrefix(name, g.first) || !strings.HasSuffix(name, g.last) {
		return false
	}
	name = g.stood(name)
	for _, part := range g.between {
		_, rest, ok := strings.Cut(name, part)
		if !ok {
			return false
		}
		name = rest
	}
	return true
}
