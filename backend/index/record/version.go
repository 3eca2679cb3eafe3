package record

import (
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
