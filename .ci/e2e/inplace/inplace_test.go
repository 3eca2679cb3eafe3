// Package inplace_test upgrades real MariaDB, 10.5 → 10.11 → 11.8, and Redis, 6.0 → 7.0 →
// 8.0 and to Valkey, on a machine that is Debian 11, 12 and 13, with the old server stopped
// and running; kills svc at every step and then goes on or goes back; fills the disk; and
// asks the servers themselves what is there each time. All of it happens in namespaces of
// its own.
package inplace_test

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/matryer/is"
	"golang.org/x/sys/unix"

	"svc/.ci/e2e"
)

var all = flag.Bool("all", false, "end upgrades in every step, too")

func TestMain(m *testing.M) {
	e2e.Apart(m, ". .ci/e2e/chroots.sh; chroots bullseye bookworm trixie")
}

// steps are those before the new server is started.
var steps = []string{"stop", "backup", "verify", "upgrade", "exchange"}

// machine has a root for each release that it goes through: as one has them whose system is
// upgraded in between, they share a disk for data, /srv/db, one for backups, and the
// sockets. All is in memory.
type machine struct {
	*e2e.Work
	t      *testing.T
	is     *is.I
	backup string // where backups are, on the machine
	was    string // the digest of the data before an upgrade
}

func newMachine(t *testing.T) *machine {
	m := &machine{Work: e2e.New(t), t: t, is: is.New(t)}
	m.Mount("tmpfs", m.Path("memory"), "tmpfs", 0, "size=3g")
	m.Mount("tmpfs", m.disk(), "tmpfs", 0, "size=800m,mode=755")
	for name, mode := range map[string]os.FileMode{"backups": 0o755, "sockets": 0o755, "sockets/mysqld": 0o777, "sockets/redis": 0o777} {
		m.is.NoErr(os.MkdirAll(m.Path("memory", name), mode))
		m.is.NoErr(os.Chmod(m.Path("memory", name), mode))
	}
	for _, suite := range []string{"bullseye", "bookworm", "trixie"} {
		m.release(suite)
	}
	return m
}

// release adds a root to the machine. The numbers of accounts are the same in all.
func (m *machine) release(suite string) {
	m.Overlay(filepath.Join(e2e.Cache(), "databases", suite), "memory/"+suite)
	m.Mount("tmpfs", m.root(suite, "tmp"), "tmpfs", 0, "mode=1777")
	m.Mount("tmpfs", m.root(suite, "run"), "tmpfs", 0, "mode=755")
	for from, to := range map[string]string{"disk": "srv/db", "backups": "srv/backups", "sockets/mysqld": "run/mysqld", "sockets/redis": "run/redis"} {
		m.Mount(m.Path("memory", from), m.root(suite, to), "", unix.MS_BIND, "")
	}
	m.Run(0, "cp", m.Command().Path, m.root(suite, "usr/local/bin/svc"))
	m.Shell(0, `cd "$1"
		for account in mysql:901 redis:902 valkey:903; do
			engine=${account%:*} number=${account#*:}
			rm -rf "var/lib/$engine"
			ln -s "/srv/db/$engine" "var/lib/$engine"
			chroot . id "$engine" || continue
			chroot . usermod -o -u "$number" "$engine"
			chroot . groupmod -o -g "$number" "$engine"
			[ ! -e "etc/$engine" ] || chroot . chown -R "$engine:$engine" "/etc/$engine"
			[ "$engine" != mysql ] || continue
			sed -i 's/^port .*/port 0/; s/^logfile .*/logfile ""/' "etc/$engine"/*.conf
		done
		printf '[mysqld]\ninnodb_log_file_size=8M\nskip-networking\n' >etc/mysql/mariadb.conf.d/99-e2e.cnf
		echo 'unixsocket /run/redis/redis.sock' >>etc/redis/redis.conf
		[ ! -e etc/valkey ] || echo 'unixsocket /run/redis/valkey.sock' >>etc/valkey/valkey.conf`, m.root(suite))
}

// part is one of the test. One that fails may leave servers and data, so it is the last.
func (m *machine) part(name string, run func(*machine)) {
	if !m.t.Run(name, func(t *testing.T) { run(&machine{Work: m.In(t), t: t, is: is.New(t)}) }) {
		m.t.FailNow()
	}
}

func (m *machine) root(suite string, elem ...string) string {
	return m.Path(append([]string{"memory", suite}, elem...)...)
}

// disk is a path on the disk for data.
func (m *machine) disk(elem ...string) string {
	return m.Path(append([]string{"memory", "disk"}, elem...)...)
}

// at is a path of the machine's last release.
func (m *machine) at(path string) string { return m.root("trixie", path) }

