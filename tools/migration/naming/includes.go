package naming

import (
	_ "embed"
	"fmt"
	"path"
	"slices"
	"strings"

	"svc/backend/lazyregexp"
	"svc/backend/tsv"
)

// includeRows are lines that include a file, and what they are where it may be absent.
//
//go:embed includes.tsv
var includeRows string

// include is such a line of the files of a folder.
type include struct {
	folder  string
	was     *lazyregexp.Regexp
	now     string
	example [2]string
}

var includes = tsv.List(includeRows, 6, func(c []string) include {
	return include{c[0], lazyregexp.New(c[1]), c[2], [2]string{c[4], c[5]}}
})

// included is the name of a file behind what includes it.
var included = lazyregexp.New(`^["']?([A-Za-z0-9_./@+-]+)`)

// Includes reports whether a file is of a program whose lines include files so.
func Includes(file string) bool {
	return slices.ContainsFunc(includes(), func(row include) bool { return strings.HasPrefix(file, row.folder) })
}

// Optional has a text include what does not come along only where it is there: else its program
// does not start. from is where the text stands, left what stays behind.
func Optional(from, text string, left map[string]bool) (now string, said []Mention) {
	lines := strings.Split(text, "\n")
	for _, row := range includes() {
		if !strings.HasPrefix(from, row.folder) {
			continue
		}
		for n, line := range lines {
			at := row.was.FindString(line)
			name := included.FindStringSubmatch(strings.TrimPrefix(line, at))
			if at == "" || name == nil {
				continue
			}
			file := path.Clean(name[1])
			if !path.IsAbs(file) {
				file = path.Join(path.Dir(from), file)
			}
			if left[file] {
				lines[n] = row.was.ReplaceAllString(line, row.now)
				said = append(said, Mention{Line: n + 1, Name: name[1], Why: fmt.Sprintf("%s does not come along: with a line that needs it, the program would not start.", file)})
			}
		}
	}
	return strings.Join(lines, "\n"), said
}
