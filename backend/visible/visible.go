// Package visible writes text of a machine so that a reader sees all of it, and
// sees it where it stands: characters that a terminal obeys, that turn the text
// around, or that show nothing, are spelt out, as in "\x1b" and "\u202e".
//
// It is for what people and models read. It is not made to be read back: a text
// may hold the six characters \u202e itself. JSON is the exception: see [JSON].
package visible

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Text is s on one line.
func Text(s string) string { return spelt(s, "") }

// Lines is s with its line ends and tabs as they are.
func Lines(s string) string { return spelt(s, "\n\t") }

// spelt spells out what is hidden in s, and is not among kept.
func spelt(s, kept string) string {
	var b *strings.Builder // nil while s is as it was
	before, start := rune(-1), 0
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		bad := r == utf8.RuneError && size == 1
		if bad || hidden(r, before) && !strings.ContainsRune(kept, r) {
			if b == nil {
				b = &strings.Builder{}
			}
			b.WriteString(s[start:i])
			b.WriteString(spelling(s[i:i+size], r, bad))
			start, r = i+size, -1
		}
		before = r
		i += size
	}
	if b == nil {
		return s
	}
	return b.String() + s[start:]
}

// spelling is a character, or a byte of none, as Go, Python and C write it.
func spelling(raw string, r rune, bad bool) string {
	switch {
	case r == '\n':
		return `\n`
	case r == '\t':
		return `\t`
	case r == '\r':
		return `\r`
	case bad || r < utf8.RuneSelf:
		return fmt.Sprintf(`\x%02x`, raw[0])
	case r > 0xFFFF:
		return fmt.Sprintf(`\U%08x`, r)
	}
	return fmt.Sprintf(`\u%04x`, r)
}

// blank is the pattern of Braille without a dot, the one symbol that shows nothing.
const blank = '\u2800'

// hidden reports whether a reader does not see r after the character before:
// controls, marks of direction, what has no width, separators of lines, tags,
// fillers, and what no character is or may become anything.
func hidden(r, before rune) bool {
	switch {
	case r < utf8.RuneSelf:
		return r < ' ' || r == 0x7F
	case unicode.Is(unicode.Variation_Selector, r):
		return !usual(r, before)
	}
	return r == blank || !unicode.IsGraphic(r) || unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r)
}

// usual reports whether a variation selector is what keyboards write: one that
// says whether a symbol is shown as text or in colours. Others carry hidden text.
func usual(r, before rune) bool {
	const asText, inColours = '\uFE0E', '\uFE0F'
	return (r == asText || r == inColours) && (unicode.IsSymbol(before) || strings.ContainsRune("#*0123456789‼⁉", before))
}
