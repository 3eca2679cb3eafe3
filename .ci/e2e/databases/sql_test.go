package databases_test

import (
	"database/sql"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	_ "modernc.org/sqlite"

	"svc/tools/database"
)

const socket = "/run/mysqld/e2e.sock"

// my gives rows of MariaDB or MySQL, a line each.
func (m *machine) my(statements string) string {
	m.t.Helper()
	return strings.ReplaceAll(m.in("mysql", "-S", socket, "-BN", "--default-character-set=utf8mb4", "-e", statements).Line(), "\t", " ")
}

// mariadb: tables of three engines, accounts, what the server says.
func (m *machine) mariadb() {
	const data = "/var/lib/mysql"
	m.clear(data)
	m.in("mysql_install_db", "--user=mysql", "--datadir="+data)
	m.in("install", "-d", "-o", "mysql", "/run/mysqld")
	server := m.in("sh", "-c", "command -v mariadbd").Line()
	stop := m.start([]string{server, "--user=mysql", "--datadir=" + data, "--skip-networking", "--socket=" + socket}, "mysql", "-S", socket, "-e", "select 1")
	m.my("create database shop character set utf8mb4 collate utf8mb4_unicode_ci; use shop; create table a (n int) engine=innodb; create table b (n int) engine=myisam; create table c (n int) engine=aria;" +
		" create user old@localhost identified via mysql_native_password using password('x')")
	m.in("sh", "-c", "$(command -v mariadb-upgrade || command -v mysql_upgrade) -S "+socket+" --force")
	version, _, _ := strings.Cut(m.my("select version()"), "-")
	m.in("mysqladmin", "-S", socket, "shutdown")
	stop()
	p := m.plan("debian-13", "mariadb")
	m.is.Equal(string(p.Version), version)
	m.is.Equal(p.fact("redo log by"), "MariaDB "+version)
	m.is.Equal(p.engines(), "Aria 1 InnoDB 1 MyISAM 1")
	shop := catalog(p, "shop")
	m.is.Equal(shop.Encoding+" "+shop.Collate, "utf8mb4 utf8mb4_unicode_ci")
	m.is.True(p.authenticates("mysql_native_password"))
}

// mysql starts a server on the data that are there.
func (m *machine) mysql() (stop func()) {
	m.t.Helper()
	return m.start([]string{"mysqld", "--no-defaults", "--user=mysql", "--datadir=/var/lib/mysql", "--skip-networking", "--mysqlx=OFF", "--socket=" + socket, "--pid-file=/run/mysqld/e2e.pid"},
		"mysql", "-S", socket, "-e", "select 1")
}

