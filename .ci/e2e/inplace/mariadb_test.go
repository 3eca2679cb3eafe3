package inplace_test

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"svc/.ci/e2e"
)

// mariadb is a machine with the data of MariaDB 10.5, which are kept aside, and what that
// says of them.
type mariadb struct {
	*machine
	facts string
}

func TestMariaDB(t *testing.T) {
	m := &mariadb{machine: newMachine(t)}
	m.fill()
	type part struct {
		name string
		run  func(*mariadb)
	}
	parts := []part{
		{"refusals", (*mariadb).refusals},
		{"crashed", (*mariadb).crashed},
		{"chain", (*mariadb).chain},
		{"running", (*mariadb).running},
		{"pair", (*mariadb).pair},
		{"cleaned", (*mariadb).cleaned},
		{"kills", (*mariadb).kills},
		{"unsettled", (*mariadb).unsettled},
		{"full", (*mariadb).full},
		{"readonly", (*mariadb).readonly},
	}
	if *all {
		parts = append(parts, part{"struck", (*mariadb).struck}, part{"interrupts", (*mariadb).interrupts})
	}
	for _, part := range parts {
		m.part(part.name, func(here *machine) { part.run(&mariadb{here, m.facts}) })
	}
}

// socket is an option of clients and servers.
func socket(name string) string { return "--socket=/run/mysqld/" + name + ".sock" }

// own is the machine's own server's.
var own = socket("mysqld")

// client is a client's command.
func (m *mariadb) client(socket string, args ...string) []string {
	return append([]string{"mysql", socket, "--default-character-set=utf8mb4", "-BN"}, args...)
}

func (m *mariadb) sql(suite, statements string) string {
	m.t.Helper()
	return m.asks(suite, own, statements)
}

func (m *mariadb) asks(suite, socket, statements string) string {
	m.t.Helper()
	return m.on(0, suite, m.client(socket, "-e", statements)...).Line()
}

// reads has a server's client read statements, and gives what it says.
func (m *mariadb) reads(suite, name string) string {
	m.t.Helper()
	file, err := os.Open("testdata/" + name)
	m.is.NoErr(err)
	defer file.Close()
	c := m.command(suite, m.client(own)...)
	c.Stdin = file
	return m.Do(0, c).Out
}

// answers reports whether the machine's own server does.
func (m *mariadb) answers(suite string) bool {
	return m.command(suite, m.client(own, "-e", "select 1")...).Run() == nil
}

// start starts a server as the machine runs it.
func (m *mariadb) start(suite string) *e2e.Process {
	m.t.Helper()
	return m.serve(suite, own)
}

func (m *mariadb) serve(suite, socket string, options ...string) *e2e.Process {
	m.t.Helper()
	p := m.Launch(m.command(suite, append([]string{"/usr/sbin/mariadbd", "--user=mysql"}, options...)...))
	m.Until("chroot", append([]string{m.root(suite)}, m.client(socket, "-e", "select 1")...)...)
	return p
}

// quit stops a server that svc has started.
func (m *mariadb) quit(suite string) {
	m.t.Helper()
	m.on(0, suite, "mysqladmin", own, "shutdown")
}

// fill makes the data of 10.5 that everything begins with.
func (m *mariadb) fill() {
	m.on(0, "bullseye", "install", "-d", "-o", "mysql", "-g", "mysql", "/srv/db/mysql")
	m.on(0, "bullseye", "mysql_install_db", "--user=mysql", "--auth-root-authentication-method=socket")
	server := m.start("bullseye")
	m.reads("bullseye", "shop.sql")
	m.facts = m.says("bullseye")
	server.End(syscall.SIGTERM)
	m.Run(0, "mv", m.disk("mysql"), m.Path("memory/pristine"))
}

// says is what the server says that is there, and lets an account have.
func (m *mariadb) says(suite string) string {
	m.t.Helper()
	account := m.on(0, suite, "mysql", own, "-u", "u", "-psecret", "-BNe", `select count(*) from shop.orders; show databases like "shop"`)
	return m.reads(suite, "facts.sql") + account.Out
}

// old has fresh data of 10.5 be on the machine.
func (m *mariadb) old() {
	m.t.Helper()
	m.clear()
	m.Run(0, "cp", "-a", m.Path("memory/pristine"), m.disk("mysql"))
	m.was = m.digest(m.disk("mysql"))
	m.empty()
}

