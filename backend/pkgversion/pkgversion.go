// Package pkgversion orders package versions as the package managers
// themselves do.
package pkgversion

import (
	"cmp"
	"strings"

	"svc/backend/lazyregexp"
)

// Kind is a package format: the rules by which its versions are ordered.
type Kind string

// The kinds. A version of any other kind is ordered as Deb orders it.
const (
	Deb Kind = "deb"
	RPM Kind = "rpm"
	Apk Kind = "apk"
)

// Compare orders two full versions, [epoch:]version[-release], and gives -1, 0
// or 1. It takes any string: what is no version of the kind is still ordered,
// and the same way each time.
func Compare(kind Kind, a, b string) int {
	switch kind {
	case RPM:
		return compareRPM(a, b)
	case Apk:
		return compareApk(a, b)
	}
	return compareDeb(a, b)
}

// valid is what each format takes as a version.
var valid = map[Kind]*lazyregexp.Regexp{
	Deb: lazyregexp.New(`^([0-9]+:[A-Za-z0-9.+~:-]+|[A-Za-z0-9.+~-]+)$`),
	RPM: lazyregexp.New(`^([0-9]+:)?[A-Za-z0-9._+~^%]+(-[A-Za-z0-9._+~^%]+)?$`),
	Apk: lazyregexp.New(`^[0-9]+(\.[0-9]+)*([a-z][0-9]*)?(_(alpha|beta|pre|rc|cvs|svn|git|hg|p)[0-9]*)*(~[0-9a-f]+)?(-r[0-9]+)?$`),
}

// Valid reports whether a version is one of the kind, so that its order means
// something.
func Valid(kind Kind, version string) bool {
	return len(version) <= maxLength && valid[kind] != nil && valid[kind].MatchString(version)
}

// maxLength bounds a version that is valid, in bytes.
const maxLength = 256

// WithoutEpoch is a version without its epoch: the name of a source rpm
// carries none, so neither side may have one when those are compared.
func WithoutEpoch(version string) string {
	if _, rest, found := strings.Cut(version, ":"); found {
		return rest
	}
	return version
}

// Upstream is the version that its makers give, out of a package's: 1:8.4p1-5 is 8.4p1.
func Upstream(version string) string {
	version = WithoutEpoch(version)
	if i := strings.LastIndexByte(version, '-'); i > 0 {
		version = version[:i]
	}
	version, _, _ = strings.Cut(version, "+")
	return version
}

// compareDeb is dpkg's own order. Libraries refuse versions that real
// databases hold (those that start with a letter or end in a hyphen) and cut
// numbers that no integer holds; dpkg does neither.
func compareDeb(a, b string) int {
	epochA, upstreamA, revisionA := splitDeb(a)
	epochB, upstreamB, revisionB := splitDeb(b)
	return cmp.Or(
		compareNumbers(epochA, epochB),
		compareDebPart(upstreamA, upstreamB),
		compareDebPart(revisionA, revisionB),
	)
}

func splitDeb(v string) (epoch, upstream, revision string) {
	upstream = strings.TrimSpace(v)
	if before, after, found := strings.Cut(upstream, ":"); found {
		epoch, upstream = before, after
	}
	if i := strings.LastIndexByte(upstream, '-'); i >= 0 {
		upstream, revision = upstream[:i], upstream[i+1:]
	}
	return epoch, upstream, revision
}

// compareDebPart compares runs of other characters and runs of digits in turn.
func compareDebPart(a, b string) int {
	for a != "" || b != "" {
		for startsOther(a) || startsOther(b) {
			if c := cmp.Compare(order(a), order(b)); c != 0 {
				return c
			}
			a, b = a[1:], b[1:]
		}
		i, j := digits(a), digits(b)
		if c := compareNumbers(a[:i], b[:j]); c != 0 {
			return c
		}
		a, b = a[i:], b[j:]
	}
	return 0
}

func startsOther(s string) bool { return s != "" && !isDigit(s[0]) }

// order is the weight of the first character: a tilde comes before the end,
// the end and digits before letters, letters before all else.
func order(s string) int {
	switch {
	case s == "" || isDigit(s[0]):
		return 0
	case s[0] == '~':
		return -1
	case s[0]|0x20 >= 'a' && s[0]|0x20 <= 'z':
		return int(s[0])
	}
	return int(s[0]) + 256
}

// digits is the length of the run of digits that s starts with.
func digits(s string) int {
	n := 0
	for n < len(s) && isDigit(s[n]) {
		n++
	}
	return n
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// compareNumbers compares decimal numbers of any length; none is zero.
func compareNumbers(a, b string) int {
	a, b = strings.TrimLeft(a, "0"), strings.TrimLeft(b, "0")
	return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
}