// TestMySQL: tables of four engines, accounts, a binary log; what the server says, of
// files that it shut down and of such that it had no time for.
func TestMySQL(t *testing.T) {
	const data = "/var/lib/mysql"
	m := newMachine(t, "sid")
	m.clear(data)
	m.in("sh", "-c", "id -u mysql || useradd -r mysql")
	m.in("install", "-d", "-o", "mysql", data, data+"-files", "/run/mysqld") // where files of SQL may be
	m.in("mysqld", "--no-defaults", "--user=mysql", "--initialize-insecure", "--datadir="+data)
	stop := m.mysql()
	var accounts strings.Builder
	for i := range 300 {
		fmt.Fprintf(&accounts, "create user 'user%d'@'host-%[1]d.example' identified with auth_socket;", i)
	}
	m.my("install plugin auth_socket soname 'auth_socket.so';" +
		"create database `é-я x` collate utf8mb4_0900_bin; create database shop character set latin1 collate latin1_german1_ci; use shop;" +
		"create table a (n int) engine=innodb; create table b (n int) engine=myisam; create table c (n int not null) engine=csv; create table d (n int) engine=archive;" +
		"create user anna@'%' identified by 'x'; create user peer@localhost identified with auth_socket; create user gone; drop user gone;" + accounts.String())
	version, _, _ := strings.Cut(m.my("select version()"), "-")
	engines := strings.ReplaceAll(m.my("select engine, count(*) from information_schema.tables where table_schema = 'shop' group by 1 order by 1"), "\n", " ")
	plugins := m.my("select plugin, count(*) from mysql.user where user not like 'mysql.%' group by 1 order by 1")
	schemata := m.my("select schema_name, default_character_set_name, default_collation_name from information_schema.schemata where schema_name in ('shop', 'é-я x') order by 1")
	m.kill(stop)
	killed := m.plan("debian-13", "mysql")
	stop = m.mysql()
	m.in("mysqladmin", "-S", socket, "shutdown")
	stop()

	p := m.plan("debian-13", "mysql")
	m.is.Equal(p.Data.Version, version)
	m.is.Equal(p.engines(), engines)
	form, err := strconv.Atoi(p.fact("redo log form"))
	m.is.NoErr(err)
	m.is.True(form > 0) // its own redo log is read, not a spare one
	m.is.Equal(p.Data.Checksums, "on")
	var ways, databases []string
	for _, a := range p.Data.Auth {
		ways = append(ways, fmt.Sprintf("%s %d", a.Name, a.Count))
	}
	for _, c := range p.Data.Databases {
		databases = append(databases, strings.Join([]string{c.Name, c.Encoding, c.Collate}, " "))
	}
	slices.Sort(databases)
	m.is.Equal(strings.Join(ways, "\n"), plugins)
	m.is.Equal(strings.Join(databases, "\n"), schemata)
	m.is.Equal(p.fact("plugin"), "auth_socket of auth_socket.so")
	m.is.Equal([]string{killed.Data.State, p.Data.State}, []string{"in production", "shut down"})
	m.is.True(strings.Contains(strings.Join(killed.Data.Unread, "\n"), "last checkpoint")) // what a killed one has in its log alone is unread
	m.is.Equal(len(p.Data.Unread), 0)
	m.is.True(p.warns("writes a binary log"))
	m.is.True(!p.warns("part of a replication")) // which that alone is not
	m.is.Equal(p.Gap, database.GapEngineChange)
	m.is.True(slices.ContainsFunc(p.Barriers, func(b database.Barrier) bool { return b.Method == "in place" }))
}

// kill gives MySQL no time to shut down.
func (m *machine) kill(stop func()) {
	pid := 0
	b, err := os.ReadFile(m.at("run/mysqld/e2e.pid"))
	m.is.NoErr(err)
	_, err = fmt.Sscan(string(b), &pid)
	m.is.NoErr(err)
	m.is.NoErr(syscall.Kill(pid, syscall.SIGKILL))
	stop()
	m.Shell(0, `rm -f "$1"/run/mysqld/e2e.*`, m.root) // else its lock may be taken for a server's
}

// sqlite: files as SQLite makes them, and what it says of them itself.
func (m *machine) sqlite() {
	m.clear("var/lib/app")
	m.Files(m.root, map[string]string{"var/lib/app/other.db": "SQLite format 4\n"})
	want := map[string]string{}
	for _, f := range []struct {
		name, encoding, journal string
		page                    int
	}{{"plain.db", "UTF-8", "delete", 4096}, {"wide.sqlite", "UTF-16le", "delete", 1024}, {"log.sqlite3", "UTF-8", "wal", 8192}} {
		db, err := sql.Open("sqlite", "file:"+m.at("var/lib/app/"+f.name))
		m.is.NoErr(err)
		db.SetMaxOpenConns(1) // which has what the pragmas set
		for _, s := range []string{fmt.Sprintf("pragma encoding='%s'", f.encoding), fmt.Sprintf("pragma page_size=%d", f.page), "pragma journal_mode=" + f.journal, "create table t (x)", "insert into t values (1)"} {
			_, err := db.Exec(s)
			m.is.NoErr(err)
		}
		var encoding, page, journal, version string
		for query, into := range map[string]*string{"pragma encoding": &encoding, "pragma page_size": &page, "pragma journal_mode": &journal, "select sqlite_version()": &version} {
			m.is.NoErr(db.QueryRow(query).Scan(into))
		}
		m.is.NoErr(db.Close())
		want[f.name] = fmt.Sprint(encoding, page, journal == "wal", version)
	}
	got := map[string]string{}
	for _, p := range m.plans("debian-13", "--root", m.root) {
		if p := (plan{p}); p.Engine == "sqlite" && strings.HasPrefix(p.Directory, "/var/lib/app/") {
			got[p.Name] = fmt.Sprint(p.Data.Databases[0].Encoding, p.fact("page size"), p.fact("journal") != "", p.fact("written by"))
		}
	}
	m.is.Equal(got, want) // each file, its encoding, pages, log and maker
}
