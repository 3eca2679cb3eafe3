package dnf_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/matryer/is"

	"svc/.ci/e2e"
)

// machine runs under a systemd of its own, and all changes to it go to memory. It has a
// dnf, an archive of packages, and no program of PostgreSQL but 13's below /opt.
type machine struct {
	*e2e.Booted
	w    *e2e.Work
	t    *testing.T
	is   *is.I
	root string
	sums string // of what the cluster holds
	said result
}

func newMachine(t *testing.T) *machine {
	t.Setenv("TMPDIR", "") // a root has its own
	w := e2e.New(t)
	kept, memory := filepath.Join(e2e.Cache(), "upgrade"), w.Path("memory")
	w.Call(0, `. .ci/e2e/shop.sh; servers_root "$1"`, kept)
	w.Hold(`mkdir "$1"; mount -t tmpfs -o size=4g tmpfs "$1"`, `umount -l "$1"`, memory)
	m := &machine{w: w, t: t, is: is.New(t), root: w.Overlay(filepath.Join(kept, "postgresql"), "memory/root")}
	w.Run(0, "install", w.Command().Path, m.at("usr/bin/svc"))
	m.packages()
	m.archive()
	m.Booted = w.Boot("rpm", m.root)
	return m
}

// at is a path in the root.
func (m *machine) at(name string) string { return filepath.Join(m.root, name) }

// chroot runs a script of bash in the root, before it is booted.
func (m *machine) chroot(script string) {
	m.t.Helper()
	m.w.Run(0, "chroot", m.root, "env", "HOME=/root", "DEBIAN_FRONTEND=noninteractive", "bash", "-ec", script)
}

// packages installs the package manager.
func (m *machine) packages() {
	m.chroot(`get() { apt-get install -y -qq --no-install-recommends -t trixie systemd systemd-sysv dbus dnf rpm createrepo-c; }
		get || { apt-get update -qq; get; }`)
}

// unit is one as the packages have them.
func unit(data, programs, line string) string {
	return fmt.Sprintf(`[Unit]
After=network.target
[Service]
Type=notify
User=postgres
Environment=PGDATA=%s
%s
ExecStart=%s/postgres -D ${PGDATA}
KillMode=mixed
KillSignal=SIGINT
TimeoutSec=0
[Install]
WantedBy=multi-user.target
`, data, line, programs)
}

// clients are the programs that come without a server.
const clients = "clusterdb createdb createuser dropdb dropuser pg_basebackup pg_dump pg_dumpall pg_isready pg_receivewal pg_restore pgbench psql reindexdb vacuumdb"

// archive makes all packages, and takes Debian's away: what there is then comes by dnf.
// Its configuration says what that of Debian doesn't: the distribution's release, by
// which modules are chosen, that these packages have no signature, and yes to whatever
// it asks, so that what svc prints runs as it is.
func (m *machine) archive() {
	files := map[string]string{
		"srv/basesystem.spec":       "Name: basesystem\nVersion: 1\nRelease: 1\nSummary: none\nLicense: none\nBuildArch: noarch\nProvides: /bin/sh\n%description\nNone.\n%files\n",
		"etc/rpm/macros":            "%__transaction_unshare %{nil}\n%_build_id_links none\n%debug_package %{nil}\n%__os_install_post %{nil}\n%_buildshell /bin/bash\n%_empty_manifest_terminate_build 0\n%clients " + clients + "\n",
		"etc/yum.repos.d/base.repo": "[base]\nname=base\nbaseurl=file:///srv/archive\nenabled=1\n",
		"etc/dnf/dnf.conf":          "[main]\ngpgcheck=False\nassumeyes=True\nbest=True\nclean_requirements_on_remove=True\nmodule_platform_id=platform:el9\n",
		"etc/dnf/vars/releasever":   "9\n",
	}
	for _, v := range []string{"13", "17"} {
		files["srv/postgresql-"+v+".service"] = unit("/var/lib/pgsql/"+v+"/data/", "/usr/pgsql-"+v+"/bin", "")
		files["srv/postgresql.service."+v] = unit("/var/lib/pgsql/data", "/usr/bin", `ExecStartPre=/bin/sh -c 'test "$(cat $PGDATA/PG_VERSION)" = `+v+"'")
	}
	m.w.Files(m.root, files)
	m.w.Run(0, "cp", "testdata/own.spec", "testdata/distribution.spec", m.at("srv"))
	m.chroot(`cd /srv
		build() { rpmbuild --quiet -bb --define "_topdir /srv/build" --define "_rpmdir /srv/archive" --define "_binary_payload w1.gzdio" "$@"; }
		mkdir build
		build basesystem.spec
		for v in 13 17; do build --define "v $v" own.spec; done
		build --define "v 13" distribution.spec
		build --define "v 17" --define "older 13" distribution.spec
		rm -rf build /var/lib/rpm
		createrepo_c --quiet archive
		mkdir -p /opt/lib/postgresql /opt/share/postgresql
		cp -a /usr/lib/postgresql/13 /opt/lib/postgresql/
		cp -a /usr/share/postgresql/13 /opt/share/postgresql/
		dpkg --force-depends --remove postgresql-common postgresql-client-common postgresql-{13,15,17} postgresql-client-{13,15,17}
		rm -rf /usr/lib/postgresql /usr/share/postgresql /usr/bin/psql /usr/bin/pg_* /etc/postgresql /var/lib/postgresql
		mkdir -p /usr/share/postgresql`)
}

