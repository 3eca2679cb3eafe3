package store

import (
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/matryer/is"

	"svc/backend/api"
	"svc/backend/license"
)

// TestNothingIsToldBeforeTheDiskHasIt stops the disk: neither who claims a seat nor
// who reads gets an answer. After a failure nothing is recorded any more.
func TestNothingIsToldBeforeTheDiskHasIt(t *testing.T) {
	is := is.New(t)
	opened, err := Open(t.Context(), "sqlite:"+filepath.Join(t.TempDir(), "svc.db"), Options{})
	is.NoErr(err)
	defer opened.Close()
	s := opened.(*sqlite)
	account, err := s.CreateAccount(t.Context(), "test", license.Account{Plan: api.PlanFree, Unlimited: true})
	is.NoErr(err)
	claim := func(vm int) error {
		name := fmt.Sprintf("%064x", vm)
		_, err := s.Record(t.Context(), Command{RequestID: name, AccountID: account, Kind: api.License, Fingerprint: name})
		return err
	}
	disk := func(synchronise func() error) {
		s.disk.mu.Lock()
		defer s.disk.mu.Unlock()
		s.disk.synchronise = synchronise
	}

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
	wg.Go(func() {
		c, err := s.Capacity(t.Context(), account)
		is.NoErr(err)
		read <- c.BillableVMsUsed
	})
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
	_, err = s.Capacity(t.Context(), account)
	is.NoErr(err)
}
