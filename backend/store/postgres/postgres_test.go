package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/matryer/is"

	"svc/backend/api"
	"svc/backend/license"
	"svc/backend/store"
	"svc/backend/store/postgres"
	"svc/backend/store/storetest"
)

var databases atomic.Int64

// newDatabase is the address of a new empty database.
func newDatabase(t testing.TB) string {
	t.Helper()
	is := is.New(t)
	server := os.Getenv("SVC_TEST_POSTGRES")
	if server == "" {
		if os.Getenv("SVC_TEST_REQUIRE_POSTGRES") == "1" {
			t.Fatal("SVC_TEST_POSTGRES is not set")
		}
		t.Skip("SVC_TEST_POSTGRES is not set")
	}
	name := fmt.Sprintf("svc_%d_%d", os.Getpid(), databases.Add(1))
	is.NoErr(execute(server, "CREATE DATABASE "+name))
	t.Cleanup(func() { is.NoErr(execute(server, "DROP DATABASE "+name+" WITH (FORCE)")) })
	u, err := url.Parse(server)
	is.NoErr(err)
	u.Path = "/" + name
	return u.String()
}

// execute runs a statement beside the store.
func execute(address, sql string, args ...any) error {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	conn, err := pgx.Connect(ctx, address)
	if err != nil {
		return err
	}
	_, err = conn.Exec(ctx, sql, args...)
	return errors.Join(err, conn.Close(ctx))
}

// without counts the recordings of a session that did not wait for the disk.
func without(t testing.TB, address string) (n int) {
	is := is.New(t)
	conn, err := pgx.Connect(t.Context(), address)
	is.NoErr(err)
	defer conn.Close(t.Context())
	is.NoErr(conn.QueryRow(t.Context(), "SELECT count(*) FROM waited WHERE how = 'off'").Scan(&n))
	return n
}

func open(t testing.TB, address string, o store.Options) store.Store {
	t.Helper()
	s, err := postgres.Open(t.Context(), address, o)
	is.New(t).NoErr(err)
	t.Cleanup(func() { s.Close() })
	return s
}

func TestPostgres(t *testing.T) {
	storetest.Run(t, func(t *testing.T, o store.Options) store.Store {
		return open(t, newDatabase(t), o)
	})
}

func TestStoreIsShared(t *testing.T) {
	storetest.RunShared(t, postgres.Open, newDatabase(t))
}

// TestBehindAPooler runs the same through PgBouncer, which gives every
// transaction another session.
func TestBehindAPooler(t *testing.T) {
	pooled := startPooler(t)
	t.Run("alone", func(t *testing.T) {
		storetest.Run(t, func(t *testing.T, o store.Options) store.Store {
			return open(t, pooled(newDatabase(t)), o)
		})
	})
	t.Run("shared", func(t *testing.T) { storetest.RunShared(t, postgres.Open, pooled(newDatabase(t))) })
}

// startPooler starts a PgBouncer, and gives what turns an address into one
// through it.
func startPooler(t *testing.T) func(address string) string {
	t.Helper()
	is := is.New(t)
	program, err := exec.LookPath("pgbouncer")
	if err != nil {
		t.Skip("pgbouncer is not installed")
	}
	server, err := pgx.ParseConfig(newDatabase(t))
	is.NoErr(err)
	password := ""
	if server.Password != "" {
		password = " password='" + strings.ReplaceAll(server.Password, "'", "''") + "'"
	}
	dir, err := os.MkdirTemp("", "pgbouncer") // a socket's path must be short
	is.NoErr(err)
	t.Cleanup(func() { is.NoErr(os.RemoveAll(dir)) })
	is.NoErr(os.Chmod(dir, 0o777))
	file := filepath.Join(dir, "pgbouncer.ini")
	is.NoErr(os.WriteFile(file, fmt.Appendf(nil, `[databases]
* = host=%s port=%d user=%s%s
[pgbouncer]
unix_socket_dir = %s
listen_port = 6432
auth_type = any
pool_mode = transaction
default_pool_size = 4
`, server.Host, server.Port, server.User, password, dir), 0o644))
	cmd := exec.Command(program, "-q", file)
	if os.Getuid() == 0 { // as whom it refuses to run
		nobody, err := user.Lookup("nobody")
		is.NoErr(err)
		id, err := strconv.Atoi(nobody.Uid)
		is.NoErr(err)
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(id), Gid: uint32(id)}}
	}
	is.NoErr(cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	for {
		conn, err := net.Dial("unix", filepath.Join(dir, ".s.PGSQL.6432"))
		if err == nil {
			is.NoErr(conn.Close())
			break
		}
		if err := cmd.Process.Signal(syscall.Signal(0)); err != nil || t.Context().Err() != nil {
			t.Fatal("pgbouncer did not start")
		}
		time.Sleep(10 * time.Millisecond)
	}
	return func(address string) string {
		u, err := url.Parse(address)
		is.NoErr(err)
		return "postgres:///" + strings.TrimPrefix(u.Path, "/") + "?" + url.Values{
			"host": {dir}, "port": {"6432"}, "user": {server.User}, "default_query_exec_mode": {"exec"},
		}.Encode()
	}
}