// command is one in a release; it has nothing of this machine's environment.
func (m *machine) command(suite string, args ...string) *exec.Cmd {
	c := exec.Command("chroot", append([]string{m.root(suite)}, args...)...)
	c.Env = []string{"HOME=/tmp", "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}
	return c
}

func (m *machine) on(code int, suite string, args ...string) e2e.Said {
	m.t.Helper()
	return m.Do(code, m.command(suite, args...))
}

// adds adds lines to a file of a release, until they are taken away.
func (m *machine) adds(suite, path, lines string) (remove func()) {
	m.t.Helper()
	path = m.root(suite, path)
	before, err := os.ReadFile(path)
	m.is.NoErr(err)
	m.is.NoErr(os.WriteFile(path, append(before, lines...), 0o644))
	return func() { m.is.NoErr(os.WriteFile(path, before, 0o644)) }
}

// upgrades is svc's command, and resumes one of --resume and --roll-back.
func (m *machine) upgrades(suite, engine, version string) *exec.Cmd {
	return m.command(suite, "svc", "db", "upgrade", "--engine", engine, "--to", version, "--backup-dir", m.backup, "--confirm")
}

func (m *machine) resumes(suite string, how ...string) *exec.Cmd {
	return m.command(suite, append([]string{"svc", "db", "upgrade", "--backup-dir", m.backup, "--confirm"}, how...)...)
}

func (m *machine) upgrade(code int, suite, engine, version string) e2e.Said {
	m.t.Helper()
	return m.Do(code, m.upgrades(suite, engine, version))
}

// again is done with an upgrade that was begun on Debian 13.
func (m *machine) again(code int, how ...string) e2e.Said {
	m.t.Helper()
	return m.Do(code, m.resumes("trixie", how...))
}

// empty makes an empty backup directory.
func (m *machine) empty() {
	m.t.Helper()
	m.Run(0, "find", m.backups(), "-mindepth", "1", "-delete")
	m.is.NoErr(os.Mkdir(m.backups("one"), 0o755))
	m.backup = "/srv/backups/one"
}

func (m *machine) backups(elem ...string) string {
	return m.Path(append([]string{"memory", "backups"}, elem...)...)
}

// clear empties the disk for data.
func (m *machine) clear() {
	m.t.Helper()
	m.Run(0, "find", m.disk(), "-mindepth", "1", "-delete")
}

// digest is that of all in a folder: names, owners, modes, times and bytes.
func (m *machine) digest(dir string) string {
	m.t.Helper()
	return m.Shell(0, `cd "$1"
		{ find . ! -type s -printf '%p %y %m %U:%G %s\n' | sort
		find . -type f -printf '%p %T@\n' | sort
		find . -type f -print0 | sort -z | xargs -0 sha256sum; } | sha256sum`, dir).Line()
}

// keeps: the data before the upgrade are beside those of the new version, as they were.
func (m *machine) keeps(name string) {
	m.t.Helper()
	m.is.Equal(m.digest(m.disk(name+".svc-old")), m.was)
}

// back: the data are where they were, byte for byte, and nothing else is.
func (m *machine) back(name string) {
	m.t.Helper()
	m.is.Equal(m.digest(m.disk(name)), m.was)
	entries, err := os.ReadDir(m.disk())
	m.is.NoErr(err)
	m.is.Equal(len(entries), 1)
}

// tells fails where what was said has no match of a pattern.
func (m *machine) tells(said e2e.Said, pattern string) {
	m.t.Helper()
	if all := said.Out + said.Err; !regexp.MustCompile(pattern).MatchString(all) {
		m.t.Fatalf("no %q in:\n%s", pattern, all)
	}
}

// matches are what a pattern's group has matched.
func matches(text, pattern string) (all []string) {
	for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(text, -1) {
		all = append(all, m[1])
	}
	return all
}

// loses: a roll-back that would lose writes is refused; then it is done, and the commands
// that it prints dump what is kept.
func (m *machine) loses() {
	m.t.Helper()
	m.again(1, "--roll-back").Has("--discard-writes")
	said := m.again(0, "--roll-back", "--discard-writes")
	m.on(0, "trixie", "bash", "-c", strings.Join(matches(said.Out+said.Err, "(?m)^ *`(.*)`$"), "\n")+"; wait")
}

// cleans does what the result says to do afterwards, as printed, but for the way back.
func (m *machine) cleans(name string, said e2e.Said) {
	m.t.Helper()
	var commands []string
	for _, c := range matches(said.Out+said.Err, "`([^`\n]*)`") {
		if !strings.Contains(c, "roll-back") {
			commands = append(commands, c)
		}
	}
	m.is.Equal(len(commands), 3) // to look at it, and to remove what was
	m.on(0, "trixie", "env", "HOME=/root", "bash", "-ec", strings.Join(commands, "\n"))
	m.gone(m.disk(name + ".svc-old"))
	m.gone(m.backups("one"))
}

func (m *machine) gone(path string) {
	m.t.Helper()
	_, err := os.Lstat(path)
	m.is.True(os.IsNotExist(err))
}