// module is a stream of the module postgresql.
const module = `---
document: modulemd
version: 2
data:
  name: postgresql
  stream: "VERSION"
  version: 1
  context: "0000000VERSION"
  arch: x86_64
  summary: PostgreSQL
  description: PostgreSQL
  license:
    module: [MIT]
  profiles:
    server:
      rpms: [postgresql-server]
  artifacts:
    rpms: [postgresql-0:VERSION.9-1.el9.x86_64, postgresql-server-0:VERSION.9-1.el9.x86_64, postgresql-contrib-0:VERSION.9-1.el9.x86_64, postgresql-upgrade-0:VERSION.9-1.el9.x86_64]
...
`

// streams: the archive has these as modules; what else it has of PostgreSQL has none.
func (m *machine) streams(versions ...string) {
	var modules strings.Builder
	for _, v := range versions {
		modules.WriteString(strings.ReplaceAll(module, "VERSION", v))
	}
	m.w.Files(m.root, map[string]string{"srv/modules.yaml": modules.String()})
	m.shell(`cd /srv; modifyrepo_c --remove modules archive/repodata || true; modifyrepo_c --mdtype=modules modules.yaml archive/repodata; dnf -q clean all`)
}

// shell runs a script in the machine.
func (m *machine) shell(script string) {
	m.t.Helper()
	m.Run(0, "bash", "-ec", script)
}

// account is a command that the account of the servers runs.
func account(command ...string) []string {
	return append([]string{"setpriv", "--reuid", "postgres", "--regid", "postgres", "--init-groups"}, command...)
}

// sql asks the server on a port.
func (m *machine) sql(port, statement string) string {
	m.t.Helper()
	return m.Run(0, account("psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-p", port, "-c", statement)...).Line()
}

// shop runs a function of shop.sh: fill, or sums.
func (m *machine) shop(function string) string {
	m.t.Helper()
	return m.w.Call(0, `. .ci/e2e/shop.sh
		sql() { inside rpm `+strings.Join(account("psql"), " ")+` -X -q -A -t -v ON_ERROR_STOP=1 "$@"; }
		`+function).Out
}

// served makes a cluster, and its unit serves it at each boot.
func (m *machine) served(programs, data, unit string) {
	m.t.Helper()
	m.Run(0, account(programs+"/initdb", "-D", data, "-E", "UTF8", "--locale", "en_US.UTF-8", "--data-checksums")...)
	m.Run(0, "systemctl", "-q", "enable", "--now", unit)
}

// filled has something of everything in the cluster, of which sums are taken.
func (m *machine) filled() {
	m.t.Helper()
	m.shop("fill")
	m.sums = m.shop("sums")
	m.is.True(m.sums != "")
}

// holds: this version serves the port, with everything in it.
func (m *machine) holds(version string) {
	m.t.Helper()
	major, _, _ := strings.Cut(m.sql("5432", "show server_version"), ".")
	m.is.Equal(major, version)
	m.is.Equal(m.shop("sums"), m.sums)
}

// second has these programs serve a cluster of a person's, which is made where there is
// none, by a unit of his.
func (m *machine) second(programs string) {
	m.t.Helper()
	m.w.Files(m.root, map[string]string{"etc/systemd/system/second.service": unit("/srv/second", programs, "Environment=PGPORT=5433")})
	m.Run(0, "systemctl", "daemon-reload")
	if _, err := os.Stat(m.at("srv/second")); err == nil {
		m.Run(0, "systemctl", "-q", "restart", "second")
		return
	}
	m.shell("install -d -o postgres -g postgres -m 0700 /srv/second")
	m.served(programs, "/srv/second", "second")
	m.sql("5433", "create table precious as select 1 as n")
}

// lives: the second cluster goes on, without a new start and with one.
func (m *machine) lives() {
	m.t.Helper()
	m.is.Equal(m.sql("5433", "select n from precious"), "1")
	m.Run(0, "systemctl", "restart", "second")
	m.is.Equal(m.sql("5433", "select n from precious"), "1")
}

// ends takes the second cluster away, and the service, and all packages with this beginning.
func (m *machine) ends(service, packages string) {
	m.t.Helper()
	m.shell(`systemctl -q disable --now second ` + service + `
		rm -r /etc/systemd/system/second.service /srv/second
		systemctl daemon-reload
		dnf -q remove '` + packages + `*'
		rm -rf /var/lib/pgsql`)
}
