// Package rpm_test reads rpm's databases beside rpm itself: every real one of a
// library's test data, and roots that rpm of Debian 11 (Berkeley DB) and 13 (ndb,
// SQLite) made of packages built here.
package rpm_test

import (
	"database/sql"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"
	_ "modernc.org/sqlite"

	"svc/.ci/e2e"
	"svc/assess"
)

func TestMain(m *testing.M) {
	e2e.Main(m, "mmdebstrap:mmdebstrap", "rpmbuild:rpm")
}

// machine is a root with a database of rpm.
type machine struct {
	*e2e.Work
	t     *testing.T
	is    *is.I
	root  string
	form  string // of the database, as rpm calls it
	lists rpm    // that of Debian 13, which reads every form
}

func TestReal(t *testing.T) {
	w := e2e.New(t)
	trixie := newRPM(w, "trixie")
	data := filepath.Join(w.Run(0, "go", "list", "-m", "-f", "{{.Dir}}", "github.com/anchore/go-rpmdb").Line(), "pkg/testdata")
	for file, form := range map[string]string{"Packages": "bdb", "Packages.db": "ndb", "rpmdb.sqlite": "sqlite"} {
		found, err := filepath.Glob(filepath.Join(data, "*", file))
		is.New(t).NoErr(err)
		is.New(t).True(len(found) > 0)
		for _, real := range found {
			name := filepath.Base(filepath.Dir(real))
			t.Run(name, func(t *testing.T) {
				m := &machine{w.In(t), t, is.New(t), w.Path(name), form, trixie.in(w.In(t))}
				m.system("centos", "7")
				m.Run(0, "install", "-D", "-m", "644", real, filepath.Join(m.root, dbpath, file))
				m.listed()
			})
		}
	}
}

func TestMade(t *testing.T) {
	w := e2e.New(t)
	build(w)
	trixie := newRPM(w, "trixie")
	makers := map[string]rpm{"bullseye": newRPM(w, "bullseye"), "trixie": trixie}
	for _, made := range []struct{ form, suite, file string }{
		{"bdb", "bullseye", "Packages"},
		{"ndb", "trixie", "Packages.db"},
		{"sqlite", "trixie", "rpmdb.sqlite"},
	} {
		t.Run(made.form, func(t *testing.T) {
			w := w.In(t)
			maker := makers[made.suite].in(w)
			m := &machine{w, t, is.New(t), w.Path(made.form), made.form, trixie.in(w)}
			maker.makes(m.root, made.form)
			m.system("almalinux", "9.4")
			m.is.True(m.listed() > 0)
			m.is.Equal(m.changes(), nil) // nothing of the packages
			m.edit()
			m.changed(maker)
			m.told()
			m.untouched()
			if made.form == "sqlite" {
				m.logged()
			}
			m.damaged(made.file)
		})
	}
}

// system makes a folder the root of a system.
func (m *machine) system(id, version string) {
	m.Files(m.root, map[string]string{
		"etc/os-release": "ID=\"" + id + "\"\nVERSION_ID=\"" + version + "\"\n",
		"etc/machine-id": "0123456789abcdef0123456789abcdef\n",
		"etc/passwd":     "root:x:0:0:root:/root:/bin/sh\n",
		"etc/group":      "root:x:0:\n",
	})
}

func (m *machine) assessed() (a assess.Assessment) {
	m.t.Helper()
	m.SVC(0, "assess", "--root", m.root, "--json").JSON(&a)
	return a
}

// listed: packages are as rpm has them. It gives how many these are.
func (m *machine) listed() int {
	m.t.Helper()
	var got []string
	for _, p := range m.assessed().Packages {
		got = append(got, p.Name+" "+p.Version+" "+p.Arch)
	}
	want := m.lists.packages(m.root, m.form)
	m.same(got, want)
	return len(want)
}

// same is of two lists, in whatever order.
func (m *machine) same(got, want []string) {
	m.t.Helper()
	slices.Sort(got)
	slices.Sort(want)
	for i, line := range want {
		if i == len(got) || got[i] != line {
			m.t.Fatalf("%q is missing, or not so: %q", line, got[i:min(i+1, len(got))])
		}
	}
	m.is.Equal(len(got), len(want))
}

// edit changes files as people do.
func (m *machine) edit() {
	m.Shell(0, `cd "$1/etc"
		for name in conf-sha256 conf-md5 conf-sha1; do
			for file in changed unverified plainchanged; do echo edited >>$name/$file; done
			rm $name/missing $name/missingok
			ln -sf plain $name/relinked
			echo made >$name/ghost
			chmod 644 $name/closed
		done`, m.root)
}

