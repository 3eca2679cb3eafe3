package redact

import (
	"strings"

	"svc/backend/lazyregexp"
)

// alike replaces what stands in a line where a machine stands in another that else
// reads the same but for numbers: of a list of them one may be known by its form,
// or by what a line says besides.
func alike(s string, known map[string]string) string {
	if !strings.Contains(s, "\n") || !strings.Contains(s, put(host)) {
		return s
	}
	lines := strings.Split(s, "\n")
	forms := map[string]bool{}
	for _, line := range lines {
		eachForm(line, func(form string, word string, _, _ int) {
			if word == put(host) {
				forms[form] = true
			}
		})
	}
	for i, line := range lines {
		eachForm(line, func(form, word string, start, end int) {
			if lines[i] == line && forms[form] && (rule{weak: true}).isHost(word) {
				learn(known, word, host)
				lines[i] = line[:start] + put(host) + line[end:]
			}
		})
	}
	return strings.Join(lines, "\n")
}

// longestAlike bounds the words of a line that is held against others.
const longestAlike = 12

// eachForm gives, for each word of a line, the line with that word left out and with
// numbers alike, the word without a sign behind it, and where it stands.
func eachForm(line string, take func(form, word string, start, end int)) {
	words := field.FindAllStringIndex(line, longestAlike+1)
	if len(words) > longestAlike {
		return
	}
	for i, at := range words {
		word := strings.TrimRight(line[at[0]:at[1]], ":,;")
		if word != put(host) && !candidate.MatchString(word) {
			continue
		}
		var form strings.Builder
		for j, other := range words {
			switch text := line[other[0]:other[1]]; {
			case i == j:
				form.WriteString("\x00" + text[len(word):] + " ")
			case strings.Trim(text, "0123456789abcdefx.:-") == "":
				form.WriteString("0 ")
			default:
				form.WriteString(text + " ")
			}
		}
		take(form.String(), word, at[0], at[0]+len(word))
	}
}

var field = lazyregexp.New(`\S+`)
