package index

import (
	"bufio"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"

	"svc/backend/api"
)

// TestPathsAcrossFamilies: what people know of the other family.
func TestPathsAcrossFamilies(t *testing.T) {
	for _, c := range []struct{ target, canonical, kind, from, to string }{
		{"debian-13", "httpd", "file", "/etc/httpd/conf/httpd.conf", "/etc/apache2/apache2.conf"},
		{"debian-13", "httpd", "user", "apache", "www-data"},
		{"debian-13", "httpd", "service", "httpd.service", "apache2.service"},
		{"debian-13", "php-fpm-defaults", "file", "/etc/php.ini", "/etc/php/8.4/fpm/php.ini"},
		{"debian-12", "php-defaults", "service", "php-fpm.service", "php8.2-fpm.service"},
		{"debian-13", "cronie-rpm", "service", "crond.service", "cron.service"},
		{"ubuntu-24.04", "bind", "user", "named", "bind"},
		{"debian-13", "postgresql-defaults", "dir", "/var/lib/pgsql/data", "/var/lib/postgresql/17/main"},
	} {
		ix, err := Embedded()
		is := is.New(t)
		is.NoErr(err)
		got, err := ix.ConfigPaths("centos-7", c.target, []string{c.canonical})
		is.NoErr(err)
		if !slices.ContainsFunc(got[0].Relocations, func(r api.Relocation) bool {
			return string(r.Kind) == c.kind && r.From == c.from && deref(r.To) == c.to
		}) {
			t.Errorf("%s: %s is not at %s", c.canonical, c.from, c.to)
		}
	}
}

// TestWithinFamiliesNothingMoves: Debian's own moves are not those of families.
func TestWithinFamiliesNothingMoves(t *testing.T) {
	is := is.New(t)
	ix, err := Embedded()
	is.NoErr(err)
	for _, pair := range [][2]string{{"debian-12", "debian-13"}, {"centos-7", "almalinux-8"}} {
		got, err := ix.ConfigPaths(pair[0], pair[1], []string{"httpd", "apache-httpd"})
		is.NoErr(err)
		for _, c := range got {
			for _, r := range c.Relocations {
				is.True(deref(r.To) != "www-data")
			}
		}
	}
}

// TestReviewedPaths measures the rows on pairs that public roles state, where
// these are at hand.
func TestReviewedPaths(t *testing.T) {
	is := is.New(t)
	f, err := os.Open("../../../shared/data/truth/config_paths_reviewed.tsv")
	if err != nil {
		t.Skip("no reviewed pairs are here")
	}
	defer f.Close()
	all, err := families()
	is.NoErr(err)
	there := map[[2]string]bool{}
	for _, relocations := range all.relocations {
		for _, r := range relocations {
			there[[2]string{r.From, strings.ReplaceAll(deref(r.To), "{target}", "{ver}")}] = true
		}
	}
	total, found := 0, 0
	for s := bufio.NewScanner(f); s.Scan(); {
		c := strings.Split(s.Text(), "\t")
		if len(c) < 3 || strings.HasPrefix(c[0], "#") {
			continue
		}
		total++
		if there[[2]string{c[1], c[2]}] {
			found++
		} else {
			t.Logf("not known: %s -> %s", c[1], c[2])
		}
	}
	t.Logf("%d of %d", found, total)
	is.True(found*100 >= total*90)
}
