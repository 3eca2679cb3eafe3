package postgres

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"svc/backend/sliced"
	"svc/backend/store/lane"
)

// flight is a statement of one account that is a transaction of its own.
type flight struct {
	query string
	args  []any
	rows  int64 // that it wrote
}

// What stands around the transactions of several flights: the disk, and where there is one
// the standby, is waited for once, by a transaction that they have only with all that was
// committed before it.
var (
	takeoff = []string{"SET synchronous_commit = off", "BEGIN"}
	between = "COMMIT AND CHAIN"
	landing = []string{"COMMIT", "RESET synchronous_commit", "SELECT pg_logical_emit_message(true, 'svc', '')"}
)

// plan is the order in which statements are sent for the flights of a batch.
func plan(flights []*flight) (all []*flight) {
	if len(flights) == 1 {
		return flights
	}
	add := func(queries ...string) {
		for _, q := range queries {
			all = append(all, &flight{query: q})
		}
	}
	add(takeoff...)
	for i, f := range flights {
		if i > 0 {
			add(between)
		}
		all = append(all, f)
	}
	add(landing...)
	return all
}

// pilot carries the flights of a batch over one connection.
type pilot struct{ pool *pgxpool.Pool }

// carry executes the statements of a batch, all sent at once and answered at once. What
// becomes of them where one fails, nobody knows.
func (p pilot) carry(batch []*lane.Task[*flight]) {
	ctx, cancel := context.WithTimeout(context.Background(), quickly)
	defer cancel()
	conn, err := p.pool.Acquire(ctx)
	if err == nil {
		defer conn.Release()
		if err = send(ctx, conn, plan(sliced.Map(batch, func(t *lane.Task[*flight]) *flight { return t.Work }))); err != nil {
			_ = conn.Conn().Close(ctx) // it might go on not to wait for the disk
		}
	}
	for _, t := range batch {
		t.Answer(err)
	}
}

// send sends statements over a connection and reads what each did.
func send(ctx context.Context, conn *pgxpool.Conn, flights []*flight) error {
	prepared := make([]*pgconn.StatementDescription, len(flights))
	for i, f := range flights {
		var err error
		if prepared[i], err = conn.Conn().Prepare(ctx, f.query, f.query); err != nil { // asks the server once
			return err
		}
	}
	pipe := conn.Conn().PgConn().StartPipeline(ctx)
	b := &pgx.ExtendedQueryBuilder{}
	for i, f := range flights {
		if err := b.Build(conn.Conn().TypeMap(), prepared[i], f.args); err != nil {
			return errors.Join(err, pipe.Close())
		}
		pipe.SendQueryPrepared(prepared[i].Name, b.ParamValues, b.ParamFormats, b.ResultFormats)
	}
	err := pipe.Sync()
	for _, f := range flights {
		if err == nil {
			err = f.read(pipe)
		}
	}
	if err = errors.Join(err, pipe.Close()); err != nil {
		return err
	}
	return confirmed(conn)
}

// read reads what a statement did.
func (f *flight) read(pipe *pgconn.Pipeline) error {
	got, err := pipe.GetResults()
	if err != nil {
		return err
	}
	r, ok := got.(*pgconn.ResultReader)
	if !ok {
		return errors.New("the server answered out of turn")
	}
	tag, err := r.Close()
	f.rows = tag.RowsAffected()
	return err
}
