// Package e2e is what the end-to-end tests in Go share: the program, built once for
// a package of tests; a folder for each test, in which svc and other commands run;
// and Debian to run them on. Roots are made, booted and reached by functions of bash,
// in checks.sh, booted.sh, sshd.sh and chroots.sh.
//
// A test names the exit code that it expects of each command; where another comes,
// or the command does not say what it should, the test fails with what it said.
package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// program is the svc that is tested, scripts the folder of checks.sh.
var program, scripts string

// Main runs the tests of a package in a folder beside checks.sh, which needs tools,
// each as TOOL:PACKAGE of Debian. Without root, or where a tool can't be had,
// nothing can be tested, and that is a failure.
func Main(m *testing.M, tools ...string) {
	end(run(m, tools))
}

// end is that of a package's tests.
func end(code int, err error) {
	if err != nil {
		fmt.Println("NOT TESTED:", err)
		code = 1
	}
	os.Exit(code)
}

// find finds the scripts, for root.
func find() (err error) {
	if os.Geteuid() != 0 {
		return errors.New("it needs root")
	}
	scripts, err = filepath.Abs("..")
	return err
}

func run(m *testing.M, tools []string) (int, error) {
	if err := find(); err != nil {
		return 0, err
	}
	dir, err := os.MkdirTemp("", "svc")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	program = filepath.Join(dir, "svc")
	build := exec.Command("go", "build", "-trimpath", "-o", program, "svc/cmd/svc")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	for _, c := range []*exec.Cmd{build, bash("", `needs "$@"`, tools...)} {
		if out, err := c.CombinedOutput(); err != nil {
			return 0, fmt.Errorf("%s: %w\n%s", c, err, out)
		}
	}
	return m.Run(), nil
}

// Cache is where roots are kept from one run to the next, for all tests.
func Cache() string {
	dir, err := os.UserCacheDir()
	if err != nil {
		panic(err) // root has a home
	}
	return filepath.Join(dir, "svc-e2e")
}

// bash is a command of bash that knows the functions of scripts, with work as its folder.
func bash(work, command string, args ...string) *exec.Cmd {
	const begin = `set -euo pipefail; cd "$0/../.."; work=$1; shift; . .ci/e2e/checks.sh; [ -z "$work" ] || for with in booted sshd chroots; do . .ci/e2e/$with.sh; done; `
	return exec.Command("bash", append([]string{"-c", begin + command, scripts, work}, args...)...)
}

// Work is the folder of a test, where svc has its data, configuration and state.
type Work struct {
	Dir string
	t   testing.TB
}

// New makes a folder, which goes with the test.
func New(t testing.TB) *Work {
	t.Helper()
	w := &Work{t: t}
	// An sshd wants no folder on the way to a root that others may write, as /tmp is.
	w.no(os.MkdirAll(Cache(), 0o755))
	dir, err := os.MkdirTemp(Cache(), "test.")
	w.no(err)
	w.Dir = dir
	t.Cleanup(func() {
		if out, err := exec.Command("rm", "-rf", "--one-file-system", dir).CombinedOutput(); err != nil {
			t.Errorf("%s stays: %v\n%s", dir, err, out)
		}
	})
	for _, kind := range []string{"DATA", "CONFIG", "STATE"} {
		t.Setenv("XDG_"+kind+"_HOME", w.Path(strings.ToLower(kind)))
	}
	return w
}

