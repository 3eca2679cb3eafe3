package service_test

import (
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/matryer/is"
)

// cluster is a PostgreSQL of its own, that listens on a socket in its folder; clients
// that are measured reach it over TCP, as they do one on another machine.
type cluster struct {
	dir      string
	host     string   // for clients: dir, or an address of the loopback
	settings []string // name=value
	postgres *exec.Cmd
	exited   chan struct{}
}

// newCluster makes a cluster and starts it.
func newCluster(t testing.TB, settings ...string) *cluster {
	c := emptyCluster(t, settings)
	c.tool(t, "initdb", "-D", c.data(), "-U", "postgres", "-A", "trust", "--no-sync")
	c.start(t)
	return c
}

// standby makes a cluster that follows this one, and starts it.
func (c *cluster) standby(t testing.TB) *cluster {
	s := emptyCluster(t, []string{"wal_retrieve_retry_interval=100ms"}) // so long may a promotion wait
	s.tool(t, "pg_basebackup", "-D", s.data(), "-d", "host="+c.dir+" user=postgres", "-R", "-X", "stream", "-c", "fast", "--no-sync")
	s.start(t)
	c.until(t, "SELECT count(*) = 1 FROM pg_stat_replication WHERE state = 'streaming'")
	return s
}

func emptyCluster(t testing.TB, settings []string) *cluster {
	is := is.New(t)
	dir, err := os.MkdirTemp("", "pg") // a socket's path must be short
	is.NoErr(err)
	c := &cluster{dir: dir, host: dir, settings: settings}
	t.Cleanup(func() {
		c.kill()
		is.NoErr(os.RemoveAll(dir))
	})
	if as := databaseUser(t); as != nil {
		is.NoErr(os.Chown(dir, int(as.Uid), int(as.Gid)))
	}
	return c
}

func (c *cluster) data() string { return filepath.Join(c.dir, "data") }

// address is where one of the clusters takes writes.
func address(clusters ...*cluster) string {
	var hosts []string
	for _, c := range clusters {
		hosts = append(hosts, c.host)
	}
	return "postgres:///postgres?" + url.Values{
		"user": {"postgres"}, "host": {strings.Join(hosts, ",")}, "target_session_attrs": {"read-write"}, "connect_timeout": {"2"},
	}.Encode()
}

// databaseUser is whom PostgreSQL runs as: it refuses to run as root.
func databaseUser(t testing.TB) *syscall.Credential {
	if os.Getuid() != 0 {
		return nil
	}
	is := is.New(t)
	u, err := user.Lookup("postgres")
	is.NoErr(err)
	uid, err := strconv.ParseUint(u.Uid, 10, 32)
	is.NoErr(err)
	gid, err := strconv.ParseUint(u.Gid, 10, 32)
	is.NoErr(err)
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
}

// command is a program of the newest PostgreSQL here.
func (c *cluster) command(t testing.TB, name string, args ...string) *exec.Cmd {
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/" + name)
	is.New(t).NoErr(err)
	if len(found) == 0 {
		t.Fatal("PostgreSQL is not installed")
	}
	cmd := exec.Command(found[len(found)-1], args...)
	cmd.Dir = c.dir
	cmd.Env = append(os.Environ(), "HOME="+c.dir) // where a server looks for certificates, too
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: databaseUser(t), Pdeathsig: syscall.SIGQUIT}
	return cmd
}

func (c *cluster) tool(t testing.TB, name string, args ...string) {
	if out, err := c.command(t, name, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", name, err, out)
	}
}

