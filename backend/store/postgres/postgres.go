// Package postgres keeps a store in PostgreSQL, on one server or spread over several by
// Citus.
package postgres

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"github.com/jackc/pgx/v5/pgxpool"

	"svc/backend/store"
	"svc/backend/store/lane"
	"svc/backend/store/ledger"
)

// postgres is a store in PostgreSQL, which many processes may share. Each transaction
// of a command or a metered request is of one account, and each statement of it says
// which: so any server can have the account, and what waits for it shares one
// transaction. It keeps no session state, so a transaction pooler may stand between.
type postgres struct {
	ledger.Ledger
	o        store.Options
	pool     *pgxpool.Pool
	identity string
	pooled   bool        // a pooler may give each transaction another session
	layout   atomic.Bool // is known
	replaced atomic.Bool // another store has taken this one's place
	spread   bool        // Citus has the tables
	servers  servers
	ids      ids

	pilot *lane.Lane[*flight] // of the claims of many accounts

	mu        sync.Mutex
	closed    bool
	recorders map[int64]*recorder // by account
}

// Close lets nothing more in, and waits for what has begun.
func (p *postgres) Close() error {
	p.mu.Lock()
	p.closed = true
	recorders := p.recorders
	p.recorders = map[int64]*recorder{}
	p.mu.Unlock()
	for _, r := range recorders {
		r.lane.Close()
	}
	p.pilot.Close()
	p.Ledger.Close()
	p.pool.Close()
	return nil
}

// Ready is nil on a server that takes writes, not on a standby nor on one that was set
// to read only, where the store is still the one that was opened. Of a store that is
// spread it asks the server it is connected to: where another one stands, that one's
// accounts alone do.
func (p *postgres) Ready(ctx context.Context) error {
	if err := p.lost(); err != nil {
		return err
	}
	writable, err := ledger.One(ctx, p.Read, ledger.Value[bool], "SELECT NOT pg_is_in_recovery() AND current_setting('transaction_read_only') = 'off'")
	if err != nil {
		return err
	}
	if !writable {
		return store.Unavailable("the database is read-only now")
	}
	found, err := ledger.One(ctx, p.Read, ledger.Value[string], selectIdentity)
	if err != nil && !refused(err) && !errors.Is(err, store.ErrNotFound) {
		return err
	}
	return p.same(found)
}

const selectIdentity = "SELECT identity FROM store"

// same remembers where an identity that was found is not this store's: what is written
// from then on goes where nobody looks for it.
func (p *postgres) same(identity string) error {
	if identity != p.identity {
		p.replaced.Store(true)
	}
	return p.lost()
}

// lost is why nothing may be acknowledged any more.
func (p *postgres) lost() error {
	if !p.replaced.Load() {
		return nil
	}
	return store.Unavailable("the database holds another store, or none, in the place of the one that was opened: put that back and start svc again")
}
