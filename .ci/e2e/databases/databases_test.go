// Package databases_test plans real databases: PostgreSQL, MariaDB, Redis, Valkey and
// OpenLDAP of Debian 13, with -all of 11 too, and MySQL where Debian's unstable has one, each started
// and filled in a root whose changes are thrown away, stopped, and then read by svc db
// plan, whose answers are compared with what the servers and their own tools say.
package databases_test

import (
	"encoding/binary"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"

	"svc/.ci/e2e"
	"svc/tools/database"
	"svc/tools/dbplan"
)

var all = flag.Bool("all", false, "plan for a second release, too")

func TestMain(m *testing.M) {
	e2e.Main(m, "mmdebstrap:mmdebstrap", "mke2fs:e2fsprogs", "sshd:openssh-server", "ssh:openssh-client")
}

// machine is a root with servers.
type machine struct {
	*e2e.Work
	t    *testing.T
	is   *is.I
	root string
}

// newMachine is one of a suite. The library by which PostgreSQL sorts text has a locale.
func newMachine(t *testing.T, suite string) *machine {
	m := &machine{Work: e2e.New(t), t: t, is: is.New(t)}
	m.root = m.Path("root")
	said, made := m.make(suite)
	if !made {
		if suite != "sid" { // which is not always whole
			t.Fatal(said.Out, said.Err)
		}
		fmt.Println("NOT TESTED: MySQL can't be installed from Debian's unstable now")
		t.Skip("no MySQL")
	}
	if suite != "sid" {
		m.Call(0, `[ -e "$1/usr/lib/locale/de_DE.utf8" ] || DEBIAN_FRONTEND=noninteractive chroot "$1" sh -c 'apt-get update -qq && apt-get install -y -qq --no-install-recommends locales && localedef --no-archive -i de_DE -f UTF-8 de_DE.UTF-8 && apt-get clean'`,
			m.kept(suite))
	}
	m.Hold(`mkdir "$work/upper" "$work/over" "$work/root"
		mount -t overlay overlay -o "lowerdir=$cache/$1,upperdir=$work/upper,workdir=$work/over" "$work/root"`, `umount -q -l "$work/root"`, suite)
	return m
}

// make makes the root of a suite, where it isn't there.
func (m *machine) make(suite string) (said e2e.Said, made bool) {
	m.t.Helper()
	said = m.Call(0, `chroots "$1" || echo "no $1"`, suite)
	return said, !strings.HasSuffix(said.Line(), "no "+suite)
}

// kept is the root of a suite that all machines of it have below them.
func (m *machine) kept(suite string) string { return filepath.Join(e2e.Cache(), "databases", suite) }

func (m *machine) at(name string) string { return filepath.Join(m.root, name) }

// in runs a command in the root.
func (m *machine) in(command ...string) e2e.Said {
	m.t.Helper()
	return m.Run(0, "chroot", append([]string{m.root}, command...)...)
}

// start starts a server in the root, and comes back when a client reaches it.
func (m *machine) start(server []string, client ...string) (stop func()) {
	m.t.Helper()
	stop = m.Start("chroot", append([]string{m.root}, server...)...)
	m.Until("chroot", append([]string{m.root}, client...)...)
	return stop
}

// clear takes away the data of a server that ran here before, or that a package made.
func (m *machine) clear(folder string) { m.is.NoErr(os.RemoveAll(m.at(folder))) }

// plans are those of the databases of a machine, reached by a way.
func (m *machine) plans(target string, way ...string) []database.Plan {
	m.t.Helper()
	var d dbplan.PlanResult
	m.SVC(0, append([]string{"db", "plan", "--target", target, "--json"}, way...)...).JSON(&d)
	return d.Databases
}

// plan is that of an engine's first database in the root.
func (m *machine) plan(target, engine string) plan {
	m.t.Helper()
	all := m.plans(target, "--root", m.root)
	i := slices.IndexFunc(all, func(p database.Plan) bool { return p.Engine == engine })
	if i < 0 {
		m.t.Fatalf("no plan for %s", engine)
	}
	return plan{all[i]}
}

// plan is what svc says of a database.
type plan struct{ database.Plan }

func (p plan) fact(key string) string {
	for _, f := range p.Data.Facts {
		if f.Key == key {
			return f.Value
		}
	}
	return ""
}

// warns reports whether a note says so.
func (p plan) warns(text string) bool {
	return slices.ContainsFunc(p.Notes, func(n database.Note) bool { return strings.Contains(n.Text, text) })
}

// bars reports whether a way that has these words is said not to work.
func (p plan) bars(method string) bool {
	return slices.ContainsFunc(p.Barriers, func(b database.Barrier) bool { return strings.Contains(b.Method, method) })
}

// authenticates reports whether clients may get in by a way.
func (p plan) authenticates(by string) bool {
	for _, a := range p.Data.Auth {
		if a.Name == by {
			return true
		}
	}
	return false
}

// engines are the storage engines with the number of their tables.
func (p plan) engines() string {
	var all []string
	for _, e := range p.Data.Engines {
		if !strings.Contains(e.Name, ".") {
			all = append(all, fmt.Sprintf("%s %d", e.Name, e.Count))
		}
	}
	return strings.Join(all, " ")
}

