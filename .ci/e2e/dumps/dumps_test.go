// Package dumps_test moves real databases by the scripts of a data plan: PostgreSQL 13,
// MariaDB 10.5 and OpenLDAP 2.4 of a running Debian 11 are dumped over a real sshd and
// loaded into a running Debian 13, which runs the scripts; the files of its Redis 6, and
// of a Valkey 8, are copied. What is there afterwards is compared with what was.
package dumps_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/matryer/is"

	"svc/.ci/e2e"
)

func TestMain(m *testing.M) {
	e2e.Main(m, "mmdebstrap:mmdebstrap", "ssh:openssh-client", "sshd:openssh-server", "shellcheck:shellcheck")
}

// pair is two machines with databases: see pair.sh.
type pair struct {
	*e2e.Work
	t        *testing.T
	is       *is.I
	old, new string
}

func TestDumps(t *testing.T) {
	w := e2e.New(t)
	p := &pair{w, t, is.New(t), w.Path("old"), w.Path("new")}
	w.Hold(`. .ci/e2e/pair.sh
		pair_roots
		postgresql "$old" 13 -c listen_addresses=
		postgresql "$new" 17 -c listen_addresses=
		mariadb "$old" --skip-networking
		mariadb "$new" --skip-networking
		reach`, "pair_stop")
	p.fill()
	p.SVC(0, "data", "plan", "--root", p.old, "--target", "debian-13", "--out", w.Path("plan"), "--source-offline", "--confirm")
	p.Shell(0, `shellcheck "$1"/databases/*.sh`, w.Path("plan"))
	p.Run(0, "cp", "-a", w.Path("plan"), p.path(p.new, "plan"))
	p.postgresql()
	p.mariadb()
	p.openldap()

	p.copies("redis")
	p.openldapOfEL() // it makes another machine of the source
	p.old = w.Path("valkey-old")
	w.Hold(`. .ci/e2e/pair.sh
		old=$work/valkey-old new=$work/new
		root "$old" trixie
		echo 0123456789abcdef0123456789abcdef >"$old/etc/machine-id"
		reach`, "pair_stop")
	p.copies("valkey")
}

func (p *pair) path(root, name string) string { return filepath.Join(root, name) }

// in runs a command in a root.
func (p *pair) in(code int, root string, command ...string) e2e.Said {
	p.t.Helper()
	return p.Run(code, "chroot", append([]string{root}, command...)...)
}

// feed gives a command in a root its input.
func (p *pair) feed(root, input, command string) {
	p.t.Helper()
	p.Shell(0, `printf %s "$2" | chroot "$1" sh -c "$3"`, root, input, command)
}

// sql and my are clients as the scripts have them.
func (p *pair) sql(root string, args ...string) string {
	p.t.Helper()
	return p.in(0, root, append([]string{"runuser", "-u", "postgres", "--", "psql", "-qAtX"}, args...)...).Line()
}

func (p *pair) my(root string, args ...string) string {
	p.t.Helper()
	return p.in(0, root, append([]string{"mysql", "-N"}, args...)...).Line()
}

// step runs a script of the plan for a database, on the target.
func (p *pair) step(code int, database, step string) e2e.Said {
	p.t.Helper()
	return p.in(code, p.new, "env", "SOURCE_SSH=source", "bash", "-c", "cd /plan && bash databases/*-database-"+database+".sh "+step)
}

// moves goes the whole way of one database; its target holds nothing.
func (p *pair) moves(database string) {
	p.t.Helper()
	p.step(1, database, "load") // nothing is loaded before a dump
	p.step(0, database, "dump")
	p.step(1, database, "check")                                           // it is not on the target yet
	p.is.True(!strings.Contains(p.step(0, database, "load").Err, "ERROR")) // what is to be expected is not said
	p.step(0, database, "check")
	p.step(1, database, "load") // not a second time
}