func TestBackup(t *testing.T) {
	is := is.New(t)
	err := open(t, newDatabase(t), store.Options{}).Backup(t.Context(), "a file")
	is.True(strings.Contains(err.Error(), `pg_dump --format=custom --file="a file"`))
}

// TestClaimant is not a test but a process of one.
func TestClaimant(t *testing.T) { storetest.RunClaimant(t, postgres.Open) }

func TestSurvivesAKill(t *testing.T) {
	storetest.Kill(t, postgres.Open, newDatabase(t), 1000)
}

// faulty is a store whose database does something at each event, until it has
// done it a number of times; a sequence counts, as no rollback does away with
// that.
func faulty(t *testing.T, when, what string, times int) (s store.Store, account int64, address string) {
	is := is.New(t)
	address = newDatabase(t)
	s = open(t, address, store.Options{})
	account, err := s.CreateAccount(t.Context(), "test", license.Account{Plan: api.PlanFree, FreeQuota: 100, VMLimit: 100})
	is.NoErr(err)
	is.NoErr(execute(address, "CREATE SEQUENCE faults"))
	is.NoErr(execute(address, fmt.Sprintf(`CREATE FUNCTION fault() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
		IF nextval('faults') <= %d THEN %s; END IF; RETURN NULL; END $$`, times, what)))
	is.NoErr(execute(address, "CREATE CONSTRAINT TRIGGER fault AFTER INSERT ON events "+when+" FOR EACH ROW EXECUTE FUNCTION fault()"))
	return s, account, address
}

// TestTriesAgain breaks the first tries of a claim in every way that a
// failover or a neighbour does: the claim is recorded once.
func TestTriesAgain(t *testing.T) {
	for name, what := range map[string]string{
		"serialization failure": "RAISE EXCEPTION USING ERRCODE = '40001'",
		"deadlock":              "RAISE EXCEPTION USING ERRCODE = '40P01'",
		"read-only":             "RAISE EXCEPTION USING ERRCODE = '25006'",
		"shutdown":              "RAISE EXCEPTION USING ERRCODE = '57P01'",
		"lost connection":       "PERFORM pg_terminate_backend(pg_backend_pid())",
	} {
		for _, when := range []string{"", "DEFERRABLE INITIALLY DEFERRED"} { // the latter at the commit
			t.Run(name+" "+when, func(t *testing.T) {
				is := is.New(t)
				s, account, _ := faulty(t, when, what, 2)
				storetest.Claim(t, s, account, 1)
				usage, err := s.Usage(t.Context(), account, store.Page{Limit: 10})
				is.NoErr(err)
				is.Equal(usage.Count, 1)
			})
		}
	}
}

// TestAnswersWhenItCannot is a database that never recovers.
func TestAnswersWhenItCannot(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	s, account, _ := faulty(t, "DEFERRABLE INITIALLY DEFERRED", "RAISE EXCEPTION USING ERRCODE = '25006'", 1<<30)
	begun := time.Now()
	err := record(t, s, account, 1)
	is.Equal(api.CodeOf(err), api.Unavailable)
	var refusal *api.Error
	is.True(errors.As(err, &refusal) && refusal.RetryAfter > 0)
	is.True(time.Since(begun) < 15*time.Second)
}

// TestDistrustsAnUnconfirmedCommit: the notice is the one by which a
// server says that it did not wait for its standby.
func TestDistrustsAnUnconfirmedCommit(t *testing.T) {
	is := is.New(t)
	s, account, _ := faulty(t, "DEFERRABLE INITIALLY DEFERRED", "RAISE WARNING 'canceling wait for synchronous replication due to user request'", 1)
	is.Equal(api.CodeOf(record(t, s, account, 1)), api.Unavailable)
	is.NoErr(record(t, s, account, 1)) // the next answer is trusted
}

