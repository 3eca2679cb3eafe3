package store_test

import (
	"bufio"
	"crypto/sha256"
	"database/sql"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/matryer/is"
	"golang.org/x/sys/unix"

	"svc/backend/api"
	"svc/backend/license"
	"svc/backend/store"
	"svc/backend/store/storetest"
)

func openSQLite(t testing.TB, file string, o store.Options) store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), "sqlite:"+file, o)
	is.New(t).NoErr(err)
	t.Cleanup(func() { s.Close() })
	return s
}

func TestSQLite(t *testing.T) {
	storetest.Run(t, func(t *testing.T, o store.Options) store.Store {
		return openSQLite(t, filepath.Join(t.TempDir(), "svc.db"), o)
	})
}

func TestSQLiteIsShared(t *testing.T) {
	storetest.RunShared(t, "sqlite:"+filepath.Join(t.TempDir(), "a folder", "svc.db"))
}

func TestSQLiteBackup(t *testing.T) {
	is := is.New(t)
	dir := t.TempDir()
	s := openSQLite(t, filepath.Join(dir, "svc.db"), store.Options{})
	account, err := s.CreateAccount(t.Context(), "test", license.Account{Plan: api.PlanFree, FreeQuota: 1, VMLimit: 1})
	is.NoErr(err)
	claim(t, s, account, 1)
	file := filepath.Join(dir, "copy.db")
	is.NoErr(s.Backup(t.Context(), file))
	is.True(s.Backup(t.Context(), file) != nil) // nothing is overwritten
	c, err := openSQLite(t, file, store.Options{}).Capacity(t.Context(), account)
	is.NoErr(err)
	is.Equal(c.BillableVMsUsed, 1)
}

