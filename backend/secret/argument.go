package secret

import "strings"

// argument is a word of a command, without its outer quotes.
type argument struct {
	start, end int
	text       string
	// ends says that a command ends with it: ; | & or a bracket.
	ends bool
}

// arguments splits a line as a shell does, near enough to find words in it.
func arguments(text string) (all []argument) {
	for i := 0; i < len(text); {
		switch c := text[i]; {
		case c == ' ' || c == '\t' || c == '\r':
			i++
		case strings.IndexByte(";|&()`", c) >= 0:
			all = append(all, argument{i, i + 1, text[i : i+1], true})
			i++
		case isQuote(c):
			n := closing(text[i+1:], c, false)
			all = append(all, argument{i + 1, i + 1 + n, text[i+1 : i+1+n], false})
			i += n + 2
		default:
			j := wordEnd(text, i)
			all = append(all, argument{i, j, text[i:j], false})
			i = j
		}
	}
	return all
}

// wordEnd is where a word ends that may have quotes inside.
func wordEnd(text string, i int) int {
	for i < len(text) && strings.IndexByte(" \t\r;|&()`", text[i]) < 0 {
		switch {
		case isQuote(text[i]):
			i += closing(text[i+1:], text[i], false) + 2
		case text[i] == '\\':
			i += 2
		default:
			i++
		}
	}
	return min(i, len(text))
}
