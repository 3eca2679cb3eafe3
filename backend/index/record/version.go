package record

import (
	"strconv"
	"strings"

	"svc/backend/index/table"
)

// AVersion finds the first of what may be versions in a name: numbers with dots
// between them.
func AVersion(name string) (before, version, after string, ok bool) {
	begin := digitAt(name)
	if begin == len(name) {
		return name, "", "", false
	}
	end := begin
	for end < len(name) && (IsDigit(name, end) || name[end] == '.' && IsDigit(name, end+1)) {
		end++
	}
	return name[:begin], name[begin:end], name[end:], true
}

// digitAt is where the first digit of a text is, or its end.
func digitAt(text string) int {
	for i := range len(text) {
		if IsDigit(text, i) {
			return i
		}
	}
	return len(text)
}

func HasDigit(text string) bool { return digitAt(text) < len(text) }

func IsDigit(text string, i int) bool { return i < len(text) && text[i] >= '0' && text[i] <= '9' }

// maxVersions bounds how many of the numbers in a name are taken for its version.
const maxVersions = 3

// OtherVersion is the canonical of a name that is known with another version in it.
func OtherVersion(patterns *table.Table, name string) (canonical, version string, ok bool) {
	begun, rest := "", name
	for range maxVersions {
		before, version, after, found := AVersion(rest)
		if !found {
			break
		}
		if canonical, ok = patterns.Get(begun + before + "*" + after); ok {
			return strings.Replace(canonical, "*", version, 1), version, true
		}
		begun, rest = begun+before+version, after
	}
	return "", "", false
}

// Stood is what the asterisk of a pattern stands for in a name that fits; a pattern may
// have none.
func Stood(pattern, name string) (text string, fits bool) {
	head, tail, open := strings.Cut(pattern, "*")
	if !open || len(name) < len(head)+len(tail) || !strings.HasPrefix(name, head) || !strings.HasSuffix(name, tail) {
		return "", name == pattern
	}
	return name[len(head) : len(name)-len(tail)], true
}

// Respelt is a name of one pattern in the form of another, with what the asterisk of the
// first stands for.
func Respelt(name, from, to string) (string, bool) {
	stood, ok := Stood(from, name)
	return strings.Replace(to, "*", stood, 1), ok
}

// CompareVersion compares a version with a bound, number by number, as far as the
// bound goes: 15.6 is within 15. What has no version is newer than all.
func CompareVersion(version, bound string) int {
	if version == "" {
		return 1
	}
	for bound != "" {
		var v, b string
		v, version, _ = strings.Cut(version, ".")
		b, bound, _ = strings.Cut(bound, ".")
		have, _ := strconv.Atoi(v)
		wanted, _ := strconv.Atoi(b)
		if have != wanted {
			return have - wanted
		}
	}
	return 0
}

// Within reports whether a version is one of from..to, of which either may be missing.
func Within(version, span string) bool {
	from, to, _ := strings.Cut(span, "..")
	return (from == "" || CompareVersion(version, from) >= 0) && (to == "" || CompareVersion(version, to) <= 0)
}
