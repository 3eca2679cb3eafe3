// Package service_test breaks what the service stands on, while it is in use:
// real processes of svc on a real PostgreSQL or on a file of SQLite. Nothing
// that was acknowledged may be missing afterwards, and nothing be there twice.
// Each check prints a line; the last is "N passed, N failed".
package service_test

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib"
	"github.com/matryer/is"
	_ "modernc.org/sqlite"
)

// program is the svc that is tested.
var program string

var passed, failed atomic.Int64

func TestMain(m *testing.M) {
	if body, ok := os.LookupEnv(helloBody); ok {
		os.Exit(hello(body))
	}
	os.Exit(run(m))
}

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "svc")
	if err != nil {
		fmt.Println("FAIL ", err)
		return 1
	}
	defer os.RemoveAll(dir)
	program = filepath.Join(dir, "svc")
	if out, err := exec.Command("go", "build", "-o", program, "svc/cmd/svc").CombinedOutput(); err != nil {
		fmt.Printf("FAIL  building: %v\n%s", err, out)
		return 1
	}
	code := m.Run()
	if code != 0 && failed.Load() == 0 {
		failed.Add(1)
		fmt.Println("FAIL  a test ended before its checks")
	}
	fmt.Printf("\n%d passed, %d failed\n", passed.Load(), failed.Load())
	return code
}

// check prints whether something holds, with the figures that say so.
func check(t testing.TB, holds bool, format string, args ...any) {
	t.Helper()
	line := fmt.Sprintf(format, args...)
	if holds {
		passed.Add(1)
		fmt.Println("ok   ", line)
		return
	}
	failed.Add(1)
	fmt.Println("FAIL ", line)
	t.Fail()
}

// service is a store with the processes that serve it.
type service struct {
	dsn, dir string
	replicas []*replica
}

// start starts a number of replicas at once, on a store that may be empty.
func start(t testing.TB, dsn string, replicas int) *service {
	s := &service{dsn: dsn, dir: t.TempDir(), replicas: make([]*replica, replicas)}
	var wg sync.WaitGroup
	for i := range s.replicas {
		wg.Go(func() { s.replicas[i] = s.serve(t, "127.0.0.1:0") })
	}
	wg.Wait()
	for _, r := range s.replicas {
		if r == nil {
			t.FailNow()
		}
	}
	return s
}

func (s *service) addresses() (addresses []string) {
	for _, r := range s.replicas {
		addresses = append(addresses, r.address)
	}
	return addresses
}

