package hazards

import (
	"slices"
	"strings"

	"svc/backend/visible"
)

// filesMark stands in a command for the files that a row was met by, where the target has
// them: each is one word of bash, whatever it is called.
const filesMark = "{files}"

// maxWords bounds these words, in bytes: a command is one argument of bash, of which Linux
// takes 128 KiB.
const maxWords = 64 << 10

// isCommand reports whether a row says a command that runs as it stands, as root on the
// target, in bash: with the role and before the data where it begins with "$ ", and with
// the data where it begins with "$data ". It may be run again. What a person has to decide or to fill in is
// no command, but said.
func isCommand(do string) bool { return strings.HasPrefix(do, "$ ") || strings.HasPrefix(do, "$data ") }

// fill is what a row says to do, with the files that were found. A command of more files
// than it takes is said.
func fill(do string, words []string) string {
	if !isCommand(do) || !strings.Contains(do, filesMark) {
		return do
	}
	all := strings.Join(words, " ")
	if all == "" || len(all) > maxWords {
		_, line, _ := strings.Cut(do, " ")
		return "For the files that this is about: " + strings.ReplaceAll(line, filesMark, "FILES")
	}
	return strings.ReplaceAll(do, filesMark, all)
}

// asWord adds a file to words of bash, if it is not there.
func asWord(words []string, file string) []string {
	if w := visible.Word(file); file != "" && !slices.Contains(words, w) {
		words = append(words, w)
	}
	return words
}
