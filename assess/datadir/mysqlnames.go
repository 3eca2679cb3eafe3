package datadir

import (
	_ "embed"
	"strconv"
	"strings"
	"sync"
)

//go:embed filenames.txt
var letterCodes string

// letters are those that have a code of their own in names of files, by it.
var letters = sync.OnceValue(func() map[string]string {
	all := map[string]string{}
	for line := range strings.Lines(letterCodes) {
		if letter, code, _ := strings.Cut(strings.TrimSpace(line), " "); strings.HasPrefix(code, "@") {
			all[code] = letter
		}
	}
	return all
})

// schemaName is the name of the database whose folder is called so: letters
// beyond ASCII have codes, and what else is no letter stands as four digits.
func schemaName(folder string) string {
	var name strings.Builder
	for {
		plain, rest, found := strings.Cut(folder, "@")
		name.WriteString(plain)
		if !found {
			return name.String()
		}
		letter, size := codedLetter("@" + rest)
		name.WriteString(letter)
		folder = ("@" + rest)[size:]
	}
}

// codedLetter is the letter whose code a name begins with, and its length; an @
// that begins none stands for itself.
func codedLetter(name string) (letter string, size int) {
	if len(name) >= 5 {
		if n, err := strconv.ParseUint(name[1:5], 16, 16); err == nil {
			return string(rune(n)), 5
		}
	}
	if len(name) >= 3 && letters()[name[:3]] != "" {
		return letters()[name[:3]], 3
	}
	return "@", 1
}
