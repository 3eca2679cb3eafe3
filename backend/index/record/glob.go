package record

import "strings"

// glob is a curated row for all names of a pattern; an asterisk stands for
// anything.
type glob struct {
	pattern, Value string  // the pattern in small letters
	first, last    int     // where its first asterisk is, and its last
	end            byte    // with which it ends, and a name that fits where that is no asterisk
	letters, mask  letters // that a name must begin with: most rows are told apart by these
	next           *glob   // of the same place
}

// Globs are rows by the four letters with which their patterns begin; those that begin
// with three or with fewer have places of their own. Of those that fit a name the
// longest counts.
type Globs struct {
	places [1 + ofThree + ofFour]*glob
	room   []glob // for more
}

// How many places there are for patterns that begin with three letters, and with more.
const ofThree, ofFour = 31, 224

// letters are the first four of a text; case does not count.
type letters uint32

// begin are the first letters of a text, and which of the four it has.
func begin(text string) (all, mask letters) {
	for i := range min(len(text), 4) {
		all |= letters(text[i]|' ') << (8 * i)
		mask |= 0xff << (8 * i)
	}
	return all, mask
}

// ofThree and ofFour are where rows are whose patterns begin with so many of the letters.
func (l letters) ofThree() letters { return 1 + l&0xffffff%ofThree }
func (l letters) ofFour() letters  { return 1 + ofThree + l%ofFour }

// Add adds a row; what has no asterisk is none.
func (g *Globs) Add(pattern, value string) {
	first, last := strings.IndexByte(pattern, '*'), strings.LastIndexByte(pattern, '*')
	if first < 0 {
		return
	}
	if len(g.room) == 0 {
		g.room = make([]glob, rowsAtOnce)
	}
	row := &g.room[0]
	g.room = g.room[1:]
	*row = glob{pattern: strings.ToLower(pattern), Value: value, first: first, last: last, end: pattern[len(pattern)-1] | ' '}
	row.letters, row.mask = begin(pattern[:first])
	at := letters(0)
	switch {
	case first > 3:
		at = row.letters.ofFour()
	case first == 3:
		at = row.letters.ofThree()
	}
	row.next, g.places[at] = g.places[at], row
}

// rowsAtOnce are as many as room is made for at a time.
const rowsAtOnce = 32

// Match finds the value of the longest pattern that fits. Case does not count, as
// canonicals have none.
func (g *Globs) Match(name string) (string, bool) {
	row := g.Longest(name)
	if row == nil {
		return "", false
	}
	return row.Value, true
}

// Longest finds the longest pattern that fits; nil where none does.
func (g *Globs) Longest(name string) (best *glob) {
	if name == "" {
		return nil
	}
	opening, _ := begin(name)
	end, small := name[len(name)-1]|' ', ""
	for _, row := range [...]*glob{g.places[0], g.places[opening.ofThree()], g.places[opening.ofFour()]} {
		for ; row != nil; row = row.next {
			if opening&row.mask != row.letters || row.end != end && row.end != '*' {
				continue
			}
			if small == "" {
				small = strings.ToLower(name)
			}
			if row.fits(small) && (best == nil || row.before(best)) {
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

// Stood is what the asterisk of a pattern with one of them stands for in a name
// that fits.
func (g *glob) Stood(name string) string {
	return name[g.first : len(name)-len(g.pattern)+g.last+1]
}

// fits reports whether a name in small letters is of the pattern: its parts come
// one after the other, the first at the beginning and the last at the end.
func (g *glob) fits(name string) bool {
	begin, end := g.pattern[:g.first], g.pattern[g.last+1:]
	if len(name) < len(begin)+len(end) || !strings.HasPrefix(name, begin) || !strings.HasSuffix(name, end) {
		return false
	}
	if g.first == g.last {
		return true
	}
	name = g.Stood(name)
	for part := range strings.SplitSeq(g.pattern[g.first+1:g.last], "*") {
		_, rest, ok := strings.Cut(name, part)
		if !ok {
			return false
		}
		name = rest
	}
	return true
}
