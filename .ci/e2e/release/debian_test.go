package release_test

import (
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/matryer/is"

	"svc/.ci/e2e"
)

// machine is a Debian that runs, with the packages in /root.
type machine struct {
	*e2e.Booted
	t  *testing.T
	is *is.I
}

func (r *release) debian(t *testing.T) {
	w := r.In(t)
	root := w.Copy(w.Kept("release/root", "trixie", "systemd,systemd-sysv,curl,ca-certificates,rpm,bash-completion,zsh,fish"), "root")
	w.Run(0, "cp", r.file("*amd64.deb"), filepath.Join(root, "root/svc.deb"))
	w.Run(0, "cp", r.file("*x86_64.rpm"), filepath.Join(root, "root/svc.rpm"))
	// A later version has the same files and scripts.
	w.Shell(0, `dpkg-deb -R "$1/svc.deb" "$2"
		sed -i 's/^Version: .*/Version: 1.0.1-1/' "$2/DEBIAN/control"
		dpkg-deb -Znone -b "$2" "$1/next.deb"`, filepath.Join(root, "root"), w.Path("next"))
	m := machine{w.Boot("release", root), t, is.New(t)}
	m.deb()
	m.rpm()
}

// sh runs a command of bash in the machine.
func (m machine) sh(command string) e2e.Said {
	m.t.Helper()
	return m.Run(0, "bash", "-c", command)
}

// admin runs a command of the service's operator beside it.
func (m machine) admin(args ...string) e2e.Said {
	m.t.Helper()
	return m.Run(0, append([]string{"runuser", "-u", "svc", "--", "env", "SVC_CONFIG=/etc/svc/config", "svc", "admin"}, args...)...)
}

// until tries a command for a while, until it succeeds.
func (m machine) until(command string) {
	m.t.Helper()
	m.Run(0, "timeout", "60", "bash", "-c", "until "+command+"; do sleep 0.05; done")
}

// serves: the service answers; gone: nothing listens any more.
func (m machine) serves() { m.t.Helper(); m.until("curl -sf -m 5 -o /dev/null " + service + "health") }
func (m machine) gone()   { m.t.Helper(); m.Run(7, "curl", "-s", "-m", "5", service+"health") }

const service = "http://127.0.0.1:8443/v1/"

// has: files are there that are not empty; lacks: one is not there.
func (m machine) has(paths ...string) {
	m.t.Helper()
	for _, path := range paths {
		m.Run(0, "test", "-s", path)
	}
}
func (m machine) lacks(path string) { m.t.Helper(); m.Run(1, "test", "-e", path) }

// What the service has.
const (
	data          = "/var/lib/svc/svc.db"
	configuration = "/etc/svc/config"
)

// deb installs the .deb, and goes all ways that the service may go until it is purged.
func (m machine) deb() {
	m.Run(0, "dpkg", "-i", "/root/svc.deb")
	m.Run(0, "svc", "version")
	m.Run(0, "getent", "passwd", "svc")                                     // the service has an account of its own
	m.is.Equal(m.Says("systemctl", "is-active", "svc.service"), "inactive") // it waits until it is asked for
	m.completes()
	m.hardened()
	m.Run(0, "systemctl", "enable", "--now", "svc.socket", "svc.service")
	m.serves()
	m.admin("account", "create", "--name", "acme", "--plan", "pro") // beside it
	m.restarts()
	m.dies()
	m.Run(0, "dpkg", "-i", "/root/next.deb")
	m.serves()
	m.admin("account", "list", "--json").Has("acme") // its data are kept
	m.credential()
	m.Run(0, "dpkg", "-r", "svc")
	m.gone()
	m.has(data, configuration)
	m.Run(0, "dpkg", "-P", "svc").Has("/var/lib/svc") // it says that the data stay
	m.lacks(configuration)
	m.has(data)
}

