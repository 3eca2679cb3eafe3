package store

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/matryer/is"

	"svc/backend/api"
	"svc/backend/license"
)

// TestLogIsCopied copies a log beside its writer: it begins anew, and nothing of it
// is lost.
func TestLogIsCopied(t *testing.T) {
	is := is.New(t)
	opened, err := Open(t.Context(), "sqlite:"+filepath.Join(t.TempDir(), "svc.db"), Options{})
	is.NoErr(err)
	defer opened.Close()
	s := opened.(*sqlite)
	account, err := s.CreateAccount(t.Context(), "test", license.Account{Plan: api.PlanFree, Unlimited: true})
	is.NoErr(err)
	claimed := 0
	claim := func(n int) {
		for range n {
			claimed++
			vm := fmt.Sprintf("%064x", claimed)
			_, err := s.Record(t.Context(), Command{RequestID: vm, AccountID: account, Kind: api.License, Fingerprint: vm})
			is.NoErr(err)
		}
	}
	claim(20)
	before, err := s.log.checkpoint("NOOP")
	is.NoErr(err)
	is.True(before > 20)
	is.NoErr(s.log.copy()) // too short to be copied
	after, err := s.log.checkpoint("NOOP")
	is.NoErr(err)
	is.Equal(after, before)

	s.log.longest = before
	is.NoErr(s.log.copy())
	after, err = s.log.checkpoint("NOOP")
	is.NoErr(err)
	is.Equal(after, 0)
	claim(1)
	after, err = s.log.checkpoint("NOOP")
	is.NoErr(err)
	is.True(after > 0 && after < before) // the log began anew

	s.log.longest = 1
	claim(2 * logCheck) // calls the copier; each writes more than one page
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(time.Millisecond) {
		after, err = s.log.checkpoint("NOOP")
		is.NoErr(err)
		if after < 2*logCheck {
			break
		}
		is.True(time.Now().Before(end))
	}
	is.NoErr(s.Close())
	opened, err = Open(t.Context(), "sqlite:"+s.path, Options{})
	is.NoErr(err)
	defer opened.Close()
	c, err := opened.Capacity(t.Context(), account)
	is.NoErr(err)
	is.Equal(c.BillableVMsUsed, claimed)
	wrong, err := opened.Check(t.Context())
	is.NoErr(err)
	is.Equal(wrong, []string{})
}
