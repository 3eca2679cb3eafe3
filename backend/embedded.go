package backend

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"svc/backend/api"
	"svc/backend/client"
	"svc/backend/firstuse"
	"svc/backend/license"
	"svc/backend/store"
)

// The files of an embedded backend.
const (
	storeFile = "svc.db"
	keyFile   = "signing-key.pem" // as of `svc serve`, whose store it shares
	tokenFile = "own-token"
	// oldTokenFile is what tokenFile was called. It is the name of the token that a
	// user stores for a server, which is in the same folder where the folders of
	// data and of configuration are one.
	oldTokenFile = "token"
)

// FeedFile is the advisory feed of an embedded backend, where none is named.
const FeedFile = "advisories.feed"

// The account of this machine has what every account starts with, though it is
// unlimited.
const (
	freeQuota = 10
	vmLimit   = 10_000
)

// actor is who the audit names for what a backend does by itself.
const actor = "first use"

// OpenEmbedded opens a backend in this process, on files in dir, and a client
// of it. On first use it makes the files and an account, internal and
// unlimited: it is the user's own machine. Every request passes the same
// handler as a served one. What c says of DB and SigningKey is ignored.
func OpenEmbedded(ctx context.Context, dir string, c Config) (*client.Client, io.Closer, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, nil, fmt.Errorf("making the data directory: %w; name another by XDG_DATA_HOME, or use a server", err)
	}
	c.DB = "sqlite:" + filepath.Join(dir, storeFile)
	c.SigningKey = filepath.Join(dir, keyFile)
	c.Advisories = cmp.Or(c.Advisories, filepath.Join(dir, FeedFile))
	b, err := Open(ctx, c)
	if err != nil {
		return nil, nil, err
	}
	err = renameToken(ctx, b.store, dir)
	if err != nil {
		return nil, nil, errors.Join(err, b.Close())
	}
	token, err := ownToken(ctx, b.store, filepath.Join(dir, tokenFile))
	if err != nil {
		return nil, nil, errors.Join(err, b.Close())
	}
	own, err := client.InProcess(b.Handler(), token)
	if err != nil {
		return nil, nil, errors.Join(err, b.Close())
	}
	return own, b, nil
}

// renameToken gives the file of an older version its new name, where none has it
// and its token is one of this store, not a user's for a server.
func renameToken(ctx context.Context, db store.Store, dir string) error {
	old, own := filepath.Join(dir, oldTokenFile), filepath.Join(dir, tokenFile)
	if _, err := os.Lstat(own); err == nil {
		return nil
	}
	b, err := os.ReadFile(old)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading the token of this machine: %w", err)
	}
	_, err = db.Authenticate(ctx, api.TokenHash(strings.TrimSpace(string(b))))
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err == nil {
		err = os.Rename(old, own)
	}
	if errors.Is(err, fs.ErrNotExist) { // another process was faster
		return nil
	}
	return err
}

// ownToken is the token of the file, new on first use, of an account that is
// made where the store does not know the token.
func ownToken(ctx context.Context, db store.Store, path string) (string, error) {
	b, err := firstuse.File(path, func() ([]byte, error) { return []byte(api.NewToken() + "\n"), nil })
	if err != nil {
		return "", fmt.Errorf("reading the token of this machine: %w", err)
	}
	token := strings.TrimSpace(string(b))
	if err := api.CheckToken(token); err != nil {
		return "", fmt.Errorf("reading %s: %w; remove the file to start anew", path, err)
	}
	_, err = db.Authenticate(ctx, api.TokenHash(token))
	if errors.Is(err, store.ErrNotFound) {
		err = ownAccount(ctx, db, token)
	}
	return token, err
}

// ownAccount makes the account of this machine. Another process may do so at
// the same time: whose token the store takes is then the one.
func ownAccount(ctx context.Context, db store.Store, token string) error {
	account, err := db.CreateAccount(ctx, actor, license.Account{
		Name: "this machine", Plan: api.PlanInternal, Unlimited: true, FreeQuota: freeQuota, VMLimit: vmLimit,
	})
	if err != nil {
		return fmt.Errorf("making the account of this machine: %w", err)
	}
	_, failed := db.CreateToken(ctx, actor, account, api.TokenHash(token))
	if failed == nil {
		return nil
	}
	if _, err := db.Authenticate(ctx, api.TokenHash(token)); err != nil {
		return fmt.Errorf("making the token of this machine: %w", failed)
	}
	return nil
}
