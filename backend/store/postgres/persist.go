package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"svc/backend/api"
	"svc/backend/store"
	"svc/backend/store/ledger"
)

// transact does a change in a transaction of its own. It is tried again until it
// comes to its commit; what becomes of a commit without an answer is not known,
// and a change that is not a command has no id to look for.
func (p *postgres) transact(ctx context.Context, do func(*ledger.Tx) error) error {
	return p.persist(ctx, nil, func(ctx context.Context, conn *pgxpool.Conn) error {
		t, err := conn.Begin(ctx)
		if err != nil {
			return err
		}
		defer t.Rollback(ctx)
		change := p.tx(ctx, t)
		found, err := ledger.One(ctx, change, ledger.Value[string], selectIdentity)
		if err != nil {
			return err
		}
		if err := p.same(found); err != nil {
			return err
		}
		if err := do(change); err != nil {
			return err
		}
		if err := t.Commit(ctx); err != nil && (p.spread || !refused(err)) {
			return errors.Join(unconfirmed(), err)
		} else if err != nil {
			return err
		}
		return confirmed(conn)
	})
}

// persist tries a transaction until it succeeds, or fails in a way that a repeat
// can't help, or has been tried for long enough. A try that has begun is finished
// even where the caller is gone.
func (p *postgres) persist(caller context.Context, on *server, try func(context.Context, *pgxpool.Conn) error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(caller), persistence)
	defer cancel()
	why := store.Unavailable("the store can't be reached")
	for pause := firstPause; ; pause = min(2*pause, lastPause) {
		again, err := p.attempt(ctx, on, try)
		if !again {
			return err
		}
		if errors.Is(err, errInDoubt) {
			why = unconfirmed()
		}
		if errors.Is(err, errStands) || on != nil && errors.Is(err, context.DeadlineExceeded) { // it stands for the next, too
			return errors.Join(why, err)
		}
		p.o.Log.Warn("trying a transaction again", "error", err)
		select {
		case <-caller.Done():
			return errors.Join(why, err)
		case <-ctx.Done():
			return errors.Join(why, err)
		case <-time.After(pause):
		}
	}
}

// attempt runs a transaction once, and says whether to run it again.
func (p *postgres) attempt(ctx context.Context, on *server, try func(context.Context, *pgxpool.Conn) error) (again bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	conn, err := p.acquire(ctx, on)
	if err != nil {
		return true, err
	}
	defer conn.Release() // which closes a connection that is still in a transaction
	err = try(ctx, conn.Conn)
	conn.tell(err)
	switch {
	case err == nil || api.CodeOf(err) != "":
		return false, err
	case sqlState(err) == undefinedTable:
		return false, errors.Join(p.same(""), err)
	case p.spread && remote(err):
		return true, err
	case errors.Is(err, context.DeadlineExceeded) && !conn.Conn.Conn().IsClosed():
		return true, err // the time was up before anything was sent
	case lost(conn.Conn, err):
		p.pool.Reset() // its neighbours lead to the same server
		return true, err
	}
	return conflicts[sqlState(err)], err
}

// acquire takes a connection for a transaction on a server; on nil, for one on any.
func (p *postgres) acquire(ctx context.Context, on *server) (*lease, error) {
	if on != nil {
		if err := on.enter(ctx); err != nil {
			return nil, err
		}
	}
	conn, err := p.pool.Acquire(ctx)
	if err != nil {
		if on != nil {
			<-on.free
		}
		return nil, err
	}
	return &lease{conn, on}, nil
}

// tx is the transaction of a change.
func (p *postgres) tx(ctx context.Context, t pgx.Tx) *ledger.Tx {
	return &ledger.Tx{Executor: numbered{t}, Ctx: ctx, Now: p.o.Now().UTC(), Locked: " FOR UPDATE"}
}
