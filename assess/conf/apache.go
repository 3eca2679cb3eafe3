package conf

import (
	"iter"
	"strings"
)

// Apache are the directives of a file of Apache's, by the lines on which they begin; what
// a backslash continues is one. Of a section the key is its name, and the line is a
// heading; where the section ends, the key begins with a slash.
func Apache(text string) iter.Seq[Line] {
	return func(yield func(Line) bool) {
		var whole strings.Builder
		begun := 0
		for n, line := range active(text, "#") {
			more, continued := strings.CutSuffix(line, `\`)
			if whole.Len() == 0 {
				begun = n
			}
			if whole.WriteString(more); continued {
				continue
			}
			l := apacheLine(begun, whole.String())
			if whole.Reset(); !yield(l) {
				return
			}
		}
		if whole.Len() > 0 {
			yield(apacheLine(begun, whole.String()))
		}
	}
}

func apacheLine(n int, line string) Line {
	key, value := Directive(line)
	return Line{N: n, Heading: strings.HasPrefix(line, "<"), Key: key, Value: value, Set: value != ""}
}

// Directive is the directive of one line in lower case, with its argument. A section's
// begins with its name; its end with a slash.
func Directive(line string) (name, value string) {
	line = strings.TrimSpace(line)
	if strings.HasPrefix(line, "<") {
		line = strings.TrimSuffix(strings.TrimPrefix(line, "<"), ">")
	}
	if i := strings.IndexAny(line, " \t"); i >= 0 {
		return strings.ToLower(line[:i]), strings.TrimSpace(line[i:])
	}
	return strings.ToLower(line), ""
}
