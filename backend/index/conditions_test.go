package index

import (
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"

	"svc/backend/api"
	"svc/backend/index/build"
	"svc/backend/index/record"
	"svc/backend/release"
)

// TestEveryConditionIsTold: each row can be read, and for each pair of releases that
// it names the answer has it, where the canonical and the packages are.
func TestEveryConditionIsTold(t *testing.T) {
	is := is.New(t)
	ix := embeddedIndex(t)
	read, err := build.Rows("conditions.tsv", 8) // sorted, and all columns there
	is.NoErr(err)
	families := map[release.Family]bool{}
	n := 0
	for canonical, all := range conditions() {
		for _, row := range all {
			n++
			told := 0
			for _, source := range release.All() {
				for _, target := range release.All() {
					if !row.source.has(source) || !row.target.has(target) {
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
				t.Errorf("%s: the row for %s from %s to %s is never told", canonical, row.Packages, row.source, row.target)
			}
		}
	}
	is.Equal(n, len(read))
	is.True(n >= 60)
	for _, f := range []release.Family{release.Debian, release.Ubuntu, release.EL, release.Fedora, release.Amazon, release.SUSE} {
		is.True(families[f])
	}
}

// TestConditionsNameWhatIsKnown: canonicals are those of a package, and packages are
// in the lists that there are: each suite of Debian's, and EL's from 9 on.
func TestConditionsNameWhatIsKnown(t *testing.T) {
	is := is.New(t)
	ix := embeddedIndex(t)
	suite := func(slug string) *releaseTables {
		tables, err := ix.release(slug)
		is.NoErr(err)
		return tables
	}
	known := func(canonical string) bool {
		_, rpms, err := ix.file.Table(record.RPMCanonicals).Get(canonical)
		is.NoErr(err)
		for _, slug := range ix.order {
			_, ok, err := suite(slug).byCanonical(canonical)
			is.NoErr(err)
			rpms = rpms || ok
		}
		rpm, err := ix.Resolve("almalinux-9", []string{canonical})
		is.NoErr(err)
		return rpms || rpm[0].Canonical != nil && *rpm[0].Canonical == canonical
	}
	for canonical, all := range conditions() {
		if !known(canonical) {
			t.Errorf("nothing is %s", canonical)
		}
		for _, row := range all {
			if c := row.When.CanonicalInstalled; c != "" && !known(c) {
				t.Errorf("nothing is %s", c)
			}
			for _, slug := range ix.order { // suites with a list
				r, _ := release.Lookup(slug)
				there, err := suite(slug).hasAll(row.Packages)
				is.NoErr(err)
				if row.target.has(r) && !there {
					t.Errorf("%s has not all of %s", slug, row.Packages)
				}
			}
		}
	}
	for line := range strings.Lines(conditionsText) {
		if strings.Count(line, "\t") != 7 && !strings.HasPrefix(line, "#") {
			t.Errorf("a row has other than 8 columns: %q", line)
		}
	}
}

func TestReleasesOfARow(t *testing.T) {
	for _, c := range []struct {
		row, slug string
		want      bool
	}{
		{"debian", "debian-12", true},
		{"debian", "ubuntu-24.04", false},
		{"debian ubuntu", "ubuntu-24.04", true},
		{"ubuntu-..22.04", "ubuntu-22.04", true},
		{"ubuntu-..22.04", "ubuntu-24.04", false},
		{"ubuntu-24.04..", "ubuntu-26.04", true},
		{"el-8..", "centos-7", false},
		{"el-8..", "almalinux-10", true},
		{"el-8..9", "almalinux-10", false},
		{"suse-15..15", "opensuse-leap-15.6", true},
		{"suse-15..15", "sles-16", false},
		{"sles-15..", "opensuse-leap-15.6", false},
		{"amazon-2023..", "amzn-2", false},
		{"amazon-2023..", "amzn-2023", true},
	} {
		r, ok := release.Lookup(c.slug)
		if !ok || releases(c.row).has(r) != c.want {
			t.Errorf("%q has %s (%v): %v", c.row, c.slug, ok, !c.want)
		}
	}
}
