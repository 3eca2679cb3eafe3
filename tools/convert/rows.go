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

var MajorMinor = lazyregexp.New(`^[0-9]+\.[0-9]+`)
