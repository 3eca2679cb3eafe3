package convert

import (
	_ "embed"
	"strconv"
	"strings"

	"svc/backend/lazyregexp"
)

// AfterFields is what comes after the first n fields of a line.
func AfterFields(line string, n int) string {
	for range n {
		i := strings.IndexAny(line, " \t")
		if i < 0 {
			return ""
		}
		line = strings.TrimLeft(line[i:], " \t")
	}
	return line
}

// Number reports whether a text is a whole number that is not negative.
func Number(s string) bool {
	n, err := strconv.Atoi(s)
	return err == nil && n >= 0
}

// Continues reports whether a line goes on with the setting above.
func Continues(line string) bool {
	return strings.HasPrefix(line, " ") || strings.HasPrefix(line, "\t")
}

// Words reads rows of a key and words, after a line that says what they are.
func Words(text string) map[string][]string {
	all := map[string][]string{}
	for line := range strings.Lines(text) {
		if key, rest, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t"); ok && key[0] != '#' {
			all[key] = strings.Fields(rest)
		}
	}
	return all
}

var MajorMinor = lazyregexp.New(`^[0-9]+\.[0-9]+`)
