// Package backend opens the service: the store, the index and the server
// together.
package backend

import (
	"cmp"
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"time"

	"svc/backend/advisory"
	"svc/backend/api"
	"svc/backend/api/attest"
	"svc/backend/index"
	"svc/backend/server"
	"svc/backend/store"
)

// Config says what a backend works on.
type Config struct {
	// DB is the store's address: sqlite:PATH or postgres://….
	DB string
	// IndexFile is an index that the operator built; the embedded one where empty.
	IndexFile string
	// Advisories is the file of the advisory feed, looked at again while the
	// backend is open; none where empty.
	Advisories string
	// CheckPages is for how long at most a store's file is looked through for damage first.
	CheckPages time.Duration
	// OwnFeed has the feed checked and copied before it is used, for who serves
	// others: a file that is written to in its place then harms nothing.
	OwnFeed bool
	// SigningKey is the file of the key that signs attestations; made on first use.
	SigningKey string
	// Rates are the requests a minute by plan; server.DefaultRates where nil.
	Rates map[api.Plan]int
	// Now is the time; time.Now where nil.
	Now func() time.Time
	// Log gets a line for each request; nothing is logged where nil.
	Log *slog.Logger
	// Version and Commit of the program.
	Version, Commit string
}

// Backend is an open service.
type Backend struct {
	store  store.Store
	server *server.Server
	// stop ends the watch over the advisory feed.
	stop context.CancelFunc
}

// feedPoll is how often a newer advisory feed is looked for.
const feedPoll = 2 * time.Second

// Open opens what c names. Close it after use.
func Open(ctx context.Context, c Config) (*Backend, error) {
	if c.Now == nil {
		c.Now = time.Now
	}
	c.Log = cmp.Or(c.Log, slog.New(slog.DiscardHandler))
	key, err := attest.LoadOrCreateKey(c.SigningKey)
	if err != nil {
		return nil, err
	}
	ix, err := index.Open(c.IndexFile)
	if err != nil {
		return nil, err
	}
	db, err := OpenStore(ctx, c.DB, store.Options{Now: c.Now, Log: c.Log, CheckPages: c.CheckPages})
	if err != nil {
		return nil, err
	}
	feeds, err := advisory.Load(c.Advisories, c.OwnFeed, c.Log)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	watch, stop := context.WithCancel(ctx)
	go feeds.Watch(watch, feedPoll)
	b := &Backend{store: db, stop: stop, server: server.New(server.Config{
		Store: db, Index: ix, Feeds: feeds, Key: key, Rates: c.Rates, Now: c.Now, Log: c.Log, Version: c.Version, Commit: c.Commit,
	})}
	if err := publishKey(ctx, db, key); err != nil {
		return nil, errors.Join(err, b.Close())
	}
	return b, nil
}

// publishKey lists the key that signs, unless it is listed: a replica that
// still has the old key must not retire the new one.
func publishKey(ctx context.Context, db store.Store, key ed25519.PrivateKey) error {
	public := key.Public().(ed25519.PublicKey)
	listed, err := db.Keys(ctx)
	if err != nil {
		return fmt.Errorf("reading the listed keys: %w", err)
	}
	if slices.ContainsFunc(listed, func(k api.Key) bool { return k.KeyID == attest.KeyID(public) }) {
		return nil
	}
	err = db.AddKey(ctx, actor, api.Key{KeyID: attest.KeyID(public), Algorithm: "ed25519", PEM: attest.PublicPEM(public)})
	if err != nil {
		return fmt.Errorf("listing the signing key: %w", err)
	}
	return nil
}

// Handler answers the service's requests.
func (b *Backend) Handler() http.Handler { return b.server }

// Operations answers /metrics and /ready.
func (b *Backend) Operations() http.Handler { return b.server.Operations() }

// Serve answers requests on sockets until ctx ends.
func (b *Backend) Serve(ctx context.Context, c server.ServeConfig) error {
	return b.server.Serve(ctx, c)
}

// Store is what the operator's commands work on.
func (b *Backend) Store() store.Store { return b.store }

// Close ends the work on the store and the index.
func (b *Backend) Close() error {
	b.stop()
	return b.store.Close()
}
