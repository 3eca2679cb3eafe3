// Package ssh_test reads running machines over ssh: a real sshd on loopback shows the kept
// Debian 11 server, to root, to a user without and one with sudo, through a jump host and
// over IPv6, and a machine that has busybox alone; every way gives what reading its root
// gives. Then what must be refused, connections that break, and machines whose shell is
// not honest: one of each sort of lie, with -all every kind.
package ssh_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/matryer/is"

	"svc/.ci/e2e"
)

func TestMain(m *testing.M) {
	if flag.Parse(); *lies != "" {
		lie(*lies)
		return
	}
	e2e.Apart(m, "bash .ci/e2e/roots.sh", "mmdebstrap:mmdebstrap", "sshd:openssh-server", "ssh:openssh-client", "sudo:sudo", "busybox:busybox", "pgrep:procps")
}

// The ports that are listened on, in the tests' own network.
const (
	webPort = 2201 + iota
	jumpPort
	boxPort
	laterPort // from some time on
	deadPort  // never
)

// machine is the kept Debian 11 server, to which root and the two users may come.
type machine struct {
	*e2e.Work
	t    *testing.T
	is   *is.I
	root string
}

// newMachine has ssh know it as web.
func newMachine(t *testing.T) *machine {
	m := &machine{Work: e2e.New(t), t: t, is: is.New(t)}
	m.root = m.Overlay(filepath.Join(e2e.Cache(), "roots/bullseye-server"), "machine")
	m.Shell(0, `ln -sf /proc/kmsg "$1/etc/issue" && echo 'toor:x:0:0:the same id:/root:/bin/sh' >>"$1/etc/passwd"`, m.root)
	m.configure()
	m.serve("web", webPort, "ChrootDirectory "+m.root)
	return m
}

// configure makes a key, and has ssh use it, and ask nobody about hosts.
func (m *machine) configure() {
	m.key("key")
	m.Files(m.Dir, map[string]string{"ssh_config": fmt.Sprintf(`Host web
  HostName 127.0.0.1
  Port %[1]d
  User root
Host behind
  HostName 127.0.0.1
  Port %[1]d
  User root
  ProxyJump jump
Host jump
  HostName ::1
  Port %[2]d
  User root
Host *
  IdentityFile %[3]s
  IdentitiesOnly yes
  UserKnownHostsFile %[4]s
  GlobalKnownHostsFile none
  StrictHostKeyChecking no
`, webPort, jumpPort, m.Path("key"), m.Path("known"))})
	m.Program("ssh", "#!/bin/sh\nexec %s -F %s \"$@\"\n", m.Run(0, "which", "ssh").Line(), m.Path("ssh_config"))
	m.t.Setenv("PATH", m.Path("bin")+":"+os.Getenv("PATH"))
}

// key makes a pair of keys, and gives the public one without its comment.
func (m *machine) key(name string) string {
	m.Run(0, "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", m.Path(name))
	return strings.TrimSpace(m.read(name + ".pub"))
}

// serve has an sshd, whose key is known, listen on loopback.
func (m *machine) serve(name string, port int, lines ...string) {
	host := m.key("host_" + name)
	m.know(fmt.Sprintf("[127.0.0.1]:%[1]d %[2]s\n[::1]:%[1]d %[2]s\n", port, host))
	m.is.NoErr(os.MkdirAll("/run/sshd", 0o755))
	m.Files(m.Dir, map[string]string{"sshd_" + name: fmt.Sprintf(`Port %d
ListenAddress 127.0.0.1
ListenAddress ::1
HostKey %s
AuthorizedKeysFile none
AuthorizedKeysCommand /bin/cat %s
AuthorizedKeysCommandUser root
PidFile none
StrictModes no
UsePAM no
AllowUsers root %s
PasswordAuthentication no
KbdInteractiveAuthentication no
PermitRootLogin prohibit-password
`, port, m.Path("host_"+name), m.Path("key.pub"), strings.Join(users, " ")) + strings.Join(lines, "\n") + "\n"})
	m.Start(m.Run(0, "which", "sshd").Line(), "-D", "-e", "-f", m.Path("sshd_"+name))
	m.Until("ssh", "-o", "BatchMode=yes", "ssh://"+at("root", port), "true")
}

// at is a destination, as svc takes it.
func at(user string, port int) string { return fmt.Sprintf("%s@127.0.0.1:%d", user, port) }

// know adds lines to the known hosts.
func (m *machine) know(lines string) {
	f, err := os.OpenFile(m.Path("known"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	m.is.NoErr(err)
	defer f.Close()
	_, err = f.WriteString(lines)
	m.is.NoErr(err)
}

// read reads a file of the test's folder.
func (m *machine) read(name string) string {
	m.t.Helper()
	b, err := os.ReadFile(m.Path(name))
	m.is.NoErr(err)
	return string(b)
}

// box is a server's files on a system that has busybox alone.
func box(w *e2e.Work) string {
	root := w.Path("box")
	w.Shell(0, `
		cp -a "$1" "$2"
		chown -R 0:0 "$2"
		cd "$2"
		mkdir -p bin dev
		cp "$(command -v busybox)" bin/busybox
		for lib in $(ldd bin/busybox | grep -o '/[^ ]*'); do install -D "$lib" ".$lib"; done
		mknod -m 666 dev/null c 1 3
		for name in sh stat head cat dd id readlink; do ln -s busybox bin/$name; done
		printf '#!/bin/sh\nexec /bin/sh "$@"\n' >bin/bash # root's login shell, by the host's passwd
		chmod 755 bin/bash`, "../../../fixtures/hosts/debian-11-web", root)
	return root
}