// fill fills the servers of the source; the target's are as they are installed.
func (p *pair) fill() {
	p.sql(p.old, "-c", "create role anna login password 'secret'", "-c", "create database shop owner anna template template0 encoding 'LATIN1' locale 'C'",
		"-c", `create database "we""ird name"`, "-c", `create database "-d x='y'"`)
	p.sql(p.old, "shop", "-c", "create extension hstore", "-c", "create schema s", "-c", `create table s."T able" (n int, h hstore, b bytea)`,
		"-c", `insert into s."T able" select i, hstore('k', i::text), decode('ff00', 'hex') from generate_series(1, 1000) i`, "-c", `create view v as select * from s."T able"`,
		"-c", "select lo_create(0)", "-c", "create sequence q", "-c", "create materialized view m as select count(*) from v", "-c", `insert into s."T able" values (0)`) // m is older than its rows
	p.sql(p.old, `we"ird name`, "-c", "create table t as select 'ü' || i x from generate_series(1, 10) i")
	p.Files(p.old, map[string]string{"etc/mysql/conf.d/other.cnf": "[mysqld2]\ndatadir=/srv/other\n", "srv/other/mysql/.keep": ""})
	p.is.NoErr(os.Remove(p.path(p.old, "srv/other/mysql/.keep")))
	p.my(p.old, "-e", "create database shop character set utf8mb4 collate utf8mb4_unicode_ci; use shop;"+
		`create table a (n int primary key, t text) engine=innodb; insert into a values (1, 'ü'), (2, 'b\n\t\\');`+
		"create table `b ``x` (n int) engine=myisam; insert into `b ``x` values (1), (2), (3);"+
		"create view v as select * from a; create procedure p() select 1; create event ev on schedule every 1 day do select 1;"+
		"create trigger tr before insert on a for each row set new.n = new.n;"+
		"create user 'anna'@'%' identified by 'x'; grant select on shop.* to 'anna'@'%'; create database `od-d`;"+
		"create role readers; grant select on `od-d`.* to readers; create role all_of; grant readers to all_of; grant all_of to 'anna'@'%'; create user zoe@localhost identified by 'z'")
	for _, root := range []string{p.old, p.new} {
		p.in(0, root, "install", "-d", "-o", "openldap", "/var/lib/ldap2")
		p.Shell(0, `cd "$1/etc/ldap/slapd.d/cn=config"
			cp -a "olcDatabase={1}mdb.ldif" "olcDatabase={2}mdb.ldif"
			sed -i 's/{1}mdb/{2}mdb/; s/dc=nodomain/o=other/; s#/var/lib/ldap#&2#' "olcDatabase={2}mdb.ldif"`, root)
	}
	p.feed(p.old, "dn: o=other\nobjectClass: organization\no: other\n", "slapadd -b o=other")
	p.feed(p.old, `dn: ou=people,dc=nodomain
objectClass: organizationalUnit
ou: people
description: a line that is longer than seventy-six characters, so that slapcat would fold it

dn: cn=Zoë,ou=people,dc=nodomain
objectClass: person
cn: Zoë
sn: Z
`, "slapadd")
}

func (p *pair) postgresql() {
	p.moves("main")
	for _, same := range [][]string{
		{"shop", "-c", `select count(*), sum((h->'k')::int), max(encode(b, 'hex')) from s."T able"`}, // rows, values, an extension
		{`we"ird name`, "-c", "select max(x) from t"},                                                // another encoding, and a weird name
		{"-c", "select rolpassword from pg_authid where rolname = 'anna'"},                           // the password of a role
	} {
		p.is.Equal(p.sql(p.new, same...), p.sql(p.old, same...))
	}
	p.sql(p.new, "shop", "-c", "refresh materialized view m with no data")
	p.step(1, "main", "check") // one that holds nothing is found
	p.sql(p.new, "shop", "-c", "refresh materialized view m")
	p.step(0, "main", "check")
	p.sql(p.new, "shop", "-c", `delete from s."T able" where n = 7`)
	p.step(1, "main", "check") // a row that is lost is found
}

