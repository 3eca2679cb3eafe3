// Package database plans what becomes of databases: which versions a release
// offers, how far away they are, and the ways there, ranked. It is pure: what
// is on record of engines, and what a machine's data state, are its inputs.
package database

import (
	"cmp"
	"math"
	"strconv"
	"strings"

	"svc/backend/lazyregexp"
)

// Version is dotted numbers. It stands for the last release that begins so:
// 8.0 is newer than 8.0.34, and older than 8.1.
type Version string

// versionForm finds the numbers in what engines and packages call a version:
// 10.11.6-MariaDB, 13, 5:7.0.15.
var versionForm = lazyregexp.New(`^(?:[0-9]+:)?v?([0-9]{1,9}(?:\.[0-9]{1,9})*)`)

// ParseVersion takes the numbers that a version begins with.
func ParseVersion(s string) (Version, bool) {
	m := versionForm.FindStringSubmatch(s)
	if m == nil {
		return "", false
	}
	return Version(m[1]), true
}

// last stands for the part of a version that is not named.
const last = math.MaxInt

// next takes the first number of a version; missing is that of an empty one.
func next(v string, missing int) (number int, rest string) {
	first, rest, _ := strings.Cut(v, ".")
	number, err := strconv.Atoi(first)
	if err != nil {
		return missing, ""
	}
	return number, rest
}

// compare orders v before, with or after o; a number that o does not name is
// otherMissing.
func (v Version) compare(o Version, otherMissing int) int {
	a, b := string(v), string(o)
	for a != "" || b != "" {
		var x, y int
		x, a = next(a, last)
		y, b = next(b, otherMissing)
		if x != y {
			return cmp.Compare(x, y)
		}
	}
	return 0
}

// Compare orders versions.
func (v Version) Compare(o Version) int { return v.compare(o, last) }

// in reports whether v is a release of a series.
func (v Version) in(series Version) bool {
	return v == series || strings.HasPrefix(string(v), string(series)+".")
}

// within reports whether v is in a range: any, a series, bounds as in 9.2..14,
// or comparisons parted by commas.
func (v Version) within(span string) bool {
	for term := range strings.SplitSeq(span, ",") {
		if !v.meets(strings.TrimSpace(term)) {
			return false
		}
	}
	return true
}

func (v Version) meets(term string) bool {
	from, to, bounds := strings.Cut(term, "..")
	switch {
	case term == "any":
		return true
	case bounds:
		return v.compare(Version(from), 0) >= 0 && v.compare(Version(to), last) <= 0
	case strings.HasPrefix(term, ">="):
		return v.compare(Version(term[2:]), 0) >= 0
	case strings.HasPrefix(term, "<="):
		return v.compare(Version(term[2:]), last) <= 0
	case strings.HasPrefix(term, "<"):
		return v.compare(Version(term[1:]), 0) < 0
	}
	return v.in(Version(term))
}
