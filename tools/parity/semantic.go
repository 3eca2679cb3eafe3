package parity

import (
	"fmt"
	"slices"
	"strings"

	"svc/backend/lazyregexp"
	"svc/backend/sliced"
)

// maxShown bounds what a check shows of a file, in lines and in characters of
// each.
const (
	maxLines = 4
	maxChars = 120
)

// header tells lines below which others stand, to the next such line: sections
// in brackets, blocks of ssh, sections of HAProxy.
var header = lazyregexp.New(`^(\[.+\]|(Match|Host) .+|(global|defaults)( [\w.-]+)?|(frontend|backend|listen|userlist|peers|resolvers) [\w.:*-]+)$`)

// meaning are the lines of a configuration file that say something, each with
// the section and blocks in which it stands: without comments, empty lines,
// indentation and order. Blocks that begin alike are told apart by number.
func meaning(content []byte) []string {
	lines, section, blocks, met := []string{}, "", []string{}, map[string]int{}
	for line := range strings.Lines(strings.ReplaceAll(string(content), "\\\n", " ")) {
		line = strings.Join(strings.Fields(line), " ")
		switch {
		case line == "", strings.HasPrefix(line, "#"), strings.HasPrefix(line, ";"), strings.HasPrefix(line, "//"):
			continue
		case strings.HasPrefix(line, "}"), strings.HasPrefix(line, "</"):
			blocks = blocks[:max(0, len(blocks)-1)]
			continue
		case len(blocks) == 0 && header.MatchString(line):
			section = numbered(line, met)
			continue
		}
		within := strings.Join(append([]string{section}, blocks...), " › ")
		lines = append(lines, strings.TrimPrefix(strings.TrimPrefix(within+" › "+line, " › "), " › "))
		if strings.HasSuffix(line, "{") || strings.HasPrefix(line, "<") {
			blocks = append(blocks, numbered(within+line, met)[len(within):])
		}
	}
	slices.Sort(lines)
	return lines
}

// numbered is the beginning of a section or block, with its number from the
// second one on.
func numbered(begins string, met map[string]int) string {
	met[begins]++
	if n := met[begins]; n > 1 {
		return fmt.Sprintf("%s #%d", begins, n)
	}
	return begins
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
	return strings.Join(sliced.Map(shown, func(line string) string { return fmt.Sprintf("%q", clip(line)) }), ", ") + more
}

func clip(s string) string {
	r := []rune(s)
	if len(r) <= maxChars {
		return s
	}
	return string(r[:maxChars]) + "…"
}
