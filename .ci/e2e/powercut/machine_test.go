package powercut_test

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/matryer/is"
	"golang.org/x/sys/unix"

	"svc/.ci/e2e"
)

// machine is a Debian 13 in an emulator, which has the servers of two releases.
type machine struct {
	*e2e.Work
	t      *testing.T
	is     *is.I
	root   string // what its disk is made of
	kernel string // further words for its kernel
	sums   string // what its PostgreSQL holds
	power  *e2e.Process
	line   net.Conn // to a shell on it
	said   *bufio.Reader

	panicked bool // its kernel did, at some boot
}

// furnish is a root of a trixie that boots, which is made once.
const furnish = `. .ci/e2e/powercut/testdata/root.sh
	chroots bullseye
	kept "$1" trixie systemd,systemd-sysv,udev,linux-image-cloud-amd64,initramfs-tools,zstd,locales furnish_machine "$1"`

// newRoot is what the disk of a machine is made of. What is made once is made without
// emulation.
func newRoot(t *testing.T) *machine {
	m := &machine{Work: e2e.New(t), t: t, is: is.New(t)}
	m.Memory("8g")
	base := filepath.Join(e2e.Cache(), "machine", "root")
	m.Call(0, furnish, base)
	m.root = m.Overlay(base, "root")
	m.Run(0, "cp", m.Command().Path, m.at("usr/local/bin/svc"))
	for _, unit := range strings.Fields("systemd-logind.service apt-daily.timer apt-daily-upgrade.timer e2scrub_all.timer fstrim.timer getty.target e2scrub_reap.service console-setup.service keyboard-setup.service") {
		m.is.NoErr(os.Symlink("/dev/null", m.at("etc/systemd/system/"+unit)))
	}
	m.host("systemctl", "-q", "disable", "mariadb", "redis-server")
	return m
}

// newMachine turns a machine on, which has more on its disk.
func newMachine(t *testing.T, more ...func(*machine)) *machine {
	m := newRoot(t)
	m.Files(m.root, map[string]string{
		"etc/fstab": "/dev/vda / ext4 defaults 0 1\n",
		// A shell that does what comes over a line of the machine.
		"etc/systemd/system/orders.service": `[Service]
Environment=HOME=/root
ExecStartPre=/bin/sh -c 'until [ -e /dev/virtio-ports/orders ]; do sleep 0.1; done'
ExecStart=/bin/bash -c 'exec bash <>/dev/virtio-ports/orders >&0 2>&0'
[Install]
WantedBy=multi-user.target
`,
	})
	m.host("systemctl", "-q", "enable", "orders.service")
	for _, put := range more {
		put(m)
	}
	m.Mount(m.root, m.Path("whole"), "", unix.MS_BIND, "") // without what is mounted there
	m.Run(0, "mke2fs", "-q", "-t", "ext4", "-E", "lazy_itable_init=0,lazy_journal_init=0", "-d", m.Path("whole"), m.Path("disk"), "4g")
	m.Shell(0, `cp "$1"/boot/vmlinuz-* "$2"; cp "$1"/boot/initrd.img-* "$3"`, m.root, m.Path("kernel"), m.Path("initrd"))
	m.boot()
	return m
}

func (m *machine) at(path string) string { return filepath.Join(m.root, path) }

// host runs a command in what the disk is made of; its ports are its own.
func (m *machine) host(command ...string) e2e.Said {
	m.t.Helper()
	return m.Run(0, "unshare", append([]string{"-n", "chroot", m.root}, command...)...)
}

// boot turns the machine on, and waits until it is up. A kernel that the emulator makes
// panic is a machine that lost its power once more: it is turned on again.
func (m *machine) boot() {
	m.t.Helper()
	for range 3 {
		m.turnOn()
		_, err := m.run("systemctl", "is-system-running", "--wait")
		console, _ := os.ReadFile(m.Path("console")) // without one it said nothing
		if !strings.Contains(string(console), "Kernel panic") {
			m.is.NoErr(err)
			return
		}
		m.panicked = true
		m.t.Logf("the emulated kernel panicked:\n%s", console[max(0, len(console)-3000):])
		m.cutPower()
	}
	m.t.Fatal("the emulated kernel panics each time")
}

