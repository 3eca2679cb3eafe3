package databases_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"svc/assess/datadir"
)

// asPostgres is a command in the root as the server's account.
func (m *machine) asPostgres(command ...string) []string {
	return append([]string{"--userspec=postgres:postgres", m.root}, command...)
}

// psql gives rows of the server, a line each.
func (m *machine) psql(db string, statements ...string) string {
	m.t.Helper()
	args := m.asPostgres("psql", "-h", "/tmp", "-F", " ", "-qAt", db)
	for _, s := range statements {
		args = append(args, "-c", s)
	}
	return m.Run(0, "chroot", args...).Line()
}

// postgresql: databases, extensions that are not there by default, rows that were
// written anew; then what the server says of itself.
func (m *machine) postgresql(version string) {
	bin, data := "/usr/lib/postgresql/"+version+"/bin/", "/var/lib/postgresql/"+version+"/main"
	m.clear(data)
	m.Run(0, "chroot", m.asPostgres(bin+"initdb", "-D", data, "--data-checksums", "--locale=C.UTF-8", "-E", "UTF8")...)
	stop := m.Start("chroot", m.asPostgres(bin+"postgres", "-D", data, "-k", "/tmp", "-c", "listen_addresses=", "-c", "config_file=/etc/postgresql/"+version+"/main/postgresql.conf",
		"-c", "data_directory="+data, "-c", "ssl=off")...)
	m.Until("chroot", m.asPostgres("psql", "-h", "/tmp", "-c", "select 1")...)
	m.fill(version)
	collate := "datcollate"
	if version == "17" {
		collate = "coalesce(datlocale, datcollate)"
	}
	databases := m.psql("postgres", "select datname, pg_encoding_to_char(encoding), "+collate+`, datctype from pg_database where datname <> 'template0' order by datname collate "C"`)
	extensions := m.psql("shop", `select extname, extversion from pg_extension order by extname collate "C"`)
	exact, _, _ := strings.Cut(m.psql("postgres", "show server_version"), " ")
	running := m.plan("debian-13", "postgresql")
	m.is.Equal(running.Data.State, "in production")
	m.is.True(running.warns("not shut down")) // to copy it is not safe
	m.Run(0, "chroot", m.asPostgres(bin+"pg_ctl", "-D", data, "stop", "-m", "fast")...)
	stop()

	p := m.plan("debian-13", "postgresql")
	control := m.control(bin+"pg_controldata", data)
	m.is.Equal(string(p.Version), exact)
	m.is.Equal(p.Data.Form, "catalog "+control["Catalog version number"])
	m.is.Equal(p.fact("control version"), control["pg_control version number"])
	m.is.Equal(p.Data.State, control["Database cluster state"])
	m.is.Equal(p.fact("wal level"), control["wal_level setting"])
	m.is.Equal(p.Data.Checksums, "on")
	m.is.Equal(p.Data.Bytes, m.size(data))
	m.is.True(p.authenticates("peer"))
	m.is.Equal(catalogs(p), databases)
	m.is.Equal(extensionsOf(p, "shop"), extensions)                       // of a table that was written anew
	m.is.True(strings.HasPrefix(extensionsOf(p, "elsewhere"), "hstore ")) // in a tablespace
	m.reindexed(version, p)
	m.offered(p)
	m.damaged(data)
}