// holds: a server that is started on what there is has everything.
func (m *mariadb) holds(suite string) {
	m.t.Helper()
	server := m.start(suite)
	m.is.Equal(m.says(suite), m.facts)
	server.End(syscall.SIGTERM)
}

// begin has 10.5 run.
func (m *mariadb) begin() *e2e.Process {
	m.t.Helper()
	m.old()
	return m.start("bullseye")
}

// refused: the data are not upgraded to 11.8, and svc says why.
func (m *mariadb) refused(why string) {
	m.t.Helper()
	m.upgrade(1, "trixie", "mariadb", "11.8").Has(why)
}

func (m *mariadb) refusals() {
	m.old()
	m.tells(m.on(2, "trixie", "svc", "db", "upgrade", "--engine", "mariadb", "--to", "11.8", "--backup-dir", m.backup), "exchange.*changes the host")
	m.upgrade(1, "trixie", "mariadb", "10.11").Has("installed is mariadb 11.8")
	m.places()
	data := m.disk("mysql")
	m.is.NoErr(os.WriteFile(data+"/master.info", []byte("x\n"), 0o644))
	m.refused("this server is a replica")
	m.is.NoErr(os.Remove(data + "/master.info"))
	m.is.NoErr(os.Chown(data, 904, -1))
	m.refused("chown -R mysql:")
	m.on(0, "trixie", "chown", "mysql", "/srv/db/mysql")
	m.is.NoErr(os.Mkdir(data+".svc-old", 0o755))
	m.refused("of an earlier upgrade")
	m.is.NoErr(os.Remove(data + ".svc-old"))
	m.is.NoErr(os.Symlink("/srv/db", data+"/elsewhere"))
	m.refused("can't be copied as a whole")
	m.is.NoErr(os.Remove(data + "/elsewhere"))
	unmount := m.Mount(data, m.at("srv/db/mysql"), "", unix.MS_BIND, "")
	m.refused("where a file system is mounted")
	unmount()
	remove := m.adds("trixie", "etc/mysql/mariadb.conf.d/99-e2e.cnf", "innodb_thread_concurrencies=3\n")
	m.refused("unknown variable") // the new server does not take it
	remove()
	m.back("mysql")
}

// places: backup directories that are refused.
func (m *mariadb) places() {
	m.backup = "/srv/backups/none"
	m.refused("does not exist")
	m.is.NoErr(os.Mkdir(m.disk("mysql/backup"), 0o755))
	m.backup = "/srv/db/mysql/backup"
	m.refused("/srv/db/mysql belongs to the account")
	m.is.NoErr(os.Remove(m.disk("mysql/backup")))
	m.backup = "/srv/backups/small"
	unmount := m.Mount("tmpfs", m.at(m.backup), "tmpfs", 0, "size=20m,mode=755")
	m.refused("too little room")
	unmount()
	m.empty()
}

// crashed: the old server was killed, so that its redo log is not empty.
func (m *mariadb) crashed() {
	server := m.begin()
	m.sql("bullseye", "insert into shop.parts values (7, 7)")
	server.End(syscall.SIGKILL)
	m.was = m.digest(m.disk("mysql"))
	m.refused("Upgrade after a crash is not supported") // the server's own reason
	m.back("mysql")
	server = m.start("bullseye")
	m.is.Equal(m.sql("bullseye", "select count(*) from shop.parts"), "201") // and the old server recovers them
	server.End(syscall.SIGTERM)
}

// chain goes from release to release, each upgraded data being the next ones.
func (m *mariadb) chain() {
	m.old()
	m.upgrade(0, "bookworm", "mariadb", "10.11").Has("mysql.svc-old") // where the old data are
	m.keeps("mysql")
	m.holds("bookworm")
	m.is.NoErr(os.RemoveAll(m.disk("mysql.svc-old")))
	m.empty()
	m.upgrade(0, "trixie", "mariadb", "11.8")
	m.holds("trixie")
	m.is.NoErr(os.RemoveAll(m.disk("mysql.svc-old")))
	m.empty()
	m.upgrade(1, "trixie", "mariadb", "11.8") // it is one
}