// changes are what svc has as changed and missing, less the files whose content the
// package tells rpm not to look at: people's work is there too.
func (m *machine) changes() (changes []string) {
	m.t.Helper()
	for _, c := range m.assessed().Configuration {
		if (c.State == assess.ConfigChanged || c.State == assess.ConfigMissing) && filepath.Base(c.Path) != "unverified" {
			changes = append(changes, string(c.State)+" "+c.Path)
		}
	}
	return changes
}

// changed files are as rpm has them.
func (m *machine) changed(rpm rpm) {
	m.t.Helper()
	want := rpm.changes(m.root, m.form)
	m.is.True(len(want) > 0)
	m.same(m.changes(), want)
}

// told is what the database says besides.
func (m *machine) told() {
	a := m.assessed()
	states := map[string]int{}
	for _, c := range a.Configuration {
		states[filepath.Base(c.Path)+" "+string(c.State)]++
	}
	m.is.Equal(states["unverified changed"], 3) // what rpm is told not to look at is seen
	m.is.Equal(states["ghost unowned"], 3)      // a ghost is the machine's
	m.is.True(slices.ContainsFunc(a.Findings, func(f assess.Finding) bool {
		return f.Key == "configuration.access" && strings.Contains(f.Summary, "/etc/conf-md5/closed (0644 root:root, shipped as 0600 root:root)")
	}))
	packages := map[string][]assess.Package{}
	for _, p := range a.Packages {
		packages[p.Name] = append(packages[p.Name], p)
	}
	sha1 := packages["conf-sha1"][0]
	m.is.Equal(sha1.InstalledAt.Year()/100, 20)
	m.is.Equal([]string{sha1.Version, sha1.Source, sha1.SourceVersion, sha1.Origin, sha1.Section}, []string{"7:1.2-3", "conf-sha1", "1.2-3", "SVC End to End", "Test/Group"})
	modular := packages["modular"][0]
	m.is.Equal([]string{modular.Module, modular.Version}, []string{"nodejs:18", "1.2-3"})
	var kernels, architectures []string
	for _, p := range packages["kernel"] {
		kernels = append(kernels, p.Version)
	}
	for _, p := range packages["multi"] {
		architectures = append(architectures, p.Arch)
	}
	m.is.Equal(kernels, []string{"5.1-3", "5.2-3", "5.3-3"})
	m.is.Equal(architectures, []string{"i686", "x86_64"})
}

// untouched: reading leaves every byte and date of the root.
func (m *machine) untouched() {
	m.t.Helper()
	picture := func() []string {
		return strings.Split(m.Run(0, "find", m.root, "-printf", `%p %s %T@ %C@\n`).Out, "\n")
	}
	before := picture()
	m.SVC(0, "assess", "--root", m.root)
	m.same(picture(), before)
}

// logged leaves the last change of the SQLite database in its write-ahead log, as a crash
// does: from here on the root is the one of that moment.
func (m *machine) logged() {
	db, err := sql.Open("sqlite", filepath.Join(m.root, dbpath, "rpmdb.sqlite"))
	m.is.NoErr(err)
	defer db.Close()
	db.SetMaxOpenConns(1) // what a PRAGMA sets is the connection's
	_, err = db.Exec("PRAGMA journal_mode=WAL; PRAGMA wal_autocheckpoint=0")
	m.is.NoErr(err)
	gone, err := db.Exec("DELETE FROM Packages WHERE hnum IN (SELECT key.hnum FROM Name AS key WHERE key.key = 'many')")
	m.is.NoErr(err)
	n, err := gone.RowsAffected()
	m.is.NoErr(err)
	m.is.Equal(n, int64(1))
	m.root = m.Copy(m.root, "logged")
	log, err := os.Stat(filepath.Join(m.root, dbpath, "rpmdb.sqlite-wal"))
	m.is.NoErr(err)
	m.is.True(log.Size() > 0)
	m.listed()
	m.is.True(!slices.ContainsFunc(m.assessed().Packages, func(p assess.Package) bool { return p.Name == "many" }))
	m.untouched()
}

// damaged: a database that is cut off is an error, quickly, which says where.
func (m *machine) damaged(file string) {
	path := filepath.Join(m.root, dbpath, file)
	info, err := os.Stat(path)
	m.is.NoErr(err)
	m.is.NoErr(os.Truncate(path, info.Size()*6/10))
	m.Run(1, "timeout", "10", m.Command().Path, "assess", "--root", m.root, "--json").Has(filepath.Join("/", dbpath, file))
}