func TestBullseye(t *testing.T) {
	if !*all {
		t.Skip("-all plans for a second release")
	}
	m := newMachine(t, "bullseye")
	m.postgresql("13")
	m.mariadb()
	m.keys("redis")
	m.openldap()
	m.is.Equal(m.plan("debian-13", "postgresql").Gap, database.GapMajor)
	m.stays("debian-11")
	m.is.Equal(m.plan("debian-13", "openldap").Gap, database.GapMajor)
	m.is.Equal(m.plan("almalinux-10", "redis").Gap, database.GapEngineChange)
}

func TestTrixie(t *testing.T) {
	m := newMachine(t, "trixie")
	m.postgresql("17")
	m.sqlite()
	m.mariadb()
	redis := m.keys("redis")
	m.is.Equal(redis.Gap, database.GapEngineChange)
	m.is.True(redis.bars("dump.rdb")) // the files of 8.0 do not go to EL 10's Valkey
	m.keys("valkey")
	m.openldap()
	m.is.Equal(m.plan("debian-12", "postgresql").Gap, database.GapNotOffered)
	m.stays("debian-13")

	// What the plan says of files is what Valkey itself does with them.
	m.is.True(!m.readsDump("/var/lib/redis"))
	m.is.True(m.readsDump("/var/lib/valkey"))
	m.is.NoErr(os.RemoveAll(m.at("tmp/e2e.sock")))
	before := m.inodes()
	m.plan("debian-13", "postgresql")
	m.is.Equal(m.inodes(), before) // reading changes nothing
	m.byImage()
	m.is.Equal(m.plans("debian-13", "--ssh", m.Serve("ChrootDirectory "+m.root)), m.plans("debian-13", "--root", m.root))
}

// stays: PostgreSQL stays in its series; the archive may have a newer minor release than
// the index knew.
func (m *machine) stays(target string) {
	m.t.Helper()
	gap := m.plan(target, "postgresql").Gap
	m.is.True(gap == database.GapNone || gap == database.GapMinor)
}

// inodes are those of the servers' data, with their sizes and times.
func (m *machine) inodes() string {
	m.t.Helper()
	return m.Shell(0, `find "$@" -printf '%p %s %T@ %C@\n' | sort`, m.at("var/lib/redis"), m.at("var/lib/postgresql")).Out
}

// byImage compares a disk image of the machine's files with the files.
func (m *machine) byImage() {
	tree, image := m.Path("tree"), m.Path("disk.img")
	m.Shell(0, `mkdir -p "$2/etc" "$2/var/lib" "$2/usr/lib"
		cp -a "$1"/etc/. "$2/etc/"
		cp -a "$1"/usr/lib/os-release "$2/usr/lib/"
		for name in dpkg postgresql mysql redis ldap valkey; do cp -a "$1/var/lib/$name" "$2/var/lib/"; done
		truncate -s 1200M "$3"
		mke2fs -q -F -t ext4 -d "$2" "$3"`, m.root, tree, image)
	m.is.Equal(m.plans("debian-13", "--image", image), m.plans("debian-13", "--root", tree))
	m.Run(0, "rm", "-rf", tree, image)
}

// keys: keys and a dump, and append-only files of Redis or Valkey; what the server says.
func (m *machine) keys(engine string) plan {
	data := "/var/lib/" + engine
	m.clear(data)
	m.is.NoErr(os.Mkdir(m.at(data), 0o755))
	client := []string{engine + "-cli", "-s", "/tmp/e2e.sock"}
	ask := func(command ...string) string { m.t.Helper(); return m.in(append(client, command...)...).Line() }
	stop := m.start([]string{engine + "-server", "--port", "0", "--unixsocket", "/tmp/e2e.sock", "--dir", data, "--appendonly", "yes", "--save", ""}, append(client, "ping")...)
	ask("mset", "a", "1", "b", "2", "c", "3")
	ask("save")
	_, version, _ := strings.Cut(ask("info", "server"), "\n"+engine+"_version:")
	version, _, _ = strings.Cut(version, "\r")
	keys := ask("dbsize")
	stop()
	p := m.plan("almalinux-10", engine)
	m.is.True(version != "")
	m.is.Equal(string(p.Version), version)
	m.is.Equal(p.fact("keys of the first database"), keys)
	dump, err := os.ReadFile(m.at(data + "/dump.rdb"))
	m.is.NoErr(err)
	m.is.Equal(p.Data.Form, "rdb "+strings.TrimLeft(string(dump[5:9]), "0")) // as the file says
	m.is.True(p.fact("append-only files") != "" || p.fact("append-only file") != "")
	return p
}

// readsDump reports whether Valkey starts with the dump in a folder.
func (m *machine) readsDump(folder string) bool {
	m.t.Helper()
	said := m.Shell(0, `timeout 5 chroot "$1" valkey-server --port 0 --unixsocket /tmp/e2e.sock --dir "$2" --dbfilename dump.rdb --appendonly no || true`, m.root, folder)
	return strings.Contains(said.Out, "Ready to accept")
}

func (m *machine) openldap() {
	p := m.plan("debian-13", "openldap")
	m.is.Equal(p.Data.Form, "mdb")
	data, err := os.ReadFile(m.at("var/lib/ldap/data.mdb"))
	m.is.NoErr(err)
	m.is.Equal(p.fact("largest size allowed"), fmt.Sprint(binary.LittleEndian.Uint64(data[32:])))
}