// no fails the test where there is an error.
func (w *Work) no(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// Path is one in the folder.
func (w *Work) Path(elem ...string) string { return filepath.Join(append([]string{w.Dir}, elem...)...) }

// Said is what a command said.
type Said struct {
	Out, Err string
	t        testing.TB
	command  string
}

// SVC runs the program, which ends with this exit code.
func (w *Work) SVC(code int, args ...string) Said {
	w.t.Helper()
	return w.Run(code, program, args...)
}

// Run runs a command, which ends with this exit code.
func (w *Work) Run(code int, name string, args ...string) Said {
	w.t.Helper()
	return w.run(code, exec.Command(name, args...))
}

// Shell runs a script of bash with these arguments.
func (w *Work) Shell(code int, script string, args ...string) Said {
	w.t.Helper()
	return w.Run(code, "bash", append([]string{"-euo", "pipefail", "-c", script, "bash"}, args...)...)
}

// Call runs a command of bash that knows the functions of the scripts.
func (w *Work) Call(code int, command string, args ...string) Said {
	w.t.Helper()
	return w.run(code, bash(w.Dir, command, args...))
}

func (w *Work) run(code int, c *exec.Cmd) Said {
	w.t.Helper()
	said, got := w.ends(c)
	if got != code {
		w.t.Fatalf("%s ended with %d, not %d:\n%s", c, got, code, said.end())
	}
	return said
}

// ends runs a command and gives its exit code.
func (w *Work) ends(c *exec.Cmd) (Said, int) {
	w.t.Helper()
	var out, err bytes.Buffer
	c.Stdout, c.Stderr = &out, &err
	failed := c.Run()
	if exit := (*exec.ExitError)(nil); failed != nil && !errors.As(failed, &exit) {
		w.t.Fatalf("%s: %v", c, failed)
	}
	return Said{Out: out.String(), Err: err.String(), t: w.t, command: c.String()}, c.ProcessState.ExitCode()
}

// Has fails the test where the command did not say a text.
func (s Said) Has(text string) {
	s.t.Helper()
	if !strings.Contains(s.Out+s.Err, text) {
		s.t.Fatalf("%s does not say %q:\n%s", s.command, text, s.end())
	}
}

// Line is the standard output without white space around it.
func (s Said) Line() string { return strings.TrimSpace(s.Out) }

// JSON reads the standard output.
func (s Said) JSON(into any) {
	s.t.Helper()
	if err := json.Unmarshal([]byte(s.Out), into); err != nil {
		s.t.Fatalf("%s: %v:\n%s", s.command, err, s.end())
	}
}

// end is the end of what was said, for a person.
func (s Said) end() string {
	const most = 2000
	all := s.Out + s.Err
	return all[max(0, len(all)-most):]
}

// Until runs a command again and again, until it succeeds.
func (w *Work) Until(name string, args ...string) {
	w.t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		said, code := w.ends(exec.Command(name, args...))
		if code == 0 {
			return
		}
		if time.Now().After(end) {
			w.t.Fatalf("no success of %s:\n%s", said.command, said.end())
		}
	}
}

// Files writes files below a folder.
func (w *Work) Files(dir string, files map[string]string) {
	w.t.Helper()
	for name, content := range files {
		path := filepath.Join(dir, name)
		w.no(errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(content), 0o644)))
	}
}

// Hold runs a command of bash, which knows the scripts' functions, and another one when
// the test stops it, ends, or is killed, or the first one fails: it takes away what that
// has begun.
func (w *Work) Hold(begin, end string, args ...string) (stop func()) {
	w.t.Helper()
	c := bash(w.Dir, "trap 'set +e; "+end+"' EXIT; "+begin+"; echo held >&3; read -r || true", args...)
	// That its input ends says that the test did; that it holds, it says on a pipe.
	ready, tell, err := os.Pipe()
	w.no(err)
	defer ready.Close()
	var said bytes.Buffer
	c.Stdout, c.Stderr, c.ExtraFiles, c.WaitDelay = &said, &said, []*os.File{tell}, time.Second
	input, err := c.StdinPipe()
	w.no(err)
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // an interrupt is the test's
	err = c.Start()
	tell.Close()
	w.no(err)
	stop = sync.OnceFunc(func() {
		input.Close()
		_ = c.Wait()
		if w.t.Failed() {
			w.t.Logf("%s:\n%s", begin, said.String())
		}
	})
	w.t.Cleanup(stop)
	if n, _ := ready.Read(make([]byte, 1)); n == 0 {
		w.t.Fatalf("it does not hold: %s", begin) // and its end tells why
	}
	return stop
}

// Process is a command that runs beside the test.
type Process struct {
	c     *exec.Cmd
	ended chan struct{}
}

// Launch starts a command, which ends by itself, by the test, or with it: as a person would
// end it, by SIGTERM.
func (w *Work) Launch(c *exec.Cmd) *Process {
	w.t.Helper()
	var said bytes.Buffer
	c.Stdout, c.Stderr, c.WaitDelay = &said, &said, time.Second
	c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
	w.no(c.Start())
	p := &Process{c, make(chan struct{})}
	go func() {
		_ = c.Wait() // at once: what has ended is not to be seen any more
		close(p.ended)
	}()
	w.t.Cleanup(func() {
		p.End(syscall.SIGTERM)
		if w.t.Failed() {
			w.t.Logf("%s:\n%s", c, said.String())
		}
	})
	return p
}

// End sends a signal, where the process has not ended by itself, and waits for its end.
func (p *Process) End(by os.Signal) {
	_ = p.c.Process.Signal(by)
	p.Wait()
}

// Wait waits for its end.
func (p *Process) Wait() { <-p.ended }

// Runs reports whether it has not ended.
func (p *Process) Runs() bool {
	select {
	case <-p.ended:
		return false
	default:
		return true
	}
}

// Start launches a command, which stop ends.
func (w *Work) Start(name string, args ...string) (stop func()) {
	w.t.Helper()
	p := w.Launch(exec.Command(name, args...))
	return func() { p.End(syscall.SIGTERM) }
}
