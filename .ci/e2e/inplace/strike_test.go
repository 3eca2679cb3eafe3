package inplace_test

import (
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"

	"svc/.ci/e2e"
)

// during runs svc, and strikes when it says that it begins a step.
func (m *machine) during(step string, svc *exec.Cmd, strike func(*os.Process)) e2e.Said {
	m.t.Helper()
	return m.upon(svc, strike, func(line string) bool { return begins(line, step) })
}

// from is during, where a former strike may have come when the step was over too, as some
// are in a moment: then the next one is struck, or nothing is left to do.
func (m *machine) from(step string, svc *exec.Cmd, strike func(*os.Process)) {
	m.t.Helper()
	left := steps[slices.Index(steps, step):]
	m.upon(svc, strike, func(line string) bool {
		return strings.TrimSpace(line) == "upgraded" || slices.ContainsFunc(left, func(step string) bool { return begins(line, step) })
	})
}

func begins(line, step string) bool {
	return strings.HasPrefix(line, "svc: ") && strings.Contains(line, ", "+step+": ")
}

// upon runs svc, and strikes upon a line. Both share a processor, which goes to the one
// that waited for that.
func (m *machine) upon(svc *exec.Cmd, strike func(*os.Process), line func(string) bool) (said e2e.Said) {
	m.t.Helper()
	nice := exec.Command("nice", slices.Concat([]string{"-n", "5"}, svc.Args)...)
	nice.Env = svc.Env
	m.OnOneProcessor(func() { said, _ = m.Upon(nice, line, strike) })
	return said
}

// signal is a strike by a signal, at once or later.
func signal(s os.Signal, after time.Duration) func(*os.Process) {
	return func(svc *os.Process) {
		time.Sleep(after)
		_ = svc.Signal(s) // it may have ended
	}
}

// stall is a strike that has something happen while svc stands.
func (m *machine) stall(meanwhile func()) func(*os.Process) {
	return func(svc *os.Process) {
		m.is.NoErr(svc.Signal(syscall.SIGSTOP))
		meanwhile()
		m.is.NoErr(svc.Signal(syscall.SIGCONT))
	}
}

// strikes has SIGKILL come in the midst of a step, of which some are over in a moment: it
// begins anew until it does. It gives the old server, which begin has started.
func (m *machine) strikes(step, engine, version string, begin func() *e2e.Process) *e2e.Process {
	m.t.Helper()
	for range 10 {
		server := begin()
		var after time.Duration
		if step == "stop" {
			after = rand.N(90 * time.Millisecond)
		}
		m.during(step, m.upgrades("trixie", engine, version), signal(syscall.SIGKILL, after))
		if strings.Contains(m.journalEnd(), `"step":"`+step+`","state":"started"`) {
			return server
		}
		_ = m.resumes("trixie", "--roll-back").Run() // nothing is to be undone where it had not begun
		server.End(syscall.SIGTERM)
	}
	m.t.Fatalf("svc was never killed in the midst of %s", step)
	return nil
}

// journalEnd is the last line of the journal.
func (m *machine) journalEnd() string {
	m.t.Helper()
	journal, err := os.ReadFile(m.backups("one/journal.jsonl"))
	m.is.NoErr(err)
	all := strings.TrimSpace(string(journal))
	return all[strings.LastIndexByte(all, '\n')+1:]
}

// full has a disk be full when a step begins: svc says so, and takes all back.
func (m *machine) full(disk, step, engine, version string) {
	m.t.Helper()
	filler := disk + "/filler"
	said := m.during(step, m.upgrades("trixie", engine, version), m.stall(func() {
		f, err := os.Create(filler)
		m.is.NoErr(err)
		defer f.Close()
		_, err = io.Copy(f, zeros{})
		m.is.True(errors.Is(err, syscall.ENOSPC))
	}))
	m.is.NoErr(os.Remove(filler))
	m.tells(said, "there is no space left for|has no room left")
	said.Has("all was rolled back")
}

// zeros are bytes without end.
type zeros struct{}

func (zeros) Read(b []byte) (int, error) { return len(b), nil }
