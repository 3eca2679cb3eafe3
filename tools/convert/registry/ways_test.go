package registry

import (
	"os"
	"slices"
	"testing"

	"github.com/matryer/is"

	"svc/backend/release"
	"svc/backend/tsv"
	"svc/tools/convert"
)

// Every row of ways.tsv can be read, is of a line and a converter that there are, and
// where it says that a converter knows the way, this one does something.
func TestEveryWayIsWalked(t *testing.T) {
	is := is.New(t)
	text, err := os.ReadFile("../ways.tsv")
	is.NoErr(err)
	rows := 0
	for f := range tsv.Rows(string(text), 4) {
		rows++
		is.True(slices.ContainsFunc(registry, func(c converter) bool { return c.name == f[1] }))
		is.True(slices.Contains([]string{"to", "from", "both", "same", "own", "own-to"}, f[2]))
		i := slices.IndexFunc(release.All(), func(r release.Release) bool { return string(r.Family.Conventions().Line) == f[0] })
		is.True(i >= 0)
		debian, _ := release.Lookup("debian-12")
		in := convert.Input{Source: debian, Target: release.All()[i]}
		is.Equal(convert.KnowsApart(in, f[1]), f[2] == "to" || f[2] == "both")
		Run(f[1], in)
		in.Source, in.Target = in.Target, in.Source
		is.Equal(convert.KnowsApart(in, f[1]), f[2] == "from" || f[2] == "both")
		Run(f[1], in)
	}
	is.True(rows > 20)
}
