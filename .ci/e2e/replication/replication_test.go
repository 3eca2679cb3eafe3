// Package replication_test moves real databases that are written to meanwhile, by the
// replication scripts of a data plan: PostgreSQL 13, MariaDB 10.5 and Redis 6 of a running
// Debian 11 are followed over a real sshd by those of a running Debian 13, which take over,
// Redis by Valkey too; Valkey and MySQL by another one. What the writers were told is
// stored must be there.
package replication_test

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/matryer/is"

	"svc/.ci/e2e"
)

func TestMain(m *testing.M) {
	e2e.Main(m, "mmdebstrap:mmdebstrap", "ssh:openssh-client", "sshd:openssh-server", "shellcheck:shellcheck")
}

// pair is two machines with databases: see pair.sh. The loopback's ports are those of all
// chroots, so each server has its own.
type pair struct {
	*e2e.Work
	t        *testing.T
	is       *is.I
	old, new string
	base     int
}

func newPair(t *testing.T, roots string) *pair {
	w := e2e.New(t)
	p := &pair{w, t, is.New(t), w.Path("old"), w.Path("new"), 25000 + rand.IntN(5000)}
	w.Hold(". .ci/e2e/pair.sh; old=$work/old new=$work/new; "+roots, "pair_stop")
	w.Files(p.old, map[string]string{"etc/machine-id": "0123456789abcdef0123456789abcdef\n"})
	return p
}

// reach lets the new machine connect to the old one as its root.
func (p *pair) reach() {
	p.t.Helper()
	p.Hold(". .ci/e2e/pair.sh; old=$work/old new=$work/new; reach", "pair_stop")
}

// plan makes one, of an old machine that is in use, and brings it to the new one.
func (p *pair) plan() {
	p.t.Helper()
	p.SVC(6, "data", "plan", "--root", p.old, "--target", "debian-13", "--out", p.Path("plan"), "--confirm")
	p.Shell(0, `shellcheck "$1"/replication/*.sh`, p.Path("plan"))
	p.Run(0, "cp", "-a", p.Path("plan"), filepath.Join(p.new, "plan"))
}

// in runs a command in a root.
func (p *pair) in(code int, root string, command ...string) e2e.Said {
	p.t.Helper()
	return p.Run(code, "chroot", append([]string{root}, command...)...)
}

// server starts a server in a root, and comes back when a client reaches it.
func (p *pair) server(root string, server []string, client ...string) (stop func()) {
	p.t.Helper()
	stop = p.Start("chroot", append([]string{root}, server...)...)
	p.Until("chroot", append([]string{root}, client...)...)
	return stop
}

func (p *pair) port(n int) string { return strconv.Itoa(p.base + n) }

// database is one that is moved: its script of the plan, and the ports of a key-value store.
type database struct {
	*pair
	script   string
	from, to string
}

// tunnel is the port by which the new machine reaches the old one's server.
func (d database) tunnel() string { return d.port(10 + len(d.script)) }

// step runs the database's script of the plan, on the target.
func (d database) step(code int, step string) e2e.Said {
	d.t.Helper()
	return d.in(code, d.new, "env", "SOURCE_SSH=source", "PORT="+d.to, "SOURCE_PORT="+d.from, "TUNNEL_PORT="+d.tunnel(), "WAIT=30", "bash", "-c", "cd /plan && bash replication/*-database-"+d.script+".sh "+step)
}

// writer feeds a client that stays connected.
type writer struct {
	input io.WriteCloser
	stop  chan struct{}
	wait  func()
	said  *answers
}

// answers are what a client says.
type answers struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (a *answers) Write(b []byte) (int, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.text.Write(b)
}

func (a *answers) String() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.text.String()
}

// last is the last number that the client said.
func (a *answers) last() string {
	lines := strings.Fields(a.String())
	for i := len(lines) - 1; i >= 0; i-- {
		if _, err := strconv.Atoi(lines[i]); err == nil {
			return lines[i]
		}
	}
	return ""
}

// writes has a writer feed a client in a root, from the first answer on.
func (p *pair) writes(feed func(n int) string, root string, client ...string) *writer {
	p.t.Helper()
	w := &writer{stop: make(chan struct{}), said: &answers{}}
	c := exec.Command("chroot", append([]string{root}, client...)...)
	c.Stdout, c.Stderr = w.said, w.said
	var err error
	w.input, err = c.StdinPipe()
	p.is.NoErr(err)
	p.is.NoErr(c.Start())
	var done sync.WaitGroup
	done.Go(func() {
		for n := 1; ; n++ {
			select {
			case <-w.stop:
				return
			case <-time.After(10 * time.Millisecond):
			}
			if _, err := io.WriteString(w.input, feed(n)); err != nil {
				return // the client says why
			}
		}
	})
	w.wait = sync.OnceFunc(func() {
		close(w.stop)
		done.Wait()
		w.input.Close()
		_ = c.Wait()
		if p.t.Failed() {
			p.t.Logf("%s:\n%.2000s", c, w.said)
		}
	})
	p.t.Cleanup(w.wait)
	for end := time.Now().Add(time.Minute); w.said.last() == "" && !strings.Contains(w.said.String(), "OK"); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			p.t.Fatalf("%s says nothing", c)
		}
	}
	return w
}