// TestDecidesAtItsTurn has a claim wait for the account until the day that it
// came on has ended, and with it the capacity.
func TestDecidesAtItsTurn(t *testing.T) {
	is := is.New(t)
	var late atomic.Int64
	midnight := time.Date(2026, 8, 2, 0, 0, 0, 0, time.UTC)
	address := newDatabase(t)
	s := open(t, address, store.Options{Now: func() time.Time { return midnight.Add(time.Duration(late.Load()) - 200*time.Millisecond) }})
	account, err := s.CreateAccount(t.Context(), "test", license.Account{Plan: api.PlanFree, VMLimit: 9})
	is.NoErr(err)
	_, err = s.AddPOV(t.Context(), "test", account, license.Grant{Seats: 9, From: "2026-08-01", Until: "2026-08-02"})
	is.NoErr(err)
	storetest.Claim(t, s, account, 1)
	storetest.Claim(t, s, account, 2) // the store remembers the account by now, and claims in one round trip
	other, err := pgx.Connect(t.Context(), address)
	is.NoErr(err)
	defer other.Close(t.Context())
	_, err = other.Exec(t.Context(), "BEGIN")
	is.NoErr(err)
	_, err = other.Exec(t.Context(), "SELECT FROM accounts WHERE id = $1 FOR UPDATE", account)
	is.NoErr(err)
	answer := make(chan error, 1)
	go func() { answer <- record(t, s, account, 3) }()
	time.Sleep(300 * time.Millisecond) // the claim waits by then
	late.Store(int64(time.Second))
	_, err = other.Exec(t.Context(), "ROLLBACK")
	is.NoErr(err)
	is.Equal(api.CodeOf(<-answer), api.SeatQuota)
}

// TestOneBadCommand fails alone, not with those that share its commit.
func TestOneBadCommand(t *testing.T) {
	is := is.New(t)
	s, account, address := faulty(t, "", "RAISE EXCEPTION 'bad'", 0)
	is.NoErr(execute(address, "ALTER TABLE events ADD CHECK (fingerprint <> '"+storetest.Fingerprint(13)+"')"))
	var wg sync.WaitGroup
	var bad atomic.Int64
	for vm := range 64 {
		wg.Go(func() {
			if err := record(t, s, account, vm); err != nil {
				bad.Add(1)
			}
		})
	}
	wg.Wait()
	is.Equal(bad.Load(), int64(1))
	c, err := s.Capacity(t.Context(), account)
	is.NoErr(err)
	is.Equal(c.BillableVMsUsed, 63)
}

// TestManyAccounts has accounts claim at the same time, which share a wait for the disk, and
// each at times what fails: the others go on, and no session keeps not to wait for it.
func TestManyAccounts(t *testing.T) {
	const accounts, vms, bad = 48, 12, 7
	is := is.New(t)
	s, _, address := faulty(t, "", "RAISE EXCEPTION 'bad'", 0)
	is.NoErr(execute(address, "ALTER TABLE events ADD CHECK (fingerprint <> '"+storetest.Fingerprint(bad)+"')"))
	is.NoErr(execute(address, "CREATE TABLE waited (how text)"))
	is.NoErr(execute(address, "CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO waited VALUES (current_setting('synchronous_commit')); RETURN NULL; END $$"))
	is.NoErr(execute(address, "CREATE TRIGGER note AFTER INSERT ON events EXECUTE FUNCTION note()"))
	together := func(claim func(account int64)) {
		var wg sync.WaitGroup
		for range accounts {
			account, err := s.CreateAccount(t.Context(), "test", license.Account{Plan: api.PlanFree, FreeQuota: 100, VMLimit: 100})
			is.NoErr(err)
			wg.Go(func() { claim(account) })
		}
		wg.Wait()
	}
	together(func(account int64) {
		for vm := range vms {
			if err := record(t, s, account, vm); (err != nil) != (vm == bad) {
				t.Errorf("account %d, VM %d: %v", account, vm, err)
			}
		}
		c, err := s.Capacity(t.Context(), account)
		if err != nil || c.BillableVMsUsed != vms-1 {
			t.Errorf("account %d has %d seats, %v", account, c.BillableVMsUsed, err)
		}
	})
	is.True(without(t, address) > 0) // some did share it
	is.NoErr(execute(address, "TRUNCATE waited"))
	together(func(account int64) {
		if err := record(t, s, account, 1); err != nil { // the first of an account waits itself
			t.Error(err)
		}
	})
	is.Equal(without(t, address), 0)
}

