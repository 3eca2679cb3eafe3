package rehearse_test

import (
	_ "embed"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"svc/tools/rehearsal"
)

// What a hostile machine runs when it is started.
var (
	//go:embed escape.sh
	escape string
	//go:embed reach.py
	reach string
)

// newHostile is a machine that tries to get out, and to use up its host. A check of a
// person's own says what got out.
func newHostile(t *testing.T) *machine {
	m := newMachine(t, "0123456789abcdef0123456789abcdee")
	m.unit("bomb", `ExecStart=/bin/bash -c "b() { b | b & }; b"`, "Restart=always", "[Unit]", "After=escape.service")
	m.unit("never", "Type=notify", "ExecStart=/bin/sleep infinity", "TimeoutStartSec=infinity")
	m.unit("escape", "Type=oneshot", "ExecStart=/bin/bash /usr/local/bin/escape", "ExecStart=/usr/bin/python3 /usr/local/bin/reach")
	m.program(filepath.Join(m.root, "usr/local/bin/escape"), escape)
	m.program(filepath.Join(m.root, "usr/local/bin/reach"), reach)
	m.is.NoErr(os.RemoveAll(filepath.Join(m.root, "dev")))
	m.is.NoErr(os.Symlink("/etc", filepath.Join(m.root, "dev")))
	m.program(m.Path("checks/escape"), "#!/bin/sh\ntail -n 60 /var/lib/escape; grep OUT /var/lib/escape; grep -q done /var/lib/escape && grep -q reached /var/lib/escape && ! grep -q OUT /var/lib/escape\n")
	return m
}

// host is what attacks would change of this machine: its kernel's settings but those that
// count and those that nobody may read, mounts but those of tests beside this one, and more.
func (m *machine) host() string {
	return m.Shell(0, `
		grep -rs . /proc/sys/kernel /proc/sys/vm /proc/sys/fs | grep -vE '/(ns_last_pid|random/[a-z_]*|dentry-state|(file|inode|aio|dquot)-(nr|state)|pty/nr|quota/syncs):' || true
		hostname
		mount | grep -vE ' (/tmp|/dev/shm|[^ ]*/svc-e2e)/'
		ip -o link
		sha256sum "$(command -v nsenter)" "$1"
		ls /dev /sys/fs/cgroup`, m.Command().Path).Out
}

// bait is what an attack would find on this machine: a folder, two sockets, a port, and a
// process.
type bait []net.Listener

func (m *machine) bait() (b bait) {
	m.Hold("mkdir -p /var/lib/svc-e2e-host; rm -f /tmp/svc-e2e-host", "rm -rf /var/lib/svc-e2e-host /tmp/svc-e2e-host")
	for _, at := range [][2]string{{"unix", "@svc-e2e-host"}, {"unix", "/tmp/svc-e2e-host"}, {"tcp", "127.0.0.1:34567"}} {
		l, err := net.Listen(at[0], at[1])
		m.is.NoErr(err)
		m.t.Cleanup(func() { l.Close() })
		b = append(b, l)
	}
	m.Start("python3", "-c", "import time; time.sleep(3600)", "svc-e2e-process")
	m.bitten(b)
	return b
}

// bitten fails the test where something of it is no longer there.
func (m *machine) bitten(b bait) {
	for _, l := range b {
		c, err := net.Dial(l.Addr().Network(), l.Addr().String())
		m.is.NoErr(err)
		c.Close()
	}
	m.Run(0, "pgrep", "-f", "svc-e2e-process")
	m.Run(0, "test", "-d", "/var/lib/svc-e2e-host")
}

// TestHostile rehearses a hostile machine to the end. It needs -all: what gets out is on
// this machine.
func TestHostile(t *testing.T) {
	if !*all {
		t.Skip("-all rehearses it")
	}
	m := newHostile(t)
	bait := m.bait()
	host, disk := m.host(), m.picture()
	// What it starts again and again may or may not run when it is asked.
	code := m.Shell(0, `"$@" >&2 && echo 0 || echo $?`, append([]string{m.Command().Path}, m.words("hostile", "--with-data", "--time", "10m", "--checks", m.Path("checks"))...)...).Line()
	d := m.document(m.Path("hostile"))
	m.is.Equal(code, map[bool]string{false: "0", true: "6"}[d.Sum.Fails > 0])

	m.is.Equal(m.host(), host)
	m.is.Equal(m.picture(), disk) // its disk is only read
	m.bitten(bait)
	m.is.Equal(m.left(), "")
	mounts, err := os.ReadFile("/proc/self/mounts")
	m.is.NoErr(err)
	m.is.True(!strings.Contains(string(mounts), running()))
	m.contained(d)
}

// contained: nothing got out of the source's copy and of the target, and what used them up
// was ended in both, which is said.
func (m *machine) contained(d *rehearsal.Document) {
	var own []string
	for _, c := range d.Checks {
		if c.Kind == "own" {
			own = append(own, string(c.Verdict), c.Source)
		}
	}
	m.is.Equal(own, []string{"runs", "passes"})
	var bombed []string
	for _, remark := range d.Remarks {
		if strings.Contains(remark, "bomb.service") {
			bombed = append(bombed, strings.Fields(remark)[2])
		}
	}
	slices.Sort(bombed)
	m.is.Equal(bombed, []string{"source,", "target,"})
}
