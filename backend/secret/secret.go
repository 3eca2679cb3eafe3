// Package secret finds the secrets in a text by what the text says: keys,
// digests of passwords, tokens of known forms, and values whose names say that
// they are secret. It is pure, and takes time in proportion to the text's length
// whatever is in it.
package secret

import (
	"cmp"
	"slices"
	"strings"
)

// Find gives the secrets of a text in their order; none overlaps another.
// References as $PASSWORD, places as /etc/key and words as "none" are none.
func Find(text []byte) []Span {
	f := finder{text: string(text)}
	f.find()
	return f.spans
}

// Holds reports whether a text has a secret, but for those in its remarks.
func Holds(text []byte) bool {
	return slices.ContainsFunc(Find(text), func(s Span) bool { return !s.Remark })
}

// Mask gives a text with Masked in place of each secret. A masked text holds no
// secret that Find finds, so that masking it again changes nothing.
func Mask(text string) string {
	for range 3 {
		f := finder{text: text}
		if f.find(); len(f.spans) == 0 {
			return text
		}
		text = replace(text, f.spans)
	}
	// A text that is made so that what is left of it reads as another secret
	// loses the lines that do.
	f := finder{text: text}
	f.find()
	return replace(text, f.wholeLines())
}

// replace puts Masked in place of spans.
func replace(text string, spans []Span) string {
	var out strings.Builder
	last := 0
	for _, s := range spans {
		out.WriteString(text[last:s.Start])
		out.WriteString(Masked)
		last = s.End
	}
	out.WriteString(text[last:])
	return out.String()
}

func (f *finder) find() {
	f.armours()
	f.forms()
	for start := 0; start < len(f.text); {
		end := start + len(line(f.text[start:]))
		l := newLine(f.text, start, end)
		l.names()
		l.addresses()
		l.commands()
		f.spans = append(f.spans, l.spans...)
		start = end + 1
	}
	f.spans = joined(f.spans)
}

// joined orders spans, and makes one of those that overlap.
func joined(spans []Span) (out []Span) {
	slices.SortStableFunc(spans, func(a, b Span) int { return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(b.End, a.End)) })
	for _, s := range spans {
		if n := len(out); n > 0 && s.Start < out[n-1].End {
			out[n-1].End = max(out[n-1].End, s.End)
			out[n-1].Remark = out[n-1].Remark && s.Remark
			continue
		}
		out = append(out, s)
	}
	return out
}

// wholeLines are the lines in which the spans are.
func (f *finder) wholeLines() []Span {
	lines := []Span{}
	for _, s := range f.spans {
		s.Start = strings.LastIndexByte(f.text[:s.Start], '\n') + 1
		s.End += len(line(f.text[s.End:]))
		lines = append(lines, s)
	}
	return joined(lines)
}
