package backend

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/matryer/is"

	"svc/backend/api"
	"svc/backend/client"
)

func TestEmbeddedIsReadyOnFirstUse(t *testing.T) {
	is := is.New(t)
	dir := filepath.Join(t.TempDir(), "svc")
	c, closer, err := OpenEmbedded(t.Context(), dir, Config{Version: "1"})
	is.NoErr(err)
	first, err := client.Call(t.Context(), c, api.GetAccount, api.None{})
	is.NoErr(err)
	is.Equal(first.Plan, api.PlanInternal)
	is.True(first.Unlimited)
	is.NoErr(closer.Close())

	c, closer, err = OpenEmbedded(t.Context(), dir, Config{Version: "1"})
	is.NoErr(err)
	defer closer.Close()
	again, err := client.Call(t.Context(), c, api.GetAccount, api.None{})
	is.NoErr(err)
	is.Equal(again.AccountID, first.AccountID)
	keys, err := client.Call(t.Context(), c, api.AttestKeys, api.None{})
	is.NoErr(err)
	is.Equal(len(keys.Keys), 1) // the same key, listed once
	for _, name := range []string{tokenFile, keyFile} {
		info, err := os.Stat(filepath.Join(dir, name))
		is.NoErr(err)
		is.Equal(info.Mode().Perm(), fs.FileMode(0o600))
	}
}

func TestEmbeddedByManyAtOnce(t *testing.T) {
	is := is.New(t)
	dir := t.TempDir()
	accounts := make([]int64, 4)
	var wg sync.WaitGroup
	for i := range accounts {
		wg.Go(func() {
			c, closer, err := OpenEmbedded(t.Context(), dir, Config{})
			if err != nil {
				t.Error(err)
				return
			}
			defer closer.Close()
			account, err := client.Call(t.Context(), c, api.GetAccount, api.None{})
			if err != nil {
				t.Error(err)
			}
			accounts[i] = account.AccountID
		})
	}
	wg.Wait()
	for _, id := range accounts {
		is.Equal(id, accounts[0])
	}
}

func TestADamagedTokenIsSaid(t *testing.T) {
	is := is.New(t)
	dir := t.TempDir()
	is.NoErr(os.WriteFile(filepath.Join(dir, tokenFile), []byte("svc_x\n"), 0o600))
	_, _, err := OpenEmbedded(t.Context(), dir, Config{})
	is.Equal(api.CodeOf(err), api.Unauthenticated)
}

func TestOpenRefuses(t *testing.T) {
	is := is.New(t)
	dir := t.TempDir()
	key := filepath.Join(dir, "key.pem")
	_, err := Open(t.Context(), Config{DB: "oracle:x", SigningKey: key})
	is.True(err != nil)
	_, err = Open(t.Context(), Config{DB: "sqlite:" + filepath.Join(dir, "a.db"), SigningKey: key, IndexFile: filepath.Join(dir, "none")})
	is.True(errors.Is(err, fs.ErrNotExist))
	_, err = Open(t.Context(), Config{DB: "sqlite:" + filepath.Join(dir, "a.db"), SigningKey: filepath.Join(dir, "no", "key.pem")})
	is.True(errors.Is(err, fs.ErrNotExist))
}

func BenchmarkOpenEmbedded(b *testing.B) {
	dir := b.TempDir()
	for b.Loop() {
		_, closer, err := OpenEmbedded(b.Context(), dir, Config{})
		if err != nil {
			b.Fatal(err)
		}
		closer.Close()
	}
}
