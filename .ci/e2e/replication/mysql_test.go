package replication_test

import (
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"svc/.ci/e2e"
)

// my is what MariaDB or MySQL answers.
func (p *pair) my(root, statements string) string {
	p.t.Helper()
	return p.in(0, root, "mysql", "-N", "-e", statements).Line()
}

// feedMySQL writes a row, changes one and deletes one.
func feedMySQL(n int) string {
	return fmt.Sprintf("insert into shop.a (n, t) values (%d, 'written'); select last_insert_id(); update shop.a set n = n + 1 where id = %[1]d; delete from shop.a where id = %d;\n", n, 10000+n)
}

// client stays connected, and says each answer at once.
var client = []string{"mysql", "-N", "--unbuffered"}

func (p *pair) mariadb() {
	for _, root := range []string{p.old, p.new} {
		p.is.NoErr(os.RemoveAll(filepath.Join(root, "var/lib/mysql")))
		p.in(0, root, "mysql_install_db", "--user=mysql", "--datadir=/var/lib/mysql")
		p.in(0, root, "install", "-d", "-o", "mysql", "/run/mysqld")
	}
	start := func(root string, options ...string) (stop func()) {
		return p.server(root, append([]string{"mysqld", "--user=mysql"}, options...), "mysql", "-N", "-e", "select 1")
	}
	address := []string{"--port=" + p.port(1), "--bind-address=127.0.0.1"}
	stop := start(p.old, address...)
	start(p.new, "--skip-networking", "--event-scheduler=on")
	p.my(p.old, "create database shop character set utf8mb4 collate utf8mb4_unicode_ci; use shop;"+
		"create table a (id int auto_increment primary key, n int, t text) engine=innodb;"+
		"insert into a (n, t) select seq, concat('ü', seq) from seq_1_to_20000;"+
		"create table old (n int) engine=myisam; insert into old values (1);"+
		"create view v as select count(*) n from a; create event ev on schedule every 1 day do select 1;"+
		"create trigger tr after insert on a for each row set @x = 1;"+
		"create user 'anna'@'%' identified by 'x'; grant select on shop.* to 'anna'@'%'; create database `od-d ``x`; create table `od-d ``x`.t (n int primary key)")
	p.reach()
	p.plan()
	d := database{pair: p, script: "mysql"}
	refused := d.step(1, "check")
	refused.Has("set log_bin")        // a source without a binary log
	refused.Has("shop.old is MyISAM") // a table that is not transactional
	p.my(p.old, "alter table shop.old engine=innodb")
	p.in(0, p.old, "mysqladmin", "shutdown")
	stop()
	start(p.old, append(address, "--log-bin", "--server-id=7", "--event-scheduler=on")...)
	d.step(1, "check").Has("event_scheduler = off there") // the source's events would run twice
	p.my(p.new, "set global event_scheduler = off; set global server_id = 8")
	d.step(0, "check")
	w := p.writes(feedMySQL, p.old, client...)
	p.my(p.old, "create user later identified by 'x'; grant select on shop.* to later; create table shop.later (n int primary key)")
	p.my(p.old, "set global event_scheduler = off")
	d.switches(w)
	const digest = "select count(*), sum(n), max(id), sum(crc32(concat(id, ':', n, ':', t))) from shop.a"
	p.is.Equal(p.my(p.new, digest), p.my(p.old, digest)) // no row that was written is lost
	p.is.Equal(p.my(p.new, "select max(id) from shop.a"), w.said.last())
	p.is.Equal(p.my(p.new, "select count(*) from shop.later"), "0") // a table that was made meanwhile
	p.is.True(strings.Contains(d.accounts(), "CREATE USER `anna`"))
	p.is.Equal(p.my(p.new, "select count(*) from mysql.user where user in ('anna', 'later', 'svc_move')"), "0") // they are not replicated
	p.is.Equal(p.my(p.old, "select count(*) from mysql.user where user = 'svc_move'"), "0")
	p.is.Equal(p.my(p.new, "show slave status"), "") // it follows nobody
}

// TestMySQL has two machines of Debian's unstable, as no release has MySQL, whose newer
// versions have other words for all of this.
func TestMySQL(t *testing.T) {
	w := e2e.New(t)
	if w.Call(0, `chroots sid >&2 || echo none`).Line() == "none" {
		fmt.Println("NOT TESTED: MySQL can't be installed from Debian's unstable now")
		t.Skip("no MySQL")
	}
	p := newPair(t, `root "$old" sid; root "$new" sid`)
	for i, root := range []string{p.old, p.new} {
		p.in(0, root, "sh", "-c", "id -u mysql || useradd -r mysql")
		p.is.NoErr(os.RemoveAll(filepath.Join(root, "var/lib/mysql")))
		p.in(0, root, "install", "-d", "-o", "mysql", "/var/lib/mysql", "/var/lib/mysql-files", "/run/mysqld")
		own := []string{"mysqld", "--no-defaults", "--user=mysql", "--datadir=/var/lib/mysql"}
		p.in(0, root, append(own, "--initialize-insecure")...)
		p.server(root, append(own, "--port="+p.port(5+i), fmt.Sprintf("--server-id=%d", 7+i), "--bind-address=127.0.0.1", "--mysqlx=OFF", "--event-scheduler=OFF",
			"--socket=/run/mysqld/mysqld.sock", "--pid-file=/run/mysqld/pid"), "mysql", "-N", "-e", "select 1")
	}
	// A salt is of any bytes: MySQL writes a digest in hexadecimal only where some can't be printed.
	unprintable := hex.EncodeToString([]byte("$A$005$" + strings.Repeat("\x01\x02", 10) + strings.Repeat("a", 43)))
	p.my(p.old, "create database shop; create table shop.a (id int auto_increment primary key, n int, t text); insert into shop.a (n, t) values (1, 'ü'); create user anna identified with caching_sha2_password as 0x"+unprintable)
	p.reach()
	p.plan()
	d := database{pair: p, script: "mysql"}
	d.step(0, "check")
	fed := p.writes(feedMySQL, p.old, client...)
	d.switches(fed)
	const digest = "select count(*), sum(n), max(id) from shop.a"
	p.is.Equal(p.my(p.new, digest), p.my(p.old, digest)) // no row that was written is lost
	p.is.Equal(p.my(p.new, "select max(id) from shop.a"), fed.said.last())
	p.is.True(regexp.MustCompile("CREATE USER `anna`.* AS 0x" + strings.ToUpper(unprintable) + " ").MatchString(d.accounts()))
	p.is.Equal(p.my(p.new, "show replica status"), "")
}
