package parity

import (
	"fmt"
	"slices"
	"strings"
)

// maxShown bounds what a check shows of a file, in lines and in characters of
// each.
const (
	maxLines = 4
	maxChars = 120
)

// meaning are the lines of a configuration file that say something: without
// comments, empty lines, indentation and order.
func meaning(content []byte) []string {
	lines := []string{}
	for line := range strings.Lines(string(content)) {
		line = strings.Join(strings.Fields(line), " ")
		if line == "" || strings.HasPrefix(line, "#") || strings.HasPrefix(line, ";") || strings.HasPrefix(line, "//") {
			continue
		}
		lines = append(lines, line)
	}
	slices.Sort(lines)
	return lines
}

// changes are the lines that only one of two contents has, - before and + after.
func changes(before, after []byte) (shown []string, total int) {
	a, b := meaning(before), meaning(after)
	for i, j := 0, 0; i < len(a) || j < len(b); {
		switch {
		case i < len(a) && j < len(b) && a[i] == b[j]:
			i, j = i+1, j+1
			continue
		case j == len(b) || i < len(a) && a[i] < b[j]:
			shown, i = append(shown, "-"+a[i]), i+1
		default:
			shown, j = append(shown, "+"+b[j]), j+1
		}
	}
	return shown, len(shown)
}

// describe says in some lines what changed.
func describe(shown []string) string {
	more := ""
	if len(shown) > maxLines {
		more = fmt.Sprintf(" and %d more", len(shown)-maxLines)
		shown = shown[:maxLines]
	}
	cut := []string{}
	for _, line := range shown {
		cut = append(cut, fmt.Sprintf("%q", clip(line)))
	}
	return strings.Join(cut, ", ") + more
}

func clip(s string) string {
	r := []rune(s)
	if len(r) <= maxChars {
		return s
	}
	return string(r[:maxChars]) + "…"
}
