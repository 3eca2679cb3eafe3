package pkgversion

import (
	"cmp"
	"strings"
)

// compareRPM is the order of rpm itself (rpmvercmp), the tilde and the caret
// too.
func compareRPM(a, b string) int {
	epochA, versionA, releaseA := splitRPM(a)
	epochB, versionB, releaseB := splitRPM(b)
	return cmp.Or(
		compareNumbers(epochA, epochB),
		compareRPMPart(versionA, versionB),
		compareRPMPart(releaseA, releaseB),
	)
}

func splitRPM(v string) (epoch, version, release string) {
	if before, after, found := strings.Cut(v, ":"); found {
		epoch, v = strings.TrimSpace(before), after
	}
	if digits(epoch) != len(epoch) {
		epoch = "" // rpm takes no such version; it counts as one without an epoch
	}
	version, release, _ = strings.Cut(v, "-")
	return epoch, version, release
}

// compareRPMPart compares runs of letters and runs of digits in turn; all other
// characters only separate them.
func compareRPMPart(a, b string) int {
	for a != b {
		a, b = strings.TrimLeftFunc(a, separates), strings.TrimLeftFunc(b, separates)
		switch {
		case startsWith(a, '~') || startsWith(b, '~'):
			if !startsWith(a, '~') || !startsWith(b, '~') {
				return cmp.Compare(weight(a), weight(b))
			}
			a, b = a[1:], b[1:]
		case a == "" || b == "":
			return cmp.Compare(weight(a), weight(b))
		case a[0] == '^' || b[0] == '^':
			if a[0] != b[0] {
				return cmp.Compare(weight(a), weight(b))
			}
			a, b = a[1:], b[1:]
		default:
			i, j := run(a), run(b)
			if c := compareRuns(a[:i], b[:j]); c != 0 {
				return c
			}
			a, b = a[i:], b[j:]
		}
	}
	return 0
}

func separates(r rune) bool {
	return r != '~' && r != '^' && (r > 'z' || !isDigit(byte(r)) && !isLetter(byte(r)))
}

func startsWith(s string, c byte) bool { return s != "" && s[0] == c }

// weight orders what may come next: a tilde before the end, the end before a
// caret, that before any run.
func weight(s string) int {
	switch {
	case s == "":
		return 1
	case s[0] == '~':
		return 0
	case s[0] == '^':
		return 2
	}
	return 3
}

// run is the length of the run of digits or of letters that s starts with.
func run(s string) int {
	if isDigit(s[0]) {
		return digits(s)
	}
	n := 0
	for n < len(s) && isLetter(s[n]) {
		n++
	}
	return n
}

// compareRuns orders two runs: a number is newer than letters.
func compareRuns(a, b string) int {
	switch x, y := isDigit(a[0]), isDigit(b[0]); {
	case x && y:
		return compareNumbers(a, b)
	case x:
		return 1
	case y:
		return -1
	}
	return strings.Compare(a, b)
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }
