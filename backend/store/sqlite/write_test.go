package sqlite

import (
	"bufio"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/matryer/is"

	"svc/backend/api"
	"svc/backend/license"
	"svc/backend/store"
	"svc/backend/store/ledger"
)

// openForTest opens a store on a file, with an account that no limit holds.
func openForTest(t *testing.T, path string) (*sqlite, int64) {
	is := is.New(t)
	opened, err := Open(t.Context(), path, store.Options{})
	is.NoErr(err)
	t.Cleanup(func() { opened.Close() })
	account, err := opened.CreateAccount(t.Context(), "test", license.Account{Plan: api.PlanFree, Unlimited: true})
	is.NoErr(err)
	return opened.(*sqlite), account
}

// claimVM claims a seat.
func claimVM(t *testing.T, s *sqlite, account int64, vm int) error {
	name := fmt.Sprintf("%064x", vm)
	_, err := s.Record(t.Context(), store.Command{RequestID: name, AccountID: account, Kind: api.License, Fingerprint: name})
	return err
}

// TestCommitsAreSynchronised asks each connection that writes what it makes of a commit:
// 2 is FULL, by which the disk has it before anybody is told, and sees it.
func TestCommitsAreSynchronised(t *testing.T) {
	is := is.New(t)
	s, _ := openForTest(t, filepath.Join(t.TempDir(), "svc.db"))
	full, err := ledger.One(t.Context(), s.conn, ledger.Value[int], "PRAGMA synchronous")
	is.NoErr(err)
	is.Equal(full, 2)
	mode, err := ledger.One(t.Context(), s.conn, ledger.Value[string], "PRAGMA journal_mode")
	is.NoErr(err)
	is.Equal(mode, "wal")
}

// TestLetsOthersWrite has many clients claim seats, and another process make tokens
// meanwhile.
func TestLetsOthersWrite(t *testing.T) {
	is := is.New(t)
	path := filepath.Join(t.TempDir(), "svc.db")
	s, account := openForTest(t, path)
	other, _ := openForTest(t, path)
	done := make(chan struct{})
	var clients sync.WaitGroup
	var vms atomic.Int64
	for range 64 {
		clients.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				if err := claimVM(t, s, account, int(vms.Add(1))); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	for i := range byte(8) {
		begun := time.Now()
		_, err := other.CreateToken(t.Context(), "test", account, [32]byte{i})
		is.NoErr(err)
		t.Logf("a token after %v and %d claims", time.Since(begun).Round(time.Millisecond), vms.Load())
	}
	close(done)
	clients.Wait()
}

// TestLogIsCopied writes more than a log holds: SQLite copies it, and it stays short.
func TestLogIsCopied(t *testing.T) {
	is := is.New(t)
	path := filepath.Join(t.TempDir(), "svc.db")
	s, account := openForTest(t, path)
	_, err := s.conn.Execute(t.Context(), "PRAGMA wal_autocheckpoint = 50")
	is.NoErr(err)
	const claims = 300
	for vm := range claims {
		is.NoErr(claimVM(t, s, account, vm))
	}
	log, err := os.Stat(path + "-wal")
	is.NoErr(err)
	is.True(log.Size() < 200*4096)
	is.NoErr(s.Close())
	s, _ = openForTest(t, path)
	c, err := s.Capacity(t.Context(), account)
	is.NoErr(err)
	is.Equal(c.BillableVMsUsed, claims)
}

// operator is the environment variable by which the test binary becomes another
// process that disables the tokens whose ids it is sent.
const operator = "SVC_TEST_OPERATOR"

// TestOperator is not a test but that process.
func TestOperator(t *testing.T) {
	path, ok := os.LookupEnv(operator)
	if !ok {
		t.Skip("this is a process of another test")
	}
	is := is.New(t)
	s, err := Open(t.Context(), path, store.Options{})
	is.NoErr(err)
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		var token int64
		_, err := fmt.Sscan(lines.Text(), &token)
		is.NoErr(err)
		is.NoErr(s.DisableToken(t.Context(), "test", token))
		fmt.Printf("\ndisabled %d\n", token)
	}
	is.NoErr(s.Close())
}

// TestTokensHoldUntilTheyAreDisabled disables tokens in another process: each holds
// until then and not once more, whatever is recorded before and after.
func TestTokensHoldUntilTheyAreDisabled(t *testing.T) {
	is := is.New(t)
	path := filepath.Join(t.TempDir(), "svc.db")
	s, account := openForTest(t, path)
	cmd := exec.Command(os.Args[0], "-test.run=^TestOperator$", "-test.timeout=1m")
	cmd.Env = append(os.Environ(), operator+"="+path)
	in, err := cmd.StdinPipe()
	is.NoErr(err)
	out, err := cmd.StdoutPipe()
	is.NoErr(err)
	is.NoErr(cmd.Start())
	lines := bufio.NewScanner(out)
	for i := range 50 {
		hash := sha256.Sum256(fmt.Append(nil, i))
		id, err := s.CreateToken(t.Context(), "test", account, hash)
		is.NoErr(err)
		who, err := s.Authenticate(t.Context(), hash)
		is.NoErr(err)
		is.Equal(who.TokenID, id)
		is.NoErr(claimVM(t, s, account, i))
		_, err = fmt.Fprintln(in, id)
		is.NoErr(err)
		for said := fmt.Sprintf("disabled %d", id); lines.Text() != said && lines.Scan(); {
		}
		_, err = s.Authenticate(t.Context(), hash)
		is.True(errors.Is(err, store.ErrNotFound))
		_, err = s.Record(t.Context(), store.Command{RequestID: fmt.Sprint("late", i), AccountID: account, TokenID: id, Kind: api.License, Fingerprint: "f"})
		is.True(errors.Is(err, store.ErrTokenDisabled))
	}
	is.NoErr(in.Close())
	is.NoErr(cmd.Wait())
}
