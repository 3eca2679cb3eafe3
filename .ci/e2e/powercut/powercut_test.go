// Package powercut_test upgrades the databases of a machine of its own: Debian 13 in an
// emulator, whose systemd runs them, and whose power is cut in the midst of steps. Then it
// boots again, and svc goes on, or back. Every table is compared by checksums of its own.
// An emulator takes its time: the sample is Redis, whose data are the smallest. With -all,
// PostgreSQL in each of its layouts and MariaDB are upgraded too.
package powercut_test

import (
	"flag"
	"path/filepath"
	"testing"

	"svc/.ci/e2e"
)

var all = flag.Bool("all", false, "all engines and layouts too")

func TestMain(m *testing.M) {
	e2e.Main(m, "mmdebstrap:mmdebstrap", "mke2fs:e2fsprogs", "qemu-system-x86_64:qemu-system-x86")
}

// long is a test that is left out without -all.
func long(t *testing.T) {
	if !*all {
		t.Skip("only with -all")
	}
}

func TestMariaDB(t *testing.T) {
	long(t)
	service{
		engine: "mariadb", version: "11.8", unit: "mariadb", step: "upgrade", folder: "mysql",
		ask: []string{"mariadb", "-BN", "-e", "select substring_index(version(), '.', 2); checksum table shop.orders, shop.words extended; select count(*) from shop.words where match(t) against ('word77')"},
		fill: `install -d -o mysql -g mysql /var/lib/mysql /run/mysqld
			mysql_install_db --user=mysql --auth-root-authentication-method=socket >/dev/null
			mariadbd --user=mysql --skip-networking & server=$!
			until mysql -e 'select 1'; do sleep 0.2; done
			mysql <<-'SQL'
				create database shop; use shop;
				create table orders (n int primary key, t varchar(100), x decimal(10,3), key (t)) engine=innodb;
				insert into orders select seq, concat('Größe ', seq), seq/7 from seq_1_to_2000;
				create table words (n int, t text, fulltext(t)) engine=myisam;
				insert into words select seq, concat('word', seq) from seq_1_to_1000;
			SQL
			mysqladmin shutdown
			wait $server`,
	}.test(t)
}

func TestRedis(t *testing.T) { redis.test(t) }

var redis = service{
	engine: "redis", version: "8.0", unit: "redis-server", step: "verify", folder: "redis",
	ask: []string{"redis-cli", "eval", `local k = redis.call('keys', '*') table.sort(k) local t = {} for _, x in ipairs(k) do t[#t+1] = x .. redis.call('get', x) end return #k .. ' ' .. redis.sha1hex(table.concat(t, ';'))`, "0"},
	fill: `install -d -o redis -g redis /var/lib/redis
		cd /var/lib/redis
		redis-server --port 0 --unixsocket /tmp/redis & server=$!
		until [ "$(redis-cli -s /tmp/redis ping)" = PONG ]; do sleep 0.2; done
		for i in $(seq 500); do echo "set key$i value$i"; done | redis-cli -s /tmp/redis
		redis-cli -s /tmp/redis save
		redis-cli -s /tmp/redis shutdown nosave
		wait $server`,
}

// service is a database that one unit serves: where its data are, below /var/lib, what fills
// them on Debian 11, and what asks for all of them.
type service struct {
	engine, version, unit string
	step                  string // in which the power is cut
	folder, fill          string
	ask                   []string
}

// leave has a server of Debian 11 leave its data to the one of the machine, whose unit
// starts on them, as after an upgrade of the system. What MariaDB's unit would do to them by
// itself is put off.
func (s service) leave(m *machine) {
	old := m.Overlay(filepath.Join(e2e.Cache(), "databases", "bullseye"), "old")
	m.Run(0, "rm", "-rf", filepath.Join(old, "var/lib", s.folder), m.at("var/lib/"+s.folder))
	m.Run(0, "unshare", "-n", "chroot", old, "bash", "-ec", s.fill)
	m.Run(0, "cp", "-a", filepath.Join(old, "var/lib", s.folder), m.at("var/lib/"))
	m.host("chown", "-R", s.folder+":"+s.folder, "/var/lib/"+s.folder)
	m.Files(m.root, map[string]string{"etc/mysql/debian-start": "#!/bin/sh\nexit 0\n"})
}

// test: the power is cut in a step. The unit is started at no boot, and by nobody, from
// when svc has stopped it until svc starts it.
func (s service) test(t *testing.T) {
	m := newMachine(t, s.leave)
	backup := "/srv/" + s.engine
	m.order("systemctl", "-q", "enable", "--now", s.unit)
	had := m.order(s.ask...)
	m.order("install", "-d", "-m", "711", backup)
	m.cut(s.step, 0, upgrade(s.engine, s.version, backup))
	m.runs(s.unit, "inactive")              // a boot does not start the server
	m.refuses("systemctl", "start", s.unit) // nor does a person
	m.order(again("--resume", backup)...)
	m.runs(s.unit, "active")
	m.is.Equal(m.order(s.ask...), had)
	m.order("test", "!", "-e", "/etc/systemd/system/"+s.unit+".service.d") // nothing keeps it from starting
	m.order(again("--roll-back", backup)...)
	m.runs(s.unit, "active") // on the old data
	m.is.Equal(m.order(s.ask...), had)
}

// TestStarting is not emulated: svc is killed while systemd starts the new server, which
// comes to its data long after that. The roll-back waits for it, and says so.
func TestStarting(t *testing.T) {
	m := newRoot(t)
	redis.leave(m)
	m.Files(m.root, map[string]string{
		"etc/systemd/system/redis-server.service.d/slow.conf": "[Service]\nTimeoutStartSec=infinity\nExecPaths=/usr/bin/sleep\nExecStartPre=/usr/bin/sleep 15\n",
	})
	b := m.Boot("starting", m.root)
	b.Run(0, "systemctl", "start", redis.unit)
	had := b.Run(0, redis.ask...).Line()
	const backup = "/srv/redis"
	b.Run(0, "mkdir", backup)
	b.Run(0, append([]string{"bash", "-c", `PATH=$PATH:/usr/local/bin
		"${@:2}" & svc=$!
		until grep -qs '"step":"start","state":"started"' "$1/journal.jsonl" && [ "$(systemctl is-active "$0")" = activating ]; do
			kill -0 $svc || exit 1
			sleep 0.1
		done
		kill -KILL $svc`, redis.unit, backup}, upgrade(redis.engine, redis.version, backup)...)...)
	b.Run(0, append([]string{"env", "PATH=/usr/bin:/usr/local/bin"}, again("--roll-back", backup)...)...).Has("has not come to its data yet")
	m.is.Equal(b.Says("systemctl", "is-active", redis.unit), "active")
	m.is.Equal(b.Says(redis.ask...), had)
}
