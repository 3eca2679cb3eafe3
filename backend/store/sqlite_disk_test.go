package store

import (
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/matryer/is"

	"svc/backend/api"
	"svc/backend/license"
)

// openForTest opens a store on a file, with an account that no limit holds.
func openForTest(t *testing.T, path string) (*sqlite, int64) {
	is := is.New(t)
	opened, err := Open(t.Context(), "sqlite:"+path, Options{})
	is.NoErr(err)
	t.Cleanup(func() { opened.Close() })
	account, err := opened.CreateAccount(t.Context(), "test", license.Account{Plan: api.PlanFree, Unlimited: true})
	is.NoErr(err)
	return opened.(*sqlite), account
}

// claimVM claims a seat.
func claimVM(t *testing.T, s *sqlite, account int64, vm int) error {
	name := fmt.Sprintf("%064x", vm)
	_, err := s.Record(t.Context(), Command{RequestID: name, AccountID: account, Kind: api.License, Fingerprint: name})
	return err
}

// synchroniseBy has something else than the disk keep the log.
func (d *disk) synchroniseBy(do func() error) {
	d.turn <- struct{}{}
	defer d.abandon()
	d.synchronise = do
}

// TestNothingIsToldBeforeTheDiskHasIt stops the disk: neither who claims a seat nor
// who reads gets an answer. After a failure nothing is recorded any more.
func TestNothingIsToldBeforeTheDiskHasIt(t *testing.T) {
	is := is.New(t)
	path := filepath.Join(t.TempDir(), "svc.db")
	s, account := openForTest(t, path)
	other, _ := openForTest(t, path) // as another process
	claim := func(vm int) error { return claimVM(t, s, account, vm) }
	disk := s.disk.synchroniseBy

	asked, release := make(chan bool), make(chan bool)
	disk(func() error {
		asked <- true
		<-release
		return nil
	})
	var wg sync.WaitGroup
	claimed, read := make(chan error, 1), make(chan int, 1)
	wg.Go(func() { claimed <- claim(1) })
	<-asked
	wg.Go(func() { read <- used(t, s, account) })
	synchronised := 0
	other.disk.synchroniseBy(func() error {
		synchronised++
		return nil
	})
	is.Equal(used(t, other, account), 1)
	is.Equal(synchronised, 1) // what another process wrote and the disk may not have
	time.Sleep(50 * time.Millisecond)
	is.Equal(len(claimed)+len(read), 0)
	release <- true
	wg.Wait()
	is.NoErr(<-claimed)
	is.Equal(<-read, 1)

	disk(func() error { return errors.New("the disk did not have to be asked") })
	is.NoErr(s.Ready(t.Context())) // writes nothing

	disk(func() error { return errors.New("the disk is broken") })
	is.Equal(api.CodeOf(claim(2)), api.Unavailable)
	disk(func() error { return nil })
	is.Equal(api.CodeOf(claim(3)), api.Unavailable)
	is.Equal(api.CodeOf(s.Ready(t.Context())), api.Unavailable)
	_ = used(t, s, account) // reading goes on
}

// TestReadersShareASynchronisation has another process commit whenever the disk was
// asked to keep what is there: the first reader's question is too early for the others,
// and the second does for all of them.
func TestReadersShareASynchronisation(t *testing.T) {
	is := is.New(t)
	path := filepath.Join(t.TempDir(), "svc.db")
	s, account := openForTest(t, path)
	other, _ := openForTest(t, path)
	var asked atomic.Int64
	begun, release := make(chan bool), make(chan bool)
	s.disk.synchroniseBy(func() error {
		vm := int(asked.Add(1))
		if vm == 1 {
			begun <- true
			<-release
		}
		return claimVM(t, other, account, vm)
	})
	is.NoErr(claimVM(t, other, account, 0))
	var readers sync.WaitGroup
	readers.Go(func() { s.disk.wait() })
	<-begun
	is.NoErr(claimVM(t, other, account, 100))
	for range 32 {
		readers.Go(func() { s.disk.wait() })
	}
	time.Sleep(50 * time.Millisecond) // they wait by then
	close(release)
	readers.Wait()
	is.Equal(asked.Load(), int64(2))
}

func used(t *testing.T, s *sqlite, account int64) int {
	c, err := s.Capacity(t.Context(), account)
	is.New(t).NoErr(err)
	return c.BillableVMsUsed
}

// TestSQLiteLetsOthersWrite has many clients claim seats on a slow disk, and another
// process make tokens meanwhile.
func TestSQLiteLetsOthersWrite(t *testing.T) {
	is := is.New(t)
	path := filepath.Join(t.TempDir(), "svc.db")
	s, account := openForTest(t, path)
	other, _ := openForTest(t, path)
	s.disk.synchroniseBy(func() error {
		time.Sleep(5 * time.Millisecond)
		return nil
	})
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
