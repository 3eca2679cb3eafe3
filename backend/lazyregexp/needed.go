package lazyregexp

import (
	"regexp/syntax"
	"strings"
	"unicode/utf8"
)

// maxNeeded bounds the texts that are looked for before a pattern is: with many it is
// not faster.
const maxNeeded = 12

// neededBy are texts of which every match of a pattern has at least one; none where the
// pattern says nothing of the kind.
func neededBy(pattern string) []string {
	parsed, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return nil
	}
	if texts := needed(parsed.Simplify()); len(texts) <= maxNeeded {
		return texts
	}
	return nil
}

func needed(re *syntax.Regexp) (texts []string) {
	switch re.Op {
	case syntax.OpLiteral:
		// The mark of a broken letter matches bytes that are no letter.
		if text := string(re.Rune); re.Flags&syntax.FoldCase == 0 && !strings.ContainsRune(text, utf8.RuneError) {
			return []string{text}
		}
	case syntax.OpCapture, syntax.OpPlus:
		return needed(re.Sub[0])
	case syntax.OpConcat:
		for _, part := range re.Sub {
			if of := needed(part); shortest(of) > shortest(texts) {
				texts = of
			}
		}
	case syntax.OpAlternate:
		for _, way := range re.Sub {
			of := needed(way)
			if len(of) == 0 {
				return nil
			}
			texts = append(texts, of...)
		}
	}
	return texts
}

// shortest is the length of the shortest of some texts: the longer, the fewer have it.
func shortest(texts []string) (n int) {
	for i, text := range texts {
		if i == 0 || len(text) < n {
			n = len(text)
		}
	}
	return n
}