// command runs svc on the service's store, with folders of its own.
func (s *service) command(args ...string) *exec.Cmd {
	cmd := exec.Command(program, args...)
	cmd.Env = append(os.Environ(), "SVC_DB="+s.dsn, "XDG_DATA_HOME="+s.dir, "XDG_CONFIG_HOME="+s.dir, "XDG_STATE_HOME="+s.dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	return cmd
}

// account makes an account and a token of it. The plan internal has no rate
// limit; its seats are counted like those of others.
func (s *service) account(t testing.TB, flags ...string) (id int, token string) {
	is := is.New(t)
	var made struct {
		ID    int    `json:"account_id"`
		Token string `json:"token"`
	}
	for _, args := range [][]string{append([]string{"account", "create", "--name", "e2e", "--plan", "internal"}, flags...), {"token", "create", "--account"}} {
		if args[0] == "token" {
			args = append(args, strconv.Itoa(made.ID))
		}
		out, err := s.command(append(append([]string{"admin"}, args...), "--json")...).Output()
		is.NoErr(err)
		is.NoErr(json.Unmarshal(out, &made))
	}
	return made.ID, made.Token
}

// consistent has the operator's command prove the counters equal to the rows.
func (s *service) consistent(t testing.TB) {
	out, err := s.command("admin", "check").CombinedOutput()
	check(t, err == nil, "svc admin check: %s", bytes.TrimSpace(out))
}

// query gives the rows of a statement of two columns.
func (s *service) query(t testing.TB, statement string) (rows [][2]string) {
	is := is.New(t)
	driver, source := "pgx", s.dsn
	if path, ok := cutSQLite(s.dsn); ok {
		driver, source = "sqlite", path
	}
	db, err := sql.Open(driver, source)
	is.NoErr(err)
	defer db.Close()
	found, err := db.Query(statement)
	is.NoErr(err)
	for found.Next() {
		var r [2]string
		is.NoErr(found.Scan(&r[0], &r[1]))
		rows = append(rows, r)
	}
	is.NoErr(found.Err())
	return rows
}

// replica is one running svc serve. Its log is a file: reading it while the service is
// under load would be taken from the service, as both share the machine.
type replica struct {
	cmd        *exec.Cmd
	address    string // of the service
	operations string // of /ready
	exited     chan struct{}
	log        string
}

// serve starts a replica and waits until it answers; nil where it does not.
func (s *service) serve(t testing.TB, address string) *replica {
	r := &replica{cmd: s.command("serve", "--listen", address, "--metrics-listen", "127.0.0.1:0"), exited: make(chan struct{})}
	if err := r.start(s.dir); err != nil {
		t.Error(err)
		return nil
	}
	t.Cleanup(func() {
		_ = r.cmd.Process.Kill()
		<-r.exited
		if t.Failed() {
			r.tail()
		}
	})
	for end := time.Now().Add(30 * time.Second); !r.serves(); time.Sleep(10 * time.Millisecond) {
		if r.gone() || time.Now().After(end) {
			t.Error("svc serve did not start")
			return nil
		}
	}
	return r
}

// start starts the process with a log in a folder.
func (r *replica) start(dir string) error {
	log, err := os.CreateTemp(dir, "log")
	if err != nil {
		return err
	}
	defer log.Close()
	r.log, r.cmd.Stderr = log.Name(), log
	if err := r.cmd.Start(); err != nil {
		return err
	}
	go func() {
		_ = r.cmd.Wait()
		close(r.exited)
	}()
	return nil
}

// gone reports whether the process has ended.
func (r *replica) gone() bool {
	select {
	case <-r.exited:
		return true
	default:
		return false
	}
}

// serves reports whether the log says where the replica listens, and remembers it.
func (r *replica) serves() bool {
	for _, text := range r.said() {
		var line struct{ Msg, Addr string }
		_ = json.Unmarshal(text, &line) // what is no JSON has neither
		switch line.Msg {
		case "serving metrics":
			r.operations = line.Addr
		case "serving":
			r.address = line.Addr
		}
	}
	return r.address != ""
}

// tail prints the last lines of the log.
func (r *replica) tail() {
	said := r.said()
	for _, line := range said[max(0, len(said)-20):] {
		fmt.Printf("      %.300s\n", line)
	}
}

// said are the lines of the log so far that are not of requests without a fault:
// under load those are nearly all.
func (r *replica) said() (lines [][]byte) {
	text, _ := os.ReadFile(r.log) // without one there is nothing to tell
	for line := range bytes.Lines(text) {
		if !bytes.Contains(line, []byte(`"msg":"request"`)) || bytes.Contains(line, []byte(`"cause":`)) {
			lines = append(lines, bytes.TrimSpace(line))
		}
	}
	return lines
}

// ready is the status of the replica's readiness.
func (r *replica) ready() int {
	client := http.Client{Timeout: 5 * time.Second}
	response, err := client.Get("http://" + r.operations + "/ready")
	if err != nil {
		return 0
	}
	response.Body.Close()
	return response.StatusCode
}

// stop asks the replica to end, and gives its exit code.
func (r *replica) stop(t testing.TB) int {
	is.New(t).NoErr(r.cmd.Process.Signal(syscall.SIGTERM))
	select {
	case <-r.exited:
		return r.cmd.ProcessState.ExitCode()
	case <-time.After(40 * time.Second):
		return -1
	}
}

// kill ends the replica as a power cut does.
func (r *replica) kill() {
	_ = r.cmd.Process.Kill()
	<-r.exited
}
