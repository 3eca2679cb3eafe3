package data

import (
	"strings"
	"testing"

	"github.com/matryer/is"

	"svc/backend/release"
)

// Every line of families has a name for every account, and every row is of a known kind.
func TestEveryLineNamesEveryAccount(t *testing.T) {
	is := is.New(t)
	rows := 0
	for row := range strings.Lines(accountRows) {
		if !strings.HasPrefix(row, "#") {
			rows++
		}
	}
	is.Equal(len(accountNames)+len(groupNames), rows)
	is.True(len(groupNames) > 0)
	for _, c := range release.Families() {
		for _, names := range append(accountNames, groupNames...) {
			is.True(names[c.Line] != "")
		}
	}
}
