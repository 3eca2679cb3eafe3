package visible

import (
	"strings"
	"unicode"

	"svc/backend/sliced"
)

const (
	bare    = 80  // characters of a name that needs no quotation marks, at most
	longest = 200 // characters of a name that is shown
)

// Name is what a machine calls something, within a sentence of ours: as it is
// where it is one plain word, and else on one line, cut, and between quotation
// marks, so that nobody takes it for a part of the sentence.
func Name(s string) string {
	if plain(s) {
		return s
	}
	if runes := []rune(s); len(runes) > longest {
		s = string(runes[:longest-1]) + "…"
	}
	return `"` + strings.ReplaceAll(Text(s), `"`, `\"`) + `"`
}

// Names are names with commas between.
func Names(all []string) string { return strings.Join(sliced.Map(all, Name), ", ") }

// plain reports whether a name is one word: of letters, digits, and what stands
// in names of packages, units, files and archives.
func plain(s string) bool {
	return s != "" && len(s) <= bare && Text(s) == s && !strings.ContainsFunc(s, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("._+:/@~-", r)
	})
}
