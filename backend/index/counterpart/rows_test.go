package counterpart

import (
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"

	"svc/backend/api"
	"svc/backend/index/record"
	"svc/backend/release"
	"svc/backend/tsv"
)

func alpine(t *testing.T, version string) release.Release {
	r, ok := release.Lookup("alpine-" + version)
	is.New(t).True(ok)
	return r
}

// Every row can be read, says where it is from, and holds for a release that svc names.
func TestEveryRowIsRead(t *testing.T) {
	is := is.New(t)
	all := 0
	for line, table := range tables() {
		text, err := texts.ReadFile(fileOf(line))
		is.NoErr(err)
		n := 0
		for c := range tsv.Rows(string(text), 5) {
			is.True(c[4] != "")
			if strings.HasPrefix(c[0], "@") || strings.HasPrefix(c[0], "%") {
				continue
			}
			n++
			is.True(slices.Contains(api.Relations, api.Relation(c[2])))
			is.Equal(c[3] == "-", c[2] == "removed")
			is.True(slices.ContainsFunc(release.All(), func(r release.Release) bool {
				return r.Family.Conventions().Line == line && record.Within(r.Version, tsv.Said(c[1]))
			}))
		}
		is.Equal(n, len(table.rows))
		all += n
	}
	is.True(all > 250)
	files, err := texts.ReadDir(".")
	is.NoErr(err)
	is.Equal(len(files), len(tables())) // each is of a line that there is
}

func TestNamed(t *testing.T) {
	for _, c := range []struct{ debian, version, names, relation string }{
		{"nginx", "3.22", "nginx", "same"},
		{"nginx-full", "3.22", "nginx", "renamed"},
		{"php7.4-fpm", "3.18", "php82-fpm", "renamed"},
		{"php8.4-fpm", "3.22", "php84-fpm", "renamed"},
		{"php8.2-mysql", "3.20", "php83-mysqli php83-pdo_mysql", "split"},
		{"php8.2-mysql", "3.23", "", ""}, // its version of PHP is not known
		{"postgresql-13", "3.22", "postgresql17", "renamed"},
		{"postgresql-common", "3.22", "", ""}, // no version
		{"redis-server", "3.19", "redis", "renamed"},
		{"redis-server", "3.20", "valkey", "replaced"},
		{"valkey-server", "3.20", "valkey", "renamed"},
		{"busybox", "3.20", "busybox", "same"},
		{"cron", "3.20", "busybox", "replaced"},
		{"python3-flask", "3.20", "", ""},
	} {
		is := is.New(t)
		names, relation := Of(alpine(t, c.version)).Named(c.debian)
		is.Equal(strings.Join(names, " "), c.names)
		is.Equal(string(relation), c.relation)
	}
}

func TestWhole(t *testing.T) {
	is := is.New(t)
	n := Of(alpine(t, "3.22"))
	whole, ok := n.Whole("nginx-openrc")
	is.True(ok)
	is.Equal(whole, "nginx")
	_, ok = n.Whole("nginx")
	is.True(!ok)
	is.Equal(n.VersionIn("php82-fpm"), "82")
	is.Equal(n.VersionIn("phpmyadmin"), "")
	is.Equal(n.Usual("python3-flask"), "py3-flask")
	is.Equal(n.Usual("libdbi-perl"), "perl-dbi")
}
