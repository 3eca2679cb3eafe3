package course_test

import (
	"slices"
	"testing"

	"github.com/matryer/is"

	"svc/backend/api"
	"svc/backend/index"
	"svc/backend/index/build"
	"svc/backend/index/course"
	"svc/backend/release"
)

// TestEveryConditionIsTold: each row can be read, and for each pair of releases that
// it names the answer has it, where the canonical and the packages are.
func TestEveryConditionIsTold(t *testing.T) {
	is := is.New(t)
	ix, err := index.Embedded()
	is.NoErr(err)
	read, err := build.Rows("conditions.tsv", 8) // sorted, and all columns there
	is.NoErr(err)
	families := map[release.Family]bool{}
	n := 0
	for canonical, all := range course.Conditions() {
		for _, row := range all {
			n++
			told := 0
			for _, source := range release.All() {
				for _, target := range release.All() {
					if !row.Between(source, target) {
						continue
					}
					got, err := ix.Translate(source.Slug, target.Slug, []string{canonical})
					is.NoErr(err)
					if slices.ContainsFunc(got[0].Conditionals, func(c api.Conditional) bool { return c.Text == row.Text && c.When == row.When }) {
						told++
						families[target.Family] = true
					}
				}
			}
			if told == 0 || row.Text == "" || len(row.Packages) == 0 || row.When == (api.Condition{}) {
				t.Errorf("%s: the row for %s %s is never told", canonical, row.Packages, row.Sides())
			}
		}
	}
	is.Equal(n, len(read))
	is.True(n >= 60)
	for _, f := range []release.Family{release.Debian, release.Ubuntu, release.EL, release.Fedora, release.Amazon, release.SUSE} {
		is.True(families[f])
	}
}
