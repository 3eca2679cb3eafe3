package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Kept is a root of Debian that is made once on a machine, in a folder of the cache:
// a suite with packages, separated by commas.
func (w *Work) Kept(folder, suite, packages string) string {
	w.t.Helper()
	root := filepath.Join(Cache(), folder)
	w.Call(0, `kept "$@"`, root, suite, packages)
	return root
}

// Copy is a copy of a root in the test's folder.
func (w *Work) Copy(root, name string) string {
	w.t.Helper()
	w.Run(0, "cp", "-a", root, w.Path(name))
	return w.Path(name)
}

// Booted is a root that runs under a systemd of its own.
type Booted struct {
	Halt func() // shuts it down; the end of the test does it too
	w    *Work
	name string
}

// Boot comes back when all units of the root are started, or have failed.
func (w *Work) Boot(name, root string) *Booted {
	w.t.Helper()
	return &Booted{Halt: w.Hold(`boot "$1" "$2"`, `halt "$1"`, name, root), w: w, name: name}
}

func (b *Booted) inside(args []string) *exec.Cmd {
	return bash(b.w.Dir, `inside "$@"`, append([]string{b.name}, args...)...)
}

// Run runs a command in it, which ends with this exit code.
func (b *Booted) Run(code int, args ...string) Said {
	b.w.t.Helper()
	return b.w.run(code, b.inside(args))
}

// Says is what a command says in it, whatever its exit code.
func (b *Booted) Says(args ...string) string {
	b.w.t.Helper()
	said, _ := b.w.ends(b.inside(args))
	return said.Line()
}

// Authorize lets the test's own key into a root, as root.
func (w *Work) Authorize(root string) {
	w.t.Helper()
	w.Run(0, "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", w.Path("key"))
	w.Run(0, "install", "-D", "-m", "600", w.Path("key.pub"), filepath.Join(root, "root/.ssh/authorized_keys"))
}

// SSH has ssh go into the machine, which has a server of ssh and authorized the key: by
// its name, which nobody else is asked for, as it has no network.
func (b *Booted) SSH() {
	w := b.w
	w.t.Helper()
	ssh := w.Run(0, "which", "ssh").Line()
	w.Program("proxy", "#!/bin/bash\nwork=%s\n. %s/booted.sh\ninside %s /usr/sbin/sshd -i\n", w.Dir, scripts, b.name)
	w.Program("ssh", "#!/bin/sh\nexec %s -o ProxyCommand=%s -o IdentitiesOnly=yes -i %s -o UserKnownHostsFile=%s -o StrictHostKeyChecking=no \"$@\"\n", ssh, w.Path("bin/proxy"), w.Path("key"), w.Path("known"))
	w.t.Setenv("PATH", w.Path("bin")+":"+os.Getenv("PATH"))
	w.Until("ssh", "root@"+b.name, "true")
}

// Program writes a program into the folder's bin.
func (w *Work) Program(name, format string, args ...any) {
	w.t.Helper()
	w.Files(w.Path("bin"), map[string]string{name: fmt.Sprintf(format, args...)})
	w.no(os.Chmod(w.Path("bin", name), 0o755))
}

// Serve has a real sshd on loopback let root in by a key of its own, with further lines
// of its configuration, until the test ends. From here on ssh knows it as source and
// by its address, which is given.
func (w *Work) Serve(lines ...string) (destination string) {
	w.t.Helper()
	w.Hold(`serve_ssh "$@"; echo "root@127.0.0.1:$port" >"$work/destination"`, `kill "$sshd"`, lines...)
	w.t.Setenv("PATH", w.Path("bin")+":"+os.Getenv("PATH"))
	b, err := os.ReadFile(w.Path("destination"))
	w.no(err)
	return strings.TrimSpace(string(b))
}