// TestLosesItsConnections ends every session, again and again, under
// load: no claim fails, and none is recorded twice.
func TestLosesItsConnections(t *testing.T) {
	is := is.New(t)
	address := newDatabase(t)
	s := open(t, address, store.Options{})
	account, err := s.CreateAccount(t.Context(), "test", license.Account{Plan: api.PlanFree, Unlimited: true})
	is.NoErr(err)
	ends := time.Now().Add(2 * time.Second)
	var claims atomic.Int64
	var wg sync.WaitGroup
	for range storetest.Claimants {
		wg.Go(func() {
			for time.Now().Before(ends) {
				if err := record(t, s, account, int(claims.Add(1))); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for time.Now().Before(ends) {
		time.Sleep(100 * time.Millisecond)
		is.NoErr(execute(address, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"))
	}
	wg.Wait()
	statement, err := s.Statement(t.Context(), account, store.Page{Limit: 1})
	is.NoErr(err)
	is.Equal(int64(statement.Instances), claims.Load())
	problems, err := s.Check(t.Context())
	is.NoErr(err)
	is.Equal(problems, []string{})
}

// TestReadsByIndex: where the planner thinks that the tables are empty, no
// claim reads one whole.
func TestReadsByIndex(t *testing.T) {
	is := is.New(t)
	address := newDatabase(t)
	s := open(t, address, store.Options{})
	account, err := s.CreateAccount(t.Context(), "test", license.Account{Plan: api.PlanFree, Unlimited: true})
	is.NoErr(err)
	is.NoErr(execute(address, "VACUUM ANALYZE"))
	for vm := range 100 {
		is.NoErr(record(t, s, account, vm%50))
	}
	is.NoErr(s.Close()) // its sessions count their scans when they end
	is.NoErr(execute(address, `DO $$ DECLARE scanned text; BEGIN
		SELECT string_agg(relname, ', ') INTO scanned FROM pg_stat_user_tables WHERE seq_scan > 10 AND relname IN ('accounts', 'grants', 'seats', 'events', 'replays', 'hosts');
		IF scanned IS NOT NULL THEN RAISE EXCEPTION 'read whole: %', scanned; END IF; END $$`))
}

func TestReadiness(t *testing.T) {
	is := is.New(t)
	address := newDatabase(t)
	s := open(t, address, store.Options{})
	is.NoErr(s.Ready(t.Context()))
	is.NoErr(execute(address, "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET default_transaction_read_only = on', current_database()); END $$"))
	is.NoErr(execute(strings.Replace(address, "/"+databaseOf(t, address), "/postgres", 1),
		"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1", databaseOf(t, address)))
	is.Equal(api.CodeOf(s.Ready(t.Context())), api.Unavailable)
}

func databaseOf(t *testing.T, address string) string {
	c, err := pgx.ParseConfig(address)
	is.New(t).NoErr(err)
	return c.Database
}

func TestRefusesANewerSchema(t *testing.T) {
	is := is.New(t)
	address := newDatabase(t)
	open(t, address, store.Options{})
	is.NoErr(execute(address, "INSERT INTO migrations VALUES (99)"))
	_, err := postgres.Open(t.Context(), address, store.Options{})
	is.True(strings.Contains(err.Error(), "version 99, newer than"))
}

// record claims a seat by a request of its own.
func record(t testing.TB, s store.Store, account int64, vm int) error {
	o, err := s.Record(t.Context(), store.Command{
		RequestID: fmt.Sprintf("%d of %s", databases.Add(1), t.Name()), AccountID: account, Kind: api.License, Fingerprint: storetest.Fingerprint(vm), Source: api.OS{Distro: "a", Version: "1"},
	})
	if err == nil && !o.Decision.Licensed {
		return errors.New("recorded without a seat")
	}
	return err
}

// BenchmarkClaims measures claims beside the server's own rate of small
// transactions: only the quotient means something on another disk.
func BenchmarkClaims(b *testing.B) {
	address := newDatabase(b)
	plain := newDatabase(b)
	program, err := exec.LookPath("pgbench")
	if err == nil {
		out, err := exec.Command(program, "--initialize", "--quiet", "--scale=10", plain).CombinedOutput()
		if err != nil {
			b.Fatalf("%v: %s", err, out)
		}
	}
	tps := map[int]float64{}
	storetest.Bench(b, open(b, address, store.Options{}), func(b *testing.B, clients int) {
		if program == "" {
			return
		}
		if tps[clients] == 0 {
			tps[clients] = pgbench(b, program, plain, clients)
		}
		b.ReportMetric(tps[clients], "pgbench-tps")
		b.ReportMetric(float64(b.N)/b.Elapsed().Seconds()/tps[clients], "claims/tps")
	})
}

var tpsLine = regexp.MustCompile(`(?m)^tps = ([0-9.]+)`)

func pgbench(b *testing.B, program, address string, clients int) float64 {
	b.StopTimer()
	defer b.StartTimer()
	out, err := exec.Command(program, "-n", "-N", "-M", "prepared", "-T", "3", "-j", "2", "-c", strconv.Itoa(clients), address).CombinedOutput()
	found := tpsLine.FindSubmatch(out)
	if err != nil || found == nil {
		b.Fatalf("%v: %s", err, out)
	}
	rate, err := strconv.ParseFloat(string(found[1]), 64)
	is.New(b).NoErr(err)
	return rate
}
