package postgres

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

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

// unconnected reports whether a session was not even had. That says nothing of
// the sessions there are: where one host of the address stands, to end them
// would only make everybody wait for that host again.
func unconnected(err error) bool {
	var failed *pgconn.ConnectError
	return errors.As(err, &failed) || errors.Is(err, context.DeadlineExceeded) && !pgconn.Timeout(err)
}

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

// errInDoubt marks the error of a transaction that may have been committed.
var errInDoubt = errors.New("the commit is in doubt")

// persist tries a transaction until it succeeds, or fails in a way that a repeat
// can't help, or has been tried for long enough. A try that has begun is finished
// even where the caller is gone.
func (p *postgres) persist(caller context.Context, on *server, try func(context.Context, *pgxpool.Conn) error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(caller), persistence)
	defer cancel()
	why := ledger.Unavailable("the store can't be reached")
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

// undefinedTable is the SQLSTATE of a database without the store.
const undefinedTable = "42P01"

// conflicts are the SQLSTATEs after which a new try may do better: a
// serialization failure, a deadlock, a lock or a statement that took too long, a
// plan that a migration outdated.
var conflicts = map[string]bool{"40001": true, "40P01": true, "55P03": true, "57014": true, "0A000": true, "26000": true}

// losses are the SQLSTATEs and their classes that say that this server is not
// one to write to now: connection failures, a full disk, too many connections,
// shutdown, crash, starting up, dropped, read-only.
var losses = map[string]bool{"08": true, "53": true, "57P01": true, "57P02": true, "57P03": true, "57P05": true, "25006": true}

// lost reports whether the connection, or the server behind it, is of no use.
func lost(conn *pgxpool.Conn, err error) bool {
	state := sqlState(err)
	return losses[state] || losses[class(state)] || conn.Conn().IsClosed()
}

// refused reports whether the server answered with an error that is not the loss
// of itself.
func refused(err error) bool {
	state := sqlState(err)
	return state != "" && !losses[state] && !losses[class(state)]
}

func sqlState(err error) string {
	var e *pgconn.PgError
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

func class(state string) string { return state[:min(2, len(state))] }

// remote reports whether a server of Citus says that it did not reach another one: its
// own session goes on.
func remote(err error) bool {
	var e *pgconn.PgError
	return errors.As(err, &e) && e.Severity == "ERROR" && (losses[e.Code] || losses[class(e.Code)] || strings.Contains(e.Message, "could not commit transaction"))
}

// unconfirmedKey marks a connection whose last commit the standby did not
// confirm.
const unconfirmedKey = "svc unconfirmed"

// noteUnconfirmed sees that a commit succeeded on this server alone: somebody
// cancelled its wait for the standby, and a failover would lose it.
func noteUnconfirmed(c *pgconn.PgConn, n *pgconn.Notice) {
	if strings.Contains(n.Message, "wait for synchronous replication") {
		c.CustomData()[unconfirmedKey] = true
	}
}

// confirmed is nil unless the last commit was not confirmed by the standby.
func confirmed(conn *pgxpool.Conn) error {
	data := conn.Conn().PgConn().CustomData()
	if data[unconfirmedKey] == nil {
		return nil
	}
	delete(data, unconfirmedKey)
	return unconfirmed()
}

// unconfirmed is the answer to a write that may have been recorded, or not.
func unconfirmed() error {
	e := api.Errorf(api.Unavailable, "the store did not confirm the write, which may have been recorded or not: repeat the request, with the same Idempotency-Key if it had one")
	e.RetryAfter = 1
	return e
}

// readable is the error of a read: a server that can't be reached is
// unavailable.
func readable(err error) error {
	if err == nil || refused(err) || errors.Is(err, context.Canceled) {
		return err
	}
	return errors.Join(ledger.Unavailable("the store can't be reached"), err)
}
