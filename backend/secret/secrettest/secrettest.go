// Package secrettest has files with secrets as they stand on servers, for the
// tests of all that may not show or carry them.
package secrettest

import (
	_ "embed"
	"regexp"
	"strings"

	"github.com/rogpeppe/go-internal/txtar"
)

//go:embed planted.txt
var planted []byte

// File is a file of a server.
type File struct {
	Path   string // without a leading slash
	Kind   string
	Text   string
	Values []string // what is secret in it
}

var marked = regexp.MustCompile(`«([^»]*)»`)

// Files are the files, in which the values are unlike each other.
func Files() (all []File) {
	for _, f := range txtar.Parse(planted).Files {
		path, kind, _ := strings.Cut(f.Name, " ")
		file := File{Path: path, Kind: kind, Text: strings.NewReplacer("«", "", "»", "").Replace(string(f.Data))}
		for _, m := range marked.FindAllStringSubmatch(string(f.Data), -1) {
			file.Values = append(file.Values, m[1])
		}
		all = append(all, file)
	}
	return all
}
