package ssh_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"svc/cmd/svc/exit"
)

// TestRefuses: hosts whose key is not as it is known, and destinations that are more than
// that; nothing of them is learnt or run.
func TestRefuses(t *testing.T) {
	m := newMachine(t)
	host := fmt.Sprintf("[127.0.0.1]:%d ", webPort)
	known := m.read("known")
	unknown := regexp.MustCompile(`(?m)^`+regexp.QuoteMeta(host)+`.*\n`).ReplaceAllLiteralString(known, "")
	m.Files(m.Dir, map[string]string{"known": unknown})
	m.refuses(exit.Failed, "connect once by hand with `ssh web`", "assess", "--ssh", "web", "--json")
	m.is.Equal(m.read("known"), unknown)

	m.know(host + m.key("other") + "\n")
	changed := m.read("known")
	const notKnown = "its host key is not the one that is known"
	m.refuses(exit.Failed, notKnown, "assess", "--ssh", "web", "--json")
	m.refuses(exit.Failed, notKnown, "migrate", "--ssh", "web", "--target", "debian-13", "--preflight", "--json")
	m.is.Equal(m.read("known"), changed)

	m.Files(m.Dir, map[string]string{"known": known})
	m.refuses(exit.Failed, "ssh-add", "assess", "--ssh", at("nobody", webPort)) // who has no key is told how
	m.refuses(exit.Failed, "can't connect", "assess", "--ssh", at("root", deadPort))
	ran := m.Path("ran")
	for _, destination := range []string{"-oProxyCommand=touch " + ran, "root@-oProxyCommand=touch" + ran, "root@$(touch " + ran + ")"} {
		m.refuses(exit.Usage, "not an ssh destination", "assess", "--ssh", destination)
	}
	_, err := os.Stat(ran)
	m.is.True(os.IsNotExist(err))
}

// refuses: svc ends with this exit code, says why, and has no output.
func (m *machine) refuses(code int, why string, args ...string) {
	m.t.Helper()
	said := m.SVC(code, args...)
	said.Has(why)
	m.is.Equal(said.Out, "")
}

// TestEnds: neither Ctrl-C nor a connection that breaks leaves an svc that waits, an ssh,
// or a shell on the machine.
func TestEnds(t *testing.T) {
	m := newMachine(t)
	var out, said bytes.Buffer
	command := func() *exec.Cmd {
		c := m.Command("assess", "--ssh", "web", "--json")
		c.Stdout, c.Stderr, c.WaitDelay = &out, &said, time.Second
		return c
	}
	h := m.hang(command())
	m.is.NoErr(h.svc.Process.Signal(os.Interrupt))
	h.ends(exit.Interrupted)
	m.is.Equal(out.String(), "")

	said.Reset()
	h = m.hang(command())
	m.Run(0, "pkill", "-KILL", "-P", strconv.Itoa(h.svc.Process.Pid))
	h.ends(exit.Failed)
	m.is.Equal(out.String(), "")
	m.is.True(regexp.MustCompile(`(?m)^svc: reading web over ssh: (the connection was lost|can't connect)`).MatchString(said.String())) // by how far it was
}

// TestTerminal: on a terminal what takes longer than a second is said, until Ctrl-C.
func TestTerminal(t *testing.T) {
	m := newMachine(t)
	main, tty := m.terminal()
	c := m.Command("assess", "--ssh", "web")
	c.Stdin, c.Stdout, c.Stderr, c.SysProcAttr = tty, tty, tty, &syscall.SysProcAttr{Setsid: true, Setctty: true}
	began := time.Now()
	h := m.hang(c)
	tty.Close()
	h.until(main, `opening the machine`)
	m.is.True(time.Since(began) > 900*time.Millisecond)
	began = time.Now()
	_, err := main.WriteString("\x03")
	m.is.NoErr(err)
	h.until(main, `interrupted(: reading web over ssh)?\. Nothing was changed`) // by how far it was
	h.ends(exit.Interrupted)
	m.is.True(time.Since(began) < patience)
}

// terminal is a pseudo-terminal: its end, and the one of the program on it.
func (m *machine) terminal() (main, tty *os.File) {
	main, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	m.is.NoErr(err)
	m.t.Cleanup(func() { main.Close() })
	m.is.NoErr(unix.IoctlSetPointerInt(int(main.Fd()), unix.TIOCSPTLCK, 0))
	n, err := unix.IoctlGetInt(int(main.Fd()), unix.TIOCGPTN)
	m.is.NoErr(err)
	tty, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	m.is.NoErr(err)
	m.is.NoErr(unix.IoctlSetWinsize(int(tty.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 40, Col: 120}))
	return main, tty
}

// patience is how long what should end at once may take.
const patience = 5 * time.Second

// hung is an svc that waits, since the machine's shell, which reads for it, was stopped.
type hung struct {
	*machine
	svc    *exec.Cmd
	shells []int
}

func (m *machine) hang(c *exec.Cmd) *hung {
	m.t.Helper()
	h := &hung{machine: m, svc: c}
	m.is.NoErr(c.Start())
	m.t.Cleanup(func() { _ = c.Process.Kill() }) // where the test failed
	for end := time.Now().Add(patience); len(h.shells) == 0; time.Sleep(10 * time.Millisecond) {
		m.is.True(time.Now().Before(end))
		h.shells = m.running("sh")
	}
	h.signal(unix.SIGSTOP)
	return h
}

// running are the processes of a name whose root the machine is.
func (m *machine) running(name string) (pids []int) {
	roots, err := filepath.Glob("/proc/[0-9]*/root")
	m.is.NoErr(err)
	for _, root := range roots {
		process := filepath.Dir(root)
		of, _ := os.Readlink(root) // it may be gone
		comm, _ := os.ReadFile(process + "/comm")
		pid, _ := strconv.Atoi(filepath.Base(process))
		if of == m.root && strings.TrimSpace(string(comm)) == name {
			pids = append(pids, pid)
		}
	}
	return pids
}

func (h *hung) signal(signal unix.Signal) {
	for _, pid := range h.shells {
		if err := unix.Kill(pid, signal); err != unix.ESRCH { // a child of the shell may have ended
			h.is.NoErr(err)
		}
	}
}

// ends: svc does at once, with this exit code, and with its ssh; and so does the machine's
// shell, as soon as it may.
func (h *hung) ends(code int) {
	h.t.Helper()
	stop := time.AfterFunc(patience, func() { _ = h.svc.Process.Kill() })
	defer stop.Stop()
	_ = h.svc.Wait() // its exit code is looked at
	h.is.Equal(h.svc.ProcessState.ExitCode(), code)
	h.Run(1, "pgrep", "-f", "ssh -F "+h.Path("ssh_config"))
	h.signal(unix.SIGCONT)
	for end := time.Now().Add(patience); len(h.running("sh")) > 0; time.Sleep(100 * time.Millisecond) {
		h.is.True(time.Now().Before(end))
	}
}

// until reads a terminal until it shows what is searched.
func (h *hung) until(main *os.File, search string) {
	h.t.Helper()
	pattern := regexp.MustCompile(search)
	stop := time.AfterFunc(30*time.Second, func() { _ = h.svc.Process.Kill() }) // which ends what is read
	defer stop.Stop()
	for said, b := "", make([]byte, 1024); !pattern.MatchString(said); {
		n, err := main.Read(b)
		said += string(b[:n])
		if err != nil {
			h.t.Fatalf("the terminal does not show %q, but %q", search, said)
		}
	}
}
