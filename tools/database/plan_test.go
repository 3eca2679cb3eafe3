package database

import (
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"

	"svc/assess"
	"svc/assess/datadir"
	"svc/backend/api"
	"svc/backend/release"
)

func planned(t *testing.T, engine, version, source, target string, data datadir.Statement) Plan {
	t.Helper()
	from, ok := release.Lookup(source)
	to, known := release.Lookup(target)
	if !ok || !known {
		t.Fatalf("%s or %s is no release", source, target)
	}
	return New(Input{
		Database: assess.Database{Engine: engine, Version: version, Package: "server"}, Data: data, Target: to, Graph: onRecord(t), Libc: glibc[line(from)],
		Packages: []assess.Package{{Name: "server", Version: "1:" + version + "-0+deb11u1"}, {Name: "postgresql-13-postgis-3"}},
		Translations: map[string]api.Translation{
			"server":                  {Relation: api.RelationRenamed, Packages: []api.TargetPackage{{Name: "postgresql-17", Version: "17.6-0+deb13u1"}, {Name: "postgresql-13", Version: "13.22-0+deb11u1"}}},
			"postgresql-13-postgis-3": {Packages: []api.TargetPackage{{Name: "postgresql-17-postgis-3"}}},
		},
	})
}

func TestGaps(t *testing.T) {
	for _, c := range []struct {
		engine, version, target string
		gap                     Gap
		want                    string
	}{
		{"postgresql", "13.16", "debian-13", GapMajor, "postgresql 17"},
		{"postgresql", "13.16", "debian-11", GapMinor, "postgresql 13"},
		{"postgresql", "16.4", "almalinux-9", GapNone, "postgresql 16"}, // of a stream
		{"postgresql", "18.0", "debian-13", GapNotOffered, ""},
		{"mysql", "8.0.36", "debian-13", GapEngineChange, "mariadb 11.8"},
		{"mysql", "8.0.36", "almalinux-10", GapMajor, "mysql 8.4"},
		{"redis", "8.0.2", "almalinux-10", GapEngineChange, "valkey 8.0"},
		{"redis", "6.0.16", "rocky-9", GapMajor, "redis 6.2"},
		{"mongodb", "4.4.1", "debian-13", GapNotOffered, ""},
		{"slapd", "2.4.57", "debian-13", GapMajor, "openldap 2.6"},
		{"slapd", "", "debian-13", GapUnknown, ""},
		{"cassandra", "4.1", "debian-13", GapUnknown, ""},
	} {
		t.Run(c.engine+" "+c.version+" to "+c.target, func(t *testing.T) {
			is := is.New(t)
			p := planned(t, c.engine, c.version, "debian-11", c.target, datadir.Statement{})
			is.Equal(p.Gap, c.gap)
			is.Equal(p.Target != nil, c.want != "")
			if p.Target != nil {
				is.Equal(p.Target.String(), c.want)
				is.True(len(p.Paths) > 0)
			}
			is.True(p.Gap != GapNotOffered || len(p.Barriers) > 0 || len(p.Paths) > 0) // what to do is said
		})
	}
}

func TestWhatTheDataStateCounts(t *testing.T) {
	is := is.New(t)
	p := planned(t, "mariadb", "10.11.6", "debian-12", "debian-13", datadir.Statement{Version: "10.5.23", State: "in production"})
	is.Equal([]string{string(p.Version), p.StatedBy, string(p.Series), p.Installed}, []string{"10.5.23", "data", "10.5", "10.11.6"})
	text := []string{}
	for _, n := range p.Notes {
		text = append(text, n.Text)
	}
	is.True(strings.Contains(strings.Join(text, "\n"), "The data are of mariadb 10.5, and the server that is installed is 10.11.6"))
	is.True(strings.Contains(strings.Join(text, "\n"), "not shut down"))
}

func TestReindexAndExtensions(t *testing.T) {
	is := is.New(t)
	data := datadir.Statement{Version: "13", Auth: []datadir.Count{{Name: "trust", Count: 1}}, Databases: []datadir.Catalog{
		{Name: "a", Provider: "libc", Collate: "de_DE.UTF-8", Extensions: []datadir.Extension{{Name: "postgis", Version: "3.1"}, {Name: "hstore", Version: "1.7"}, {Name: "strange", Version: "1"}}},
		{Name: `b"c`, Provider: "icu", Collate: "de"},
		{Name: "c", Provider: "libc", Collate: "C.UTF-8", Extensions: []datadir.Extension{{Name: "adminpack", Version: "2.1"}}},
	}}
	p := planned(t, "postgresql", "13.16", "debian-11", "debian-13", data)
	is.Equal(len(p.Reindex), 2)
	is.Equal([]string{p.Reindex[0].From, p.Reindex[0].To}, []string{"2.31", "2.41"})
	is.True(strings.HasPrefix(p.Reindex[1].Command, `REINDEX DATABASE "b""c";`))
	offered := map[string]string{}
	for _, a := range p.Extensions {
		offered[a.Name] = a.Offered
	}
	is.Equal(offered, map[string]string{"postgis": "yes", "hstore": "yes", "strange": "unknown", "adminpack": "no"})
	is.Equal(p.Target.Exact, "17.6-0+deb13u1")
	is.True(slices.ContainsFunc(p.Notes, func(n Note) bool { return strings.HasPrefix(n.Text, "trust") }))
	old := planned(t, "postgresql", "9.6", "debian-9", "debian-10", datadir.Statement{Version: "9.6", Databases: []datadir.Catalog{{Name: "a", Provider: "libc", Collate: "en_US.UTF-8"}}})
	is.True(strings.Contains(old.Reindex[0].Why, "over 2.28"))
	same := planned(t, "postgresql", "13.16", "debian-11", "debian-11", data)
	is.Equal(len(same.Reindex), 1) // ICU alone
}