// TestSQLiteDecidesAtItsTurn has a claim wait for another process until the day that
// it came on has ended, and with it the capacity.
func TestSQLiteDecidesAtItsTurn(t *testing.T) {
	is := is.New(t)
	var clock atomic.Int64
	clock.Store(time.Date(2026, 8, 1, 23, 59, 59, 0, time.UTC).Unix())
	file := filepath.Join(t.TempDir(), "svc.db")
	s := openSQLite(t, file, store.Options{Now: func() time.Time { return time.Unix(clock.Load(), 0) }})
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

// TestSQLiteIsNotReadyWithoutRoom has files of this process grow no more, as on a full
// disk.
func TestSQLiteIsNotReadyWithoutRoom(t *testing.T) {
	is := is.New(t)
	s := openSQLite(t, filepath.Join(t.TempDir(), "svc.db"), store.Options{})
	_, err := s.CreateAccount(t.Context(), "test", license.Account{Plan: api.PlanFree})
	is.NoErr(err)
	is.NoErr(s.Ready(t.Context()))
	signal.Ignore(unix.SIGXFSZ)
	defer signal.Reset(unix.SIGXFSZ)
	var limit unix.Rlimit
	is.NoErr(unix.Getrlimit(unix.RLIMIT_FSIZE, &limit))
	full := limit
	full.Cur = 17 << 20 // what one transaction of claims may write, which the log is far from
	is.NoErr(unix.Setrlimit(unix.RLIMIT_FSIZE, &full))
	err = s.Ready(t.Context())
	is.NoErr(unix.Setrlimit(unix.RLIMIT_FSIZE, &limit))
	is.Equal(api.CodeOf(err), api.Unavailable)
	is.NoErr(s.Ready(t.Context())) // there is room again
}

func TestOpenRefusesWhatIsNoStore(t *testing.T) {
	is := is.New(t)
	for _, dsn := range []string{"", "sqlite:", "mysql://x", "svc.db"} {
		_, err := store.Open(t.Context(), dsn, store.Options{})
		is.True(err != nil)
	}
}

func TestSQLiteCloses(t *testing.T) {
	is := is.New(t)
	file := filepath.Join(t.TempDir(), "svc.db")
	s := openSQLite(t, file, store.Options{})
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

// claimant is the environment variable by which the test binary becomes a
// process that claims until it is killed.
const claimant = "SVC_TEST_CLAIMANT"

// clients claim at the same time.
const clients = 16

// TestClaimant is not a test but that process: it prints the number of every VM
// whose claim the store acknowledged.
func TestClaimant(t *testing.T) {
	address, ok := os.LookupEnv(claimant)
	if !ok {
		t.Skip("this is a process of other tests")
	}
	s, err := store.Open(t.Context(), address, store.Options{})
	is.New(t).NoErr(err)
	var wg sync.WaitGroup
	for client := range clients {
		wg.Go(func() {
			for vm := client; !t.Failed(); vm += clients {
				claim(t, s, 1, vm)
				fmt.Printf("\nacknowledged %d\n", vm)
			}
		})
	}
	wg.Wait()
}

// killClaimant kills a process in the middle of its claims, and looks for every
// claim that it had an answer to.
func killClaimant(t *testing.T, address string, enough int) {
	is := is.New(t)
	s, err := store.Open(t.Context(), address, store.Options{})
	is.NoErr(err)
	account, err := s.CreateAccount(t.Context(), "test", license.Account{Plan: api.PlanFree, Unlimited: true})
	is.NoErr(err)
	is.NoErr(s.Close())
	cmd := exec.Command(os.Args[0], "-test.run=^TestClaimant$", "-test.timeout=1m")
	cmd.Env = append(os.Environ(), claimant+"="+address)
	out, err := cmd.StdoutPipe()
	is.NoErr(err)
	is.NoErr(cmd.Start())
	var acknowledged []int
	for lines := bufio.NewScanner(out); lines.Scan(); {
		var vm int
		if n, _ := fmt.Sscanf(lines.Text(), "acknowledged %d", &vm); n == 0 {
			continue
		}
		if acknowledged = append(acknowledged, vm); len(acknowledged) == enough {
			is.NoErr(cmd.Process.Kill())
		}
	}
	is.True(cmd.Wait() != nil)
	is.True(len(acknowledged) >= enough)

	s, err = store.Open(t.Context(), address, store.Options{})
	is.NoErr(err)
	defer s.Close()
	for _, vm := range acknowledged {
		seated, err := s.Seated(t.Context(), account, storetest.Fingerprint(vm))
		is.NoErr(err)
		is.True(seated) // no acknowledged claim is lost
	}
	problems, err := s.Check(t.Context())
	is.NoErr(err)
	is.Equal(problems, []string{})
	c, err := s.Capacity(t.Context(), account)
	is.NoErr(err)
	is.True(c.BillableVMsUsed <= len(acknowledged)+clients)
	t.Logf("%d claims acknowledged, %d recorded", len(acknowledged), c.BillableVMsUsed)
}

func TestSQLiteSurvivesAKill(t *testing.T) {
	killClaimant(t, "sqlite:"+filepath.Join(t.TempDir(), "svc.db"), 1000)
}

func BenchmarkSQLiteClaims(b *testing.B) {
	benchmarkClaims(b, openSQLite(b, filepath.Join(b.TempDir(), "svc.db"), store.Options{}), func(*testing.B, int) {})
}

// benchmarkClaims measures claims of new VMs, by a number of clients for a number
// of accounts.
func benchmarkClaims(b *testing.B, s store.Store, compare func(b *testing.B, clients int)) {
	var vms atomic.Int64
	for _, accounts := range []int{1, 1000} {
		ids := make([]int64, accounts)
		for i := range ids {
			id, err := s.CreateAccount(b.Context(), "bench", license.Account{Plan: api.PlanFree, Unlimited: true})
			is.New(b).NoErr(err)
			ids[i] = id
		}
		for _, clients := range []int{1, 64} {
			b.Run(fmt.Sprintf("accounts=%d/clients=%d", accounts, clients), func(b *testing.B) {
				var left atomic.Int64
				left.Store(int64(b.N))
				var wg sync.WaitGroup
				for range clients {
					wg.Go(func() {
						for left.Add(-1) >= 0 {
							vm := int(vms.Add(1))
							claim(b, s, ids[vm%accounts], vm)
						}
					})
				}
				wg.Wait()
				b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "claims/s")
				compare(b, clients)
			})
		}
	}
}

func claim(t testing.TB, s store.Store, account int64, vm int) {
	fingerprint := storetest.Fingerprint(vm)
	if _, err := s.Record(t.Context(), store.Command{RequestID: fingerprint, AccountID: account, Kind: api.License, Fingerprint: fingerprint, Source: api.OS{Distro: "a", Version: "1"}}); err != nil {
		t.Error(err)
	}
}

// TestSQLiteMigrates opens a file that the first version wrote: nothing is lost,
// and no id of an event is used again.
func TestSQLiteMigrates(t *testing.T) {
	is := is.New(t)
	file := filepath.Join(t.TempDir(), "svc.db")
	first, err := os.ReadFile("migrations/sqlite_0001.sql")
	is.NoErr(err)
	db, err := sql.Open("sqlite", file)
	is.NoErr(err)
	for _, statement := range []string{
		string(first),
		"PRAGMA user_version = 1",
		"INSERT INTO accounts (id, name, plan, unlimited, free_quota, vm_limit, billable_vms, created_at) VALUES (1, 'old', 'free', 0, 9, 9, 2, 0)",
		`INSERT INTO events (id, account_id, request_id, kind, fingerprint, source, claimed, billable, overage, listed, at)
			VALUES (7, 1, 'old', 'license', '` + storetest.Fingerprint(7) + `', 'a 1', 1, 1, 0, 1, 5), (9, 1, 'pruned', 'drift', 'x', 'a 1', 0, 0, 0, 0, 6)`,
		"DELETE FROM events WHERE id = 9",
		"INSERT INTO seats VALUES (1, '" + storetest.Fingerprint(7) + "', 'license', 'a 1', 4, 5, 5, 'old')",
		"INSERT INTO seats VALUES (1, '" + storetest.Fingerprint(6) + "', 'license', 'a 1', 4, 3, 3, 'an event that was pruned')",
	} {
		_, err := db.Exec(statement)
		is.NoErr(err)
	}
	is.NoErr(db.Close())
	s := openSQLite(t, file, store.Options{})
	claim(t, s, 1, 8)
	claim(t, s, 1, 7)
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
