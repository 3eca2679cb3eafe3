// Package families_test migrates servers to releases that are not of Debian's family: a
// Debian 11 to AlmaLinux 9 and to SLES 15, a CentOS 7 to Rocky Linux 10 and to SLES 15.
// The role is applied by the real dnf and zypper to a root that has no other packages of
// the release than those made here, which carry their names, accounts, units and folders;
// Debian's programs in it say what they think of what was converted.
package families_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/matryer/is"

	"svc/.ci/e2e"
	"svc/cmd/svc/exit"
)

func TestMain(m *testing.M) {
	e2e.Main(m, "mmdebstrap:mmdebstrap", "ansible-playbook:ansible", "ansible-lint:ansible-lint", "openssl:openssl")
}

// What the releases say of themselves.
const (
	almaLinux9 = "ID=almalinux\nVERSION_ID=9.6\nNAME=AlmaLinux\nPLATFORM_ID=platform:el9\n"
	rocky10    = "ID=rocky\nVERSION_ID=10.0\nNAME=Rocky\nPLATFORM_ID=platform:el10\n"
	sles15     = "ID=sles\nVERSION_ID=15.6\nNAME=SLES\n"
)

// files are the main files of programs that are in other places on other releases.
type files struct{ httpd, php string }

var (
	ofEL   = files{"/etc/httpd/conf/httpd.conf", "/etc"}
	ofSUSE = files{"/etc/apache2/httpd.conf", "/etc/php8/fpm"}
)

// The buffer pools of the machines' MariaDB.
const (
	debianPool = "268435456"
	centosPool = "536870912"
)

// TestDebianToEL has what Debian has in another way, and what has to be enabled first.
func TestDebianToEL(t *testing.T) {
	m := moved(t, debianMachine, "almalinux-9", almaLinux9, exit.Differ)
	t.Run("ansible-lint passes its production profile", m.lint)
	t.Run("programs take their configuration", func(t *testing.T) { m.accepted(t, debianPool, ofEL) })
	for _, unit := range []string{"httpd.service", "crond.service", "mariadb.service", "report.timer"} {
		t.Run(unit+" is enabled", func(t *testing.T) {
			is.New(t).Equal(m.In(t).Run(0, "systemctl", "--root="+m.target, "is-enabled", unit).Line(), "enabled")
		})
	}
	m.says(t, "deploy has the groups that the release has", "deploy apache webteam", "id", "-nG", "deploy")
	m.says(t, "apache has the jobs of www-data", "600 apache", "stat", "-c", "%a %U", "/var/spool/cron/apache")
	m.says(t, "the stream of the source's version is enabled", "stream=18", "grep", "^stream=", "/etc/dnf/modules.d/nodejs.module")
	t.Run("so is the archive that EPEL needs", func(t *testing.T) {
		m.chroot(t, "dnf", "-q", "repolist", "--enabled").Has("\ncrb")
	})
	m.says(t, "the locale is carried over", "LANG=de_AT.UTF-8", "cat", "/etc/locale.conf")
	t.Run("nothing of the network is in place", func(t *testing.T) {
		const connection = "/etc/NetworkManager/system-connections/ens3.nmconnection"
		m.chroot(t, "test", "-e", "/etc/svc/network"+connection, "-a", "!", "-e", connection)
	})
}

// TestELToEL has what stays in its place, for newer programs.
func TestELToEL(t *testing.T) {
	m := moved(t, centosMachine, "rocky-10", rocky10, exit.Differ)
	t.Run("programs take their configuration", func(t *testing.T) { m.accepted(t, centosPool, ofEL) })
}

func TestELToSUSE(t *testing.T) {
	m := moved(t, centosMachine, "sles-15", sles15, exit.Done)
	t.Run("ansible-lint passes its production profile", m.lint)
	is.New(t).NoErr(os.Remove(m.target + "/etc/nginx/conf.d/old.conf")) // a directive that its nginx takes, and Debian's does not
	t.Run("programs take their configuration", func(t *testing.T) { m.accepted(t, centosPool, ofSUSE) })
}

