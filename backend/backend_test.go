package backend

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/matryer/is"

	"svc/backend/api"
	"svc/backend/api/attest"
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

// TestEmbeddedIsTheWholeService goes through what a migration calls: a refusal
// comes back as the server's own, and an attestation verifies with the keys
// that are listed.
func TestEmbeddedIsTheWholeService(t *testing.T) {
	is := is.New(t)
	ctx := t.Context()
	c, closer, err := OpenEmbedded(ctx, t.TempDir(), Config{})
	is.NoErr(err)
	defer closer.Close()
	vm := strings.Repeat("ab", 32)
	usage := api.UsageRequest{Kind: api.Drift, Fingerprint: vm, Source: api.OS{Distro: "debian", Version: "11"}}
	_, err = client.Call(ctx, c, api.Usage, usage)
	var refused *api.Error
	is.True(errors.As(err, &refused))
	is.Equal(refused.Status(), 402)
	is.Equal(refused.Code, api.UnlicensedVM)
	is.True(refused.RequestID != "")

	usage.Kind, usage.Target = api.Migration, &api.OS{Distro: "debian", Version: "12"}
	first, err := client.Call(ctx, c, api.Usage, usage, client.WithKey("k"))
	is.NoErr(err)
	is.True(first.SeatClaimed)
	again, err := client.Call(ctx, c, api.Usage, usage, client.WithKey("k"))
	is.NoErr(err)
	is.Equal(again, first)

	digest := strings.Repeat("0", 64)
	statement, err := attest.New(digest, &attest.MigrationPredicate{
		Operation: attest.Operation{Fingerprint: vm, Source: "debian-11", Target: "debian-12"},
	})
	is.NoErr(err)
	raw, err := json.Marshal(statement)
	is.NoErr(err)
	envelope, err := client.Call(ctx, c, api.AttestSign, api.SignRequest{Statement: raw})
	is.NoErr(err)
	keys, err := client.Call(ctx, c, api.AttestKeys, api.None{})
	is.NoErr(err)
	trusted, err := attest.ParsePublicKeys([]byte(keys.Keys[0].PEM))
	is.NoErr(err)
	signed, err := json.Marshal(envelope)
	is.NoErr(err)
	_, err = attest.Verify(signed, trusted)
	is.NoErr(err)
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
	is.NoErr(os.WriteFile(filepath.Join(dir, "file"), nil, 0o600))
	_, err = Open(t.Context(), Config{DB: "sqlite:" + filepath.Join(dir, "a.db"), SigningKey: filepath.Join(dir, "file", "key.pem")})
	is.True(err != nil) // a file is no folder
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
