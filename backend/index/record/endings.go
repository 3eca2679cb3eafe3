package record

import (
	_ "embed"
	"slices"
	"strings"

	"svc/backend/api"
	"svc/backend/tsv"
)

//go:embed endings.tsv
var endingRows string

// Ending is the end of a package's name that says its role.
type Ending struct {
	Suffix string
	Role   api.Role
}

// DebEndings and RPMEndings are those of each format, the first that fits counting.
var (
	DebEndings = endingsOf("deb")
	RPMEndings = endingsOf("rpm")
)

func endingsOf(format string) (all []Ending) {
	for c := range tsv.Rows(endingRows, 3) {
		if slices.Contains(strings.Fields(c[2]), format) {
			all = append(all, Ending{c[0], api.Role(c[1])})
		}
	}
	return all
}
