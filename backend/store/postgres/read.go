package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"svc/backend/api"
	"svc/backend/store/ledger"
)

// at reads the store as it is at one instant.
func (p *postgres) at(ctx context.Context, use func(ledger.Querier) error) error {
	return p.twice(func() error {
		t, err := p.pool.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly})
		if err != nil {
			return readable(err)
		}
		defer t.Rollback(ctx)
		return use(reading{numbered{t}})
	})
}

// twice reads, and reads again if the server can't be reached: the pool may have
// given a connection to one that is gone.
func (p *postgres) twice(read func() error) error {
	err := read()
	if api.CodeOf(err) != api.Unavailable {
		return err
	}
	if !unconnected(err) && !(p.spread && remote(err)) {
		p.pool.Reset()
	}
	return read()
}

// patient reads from the pool, twice if it must.
type patient struct{ *postgres }

func (p patient) Query(ctx context.Context, query string, args ...any) (found ledger.Rows, err error) {
	err = p.twice(func() error {
		if found, err = (reading{numbered{p.pool}}).Query(ctx, query, args...); err != nil {
			return err
		}
		begun := &begunRows{Rows: found}
		begun.first = found.Next()
		found = begun
		return found.Err()
	})
	return found, err
}

// begunRows are rows of which the first was asked for already: a lost connection
// shows there.
type begunRows struct {
	ledger.Rows
	first, past bool
}

// Next implements ledger.Rows.
func (r *begunRows) Next() bool {
	if r.past {
		return r.Rows.Next()
	}
	r.past = true
	return r.first
}