func (p *pair) mariadb() {
	p.moves("mysql")
	rows := []string{"shop", "-e", "select n, hex(t) from a order by n"}
	p.is.Equal(p.my(p.new, rows...), p.my(p.old, rows...))
	accounts, err := filepath.Glob(p.path(p.new, "plan/*-database-mysql.dump.accounts"))
	p.is.NoErr(err)
	p.is.Equal(len(accounts), 1) // the accounts are written down
	p.Run(0, "grep", "-F", "CREATE USER `anna`", accounts[0])
	p.step(0, "mysql", "accounts")
	last := func(lines string) string { return lines[strings.LastIndexByte(lines, '\n')+1:] }
	p.is.Equal(last(p.my(p.new, "-e", "show grants for anna")), last(p.my(p.old, "-e", "show grants for anna"))) // with their rights
	for _, account := range []string{"readers", "all_of", "zoe@localhost"} {                                     // roles, and who comes after one that has them
		p.is.Equal(p.my(p.new, "-e", "show grants for "+account), p.my(p.old, "-e", "show grants for "+account))
	}
	p.is.True(strings.Contains(p.my(p.new, "-e", "show grants for anna"), "GRANT `all_of` TO `anna`"))
	p.step(1, "other", "dump").Has("set SOURCE_SOCKET") // what another server has
	p.my(p.new, "shop", "-e", "drop trigger tr")
	p.step(1, "mysql", "check") // a trigger that is lost is found
}

func (p *pair) openldap() {
	p.moves("ldap2") // a second database
	p.step(0, "ldap", "dump")
	p.Shell(0, `seq 2000 | sed 's/.*/dn: cn=n&,dc=nodomain\nobjectClass: person\ncn: n&\nsn: n\n/' | chroot "$1" slapadd -q -b dc=nodomain`, p.new)
	p.step(1, "ldap", "load") // not over what is there
	p.Shell(0, `rm "$1"/var/lib/ldap/*.mdb`, p.new)
	p.step(0, "ldap", "load")
	p.step(0, "ldap", "check")
	p.is.Equal(p.in(0, p.new, "stat", "-c", "%U", "/var/lib/ldap/data.mdb").Line(), "openldap") // the files are the engine's own
}

// openldapOfEL moves a directory of a machine that is laid out as EL's: its cn=config, with
// backends that slapd 2.6 has no more, comes with the dump, and is loaded first.
func (p *pair) openldapOfEL() {
	p.Shell(0, `mv "$1/etc/ldap" "$1/etc/openldap"; ln -s openldap "$1/etc/ldap"; mkdir -p "$1/usr/lib64"; ln -s /usr/lib/ldap "$1/usr/lib64/openldap"
		printf 'ID="centos"\nVERSION_ID="7"\n' >"$1/usr/lib/os-release"
		chroot "$1" sh -ec 'install -d -o openldap /srv/people
			slapcat -n 0 -o ldif-wrap=no | awk "BEGIN { RS = \"\"; ORS = \"\n\n\" } !/^dn: olcDatabase=[{]2/" |
				sed "s/[}]mdb/}hdb/; s/olcMdbConfig/olcHdbConfig/; s/back_mdb/back_hdb/; /^olcDbMaxSize/d; s|/usr/lib/ldap|/usr/lib64/openldap|; s|/var/run/slapd|/var/run/openldap|; s|/var/lib/ldap|/srv/people|; s/dc=nodomain/dc=example/
					s/^olcDbIndex: objectClass eq/&\nolcDbCacheSize: 1000/" >/el.ldif
			rm -r /etc/openldap/slapd.d
			install -d -o openldap /etc/openldap/slapd.d
			runuser -u openldap -- slapadd -F /etc/openldap/slapd.d -n 0 </el.ldif'`, p.old)
	p.feed(p.old, "dn: dc=example\nobjectClass: domain\ndc: example\n\ndn: cn=Zoë,dc=example\nobjectClass: person\ncn: Zoë\nsn: Z\n", "runuser -u openldap -- slapadd -b dc=example")
	p.SVC(0, "data", "plan", "--root", p.old, "--target", "debian-13", "--out", p.Path("of-el"), "--source-offline", "--confirm")
	p.Shell(0, `shellcheck "$1"/databases/*.sh; rm -r "$2/plan"; cp -a "$1" "$2/plan"`, p.Path("of-el"), p.new)
	p.moves("people")
	config := p.in(0, p.new, "slapcat", "-n", "0").Out
	for words, has := range map[string]bool{"olcModulePath: /usr/lib/ldap\n": true, "olcPidFile: /run/slapd/slapd.pid\n": true, "olcDatabase: {1}mdb\n": true, "olcDbDirectory: /srv/people\n": true, "olcSuffix: dc=example\n": true, "olcDbMaxSize: 10737418240\n": true, "hdb": false, "olcDbCacheSize": false, "dc=nodomain": false} {
		p.is.Equal(strings.Contains(config, words), has)
	}
	p.is.Equal(p.in(0, p.new, "stat", "-c", "%U %a", "/etc/ldap/slapd.d").Line(), "openldap 750")
	p.in(0, p.new, "test", "-e", "/etc/ldap/slapd.d.before-the-move/cn=config.ldif") // its own is kept
}

