package sqlite_test

import (
	"crypto/sha256"
	"database/sql"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/matryer/is"
	"golang.org/x/sys/unix"

	"svc/backend/api"
	"svc/backend/license"
	"svc/backend/store"
	"svc/backend/store/sqlite"
	"svc/backend/store/storetest"
)

func open(t testing.TB, file string, o store.Options) store.Store {
	t.Helper()
	s, err := sqlite.Open(t.Context(), file, o)
	is.New(t).NoErr(err)
	t.Cleanup(func() { s.Close() })
	return s
}

func TestStore(t *testing.T) {
	storetest.Run(t, func(t *testing.T, o store.Options) store.Store {
		return open(t, filepath.Join(t.TempDir(), "svc.db"), o)
	})
}

func TestStoreIsShared(t *testing.T) {
	storetest.RunShared(t, sqlite.Open, filepath.Join(t.TempDir(), "a folder", "svc.db"))
}

func TestBackup(t *testing.T) {
	is := is.New(t)
	dir := t.TempDir()
	s := open(t, filepath.Join(dir, "svc.db"), store.Options{})
	account, err := s.CreateAccount(t.Context(), "test", license.Account{Plan: api.PlanFree, FreeQuota: 1, VMLimit: 1})
	is.NoErr(err)
	storetest.Claim(t, s, account, 1)
	file := filepath.Join(dir, "copy.db")
	is.NoErr(s.Backup(t.Context(), file))
	is.True(s.Backup(t.Context(), file) != nil) // nothing is overwritten
	c, err := open(t, file, store.Options{}).Capacity(t.Context(), account)
	is.NoErr(err)
	is.Equal(c.BillableVMsUsed, 1)
}

// TestDecidesAtItsTurn has a claim wait for another process until the day that
// it came on has ended, and with it the capacity.
func TestDecidesAtItsTurn(t *testing.T) {
	is := is.New(t)
	var clock atomic.Int64
	clock.Store(time.Date(2026, 8, 1, 23, 59, 59, 0, time.UTC).Unix())
	file := filepath.Join(t.TempDir(), "svc.db")
	s := open(t, file, store.Options{Now: func() time.Time { return time.Unix(clock.Load(), 0) }})
	account, err := s.CreateAccount(t.Context(), "test", license.Account{Plan: api.PlanFree, VMLimit: 9})
	is.NoErr(err)
	_, err = s.AddPOV(t.Context(), "test", account, license.Grant{Seats: 9, From: "2026-08-01", Until: "2026-08-02"})
	is.NoErr(err)
	release := storetest.Hold(t, file)
	answer := make(chan error, 1)
	go func() {
		_, err := s.Record(t.Context(), store.Command{RequestID: "a", AccountID: account, Kind: api.License, Fingerprint: storetest.Fingerprint(1)})
		answer <- err
	}()
	time.Sleep(100 * time.Millisecond) // the claim waits by then
	clock.Add(2)
	release()
	is.Equal(api.CodeOf(<-answer), api.SeatQuota)
}

// TestIsNotReadyWithoutRoom has files of this process grow no more, as on a full
// disk.
func TestIsNotReadyWithoutRoom(t *testing.T) {
	is := is.New(t)
	s := open(t, filepath.Join(t.TempDir(), "svc.db"), store.Options{})
	_, err := s.CreateAccount(t.Context(), "test", license.Account{Plan: api.PlanFree})
	is.NoErr(err)
	is.NoErr(s.Ready(t.Context()))
	signal.Ignore(unix.SIGXFSZ)
	defer signal.Reset(unix.SIGXFSZ)
	var limit unix.Rlimit
	is.NoErr(unix.Getrlimit(unix.RLIMIT_FSIZE, &limit))
	full := limit
	full.Cur = 9 << 20 // what one transaction of claims may write, which the log is far from
	is.NoErr(unix.Setrlimit(unix.RLIMIT_FSIZE, &full))
	err = s.Ready(t.Context())
	is.NoErr(unix.Setrlimit(unix.RLIMIT_FSIZE, &limit))
	is.Equal(api.CodeOf(err), api.Unavailable)
	is.NoErr(s.Ready(t.Context())) // there is room again
}