// fill fills the server.
func (m *machine) fill(version string) {
	m.clear("var/lib/postgresql/space")
	m.Run(0, "chroot", m.asPostgres("mkdir", "/var/lib/postgresql/space")...)
	m.psql("postgres", "create database shop template template0 encoding 'LATIN1' locale 'C'", `create database "we""ird name"`, "create database gone", "drop database gone",
		"create tablespace space location '/var/lib/postgresql/space'", "create database elsewhere tablespace space",
		"create database german template template0 locale 'de_DE.UTF-8'", "create database everything")
	m.psql("elsewhere", "create extension hstore")
	if version == "17" {
		m.psql("postgres", "create database sorted template template0 locale_provider icu icu_locale 'de-DE'")
	}
	m.psql("shop", "create extension pgcrypto", "create extension pg_trgm", "create table t as select generate_series(1,1000) n", "vacuum full pg_extension", "vacuum full pg_class")
	controls, err := filepath.Glob(m.at("usr/share/postgresql/" + version + "/extension/*.control"))
	m.is.NoErr(err)
	var all strings.Builder
	for _, c := range controls { // some can't be made by hand
		all.WriteString(`create extension if not exists "` + strings.TrimSuffix(filepath.Base(c), ".control") + "\" cascade;\n")
	}
	m.Shell(0, `printf %s "$2" | chroot --userspec=postgres:postgres "$1" psql -q -h /tmp everything`, m.root, all.String())
}

// control is what PostgreSQL's own tool says of its data.
func (m *machine) control(tool, data string) map[string]string {
	m.t.Helper()
	values := map[string]string{}
	for line := range strings.Lines(m.in(tool, "-D", data).Out) {
		if key, value, ok := strings.Cut(line, ":"); ok {
			values[key] = strings.TrimSpace(value)
		}
	}
	return values
}

// size is that of all files in a folder.
func (m *machine) size(folder string) (sum int64) {
	m.t.Helper()
	m.is.NoErr(filepath.WalkDir(m.at(folder), func(_ string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		info, err := entry.Info()
		sum += info.Size()
		return err
	}))
	return sum
}

// catalogs are the databases, their encodings and collations.
func catalogs(p plan) string {
	var lines []string
	for _, c := range p.Data.Databases {
		lines = append(lines, strings.Join([]string{c.Name, c.Encoding, c.Collate, c.CType}, " "))
	}
	return strings.Join(lines, "\n")
}

// catalog is one of them.
func catalog(p plan, name string) datadir.Catalog {
	for _, c := range p.Data.Databases {
		if c.Name == name {
			return c
		}
	}
	return datadir.Catalog{}
}

func extensionsOf(p plan, db string) string {
	var lines []string
	for _, e := range catalog(p, db).Extensions {
		lines = append(lines, e.Name+" "+e.Version)
	}
	return strings.Join(lines, "\n")
}

// reindexed: what sorts by the C library is indexed again for another library, and what
// sorts by ICU, whose rules may be others on the target.
func (m *machine) reindexed(version string, p plan) {
	m.t.Helper()
	var got []string
	for _, r := range p.Reindex {
		got = append(got, r.Database+":"+r.From+">"+r.To)
	}
	want := "german:2.31>2.41"
	if version == "17" {
		icu := catalog(p, "sorted").CollationVersion // of the rules that the server made it with
		m.is.True(icu != "")
		want = "sorted:" + icu + ">"
	}
	m.is.Equal(got, []string{want})
}

// offered: the target has exactly the extensions that it is said to have.
func (m *machine) offered(p plan) {
	m.t.Helper()
	_, made := m.make("trixie")
	m.is.True(made)
	m.is.True(len(p.Extensions) > 40)
	for _, e := range p.Extensions {
		_, err := os.Stat(filepath.Join(m.kept("trixie"), "usr/share/postgresql/17/extension", e.Name+".control"))
		there := map[bool]string{true: "yes", false: "no"}[err == nil]
		m.is.Equal(e.Name+" "+e.Offered, e.Name+" "+there)
	}
}

// damaged turns a bit of the control file over, which is said, and back.
func (m *machine) damaged(data string) {
	file := m.at(data + "/global/pg_control")
	whole, err := os.ReadFile(file)
	m.is.NoErr(err)
	broken := slices.Clone(whole)
	broken[40] ^= 1
	m.is.NoErr(os.WriteFile(file, broken, 0))
	m.SVC(0, "db", "plan", "--root", m.root, "--target", "debian-13", "--json").Has("pg_control is damaged")
	m.is.NoErr(os.WriteFile(file, whole, 0))
}