// completes: the manual is there, and shells complete.
func (m machine) completes() {
	m.has("/usr/share/man/man1/svc-db-upgrade.1")
	m.sh(`. /usr/share/bash-completion/bash_completion; . /usr/share/bash-completion/completions/svc
		COMP_WORDS=(svc migrate --target debian-1); COMP_CWORD=3; COMP_LINE="${COMP_WORDS[*]}"; COMP_POINT=${#COMP_LINE}
		_svc; [[ " ${COMPREPLY[*]} " == *" debian-13 "* ]]`)
	m.Run(0, "zsh", "-n", "/usr/share/zsh/vendor-completions/_svc")
	m.Run(0, "fish", "-c", `complete -C "svc mcp --client clau" | grep -q claude-code`)
}

var exposure = regexp.MustCompile(`Overall exposure level for svc\.service: ([0-9.]+)`)

// hardened: systemd finds no fault with the units, and little that the service may do.
func (m machine) hardened() {
	found := exposure.FindStringSubmatch(m.Run(0, "systemd-analyze", "security", "--no-pager", "svc.service").Out)
	m.is.True(found != nil)
	m.t.Log(found[0])
	level, err := strconv.ParseFloat(found[1], 64)
	m.is.NoErr(err)
	m.is.True(level <= 2.5)
	m.Run(0, "systemd-analyze", "verify", "svc.service", "svc.socket")
}

// restarts: a client without any patience meets three restarts, and no request fails.
func (m machine) restarts() {
	codes := m.sh(`set -e
		while [ ! -e /run/enough ]; do curl -s -m 20 -o /dev/null -w "%{http_code}\n" ` + service + `version || true; done >/run/codes &
		for _ in 1 2 3; do sleep 0.5; systemctl restart svc.service; done
		touch /run/enough
		wait
		sort /run/codes | uniq -c`).Line()
	m.t.Logf("requests while it restarts, by their codes: %s", codes)
	count, code, _ := strings.Cut(codes, " ")
	n, err := strconv.Atoi(count)
	m.is.NoErr(err)
	m.is.Equal(code, "200") // and no other
	m.is.True(n > 20)
}

// dies: it is killed, and is back as another process; it stops in order, and its socket
// starts it again.
func (m machine) dies() {
	pid := func() string { return m.Run(0, "systemctl", "show", "-P", "MainPID", "svc.service").Line() }
	before := pid()
	m.Run(0, "kill", "-9", before)
	m.serves()
	m.is.True(pid() != before)
	m.Run(0, "systemctl", "stop", "svc.service")
	m.sh(`journalctl -u svc.service -o cat | grep -q '"msg":"stopped"'`)
	m.is.Equal(m.Says("systemctl", "show", "-P", "Result", "svc.service"), "success")
	m.serves()
}

// credential gives the service another store as systemd does it.
func (m machine) credential() {
	m.sh("mkdir -p /etc/credstore && echo sqlite:/var/lib/svc/other.db >/etc/credstore/svc.db")
	m.Run(0, "systemctl", "restart", "svc.service")
	m.until("test -s /var/lib/svc/other.db")
	m.Run(0, "rm", "/etc/credstore/svc.db")
}

// rpm installs the .rpm, whose service starts on the data of before.
func (m machine) rpm() {
	m.Run(0, "rpm", "-i", "--nodeps", "/root/svc.rpm")
	m.Run(0, "rpm", "-V", "--nodeps", "svc")
	m.sh("echo '# mine' >>" + configuration)
	m.Run(0, "rpm", "-U", "--force", "--nodeps", "/root/svc.rpm")
	m.Run(0, "grep", "-q", "^# mine", configuration) // what was edited stays
	m.Run(0, "systemctl", "start", "svc.socket", "svc.service")
	m.serves()
	m.Run(0, "rpm", "-e", "svc")
	m.gone()
	m.has(data)
	m.lacks("/usr/bin/svc")
}