// running: the old server runs while the new one's files are there.
func (m *mariadb) running() {
	server := m.begin()
	m.upgrade(0, "trixie", "mariadb", "11.8")
	server.Wait()
	m.is.Equal(m.says("trixie"), m.facts)
	m.is.Equal(m.sql("trixie", "select left(version(), 4)"), "11.8")
	m.sql("trixie", "create table shop.later (n int); insert into shop.later values (1)")
	m.loses()
	written, err := os.ReadFile(m.backups("one/written.sql"))
	m.is.NoErr(err)
	m.is.True(strings.Contains(string(written), "CREATE TABLE `later`"))
	_, err = os.Stat(m.disk("mysql.svc-undone/shop/later.ibd"))
	m.is.NoErr(err)                 // what clients have written since is kept aside
	m.is.True(!m.answers("trixie")) // no new server runs on the old data
	m.holds("bullseye")
}

// pair is a primary of 10.5 with a replica that is of 11.8 already, as it has to be.
func (m *mariadb) pair() {
	m.old()
	for _, suite := range []string{"bullseye", "trixie"} {
		config := m.root(suite, "etc/mysql/mariadb.conf.d/99-pair.cnf")
		m.is.NoErr(os.WriteFile(config, []byte("[mysqld]\nskip-networking=0\nbind-address=127.0.0.1\nport=3306\nserver-id=1\nlog-bin=bin\n"), 0o644))
		defer os.Remove(config)
	}
	m.on(0, "trixie", "mariadb-install-db", "--user=mysql", "--datadir=/srv/db/replica", "--auth-root-authentication-method=socket")
	replica := m.serve("trixie", socket("replica"), "--datadir=/srv/db/replica", socket("replica"), "--pid-file=/tmp/replica.pid", "--port=3399", "--server-id=2", "--skip-log-bin")
	primary := m.start("bullseye")
	m.asks("trixie", socket("replica"), fmt.Sprintf("set global gtid_slave_pos = '%s'; change master to master_host='127.0.0.1', master_user='rep', master_password='secret', master_use_gtid=slave_pos, master_connect_retry=1, master_ssl=0, master_ssl_verify_server_cert=0",
		m.sql("bullseye", "select @@gtid_binlog_pos")))
	m.sql("bullseye", "create user rep@localhost identified by 'secret'; grant replication slave on *.* to rep@localhost; create database pair; create table pair.rows (n int primary key); insert into pair.rows values (1)")
	m.asks("trixie", socket("replica"), "start slave")
	m.follows("1")
	m.upgrade(0, "trixie", "mariadb", "11.8").Has("its replicas, if it has any, have to be of the new version")
	primary.Wait()
	m.sql("trixie", "insert into pair.rows values (2)")
	m.follows("2")
	replica.End(syscall.SIGTERM)
	m.again(0, "--roll-back", "--discard-writes")
	primary = m.start("bullseye")
	m.is.Equal(m.sql("bullseye", "select count(*) from pair.rows"), "1") // what it had
	primary.End(syscall.SIGTERM)
}

// follows: the replica has as many of the primary's rows, and goes on by GTIDs.
func (m *mariadb) follows(rows string) {
	m.t.Helper()
	m.Until("bash", "-c", `[ "$(chroot "$0" mysql "$1" -BNe 'select count(*) from pair.rows')" = "$2" ]`, m.root("trixie"), socket("replica"), rows)
	state := m.on(0, "trixie", "mysql", socket("replica"), "-e", `show slave status\G`).Out
	for _, line := range []string{"Slave_IO_Running: Yes", "Slave_SQL_Running: Yes", "Using_Gtid: Slave_Pos"} {
		m.is.True(strings.Contains(state, line+"\n"))
	}
}

// cleaned is beside a server of the old version that is to live on.
func (m *mariadb) cleaned() {
	m.old()
	m.Run(0, "cp", "-a", m.Path("memory/pristine"), m.disk("other"))
	other := m.serve("bullseye", socket("other"), "--datadir=/srv/db/other", socket("other"), "--pid-file=/run/mysqld/other.pid", "--skip-networking")
	server := m.start("bullseye")
	said := m.upgrade(0, "trixie", "mariadb", "11.8")
	server.Wait()
	m.cleans("mysql", said)
	m.is.Equal(m.says("trixie"), m.facts)                                                                                 // without what was
	m.is.Equal(m.asks("bullseye", socket("other"), "select left(version(), 4), count(*) from shop.orders"), "10.5\t5000") // the other server lives
	m.quit("trixie")
	other.End(syscall.SIGTERM)
}

