// Package hostile_test assesses machines that no honest one is like: files without end,
// lists without end, loops, bombs and databases of noise. Each ends soon, in less than
// 64 MB, and without a panic. The newest Ansible applies the role of a machine whose
// every text is meant as a program; with -all, so does the one of this machine.
package hostile_test

import (
	"bytes"
	"cmp"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/matryer/is"

	"svc/.ci/e2e"
	"svc/cmd/svc/exit"
)

// What one assessment may take.
const (
	mostTime   = 10 * time.Second // of the processor
	mostMemory = 64 << 20
)

func TestMain(m *testing.M) { e2e.Main(m) }

func TestMachines(t *testing.T) {
	w := e2e.New(t)
	for _, h := range hostile {
		t.Run(h.name, func(t *testing.T) {
			m := machine{t, t.TempDir()}
			if !h.bare {
				m.write("var/lib/dpkg/status", dpkg)
			}
			m.write("etc/os-release", cmp.Or(h.release, debian))
			h.fill(m)
			bounded(t, w.Command("assess", "--root", m.root, "--json"))
		})
	}
}

// bounded runs a command, for a minute at most. What it prints goes to a file: what this
// process holds would count as the next command's.
func bounded(t *testing.T, c *exec.Cmd) {
	is := is.New(t)
	out, err := os.Create(filepath.Join(t.TempDir(), "out"))
	is.NoErr(err)
	defer out.Close()
	var said bytes.Buffer
	c.Stdout, c.Stderr = out, &said
	is.NoErr(c.Start())
	stop := time.AfterFunc(time.Minute, func() { _ = c.Process.Kill() })
	defer stop.Stop()
	_ = c.Wait() // its exit code is looked at
	code, took := c.ProcessState.ExitCode(), c.ProcessState.UserTime()+c.ProcessState.SystemTime()
	memory := c.ProcessState.SysUsage().(*syscall.Rusage).Maxrss << 10
	size, err := out.Seek(0, io.SeekCurrent)
	is.NoErr(err)
	t.Logf("exit %d, %v, %.1f MB, %d bytes", code, took, float64(memory)/(1<<20), size)
	panicked := bytes.Contains(said.Bytes(), []byte("panic")) || bytes.Contains(said.Bytes(), []byte("goroutine"))
	if !slices.Contains([]int{exit.Done, exit.Failed, exit.Differ}, code) || panicked || took > mostTime || memory > mostMemory {
		t.Errorf("%s", said.Bytes()[max(0, said.Len()-600):])
	}
}
