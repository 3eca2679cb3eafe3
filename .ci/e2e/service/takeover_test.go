package service_test

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/matryer/is"
)

// socket is one that a supervisor keeps, as systemd does for svc.socket.
type socket struct {
	address string
	file    *os.File
}

func newSocket(t testing.TB) *socket {
	is := is.New(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	is.NoErr(err)
	f, err := l.(*net.TCPListener).File()
	is.NoErr(err)
	is.NoErr(l.Close())
	t.Cleanup(func() { f.Close() })
	return &socket{l.Addr().String(), f}
}

// serveOn starts a replica on a socket that is handed over.
func (s *service) serveOn(t testing.TB, k *socket) *replica {
	cmd := s.command("serve", "--metrics-listen", "127.0.0.1:0")
	// LISTEN_PID is the process's own, which it has after the exec.
	cmd.Args = append([]string{"sh", "-c", `LISTEN_PID=$$ exec "$0" "$@"`}, append([]string{cmd.Path}, cmd.Args[1:]...)...)
	cmd.Path = "/bin/sh"
	cmd.Env = append(cmd.Env, "LISTEN_FDS=1")
	cmd.ExtraFiles = []*os.File{k.file}
	r := &replica{cmd: cmd, exited: make(chan struct{})}
	is.New(t).NoErr(r.start(s.dir))
	t.Cleanup(func() { r.kill() })
	for end := time.Now().Add(30 * time.Second); !r.serves(); time.Sleep(10 * time.Millisecond) {
		if r.gone() || time.Now().After(end) {
			r.tail()
			t.Fatal("svc serve did not start on the socket")
		}
	}
	is.New(t).Equal(r.address, k.address)
	return r
}

// plain are clients that repeat nothing: what fails has failed.
type plain struct {
	address, token string
	done           chan struct{}
	wg             sync.WaitGroup
	sent           atomic.Int64

	mu      sync.Mutex
	failed  []string
	slowest time.Duration
}

// work sends one request after the other; a client keeps its connection for some of
// them, or for none, and pauses in between or does not.
func (p *plain) work(keep int, pause time.Duration) {
	transport := &http.Transport{DisableKeepAlives: keep == 0, MaxIdleConnsPerHost: 1}
	defer transport.CloseIdleConnections()
	for n := 1; ; n++ {
		select {
		case <-p.done:
			return
		case <-time.After(pause):
		}
		begun := time.Now()
		err := p.once(transport)
		p.sent.Add(1)
		p.mu.Lock()
		p.slowest = max(p.slowest, time.Since(begun))
		if err != nil {
			p.failed = append(p.failed, err.Error())
		}
		p.mu.Unlock()
		if keep > 0 && n%keep == 0 {
			transport.CloseIdleConnections()
		}
	}
}

// once enrolls a VM of its own. Without a key and a body that can be read again, Go's
// transport does not repeat it either.
func (p *plain) once(transport http.RoundTripper) error {
	vm := fingerprint()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+p.address+"/v1/enroll", bytes.NewBufferString(`{"vm_fingerprint":"`+vm+`","source":{"distro":"centos","version":"7"}}`))
	if err != nil {
		return err
	}
	r.GetBody = nil
	r.Header.Set("Authorization", "Bearer "+p.token)
	r.Header.Set("Content-Type", "application/json")
	response, err := transport.RoundTrip(r)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("status %s", response.Status)
	}
	return nil
}

// TestTakeover has one process after the other serve on a socket, under load: as
// systemd restarts a service, and with the next one there before the last one ends.
func TestTakeover(t *testing.T) {
	for _, kind := range []struct {
		name, dsn string
		beside    bool
	}{
		{"SQLite, one after the other", "sqlite:" + filepath.Join(t.TempDir(), "svc.db"), false},
		{"PostgreSQL, one after the other", address(newCluster(t)), false},
		{"PostgreSQL, one beside the other", address(newCluster(t)), true},
	} {
		s := &service{dsn: kind.dsn, dir: t.TempDir()}
		id, token := s.account(t, "--unlimited")
		k := newSocket(t)
		running := s.serveOn(t, k)
		p := &plain{address: k.address, token: token, done: make(chan struct{})}
		for i := range 24 {
			p.wg.Go(func() { p.work(i%4*10, time.Duration(i%3)*3*time.Millisecond) })
		}
		const restarts = 5
		for range restarts {
			time.Sleep(400 * time.Millisecond)
			var next *replica
			if kind.beside {
				next = s.serveOn(t, k)
			}
			is.New(t).NoErr(running.cmd.Process.Signal(syscall.SIGTERM))
			<-running.exited
			check(t, running.cmd.ProcessState.ExitCode() == 0, "%s: the last one ends with 0", kind.name)
			if !kind.beside {
				next = s.serveOn(t, k)
			}
			running = next
		}
		time.Sleep(200 * time.Millisecond)
		close(p.done)
		p.wg.Wait()
		check(t, len(p.failed) == 0 && p.sent.Load() > 300, "%s: %d requests over %d restarts, %d failed, the slowest after %v: %.200q",
			kind.name, p.sent.Load(), restarts, len(p.failed), p.slowest.Round(time.Millisecond), p.failed)
		seats := s.query(t, fmt.Sprintf("SELECT count(*), 0 FROM seats WHERE account_id = %d", id))
		check(t, seats[0][0] == fmt.Sprint(p.sent.Load()), "%s: %s seats of %d requests", kind.name, seats[0][0], p.sent.Load())
	}
}
