package parity

import (
	"strings"
	"testing"

	"github.com/matryer/is"

	"svc/tools/data"
	"svc/tools/migration"
	"svc/tools/migration/naming"
)

// TestWhatThePlanChangesInAPlaceIsNoDifference: its own steps copy modules there, and
// change lines of programs.
func TestWhatThePlanChangesInAPlaceIsNoDifference(t *testing.T) {
	is := is.New(t)
	plan := &migration.Plan{Mentions: []naming.Mention{
		{Path: "/opt/a/lib/lang3.9", Name: "/opt/a/lib/lang3.9", Now: "/opt/a/lib/lang3.13"},
		{Path: "/opt/a/run", Line: 2, Name: "lang3.9", Now: "lang3.13"},
		{Path: "/opt/b/run", Line: 1, Name: "lang3.9", Now: "lang3.13"},
		{Path: "/opt/a/other", Line: 1, Name: "gone"},
	}}
	item := data.Item{Path: "/opt/a", Method: data.Rsync, Excludes: []string{"data"}}
	f := Follow(plan, item)
	is.Equal(f.Copied, []string{"lib/lang3.13"})
	is.Equal(len(f.Lines), 1)
	is.Equal(f.Without(item).Excludes, []string{"data", "lib/lang3.13"})
	f.Grow(f.Lines[0], "#!/bin/sh\nlang3.13 x && lang3.13 y\n")
	is.Equal(f.Grown, int64(2))

	f.Apart = true
	for _, c := range []struct {
		bytes int64
		want  Result
		says  string
	}{{102, Match, "changed lines in: /opt/a/run"}, {102, Match, "not counted: lib/lang3.13"}, {100, Differs, "not 102"}} {
		got, why := Place{Item: item, Want: &data.Content{Files: 1, Bytes: 100}, Has: data.Content{Files: 1, Bytes: c.bytes}, Followed: f}.compare()
		is.Equal(got, c.want)
		is.True(strings.Contains(why, c.says)) // it says so
	}
}
