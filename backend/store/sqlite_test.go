package store_test

import (
	"path/filepath"
	"sync"
	"testing"

	"github.com/matryer/is"

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

// TestTwoProcessesShareAFile opens one file twice, as two commands do.
func TestTwoProcessesShareAFile(t *testing.T) {
	is := is.New(t)
	file := filepath.Join(t.TempDir(), "a folder", "svc.db")
	var wg sync.WaitGroup
	stores := make([]store.Store, 3)
	for i := range stores {
		wg.Go(func() {
			s, err := store.Open(t.Context(), "sqlite:"+file, store.Options{})
			if err != nil {
				t.Error(err)
				return
			}
			stores[i] = s
		})
	}
	wg.Wait()
	account, err := stores[0].CreateAccount(t.Context(), "test", license.Account{Plan: api.PlanFree, FreeQuota: 10, VMLimit: 100})
	is.NoErr(err)
	for i, s := range stores {
		wg.Go(func() {
			for vm := range 20 {
				_, err := s.Record(t.Context(), store.Command{
					RequestID: storetest.Fingerprint(100*i + vm), AccountID: account, Kind: api.License, Fingerprint: storetest.Fingerprint(vm), Source: api.OS{Distro: "a", Version: "1"},
				})
				if err != nil && api.CodeOf(err) != api.SeatQuota {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	c, err := stores[1].Capacity(t.Context(), account)
	is.NoErr(err)
	is.Equal(c.BillableVMsUsed, 10)
	for _, s := range stores {
		is.NoErr(s.Close())
	}
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

func TestOpenRefusesWhatIsNoStore(t *testing.T) {
	is := is.New(t)
	for _, dsn := range []string{"", "sqlite:", "mysql://x", "svc.db"} {
		_, err := store.Open(t.Context(), dsn, store.Options{})
		is.True(err != nil)
	}
}

func BenchmarkSQLiteClaims(b *testing.B) {
	is := is.New(b)
	s := openSQLite(b, filepath.Join(b.TempDir(), "svc.db"), store.Options{})
	account, err := s.CreateAccount(b.Context(), "bench", license.Account{Plan: api.PlanFree, Unlimited: true, VMLimit: 1})
	is.NoErr(err)
	var mu sync.Mutex
	n := 0
	next := func() int { mu.Lock(); defer mu.Unlock(); n++; return n }
	for name, clients := range map[string]int{"1 client": 1, "64 clients": 32} { // RunParallel multiplies by the cores
		b.Run(name, func(b *testing.B) {
			b.SetParallelism(clients)
			if clients == 1 {
				for b.Loop() {
					claim(b, s, account, next())
				}
				return
			}
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					claim(b, s, account, next())
				}
			})
		})
	}
}

func claim(b testing.TB, s store.Store, account int64, vm int) {
	fingerprint := storetest.Fingerprint(vm)
	if _, err := s.Record(b.Context(), store.Command{RequestID: fingerprint, AccountID: account, Kind: api.License, Fingerprint: fingerprint, Source: api.OS{Distro: "a", Version: "1"}}); err != nil {
		b.Error(err)
	}
}