// switches goes the whole way of one database that somebody writes to.
func (d database) switches(w *writer) {
	d.t.Helper()
	d.step(0, "start") // it is followed while it is written to
	d.step(1, "start") // not twice
	d.in(0, d.new, "ssh", "-S", "/run/svc-move-"+d.tunnel()+".ssh", "-O", "exit", "source")
	d.step(0, "status") // the way was cut: it is opened again, and it says how far behind it is
	time.Sleep(time.Second)
	d.step(1, "switch").Has("end them first") // nothing is switched while somebody may write
	w.wait()
	d.step(0, "switch").Has("is on its own")
}

// accounts are the file in which those of a server are written down.
func (d database) accounts() string {
	d.t.Helper()
	files, err := filepath.Glob(filepath.Join(d.new, "plan/*-database-mysql.replication.accounts"))
	d.is.NoErr(err)
	d.is.Equal(len(files), 1)
	text, err := os.ReadFile(files[0])
	d.is.NoErr(err)
	return string(text)
}

// The servers of Debian 11 and 13.
const both = "pair_roots"

func TestPostgreSQL(t *testing.T) { newPair(t, both).postgresql() }

func TestMariaDB(t *testing.T) { newPair(t, both).mariadb() }

func TestRedis(t *testing.T) {
	p := newPair(t, both)
	p.keyValue("redis", p.old, p.port(2))
	p.keyValue("redis", p.new, p.port(3))
	p.reach()
	p.plan()
	d := database{p, "redis", p.port(2), p.port(3)}
	d.redis()

	// A Redis becomes a Valkey.
	p.keyValue("valkey", p.new, p.port(4))
	d.to = p.port(4)
	d.redis()
	d.is.True(strings.Contains(d.ask(d.new, d.to, "info", "server"), "\nvalkey_version:"))
}

// TestValkey: a Valkey is followed by another one, but by no Redis.
func TestValkey(t *testing.T) {
	p := newPair(t, `chroots trixie; trixie_ssh; root "$old" trixie; root "$new" trixie`)
	p.keyValue("valkey", p.old, p.port(7))
	p.keyValue("valkey", p.new, p.port(4))
	p.keyValue("redis", p.new, p.port(3))
	p.reach()
	p.plan()
	d := database{p, "valkey", p.port(7), p.port(4)}
	d.ask(d.new, d.to, "set", "its", "own")
	d.step(1, "start").Has("holds data already")
	d.ask(d.new, d.to, "flushall")
	d.redis()
	d.to = p.port(3)
	d.step(1, "check").Has("Redis does not take what Valkey sends")
}

// keyValue starts a Redis or a Valkey with no data, on a port.
func (p *pair) keyValue(engine, root, port string) {
	p.t.Helper()
	p.Shell(0, `rm -rf "$1"/*`, filepath.Join(root, "var/lib", engine))
	p.server(root, []string{engine + "-server", "--port", port, "--bind", "127.0.0.1", "--dir", "/var/lib/" + engine}, "redis-cli", "-p", port, "ping")
}

// ask asks a server, whose first words may be options.
func (p *pair) ask(root, port string, command ...string) string {
	p.t.Helper()
	return p.in(0, root, append([]string{"redis-cli", "-p", port}, command...)...).Line()
}

// redis goes the way of a Redis or Valkey.
func (d database) redis() {
	d.t.Helper()
	d.ask(d.old, d.from, "-n", "3", "mset", "a", "1", "b", "2")
	d.step(0, "check")
	w := d.writes(func(n int) string { return fmt.Sprintf("incr counter\nset key:%d %[1]d\nset gone:%[1]d x px 5\n", n) }, d.old, "redis-cli", "-p", d.from)
	d.switches(w)
	d.is.Equal(d.ask(d.new, d.to, "get", "counter"), d.ask(d.old, d.from, "get", "counter")) // no key that was written is lost
	d.is.Equal(d.keys(d.new, d.to), d.keys(d.old, d.from))                                   // each has its value
	d.is.Equal(d.ask(d.new, d.to, "-n", "3", "get", "b"), "2")                               // another database too
	d.is.Equal(d.ask(d.new, d.to, "set", "mine", "1"), "OK")                                 // it is on its own, and takes writes
}

// keys are the writer's, with their values.
func (d database) keys(root, port string) string {
	d.t.Helper()
	return d.Shell(0, `keys() { chroot "$1" redis-cli -p "$2" "${@:3}"; }
		keys "$1" "$2" --scan --pattern 'key:*' | sort | sed 's/.*/echo & \nget &/' | keys "$1" "$2"`, root, port).Out
}