// turnOn: the machine has one processor, and that lacks an instruction: emulators get that
// one wrong, and what several processors do at a time.
func (m *machine) turnOn() {
	m.t.Helper()
	m.power = m.Launch(exec.Command("qemu-system-x86_64", "-machine", "pc", "-accel", "tcg", "-cpu", "qemu64,-cx16", "-smp", "1", "-m", "1536", "-nodefaults", "-display", "none", "-no-reboot",
		"-kernel", m.Path("kernel"), "-initrd", m.Path("initrd"), "-append", "root=/dev/vda rw console=ttyS0 loglevel=4 panic=-1 mitigations=off apparmor=0 audit=0 "+m.kernel, "-serial", "file:"+m.Path("console"),
		"-drive", "file="+m.Path("disk")+",if=virtio,format=raw,cache=writeback", "-device", "virtio-rng-pci",
		"-device", "virtio-serial-pci", "-chardev", "socket,id=line,server=on,wait=off,path="+m.Path("line"), "-device", "virtserialport,chardev=line,name=orders"))
	var err error
	for end := time.Now().Add(time.Minute); time.Now().Before(end) && m.power.Runs(); time.Sleep(50 * time.Millisecond) {
		if m.line, err = net.Dial("unix", m.Path("line")); err == nil {
			m.said = bufio.NewReader(m.line)
			return
		}
	}
	m.t.Fatalf("the emulator does not listen: %v", err)
}

// cutPower: what the machine has not written to its disk is lost.
func (m *machine) cutPower() {
	m.power.End(syscall.SIGKILL)
	m.line.Close()
	_ = os.Remove(m.Path("line")) // it may be gone
}

// tell has the machine run a command.
func (m *machine) tell(command []string) error {
	var words strings.Builder
	for _, word := range command {
		words.WriteString("'" + strings.ReplaceAll(word, "'", `'\''`) + "' ")
	}
	_, err := fmt.Fprintf(m.line, "%s</dev/null; echo \"@@ $?\"\n", words.String())
	return err
}

// hear is the next line that the machine says, and whether it is the end of a command.
func (m *machine) hear() (text string, code int, ended bool, err error) {
	if err := m.line.SetReadDeadline(time.Now().Add(580 * time.Second)); err != nil {
		return "", 0, false, err
	}
	text, err = m.said.ReadString('\n')
	text = strings.ReplaceAll(text, "\r", "")
	if before, after, found := strings.Cut(text, "@@ "); found {
		if _, err := fmt.Sscan(after, &code); err == nil {
			return before, code, true, nil
		}
	}
	return text, 0, false, err
}

// answer is what a command on the machine said, and its exit code.
type answer struct {
	text string
	code int
}

// run has the machine run a command.
func (m *machine) run(command ...string) (answer, error) {
	err := m.tell(command)
	var all strings.Builder
	for err == nil {
		var text string
		var code int
		var ended bool
		text, code, ended, err = m.hear()
		all.WriteString(text)
		if ended {
			return answer{strings.TrimSpace(all.String()), code}, nil
		}
	}
	return answer{}, errors.Join(fmt.Errorf("the machine does not answer: %s", all.String()), err)
}

// says is what a command on the machine says, whatever its exit code.
func (m *machine) says(command ...string) string {
	m.t.Helper()
	a, err := m.run(command...)
	m.is.NoErr(err)
	return a.text
}

// order has the machine run a command, which succeeds.
func (m *machine) order(command ...string) string {
	m.t.Helper()
	a, err := m.run(command...)
	m.is.NoErr(err)
	if a.code != 0 {
		m.t.Fatalf("%q ended with %d:\n%s", command, a.code, a.text)
	}
	return a.text
}

// refuses: the machine runs a command, which fails.
func (m *machine) refuses(command ...string) {
	m.t.Helper()
	a, err := m.run(command...)
	m.is.NoErr(err)
	m.is.True(a.code != 0)
}

// upgrade is svc's, of a database of the machine, and goes on with one.
func upgrade(engine, version, backup string) []string {
	return []string{"svc", "db", "upgrade", "--engine", engine, "--to", version, "--backup-dir", backup, "--confirm"}
}

func again(how, backup string) []string {
	return []string{"svc", "db", "upgrade", "--backup-dir", backup, how, "--confirm"}
}

// cut cuts the power so long after svc says that it begins a step; the machine boots again.
func (m *machine) cut(step string, after time.Duration, svc []string) {
	m.t.Helper()
	m.is.NoErr(m.tell(svc))
	var all strings.Builder
	for {
		text, code, ended, err := m.hear()
		all.WriteString(text)
		if ended || err != nil {
			m.t.Fatalf("svc did not get to %s: %d, %v:\n%s", step, code, err, all.String())
		}
		if strings.HasPrefix(text, "svc: ") && strings.Contains(text, ", "+step+": ") {
			break
		}
	}
	time.Sleep(after)
	m.cutPower()
	m.boot()
}

// runs: systemd says so of a unit.
func (m *machine) runs(unit, state string) {
	m.t.Helper()
	m.is.Equal(m.says("systemctl", "is-active", unit), state)
}