// fillKeys and sumKeys are in Lua: keys of three kinds, and a count with a digest of all.
const (
	fillKeys = `for i = 1, 5000 do redis.call('set', 'key:' .. i, 'ü' .. i) redis.call('zadd', 'z' .. i % 7, i, i) redis.call('xadd', 's', i .. '-1', 'f', i) end`
	sumKeys  = `local ask = {string = {'get'}, zset = {'zrange', 0, -1, 'withscores'}, stream = {'xrange', '-', '+'}}
		local keys, all = redis.call('keys', '*'), {}
		table.sort(keys)
		for i, key in ipairs(keys) do
			local how = ask[redis.call('type', key).ok]
			all[i] = key .. cjson.encode(redis.call(how[1], key, unpack(how, 2)))
		end
		return #keys .. ' ' .. redis.sha1hex(table.concat(all))`
)

// keys runs scripts on a server that is started on the data in a root, and stopped; the
// last one's answer.
func (p *pair) keys(root, engine string, scripts ...string) (answer string) {
	p.t.Helper()
	stop := p.Start("chroot", root, "runuser", "-u", engine, "--", engine+"-server", "--port", "0", "--unixsocket", "/tmp/redis", "--dir", "/var/lib/"+engine, "--appendonly", "yes")
	defer stop()
	client := []string{"redis-cli", "-s", "/tmp/redis"}
	p.Until("chroot", root, "sh", "-c", "redis-cli -s /tmp/redis ping | grep -qx PONG") // not while it loads
	for _, script := range scripts {
		answer = p.in(0, root, append(client, "eval", script, "0")...).Line()
	}
	p.in(0, root, append(client, "shutdown")...)
	return answer
}

// copies goes the way of files: the source's server is stopped, the target's starts on
// them.
func (p *pair) copies(engine string) {
	p.t.Helper()
	for _, root := range []string{p.old, p.new} {
		p.is.NoErr(os.RemoveAll(p.path(root, "var/lib/"+engine)))
		p.in(0, root, "install", "-d", "-o", engine, "-g", engine, "/var/lib/"+engine)
	}
	before := p.keys(p.old, engine, fillKeys, sumKeys)
	p.is.True(strings.HasPrefix(before, "5008 ")) // keys
	p.Run(0, "rm", "-rf", p.path(p.new, "plan"), p.path(p.new, "var/lib/svc"))
	p.SVC(0, "data", "plan", "--root", p.old, "--target", "debian-13", "--out", p.Path("plan"), "--source-offline", "--confirm")
	p.Run(0, "cp", "-a", p.Path("plan"), p.path(p.new, "plan"))
	p.Run(0, "find", p.path(p.new, "plan/places"), "-type", "f", "!", "-name", "*-database-"+engine+".sh", "-delete")
	for _, script := range []string{"10-check", "30-before", "40-copy", "50-after"} {
		p.in(0, p.new, "env", "SOURCE_SSH=source", "bash", "/plan/"+script+".sh")
	}
	p.is.Equal(p.keys(p.new, engine, sumKeys), before) // the target's has every key
}
