package postgres

import (
	"context"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"svc/backend/store/ledger"
)

// pgxQuerier is a pgx pool, connection or transaction.
type pgxQuerier interface {
	Query(ctx context.Context, query string, args ...any) (pgx.Rows, error)
	Exec(ctx context.Context, query string, args ...any) (pgconn.CommandTag, error)
}

// numbered runs statements whose parameters are question marks.
type numbered struct{ pgxQuerier }

func (n numbered) Query(ctx context.Context, query string, args ...any) (ledger.Rows, error) {
	r, err := n.pgxQuerier.Query(ctx, number(query), args...)
	return r, err
}

func (n numbered) Execute(ctx context.Context, query string, args ...any) (int64, error) {
	tag, err := n.Exec(ctx, number(query), args...)
	return tag.RowsAffected(), err
}

// number writes the parameters as PostgreSQL does; one with a number of its own keeps
// that. The SQL of the stores has no question mark that is not one.
func number(query string) string {
	parts := strings.Split(query, "?")
	var b strings.Builder
	b.WriteString(parts[0])
	for i, part := range parts[1:] {
		b.WriteByte('$')
		if part == "" || part[0] < '1' || part[0] > '9' {
			b.WriteString(strconv.Itoa(i + 1))
		}
		b.WriteString(part)
	}
	return b.String()
}

// reading is a querier whose errors say that the server can't be reached.
type reading struct{ numbered }

func (r reading) Query(ctx context.Context, query string, args ...any) (ledger.Rows, error) {
	found, err := r.numbered.Query(ctx, query, args...)
	return readRows{found}, readable(err)
}

// readRows are the rows of a reading.
type readRows struct{ ledger.Rows }

// Err implements ledger.Rows.
func (r readRows) Err() error { return readable(r.Rows.Err()) }
