package merge

import "slices"

// maxCells bounds the work on a stretch of lines of which none is alone of its
// kind; in a longer one only its ends are compared.
const maxCells = 1 << 22

// Common says for each line of a text where it stands in another, or -1, in an
// order that both have. Lines that each text has but once come first, since they
// are what a reader would hold on to; between them it is as many as can be.
func Common(a, b []string) []int {
	c := matching{a, b, make([]int, len(a))}
	for i := range c.at {
		c.at[i] = -1
	}
	c.match(0, len(a), 0, len(b))
	return c.at
}

// matching is two texts, and where lines of the first stand in the second.
type matching struct {
	a, b []string
	at   []int
}

// match compares two stretches.
func (c matching) match(a, aEnd, b, bEnd int) {
	for ; a < aEnd && b < bEnd && c.a[a] == c.b[b]; a, b = a+1, b+1 {
		c.at[a] = b
	}
	for ; a < aEnd && b < bEnd && c.a[aEnd-1] == c.b[bEnd-1]; aEnd, bEnd = aEnd-1, bEnd-1 {
		c.at[aEnd-1] = bEnd - 1
	}
	if a == aEnd || b == bEnd {
		return
	}
	anchors := rising(c.alone(a, aEnd, b, bEnd))
	if len(anchors) == 0 {
		c.longest(a, aEnd, b, bEnd)
		return
	}
	for _, anchor := range anchors {
		c.match(a, anchor[0], b, anchor[1])
		c.at[anchor[0]] = anchor[1]
		a, b = anchor[0]+1, anchor[1]+1
	}
	c.match(a, aEnd, b, bEnd)
}

// alone are the places of lines that both stretches have just once, in the order
// of the first.
func (c matching) alone(a, aEnd, b, bEnd int) (pairs [][2]int) {
	type seen struct{ inA, inB, at int }
	count := map[string]seen{}
	for _, line := range c.a[a:aEnd] {
		s := count[line]
		s.inA++
		count[line] = s
	}
	for i, line := range c.b[b:bEnd] {
		s := count[line]
		s.inB, s.at = s.inB+1, b+i
		count[line] = s
	}
	for i := a; i < aEnd; i++ {
		if s := count[c.a[i]]; s.inA == 1 && s.inB == 1 {
			pairs = append(pairs, [2]int{i, s.at})
		}
	}
	return pairs
}

// rising are the most pairs whose second numbers rise as their first do.
func rising(pairs [][2]int) [][2]int {
	ends := []int{}                   // of each length the pair that ends lowest
	before := make([]int, len(pairs)) // the one that each follows
	for i, p := range pairs {
		n, _ := slices.BinarySearchFunc(ends, p[1], func(end, second int) int { return pairs[end][1] - second })
		if before[i] = -1; n > 0 {
			before[i] = ends[n-1]
		}
		ends = append(ends[:n], append([]int{i}, ends[min(n+1, len(ends)):]...)...)
	}
	if len(ends) == 0 {
		return nil
	}
	found := make([][2]int, len(ends))
	for i, n := ends[len(ends)-1], len(ends)-1; n >= 0; i, n = before[i], n-1 {
		found[n] = pairs[i]
	}
	return found
}

// longest finds the longest common sequence of two stretches by a table.
func (c matching) longest(a, aEnd, b, bEnd int) {
	rows, columns := aEnd-a, bEnd-b
	if rows*columns > maxCells {
		return
	}
	left := make([]int32, (rows+1)*(columns+1)) // what is common from here on
	cell := func(i, j int) *int32 { return &left[i*(columns+1)+j] }
	for i := rows - 1; i >= 0; i-- {
		for j := columns - 1; j >= 0; j-- {
			if *cell(i, j) = max(*cell(i+1, j), *cell(i, j+1)); c.a[a+i] == c.b[b+j] {
				*cell(i, j) = *cell(i+1, j+1) + 1
			}
		}
	}
	for i, j := 0, 0; i < rows && j < columns; {
		switch {
		case c.a[a+i] == c.b[b+j]:
			c.at[a+i] = b + j
			i, j = i+1, j+1
		case *cell(i+1, j) >= *cell(i, j+1):
			i++
		default:
			j++
		}
	}
}
