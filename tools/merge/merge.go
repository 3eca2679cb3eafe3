// Package merge joins what two texts changed of a third, line by line. It is
// pure, and decides nothing that is not plain: where both changed the same
// lines, each to something else, it says so and keeps all three.
package merge

import "slices"

// Part is a run of lines as each of three texts has them. The parts of a merge,
// one after the other, are each of the three texts whole: no line is lost.
type Part struct {
	Base, Ours, Theirs []string
}

// Lines are what a part becomes; ok is false where both sides changed it, each
// in its own way.
func (p Part) Lines() (lines []string, ok bool) {
	switch {
	case slices.Equal(p.Ours, p.Base):
		return p.Theirs, true
	case slices.Equal(p.Theirs, p.Base), slices.Equal(p.Ours, p.Theirs):
		return p.Ours, true
	}
	return nil, false
}

// Lines parts three texts by the lines that all of them have: those are parts of
// their own, and what lies between them is one that some side changed.
func Lines(base, ours, theirs []string) (parts []Part) {
	inOurs, inTheirs := Common(base, ours), Common(base, theirs)
	b, o, t := 0, 0, 0
	cut := func(b2, o2, t2 int) {
		if b2 > b || o2 > o || t2 > t {
			parts = append(parts, Part{base[b:b2:b2], ours[o:o2:o2], theirs[t:t2:t2]})
		}
		b, o, t = b2, o2, t2
	}
	for b < len(base) {
		next := b
		for next < len(base) && (inOurs[next] < 0 || inTheirs[next] < 0) {
			next++
		}
		if next == len(base) {
			break
		}
		cut(next, inOurs[next], inTheirs[next])
		for next < len(base) && inOurs[next] == o+next-b && inTheirs[next] == t+next-b {
			next++
		}
		cut(next, o+next-b, t+next-b)
	}
	cut(len(base), len(ours), len(theirs))
	return parts
}
