package postgres

import (
	"context"
	"errors"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"svc/backend/api"
	"svc/backend/store"
)

// errInDoubt marks the error of a transaction that may have been committed.
var errInDoubt = errors.New("the commit is in doubt")

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

// unconnected reports whether a session was not even had. That says nothing of
// the sessions there are: where one host of the address stands, to end them
// would only make everybody wait for that host again.
func unconnected(err error) bool {
	_, failed := errors.AsType[*pgconn.ConnectError](err)
	return failed || errors.Is(err, context.DeadlineExceeded) && !pgconn.Timeout(err)
}

func sqlState(err error) string {
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		return e.Code
	}
	return ""
}

func class(state string) string { return state[:min(2, len(state))] }

// remote reports whether a server of Citus says that it did not reach another one: its
// own session goes on.
func remote(err error) bool {
	e, ok := errors.AsType[*pgconn.PgError](err)
	return ok && e.Severity == "ERROR" && (losses[e.Code] || losses[class(e.Code)] || strings.Contains(e.Message, "could not commit transaction"))
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
	return errors.Join(store.Unavailable("the store can't be reached"), err)
}