func TestCloses(t *testing.T) {
	is := is.New(t)
	file := filepath.Join(t.TempDir(), "svc.db")
	s := open(t, file, store.Options{})
	problems, err := s.Check(t.Context())
	is.NoErr(err)
	is.Equal(problems, []string{})
	is.NoErr(s.Ready(t.Context()))
	account, err := s.CreateAccount(t.Context(), "test", license.Account{Plan: api.PlanFree})
	is.NoErr(err)
	token := sha256.Sum256([]byte("a token"))
	_, err = s.CreateToken(t.Context(), "test", account, token)
	is.NoErr(err)
	_, err = s.Authenticate(t.Context(), token)
	is.NoErr(err)
	is.NoErr(s.Close())
	is.NoErr(s.Close())
	left, err := filepath.Glob(file + "*")
	is.NoErr(err)
	is.Equal(left, []string{file}) // the log was copied, and is no more
	is.Equal(api.CodeOf(s.Meter(t.Context(), 1)), api.Unavailable)
	_, err = s.Authenticate(t.Context(), token) // nothing is recalled: the file may have changed since
	is.Equal(api.CodeOf(err), api.Unavailable)
}

// TestClaimant is not a test but a process of one.
func TestClaimant(t *testing.T) { storetest.RunClaimant(t, sqlite.Open) }

func TestSurvivesAKill(t *testing.T) {
	storetest.Kill(t, sqlite.Open, filepath.Join(t.TempDir(), "svc.db"), 1000)
}

func BenchmarkClaims(b *testing.B) {
	storetest.Bench(b, open(b, filepath.Join(b.TempDir(), "svc.db"), store.Options{}), func(*testing.B, int) {})
}

// TestMigrates opens files of every earlier schema, with data that the first one
// held: nothing is lost, and no id of an event is used again.
func TestMigrates(t *testing.T) {
	files, err := filepath.Glob("migrations/*.sql")
	is.New(t).NoErr(err)
	for version := range len(files) {
		t.Run(fmt.Sprint("from ", version+1), func(t *testing.T) { migrates(t, files[:version+1]) })
	}
}

// migrates opens a file to which these migrations were applied.
func migrates(t *testing.T, applied []string) {
	is := is.New(t)
	file := filepath.Join(t.TempDir(), "svc.db")
	db, err := sql.Open("sqlite", file)
	is.NoErr(err)
	defer db.Close()
	execute := func(statements ...string) {
		for _, statement := range statements {
			_, err := db.Exec(statement)
			is.NoErr(err)
		}
	}
	for i, name := range applied {
		text, err := os.ReadFile(name)
		is.NoErr(err)
		execute(string(text), fmt.Sprint("PRAGMA user_version = ", i+1))
		if i > 0 {
			continue
		}
		execute("INSERT INTO accounts (id, name, plan, unlimited, free_quota, vm_limit, billable_vms, created_at) VALUES (1, 'old', 'free', 0, 9, 9, 2, 0)",
			`INSERT INTO events (id, account_id, request_id, kind, fingerprint, source, claimed, billable, overage, listed, at)
			VALUES (7, 1, 'old', 'license', '`+storetest.Fingerprint(7)+`', 'a 1', 1, 1, 0, 1, 5), (9, 1, 'pruned', 'drift', 'x', 'a 1', 0, 0, 0, 0, 6)`,
			"DELETE FROM events WHERE id = 9",
			"INSERT INTO seats VALUES (1, '"+storetest.Fingerprint(7)+"', 'license', 'a 1', 4, 5, 5, 'old')",
			"INSERT INTO seats VALUES (1, '"+storetest.Fingerprint(6)+"', 'license', 'a 1', 4, 3, 3, 'an event that was pruned')")
	}
	is.NoErr(db.Close())
	s := open(t, file, store.Options{})
	storetest.Claim(t, s, 1, 8)
	storetest.Claim(t, s, 1, 7)
	u, err := s.Usage(t.Context(), 1, store.Page{Limit: 9})
	is.NoErr(err)
	var ids []int64
	for _, e := range u.Events {
		ids = append(ids, e.ID)
	}
	is.Equal(ids, []int64{11, 10, 7})
	l, err := s.VMs(t.Context(), 1, store.Page{Limit: 9})
	is.NoErr(err)
	var vms []string
	for _, vm := range l.VMs {
		vms = append(vms, vm.VM)
	}
	is.Equal(vms, []string{storetest.Fingerprint(8)[:12], storetest.Fingerprint(7)[:12], storetest.Fingerprint(6)[:12]})
	problems, err := s.Check(t.Context())
	is.NoErr(err)
	is.Equal(problems, []string{})
}
