package sqlite_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/matryer/is"

	"svc/backend/api"
	"svc/backend/license"
	"svc/backend/store"
	"svc/backend/store/sqlite"
	"svc/backend/store/storetest"
)

func TestFilesAreTheOwnersAlone(t *testing.T) {
	is := is.New(t)
	file := filepath.Join(t.TempDir(), "svc.db")
	s := open(t, file, store.Options{})
	is.NoErr(s.Backup(t.Context(), file+".copy"))
	for _, name := range []string{file, file + "-wal", file + "-shm", file + ".copy"} {
		info, err := os.Stat(name)
		is.NoErr(err)
		is.Equal(info.Mode().Perm(), os.FileMode(0o600))
	}
}

// TestThatIsMovedAcknowledgesNothing: what is written then goes into a file that
// nobody finds.
func TestThatIsMovedAcknowledgesNothing(t *testing.T) {
	is := is.New(t)
	file := filepath.Join(t.TempDir(), "svc.db")
	s := open(t, file, store.Options{})
	account, err := s.CreateAccount(t.Context(), "test", license.Account{Plan: api.PlanFree, FreeQuota: 9, VMLimit: 9})
	is.NoErr(err)
	storetest.Claim(t, s, account, 1)
	is.NoErr(s.Ready(t.Context()))
	is.NoErr(os.Rename(file, file+".away"))
	_, err = s.Record(t.Context(), store.Command{RequestID: "r", AccountID: account, Kind: api.Migration, Fingerprint: "f"})
	is.Equal(api.CodeOf(err), api.Unavailable)
	is.True(s.Ready(t.Context()) != nil)
	is.NoErr(os.WriteFile(file, []byte("another"), 0o600)) // another file is no store either
	is.True(s.Ready(t.Context()) != nil)
	is.NoErr(os.Rename(file+".away", file))
	is.NoErr(s.Ready(t.Context()))
	storetest.Claim(t, s, account, 2)
}

func TestFindsDamageBeforeItServes(t *testing.T) {
	is := is.New(t)
	file := filepath.Join(t.TempDir(), "svc.db")
	s := open(t, file, store.Options{})
	is.NoErr(s.Close())
	f, err := os.OpenFile(file, os.O_RDWR, 0)
	is.NoErr(err)
	_, err = f.WriteAt(make([]byte, 8192), 8192)
	is.NoErr(err)
	is.NoErr(f.Close())
	_, err = sqlite.Open(t.Context(), file, store.Options{CheckPages: time.Minute})
	is.True(err != nil)
}

func TestNoStoreIsNotAnEmptyOne(t *testing.T) {
	is := is.New(t)
	file := filepath.Join(t.TempDir(), "svc.db")
	is.True(sqlite.Exists(file) != nil)
	is.NoErr(os.WriteFile(file, nil, 0o600))
	is.True(sqlite.Exists(file) != nil)
	is.NoErr(open(t, file, store.Options{}).Close())
	is.NoErr(sqlite.Exists(file))
}

// TestThatIsOverwrittenAcknowledgesNothing: the file is the same one, with the
// pages of another store, or of an earlier state of this one.
func TestThatIsOverwrittenAcknowledgesNothing(t *testing.T) {
	for name, other := range map[string]func(*testing.T, store.Store, string) string{
		"another store": func(t *testing.T, _ store.Store, file string) string {
			is.New(t).NoErr(open(t, file+".other", store.Options{}).Close())
			return file + ".other"
		},
		"its backup": func(t *testing.T, s store.Store, file string) string {
			is.New(t).NoErr(s.Backup(t.Context(), file+".copy"))
			return file + ".copy"
		},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			file := filepath.Join(t.TempDir(), "svc.db")
			s := open(t, file, store.Options{})
			account, err := s.CreateAccount(t.Context(), "test", license.Account{Plan: api.PlanFree, FreeQuota: 9, VMLimit: 9})
			is.NoErr(err)
			storetest.Claim(t, s, account, 1)
			beside := open(t, file, store.Options{}) // another process is none of this
			is.NoErr(beside.Ready(t.Context()))
			is.NoErr(beside.Close())
			is.NoErr(s.Ready(t.Context()))
			pages, err := os.ReadFile(other(t, s, file))
			is.NoErr(err)
			f, err := os.OpenFile(file, os.O_WRONLY, 0)
			is.NoErr(err)
			_, err = f.WriteAt(pages, 0)
			is.NoErr(err)
			is.True(s.Ready(t.Context()) != nil)
			_, err = s.Record(t.Context(), store.Command{RequestID: "r", AccountID: account, Kind: api.Migration, Fingerprint: "f"})
			is.Equal(api.CodeOf(err), api.Unavailable)
		})
	}
}

// TestThatIsSetBackAcknowledgesNothing: a copy of the file, made while nobody had
// it open, has the store's own identity.
func TestThatIsSetBackAcknowledgesNothing(t *testing.T) {
	is := is.New(t)
	file := filepath.Join(t.TempDir(), "svc.db")
	is.NoErr(open(t, file, store.Options{}).Close())
	before, err := os.ReadFile(file)
	is.NoErr(err)
	s := open(t, file, store.Options{})
	account, err := s.CreateAccount(t.Context(), "test", license.Account{Plan: api.PlanFree, FreeQuota: 900, VMLimit: 900})
	is.NoErr(err)
	for i := range 400 {
		storetest.Claim(t, s, account, i)
	}
	is.NoErr(s.Close())
	s = open(t, file, store.Options{})
	is.NoErr(s.Ready(t.Context()))
	f, err := os.OpenFile(file, os.O_WRONLY, 0)
	is.NoErr(err)
	_, err = f.WriteAt(before, 0)
	is.NoErr(err)
	is.True(s.Ready(t.Context()) != nil)
}

// TestThatIsReadFindsDamage: nothing was written since, and nothing is after.
func TestThatIsReadFindsDamage(t *testing.T) {
	is := is.New(t)
	file := filepath.Join(t.TempDir(), "svc.db")
	s := open(t, file, store.Options{})
	account, err := s.CreateAccount(t.Context(), "test", license.Account{Plan: api.PlanFree, FreeQuota: 900, VMLimit: 900})
	is.NoErr(err)
	for i := range 400 {
		storetest.Claim(t, s, account, i)
	}
	is.NoErr(s.Close())
	s = open(t, file, store.Options{})
	info, err := os.Stat(file)
	is.NoErr(err)
	f, err := os.OpenFile(file, os.O_WRONLY, 0)
	is.NoErr(err)
	_, err = f.WriteAt(make([]byte, info.Size()-4096), 4096) // all but the first page
	is.NoErr(err)
	_, err = s.Account(t.Context(), account)
	is.True(err != nil)
	is.True(s.Ready(t.Context()) != nil)
}
