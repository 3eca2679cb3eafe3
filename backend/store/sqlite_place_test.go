package store_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/matryer/is"

	"svc/backend/api"
	"svc/backend/license"
	"svc/backend/store"
)

func TestSQLiteFilesAreTheOwnersAlone(t *testing.T) {
	is := is.New(t)
	file := filepath.Join(t.TempDir(), "svc.db")
	s := openSQLite(t, file, store.Options{})
	is.NoErr(s.Backup(t.Context(), file+".copy"))
	for _, name := range []string{file, file + "-wal", file + "-shm", file + ".copy"} {
		info, err := os.Stat(name)
		is.NoErr(err)
		is.Equal(info.Mode().Perm(), os.FileMode(0o600))
	}
}

// TestSQLiteThatIsMovedAcknowledgesNothing: what is written then goes into a file that
// nobody finds.
func TestSQLiteThatIsMovedAcknowledgesNothing(t *testing.T) {
	is := is.New(t)
	file := filepath.Join(t.TempDir(), "svc.db")
	s := openSQLite(t, file, store.Options{})
	account, err := s.CreateAccount(t.Context(), "test", license.Account{Plan: api.PlanFree, FreeQuota: 9, VMLimit: 9})
	is.NoErr(err)
	claim(t, s, account, 1)
	is.NoErr(s.Ready(t.Context()))
	is.NoErr(os.Rename(file, file+".away"))
	_, err = s.Record(t.Context(), store.Command{RequestID: "r", AccountID: account, Kind: api.Migration, Fingerprint: "f"})
	is.Equal(api.CodeOf(err), api.Unavailable)
	is.True(s.Ready(t.Context()) != nil)
	is.NoErr(os.WriteFile(file, []byte("another"), 0o600)) // another file is no store either
	is.True(s.Ready(t.Context()) != nil)
	is.NoErr(os.Rename(file+".away", file))
	is.NoErr(s.Ready(t.Context()))
	claim(t, s, account, 2)
}

func TestSQLiteFindsDamageBeforeItServes(t *testing.T) {
	is := is.New(t)
	file := filepath.Join(t.TempDir(), "svc.db")
	s := openSQLite(t, file, store.Options{})
	is.NoErr(s.Close())
	f, err := os.OpenFile(file, os.O_RDWR, 0)
	is.NoErr(err)
	_, err = f.WriteAt(make([]byte, 8192), 8192)
	is.NoErr(err)
	is.NoErr(f.Close())
	_, err = store.Open(t.Context(), "sqlite:"+file, store.Options{CheckPages: time.Minute})
	is.True(err != nil)
}

func TestNoStoreIsNotAnEmptyOne(t *testing.T) {
	is := is.New(t)
	file := filepath.Join(t.TempDir(), "svc.db")
	is.True(store.Exists("sqlite:"+file) != nil)
	is.NoErr(os.WriteFile(file, nil, 0o600))
	is.True(store.Exists("sqlite:"+file) != nil)
	is.NoErr(openSQLite(t, file, store.Options{}).Close())
	is.NoErr(store.Exists("sqlite:" + file))
}
