package course

import (
	"strings"
	"testing"

	"github.com/matryer/is"

	"svc/backend/index/data"
	"svc/backend/index/lookup"
	"svc/backend/index/record"
	"svc/backend/release"
)

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

// TestConditionsNameWhatIsKnown: canonicals are those of a package, and packages are
// in the lists that there are: each suite of Debian's, and EL's from 9 on.
func TestConditionsNameWhatIsKnown(t *testing.T) {
	is := is.New(t)
	file, err := data.Open()
	is.NoErr(err)
	ix := lookup.Open(file)
	suite := func(slug string) *lookup.Release {
		tables, err := ix.Release(slug)
		is.NoErr(err)
		return tables
	}
	known := func(canonical string) bool {
		rpms := ix.File.Table(record.RPMCanonicals).Has(canonical)
		for _, slug := range ix.Order {
			_, ok := suite(slug).ByCanonical(canonical)
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
			for _, slug := range ix.Order { // suites with a list
				r, _ := release.Lookup(slug)
				if row.target.has(r) && !suite(slug).HasAll(row.Packages) {
					t.Errorf("%s has not all of %s", slug, row.Packages)
				}
			}
		}
	}
	for line := range strings.Lines(data.Conditions) {
		if strings.Count(line, "\t") != 7 && !strings.HasPrefix(line, "#") {
			t.Errorf("a row has other than 8 columns: %q", line)
		}
	}
}
