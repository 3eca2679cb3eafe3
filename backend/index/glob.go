package index

import "strings"

// glob is a curated row for all names of a pattern; an asterisk stands for
// anything.
type glob struct {
	pattern, value string
	first, rest    string // of the pattern in small letters: what is before its first asterisk, and behind it
}

// globs are rows by the two letters with which their patterns begin. Of those
// that fit a name the longest counts.
type globs map[[2]byte][]glob

// add adds a row; what has no asterisk is none.
func (g globs) add(pattern, value string) {
	first, rest, ok := strings.Cut(strings.ToLower(pattern), "*")
	if ok {
		begin := beginning(first)
		g[begin] = append(g[begin], glob{pattern, value, first, rest})
	}
}

// beginning are the first two letters of a text, or asterisks where it has none.
func beginning(text string) [2]byte {
	two := [2]byte{'*', '*'}
	copy(two[:], text)
	return two
}

// match finds the value of the longest pattern that fits. Case does not count, as
// canonicals have none.
func (g globs) match(name string) (string, bool) {
	row, ok := g.longest(name)
	return row.value, ok
}

// longest finds the longest pattern that fits.
func (g globs) longest(name string) (best glob, ok bool) {
	if name == "" {
		return best, false
	}
	name = strings.ToLower(name)
	for n := range 3 {
		rows := g[beginning(name[:min(n, len(name))])]
		for i := range rows {
			if rows[i].before(best) && rows[i].fits(name) {
				best = rows[i]
			}
		}
	}
	return best, best.pattern != ""
}

// before orders patterns: the longer first, of equal ones by the alphabet.
func (g glob) before(other glob) bool {
	if len(g.pattern) != len(other.pattern) {
		return len(g.pattern) > len(other.pattern)
	}
	return g.pattern < other.pattern
}

// stood is what the asterisk of a pattern with one of them stands for in a name
// that fits.
func (g glob) stood(name string) string { return name[len(g.first) : len(name)-len(g.rest)] }

// fits reports whether a name in small letters is of the pattern: its parts come
// one after the other, the first at the beginning and the last at the end.
func (g glob) fits(name string) bool {
	name, ok := strings.CutPrefix(name, g.first)
	rest := g.rest
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