// kills: SIGKILL at every step, and back; then at every step, and on.
func (m *mariadb) kills() {
	for _, step := range steps {
		after := 50 * time.Millisecond
		if step == "upgrade" {
			after = time.Second
		}
		m.old()
		m.during(step, m.upgrades("trixie", "mariadb", "11.8"), signal(syscall.SIGKILL, after))
		m.again(0, "--roll-back")
		m.back("mysql")
	}
	m.holds("bullseye")
	m.old()
	m.during(steps[0], m.upgrades("trixie", "mariadb", "11.8"), signal(syscall.SIGKILL, 0))
	for _, step := range steps[1:] {
		m.from(step, m.resumes("trixie", "--resume"), signal(syscall.SIGKILL, 100*time.Millisecond))
	}
	m.again(0, "--resume")
	m.keeps("mysql")
	m.holds("trixie")
	m.again(0, "--resume") // what is done is done
}

// struck: SIGKILL while a server that runs is stopped, while files are exchanged, and while
// the new server starts.
func (m *mariadb) struck() {
	for _, step := range []string{"stop", "exchange", "start"} {
		for _, how := range []string{"--roll-back", "--resume"} {
			server := m.strikes(step, "mariadb", "11.8", m.begin)
			m.again(0, how)
			suite := "trixie"
			if how == "--roll-back" {
				suite = "bullseye"
				if !server.Runs() || !m.answers(suite) { // svc can't start it
					server.Wait()
					server = m.start(suite)
				}
			}
			m.is.Equal(m.says(suite), m.facts)
			m.quit(suite)
			server.Wait()
		}
	}
}

// unsettled: SIGKILL when the server was told how to stop, and before it is: it goes on, and
// will stop as it would have before. The client takes its time, so that there is one.
func (m *mariadb) unsettled() {
	const ask, slowly = "select @@global.innodb_fast_shutdown", "#!/bin/sh\nin=$(cat)\nprintf %s \"$in\" | mariadb.real \"$@\" || exit 1\ncase $in in *fast_shutdown=0*) sleep 5 ;; esac\n"
	client := m.root("trixie", "usr/bin/mariadb")
	m.is.NoErr(os.Rename(client, client+".real"))
	defer func() { m.is.NoErr(os.Rename(client+".real", client)) }()
	m.is.NoErr(os.WriteFile(client, []byte(slowly), 0o755))
	server := m.begin()
	m.is.Equal(m.sql("bullseye", ask), "1")
	m.during("stop", m.upgrades("trixie", "mariadb", "11.8"), func(svc *os.Process) {
		m.Until("sh", "-c", `[ "$(chroot "$0" mysql "$1" -BNe "$2")" = 0 ]`, m.root("bullseye"), own, ask)
		m.is.NoErr(svc.Kill())
	})
	m.again(0, "--roll-back")
	m.is.True(server.Runs())
	m.is.Equal(m.sql("bullseye", ask), "1")
	m.is.Equal(m.says("bullseye"), m.facts)
	m.quit("bullseye")
	server.Wait()
}

// interrupts: also while a server starts, of which MariaDB never ends by itself.
func (m *mariadb) interrupts() {
	for after := 200 * time.Millisecond; after <= time.Second; after += 200 * time.Millisecond {
		for _, step := range []string{"verify", "upgrade"} {
			m.old()
			m.during(step, m.upgrades("trixie", "mariadb", "11.8"), signal(syscall.SIGINT, after)).Has("all was rolled back")
			m.back("mysql")
		}
	}
}

func (m *mariadb) full() {
	m.old()
	m.backup = "/srv/backups/disk"
	unmount := m.Mount("tmpfs", m.at(m.backup), "tmpfs", 0, "size=400m,mode=755")
	m.machine.full(m.at(m.backup), "backup", "mariadb", "11.8")
	unmount()
	m.back("mysql")
	for _, step := range []string{"verify", "upgrade"} {
		m.old()
		m.machine.full(m.disk(), step, "mariadb", "11.8")
		m.back("mysql")
	}
}

// readonly: the disk of the data goes read-only, as after an error of it.
func (m *mariadb) readonly() {
	m.old()
	remount := func(how string) { m.Run(0, "mount", "-o", "remount,"+how, m.disk()) }
	m.during("backup", m.upgrades("trixie", "mariadb", "11.8"), m.stall(func() { remount("ro") })).Has("is on a file system that is read-only")
	m.back("mysql")
	remount("rw")
	_ = m.resumes("trixie", "--roll-back").Run() // where something is left to do
	m.back("mysql")
	m.holds("bullseye")
}
