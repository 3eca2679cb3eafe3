package store

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/matryer/is"
)

// TestLogIsCopied copies a log beside its writer: it begins anew, and nothing of it
// is lost.
func TestLogIsCopied(t *testing.T) {
	is := is.New(t)
	s, account := openForTest(t, filepath.Join(t.TempDir(), "svc.db"))
	claimed := 0
	claim := func(n int) {
		for range n {
			claimed++
			is.NoErr(claimVM(t, s, account, claimed))
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
	asked, synchronise := 0, s.log.synchronise
	s.log.synchronise = func() error {
		asked++
		is.True(s.log.writing.TryLock()) // the writer does not wait for the disk
		s.log.writing.Unlock()
		claim(1)
		return synchronise()
	}
	is.NoErr(s.log.copy())
	is.Equal(asked, copies)
	s.log.synchronise = synchronise
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
	s, _ = openForTest(t, s.path)
	is.Equal(used(t, s, account), claimed)
	wrong, err := s.Check(t.Context())
	is.NoErr(err)
	is.Equal(wrong, []string{})
}
