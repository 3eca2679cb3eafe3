// Package dnf_test has dnf do what svc db upgrade prints, as printed, in the two layouts of
// the rpm distributions: in that of PostgreSQL's own packages, beside a cluster of the same
// version that a unit of a person's runs, and beside the new one; and in that of Red Hat's,
// which has one release at a time, with a module for each and without one for the first.
// The packages are made here, with the names, dependencies, scripts, units, alternatives
// and paths that the distributions' have, of Debian's programs.
package dnf_test

import (
	"regexp"
	"strings"
	"testing"

	"svc/.ci/e2e"
)

func TestMain(m *testing.M) {
	e2e.Main(m, "mmdebstrap:mmdebstrap", "capsh:libcap2-bin", "findmnt:util-linux")
}

func TestUpgrades(t *testing.T) {
	m := newMachine(t)
	m.own()
	m.modules()
	m.first()
}

// result is what an upgrade ended with, as far as commands stand in it.
type result struct{ Notes, Afterwards []string }

// upgrade runs svc db upgrade, which ends with this exit code.
func (m *machine) upgrade(code int, options ...string) e2e.Said {
	m.t.Helper()
	return m.Run(code, append([]string{"timeout", "900", "svc", "db", "upgrade", "--confirm"}, options...)...)
}

// to17 are options.
func to17(backup string) []string {
	return []string{"--engine", "postgresql", "--to", "17", "--backup-dir", backup}
}

// upgraded keeps what an upgrade ended with.
func (m *machine) upgraded(options ...string) e2e.Said {
	m.t.Helper()
	said := m.upgrade(0, append(options, "--json")...)
	m.said = result{}
	said.JSON(&m.said)
	return said
}

var quoted = regexp.MustCompile("`([^`]*)`")

// advised runs the printed commands that match, in one shell, as they are.
func (m *machine) advised(pattern string) (commands []string) {
	m.t.Helper()
	for _, line := range append(m.said.Notes, m.said.Afterwards...) {
		for _, command := range quoted.FindAllStringSubmatch(line, -1) {
			if regexp.MustCompile(pattern).MatchString(command[1]) {
				commands = append(commands, command[1])
			}
		}
	}
	m.is.True(len(commands) > 0)
	m.runs(commands...)
	return commands
}

// runs runs commands as they were printed.
func (m *machine) runs(commands ...string) {
	m.t.Helper()
	m.t.Log(strings.Join(commands, "\n"))
	m.shell(strings.Join(commands, "\n"))
}

// refused is the command in what a refusal says, from its first words to the end of the line.
func (m *machine) refused(said e2e.Said, words string) string {
	m.t.Helper()
	said.Has(words)
	_, command, _ := strings.Cut(said.Out+said.Err, words)
	command, _, _ = strings.Cut(command, "\n")
	return words + command
}

// own: PostgreSQL's own packages. A person has a second cluster of 13 by a unit of his.
func (m *machine) own() {
	m.Run(0, "dnf", "-y", "install", "postgresql13-server", "postgresql13-contrib")
	m.served("/usr/pgsql-13/bin", "/var/lib/pgsql/13/data", "postgresql-13")
	m.filled()
	m.second("/usr/pgsql-13/bin")
	m.shell("install -d -m 0711 /srv/own")
	m.runs(m.refused(m.upgrade(1, to17("/srv/own")...), "dnf install postgresql17")) // without the new version
	said := m.upgraded(to17("/srv/own")...)
	m.holds("17")
	said.Has("the unit second.service")                  // the other cluster's unit is named
	m.is.True(!strings.Contains(said.Out, "dnf remove")) // and its packages are to stay
	m.shell("cp -a /var/lib/pgsql/13/data /srv/kept")
	m.advised("^systemctl disable")
	m.Run(1, "test", "-e", "/var/lib/pgsql/13/data")
	m.lives() // beside 17

	m.shell("cp -a /srv/kept /var/lib/pgsql/13/data") // as if it had not been run yet
	m.second("/opt/lib/postgresql/13/bin")
	m.upgraded("--backup-dir", "/srv/own", "--resume") // it is said again, while nobody uses the packages
	m.is.Equal(len(m.advised("^systemctl disable|^rm -r|^dnf remove")), 3)
	m.lives() // without the packages of 13
	m.shell("! rpm -q postgresql13-server && rpm -q postgresql17-server postgresql17-contrib postgresql17 && test ! -e /usr/pgsql-13/bin/postgres")
	for line := range strings.Lines(m.Says("rpm", "-V", "postgresql17-server", "postgresql17-contrib", "postgresql17")) {
		m.is.True(strings.Contains(line, " /var/lib/pgsql")) // files of 17's packages are as they were
	}
	m.shell("systemctl restart postgresql-17")
	m.holds("17") // without 13, and the copy
	m.ends("postgresql-17", "postgresql1")
}

// modules: Red Hat's packages, of which each release is a module's stream.
func (m *machine) modules() {
	m.streams("13", "17")
	m.shell("dnf -q module enable postgresql:13; dnf -q install postgresql-server postgresql-contrib")
	m.distribution("^dnf module switch-to postgresql:13")
}

// first: those of a release whose first PostgreSQL has no module, as that of EL 9.
func (m *machine) first() {
	m.streams("17")
	m.shell("dnf -q install postgresql-server postgresql-contrib")
	m.distribution("^dnf module reset")
}

// distribution goes there and back, and there; the second cluster has programs of its own
// once svc has said that it has to.
func (m *machine) distribution(back string) {
	m.t.Helper()
	m.served("/usr/bin", "/var/lib/pgsql/data", "postgresql")
	m.filled()
	m.shell("install -d -m 0711 /srv/one /srv/two")
	m.second("/usr/bin")
	said := m.upgrade(1, to17("/srv/one")...) // beside a cluster that has its server from the same packages
	said.Has("the cluster in /srv/second, the unit second.service")
	m.is.True(!strings.Contains(said.Out+said.Err, "dnf")) // no command that would end it
	m.second("/opt/lib/postgresql/13/bin")
	m.there("/srv/one")
	m.upgrade(0, "--backup-dir", "/srv/one", "--roll-back", "--discard-writes")
	m.advised(back)
	m.Run(0, "rpm", "-q", "postgresql-server-13.9")
	m.holds("13")
	m.lives()
	m.shell("rm -r /var/lib/pgsql/data.svc-undone")
	m.there("/srv/two")
	m.advised("^rm -r")
	m.Run(1, "test", "-e", "/var/lib/pgsql/data.svc-old")
	m.shell("systemctl restart postgresql")
	m.holds("17") // without the old data
	m.lives()
	m.ends("postgresql", "postgresql")
	m.shell("dnf -q module reset postgresql; rm -r /srv/one")
}

// there goes to 17, as svc says how.
func (m *machine) there(backup string) {
	m.t.Helper()
	said := m.upgrade(1, to17(backup)...) // while 13 is installed
	m.runs(m.refused(said, "systemctl stop postgresql"))
	m.Run(0, "rpm", "-q", "postgresql-server-17.9", "postgresql-upgrade-17.9") // with what is of 13
	m.lives()
	m.Run(1, "systemctl", "start", "postgresql") // the service does not take the old data
	m.upgraded(to17(backup)...)
	m.holds("17")
	m.shell("systemctl restart postgresql")
	m.holds("17")
	m.lives()
}