// TestDebianToSUSE has the same machine, by the other package manager.
func TestDebianToSUSE(t *testing.T) {
	m := moved(t, debianMachine, "sles-15", sles15, exit.Done)
	t.Run("programs take their configuration", func(t *testing.T) { m.accepted(t, debianPool, ofSUSE) })
	m.says(t, "wwwrun has the jobs of www-data", "600 root", "stat", "-c", "%a %U", "/var/spool/cron/tabs/wwwrun")
}

// accepted checks that the programs take what both machines have.
func (m migrated) accepted(t *testing.T, pool string, main files) {
	is := is.New(t)
	for _, logs := range []string{"httpd", "apache2"} {
		m.Files(filepath.Join(m.target, "var/log", logs, "shop"), map[string]string{"access.log": ""})
	}
	is.NoErr(os.MkdirAll(m.target+"/run/sshd", 0o755))
	settings := "mariadbd --defaults-file=/etc/my.cnf --user=mysql --help --verbose"
	for _, program := range []struct{ name, command, says string }{
		{"httpd", "apache2 -t -f " + main.httpd, ""},
		{"httpd, with the virtual host", "apache2 -S -f " + main.httpd, "shop.example.org"},
		{"nginx", "nginx -t", ""},
		{"php-fpm", "php-fpm8.4 -t -y " + main.php + "/php-fpm.conf -c " + main.php + "/php.ini", ""},
		{"mariadb", settings, ""},
		{"mariadb, with the buffer pool of the source", settings + " | awk '$1 == \"innodb-buffer-pool-size\" {print \"pool\", $2}'", "pool " + pool},
		{"named", "named-checkconf /etc/named.conf", ""},
		{"postfix", "postfix check", ""},
		{"postfix, with the name of the source", "postconf -h myhostname", "mail.example.org"},
		{"haproxy", "haproxy -c -f /etc/haproxy/haproxy.cfg", ""},
		{"chrony", "chronyd -p -f /etc/chrony.conf", ""},
		{"sudo", "visudo -c", ""},
		// The rpm families' own option is none of Debian's sshd.
		{"sshd", "grep -v GSSAPIEnablek5users /etc/ssh/sshd_config >/tmp/sshd_config && /usr/sbin/sshd -t -f /tmp/sshd_config", ""},
		{"logrotate", "logrotate -d /etc/logrotate.d/shop", ""},
		{"sysctl", "grep '^net.ipv4.ip_forward = 1' /etc/sysctl.conf", ""},
	} {
		t.Run(program.name, func(t *testing.T) {
			m.chroot(t, "sh", "-c", program.command).Has(program.says)
		})
	}
}

// migrated is a machine's migration, and the root that its role was applied to.
type migrated struct {
	*e2e.Work
	out, target string
}

// chroot runs a command in the root.
func (m migrated) chroot(t *testing.T, command ...string) e2e.Said {
	t.Helper()
	return m.In(t).Run(0, "chroot", append([]string{m.target}, command...)...)
}

// says checks what a command says in the root.
func (m migrated) says(t *testing.T, name, want string, command ...string) {
	t.Helper()
	t.Run(name, func(t *testing.T) { is.New(t).Equal(m.chroot(t, command...).Line(), want) })
}

func (m migrated) lint(t *testing.T) {
	m.In(t).Shell(0, `cd "$1" && ansible-lint --nocolor --offline --profile production site.yml role`, m.out)
}

// key makes a key and a certificate of it in a machine.
func key(w *e2e.Work, root, key, certificate string) {
	key, certificate = filepath.Join(root, key), filepath.Join(root, certificate)
	w.Run(0, "mkdir", "-p", filepath.Dir(key), filepath.Dir(certificate))
	w.Run(0, "openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "30", "-subj", "/CN=shop.example.org", "-keyout", key, "-out", certificate)
	w.Run(0, "chmod", "600", key)
}

// names are words.
func names(text string) []string { return strings.Fields(text) }
