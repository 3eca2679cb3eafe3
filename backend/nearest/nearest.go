// Package nearest finds the known names that a mistyped one may mean.
package nearest

import (
	"cmp"
	"slices"
	"strings"
)

// To gives up to n of the known names, those first that look most like a name.
func To(name string, n int, known []string) []string {
	name = strings.ToLower(name)
	sorted := slices.Clone(known)
	slices.SortStableFunc(sorted, func(a, b string) int {
		return cmp.Compare(distance(name, a), distance(name, b))
	})
	return sorted[:min(n, len(sorted))]
}

// Typo is the known name that another one is a misspelling of: at most one letter in
// three is wrong, one even in a short one.
func Typo(name string, known []string) (meant string, ok bool) {
	for _, meant := range To(name, 1, known) {
		return meant, distance(strings.ToLower(name), meant) <= max(1, len(meant)/3)
	}
	return "", false
}

// distance is the Levenshtein distance of two short ASCII strings, in which two
// neighbours that changed places are one step.
func distance(a, b string) int {
	var before []int // the row before the last one
	last := make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range len(a) {
		row := make([]int, len(b)+1)
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			row[j+1] = min(row[j]+1, last[j+1]+1, last[j]+cost)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last = last, row
	}
	return last[len(b)]
}