// start starts the server and waits until it answers. After a kill the kernel
// may still hold what the last one held: then it is tried again.
func (c *cluster) start(t testing.TB) {
	args := []string{"-D", c.data(), "-c", "listen_addresses=", "-c", "unix_socket_directories=" + c.dir, "-c", "max_connections=200"}
	for _, s := range c.settings {
		args = append(args, "-c", s)
	}
	for range 50 {
		c.launch(t, args)
		for c.running() {
			if c.execute("SELECT 1") == nil {
				return
			}
			time.Sleep(20 * time.Millisecond)
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatal("PostgreSQL did not start")
}

func (c *cluster) launch(t testing.TB, args []string) {
	c.postgres, c.exited = c.command(t, "postgres", args...), make(chan struct{})
	is.New(t).NoErr(c.postgres.Start())
	go func(cmd *exec.Cmd, exited chan struct{}) {
		_ = cmd.Wait()
		close(exited)
	}(c.postgres, c.exited)
}

func (c *cluster) running() bool {
	if c.exited == nil {
		return false
	}
	select {
	case <-c.exited:
		return false
	default:
		return true
	}
}

// stop ends the server as an operator does: sessions are ended, all is written.
func (c *cluster) stop(t testing.TB) {
	is.New(t).NoErr(c.postgres.Process.Signal(syscall.SIGINT))
	<-c.exited
}

// kill ends the server and all its processes as the death of their machine does.
func (c *cluster) kill() {
	if !c.running() {
		return
	}
	c.signal(syscall.SIGSTOP) // so that none sees another's end
	c.signal(syscall.SIGKILL)
	<-c.exited
}

// signal sends a signal to the server and all its processes.
func (c *cluster) signal(s syscall.Signal) {
	server := c.postgres.Process.Pid
	if s == syscall.SIGSTOP {
		_ = syscall.Kill(server, s) // first, so that it makes no more
	}
	for _, p := range processes() {
		if p.parent == server {
			_ = syscall.Kill(p.pid, s) // it may have ended
		}
	}
	_ = syscall.Kill(server, s)
}

// process is a process with its parent.
type process struct{ pid, parent int }

func processes() (all []process) {
	files, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			continue // it has ended
		}
		pid, rest, _ := strings.Cut(string(b), " ")
		fields := strings.Fields(rest[strings.LastIndex(rest, ")")+1:])
		p, errPID := strconv.Atoi(pid)
		parent, errParent := strconv.Atoi(fields[1])
		if errPID == nil && errParent == nil {
			all = append(all, process{p, parent})
		}
	}
	return all
}

// promote makes a standby the primary.
func (c *cluster) promote(t *testing.T) {
	is.New(t).NoErr(c.execute("SELECT pg_promote()"))
}

// freezeSenders stops the processes that send to standbys.
func (c *cluster) freezeSenders(t *testing.T) {
	is := is.New(t)
	senders, err := c.column("SELECT pid FROM pg_stat_replication")
	is.NoErr(err)
	is.True(len(senders) > 0)
	for _, pid := range senders {
		is.NoErr(syscall.Kill(pid, syscall.SIGSTOP))
	}
}

func (c *cluster) execute(statement string) error {
	_, err := c.column(statement)
	return err
}

// column is the first column of what a statement gives, where that is a number.
func (c *cluster) column(statement string) ([]int, error) {
	return c.within(15*time.Second, statement)
}

func (c *cluster) within(d time.Duration, statement string) ([]int, error) {
	ctx, cancel := timeout(d)
	defer cancel()
	conn, err := pgx.Connect(ctx, fmt.Sprintf("host=%s user=postgres", c.dir))
	if err != nil {
		return nil, err
	}
	defer conn.Close(ctx)
	rows, err := conn.Query(ctx, statement)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var values []int
	for rows.Next() {
		row, err := rows.Values()
		if err != nil {
			return nil, err
		}
		values = append(values, number(row[0]))
	}
	return values, rows.Err()
}

func number(v any) int {
	switch v := v.(type) {
	case int32:
		return int(v)
	case int64:
		return int(v)
	case bool:
		return slices.Index([]bool{false, true}, v)
	}
	return 0
}

// until waits for a statement to be true.
func (c *cluster) until(t testing.TB, statement string) {
	for range 500 {
		if v, err := c.column(statement); err == nil && len(v) == 1 && v[0] == 1 {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Fatal("waiting for: " + statement)
}
