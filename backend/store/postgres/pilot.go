package postgres

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"svc/backend/store/ledger"
)

// pilots are how many connections carry the claims of many accounts: one works while
// the other waits for the disk.
const pilots = 2

// flush is a transaction that the disk, and where there is one the standby, has only with
// all that was committed before it.
const flush = "SELECT pg_logical_emit_message(true, 'svc', '')"

// flight is a statement that is a transaction of its own, of one account.
type flight struct {
	query string
	args  []any
	rows  int64 // that it wrote
	err   error
}

// fly has the statement of an account executed, in a transaction of its own, on a
// connection that many such share: all that wait are sent at once, each with its own
// end, and answered when the disk has them all.
func (p *postgres) fly(ctx context.Context, account int64, f *flight) error {
	if err := p.pilots[uint64(account)%pilots].Do(ctx, f); err != nil {
		return err
	}
	return f.err
}

// carry executes the statements of a batch.
func (p *postgres) carry(batch []*ledger.Task[*flight]) {
	ctx, cancel := context.WithTimeout(context.Background(), quickly)
	defer cancel()
	conn, err := p.pool.Acquire(ctx)
	if err == nil {
		defer conn.Release()
		err = send(ctx, conn, ledger.Column(batch, func(t *ledger.Task[*flight]) *flight { return t.Work }))
	}
	for _, t := range batch {
		t.Answer(err)
	}
}

// send sends the statements over a connection and reads what each did. An error of one
// is its own; one of the connection says nothing of any.
func send(ctx context.Context, conn *pgxpool.Conn, flights []*flight) error {
	if len(flights) > 1 {
		for _, f := range flights {
			f.args[flushedLater] = true
		}
		flights = append(flights, &flight{query: flush})
	}
	prepared, err := prepare(ctx, conn.Conn(), flights)
	if err != nil {
		return err
	}
	pipe := conn.Conn().PgConn().StartPipeline(ctx)
	for i, f := range flights {
		b := &pgx.ExtendedQueryBuilder{}
		if f.err = b.Build(conn.Conn().TypeMap(), prepared[i], f.args); f.err != nil {
			continue
		}
		pipe.SendQueryPrepared(prepared[i].Name, b.ParamValues, b.ParamFormats, b.ResultFormats)
		if err := pipe.Sync(); err != nil {
			return errors.Join(errInDoubt, err, pipe.Close())
		}
	}
	for _, f := range flights {
		if f.err == nil {
			if err := f.read(pipe); err != nil {
				return errors.Join(errInDoubt, err, pipe.Close())
			}
		}
	}
	if err := pipe.Close(); err != nil {
		return errors.Join(errInDoubt, err)
	}
	if last := flights[len(flights)-1]; last.query == flush && last.err != nil {
		return errors.Join(errInDoubt, last.err)
	}
	return confirmed(conn)
}

// prepare prepares the statements that a session does not know.
func prepare(ctx context.Context, conn *pgx.Conn, flights []*flight) (all []*pgconn.StatementDescription, err error) {
	for _, f := range flights {
		s, err := conn.Prepare(ctx, f.query, f.query) // asks the server once
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}

// read reads what a statement did, up to the end of its transaction.
func (f *flight) read(pipe *pgconn.Pipeline) error {
	for {
		got, err := pipe.GetResults()
		var refusal *pgconn.PgError
		switch {
		case errors.As(err, &refusal):
			f.err = err
			continue
		case err != nil:
			return err
		}
		switch got := got.(type) {
		case *pgconn.ResultReader:
			tag, err := got.Close()
			f.rows = tag.RowsAffected()
			if err != nil && !errors.As(err, &refusal) {
				return err
			}
			f.err = err
		case *pgconn.PipelineSync:
			return nil
		default:
			return errors.New("the server answered out of turn")
		}
	}
}
