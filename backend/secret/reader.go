package secret

import "strings"

// reader reads one line.
type reader struct {
	finder
	offset int // of the line in the text
	remark bool
	indent int
	told   int // as far as this, all is known to be secret
}

func newLine(text string, start, end int) *reader {
	l := &reader{finder: finder{text: text[start:end]}, offset: start}
	bare := strings.TrimLeft(l.text, " \t")
	l.indent = len(l.text) - len(bare)
	for _, mark := range []string{"#", ";", "//", "<!--", "dnl ", "--", "\" "} {
		l.remark = l.remark || strings.HasPrefix(bare, mark)
	}
	return l
}

// put notes a secret by its place in the line.
func (l *reader) put(start, end int, kind Kind, remark bool) {
	if end-start >= maxValue {
		end, l.told = len(l.text), len(l.text)
	}
	if start < end && l.text[start:end] != Masked {
		l.spans = append(l.spans, Span{l.offset + start, l.offset + end, kind, remark})
	}
}

// maxValue bounds how far the end of a value is looked for, so that a line of
// names costs no more than its length. A value that is longer goes to the end of
// the line.
const maxValue = 2048

// near is what of the line is looked at for the end of a value.
func (l *reader) near(at int) string { return l.text[at:min(at+maxValue, len(l.text))] }

func (l *reader) skip(at int) int {
	return at + len(l.near(at)) - len(strings.TrimLeft(l.near(at), " \t"))
}

// quote is the length of a quote at a place; within a string of JSON it has a \.
func (l *reader) quote(at int) int {
	switch rest := l.text[at:]; {
	case rest != "" && isQuote(rest[0]):
		return 1
	case len(rest) > 1 && rest[0] == '\\' && isQuote(rest[1]):
		return 2
	}
	return 0
}

func isQuote(c byte) bool { return c == '"' || c == '\'' }

// cut is the length of a text before the first of some characters.
func cut(text, at string) int {
	if i := strings.IndexAny(text, at); i >= 0 {
		return i
	}
	return len(text)
}

// closing is the length of a text before a quote that no backslash stands
// before; escaped quotes have one. Without a quote it is all of the text.
func closing(text string, quote byte, escaped bool) int {
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '\\' && escaped && i+1 < len(text) && text[i+1] == quote:
			return i
		case text[i] == '\\':
			i++
		case text[i] == quote:
			return i
		}
	}
	return len(text)
}
