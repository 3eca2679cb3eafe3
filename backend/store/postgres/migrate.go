package postgres

import (
	"context"
	"embed"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"svc/backend/store/ledger"
)

//go:embed migrations/*.sql
var migrations embed.FS

// migrating is the lock of those that migrate: "svc".
const migrating = 0x737663

// migrate applies the migrations that the database has not seen, all in one
// transaction. Of several processes that start at once, one does; the lock ends
// with the transaction, so a pooler does not leak it. A store that is new is spread
// where Citus is there; one that was there stays as it lies.
func (p *postgres) migrate(ctx context.Context, conn *pgxpool.Conn) error {
	return pgx.BeginFunc(ctx, conn, func(t pgx.Tx) error {
		if _, err := t.Exec(ctx, "SELECT pg_advisory_xact_lock($1)", migrating); err != nil {
			return err
		}
		if _, err := t.Exec(ctx, "CREATE TABLE IF NOT EXISTS migrations (version integer PRIMARY KEY)"); err != nil {
			return err
		}
		version, err := ledger.One(ctx, numbered{t}, ledger.Value[int], "SELECT coalesce(max(version), 0) FROM migrations")
		if err != nil {
			return err
		}
		if err := ledger.Migrate(migrations, version, func(text string, to int) error { return apply(ctx, t, text, to) }); err != nil {
			return err
		}
		return p.learnLayout(ctx, t, version == 0)
	})
}

func apply(ctx context.Context, t pgx.Tx, text string, to int) error {
	if _, err := t.Conn().PgConn().Exec(ctx, text).ReadAll(); err != nil {
		return err
	}
	_, err := t.Exec(ctx, "INSERT INTO migrations (version) VALUES ($1)", to)
	return err
}

// learnLayout reads which store this is and where it lies, after it spread a new one.
func (p *postgres) learnLayout(ctx context.Context, t pgx.Tx, isNew bool) (err error) {
	q := numbered{t}
	citus, err := ledger.One(ctx, q, ledger.Value[bool], "SELECT EXISTS (SELECT FROM pg_extension WHERE extname = 'citus')")
	if err != nil {
		return err
	}
	if citus && isNew {
		if err := distribute(ctx, q); err != nil {
			return err
		}
	}
	if citus {
		if p.spread, err = ledger.One(ctx, q, ledger.Value[bool], "SELECT EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = 'accounts'::regclass)"); err != nil {
			return err
		}
		if !p.spread {
			p.o.Log.Warn("the database has Citus, but the store lies on one server: svc admin spread moves it")
		}
	}
	p.identity, err = ledger.One(ctx, q, ledger.Value[string], selectIdentity)
	return err
}
