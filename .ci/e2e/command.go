package e2e

import (
	"errors"
	"os"
	"os/exec"
	"regexp"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// In is the same folder for a part of the test.
func (w *Work) In(t testing.TB) *Work {
	part := *w
	part.t = t
	return &part
}

// Command is svc with arguments, for who starts it in a way of its own.
func (w *Work) Command(args ...string) *exec.Cmd {
	return exec.Command(program, args...)
}

// Do runs a command, which ends with this exit code.
func (w *Work) Do(code int, c *exec.Cmd) Said {
	w.t.Helper()
	return w.run(code, c)
}

// Overlay is a root that has what another has; what is written to it goes with the test,
// and what runs in it ends. It has the kernel's file systems that programs look for.
func (w *Work) Overlay(lower, name string) string {
	w.t.Helper()
	root, upper, work := w.Path(name), w.Path(name+".upper"), w.Path(name+".work")
	for _, dir := range []string{root, upper, work} {
		w.no(os.Mkdir(dir, 0o755))
	}
	w.Mount("overlay", root, "overlay", 0, "lowerdir="+lower+",upperdir="+upper+",workdir="+work)
	w.t.Cleanup(func() { w.End(root) }) // before it is unmounted: then nothing shows what ran in it
	w.Mount("proc", root+"/proc", "proc", 0, "")
	w.Mount("/dev", root+"/dev", "", unix.MS_BIND, "")
	return root
}

// Mount mounts, on a folder that is made where it is not there, until unmount is called or
// the test ends.
func (w *Work) Mount(source, target, kind string, flags uintptr, data string) (unmount func()) {
	w.t.Helper()
	if err := errors.Join(os.MkdirAll(target, 0o755), unix.Mount(source, target, kind, flags, data)); err != nil {
		w.t.Fatalf("%s: %v", target, err)
	}
	unmount = sync.OnceFunc(func() {
		if err := unix.Unmount(target, unix.MNT_DETACH); err != nil {
			w.t.Errorf("%s: %v", target, err)
		}
	})
	w.t.Cleanup(unmount)
	return unmount
}

// Service is a `svc serve` that runs until its test ends.
type Service struct {
	URL string
	log string
}

// Log is what it has said so far.
func (s *Service) Log() string {
	text, _ := os.ReadFile(s.log) // without one nothing was said
	return string(text)
}

var listens = regexp.MustCompile(`"addr":"([^"]*)"`)

// StartService starts a service, on a port of its own.
func (w *Work) StartService(args ...string) *Service {
	w.t.Helper()
	c := w.Command(append([]string{"serve", "--listen", "127.0.0.1:0"}, args...)...)
	log, err := os.CreateTemp(w.Dir, "serve.")
	w.no(err)
	defer log.Close()
	c.Stderr, c.SysProcAttr = log, &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	w.no(c.Start())
	w.t.Cleanup(func() { _, _ = c.Process.Kill(), c.Wait() })
	s := &Service{log: log.Name()}
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if found := listens.FindStringSubmatch(s.Log()); found != nil {
			s.URL = "http://" + found[1]
			return s
		}
	}
	w.t.Fatalf("svc serve did not start:\n%s", s.Log())
	return nil
}
