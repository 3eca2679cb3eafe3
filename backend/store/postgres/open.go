package postgres

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"svc/backend/store"
	"svc/backend/store/lane"
	"svc/backend/store/ledger"
)

// Open opens a store by its address, postgres://…, and brings its schema up to date.
func Open(ctx context.Context, dsn string, o store.Options) (store.Store, error) {
	config, err := pgxpool.ParseConfig(dsn)
	if err != nil {
		return nil, fmt.Errorf("opening the store: %w", err) // pgx leaves the password out
	}
	if !strings.Contains(dsn, "pool_max_conns") {
		config.MaxConns = connections
	}
	config.ConnConfig.ConnectTimeout = cmp.Or(config.ConnConfig.ConnectTimeout, dialTime)
	config.PingTimeout = cmp.Or(config.PingTimeout, pingTime)
	config.ConnConfig.OnNotice = noteUnconfirmed
	if o.Now == nil {
		o.Now = time.Now
	}
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	p := &postgres{o: o, recorders: map[int64]*recorder{}, servers: servers{most: max(1, int(config.MaxConns)*3/4)}}
	p.pooled = config.ConnConfig.DefaultQueryExecMode != pgx.QueryExecModeCacheStatement
	config.AfterConnect = p.prepareSession
	if p.pool, err = pgxpool.NewWithConfig(ctx, config); err != nil {
		return nil, fmt.Errorf("opening the store: %w", err)
	}
	// A migration of a large store takes its time.
	migrate := func(_ context.Context, conn *pgxpool.Conn) error { return p.migrate(ctx, conn) }
	if err := p.persist(ctx, nil, migrate); err != nil {
		p.pool.Close()
		return nil, fmt.Errorf("opening the store: %w", err)
	}
	p.layout.Store(true)
	p.pool.Reset() // the session that migrated plans as others do
	p.Ledger = ledger.Ledger{Now: o.Now, Read: patient{p}, Snapshot: p.at, Change: p.transact, Enter: p.enter, History: history}
	p.pilot = lane.New(pilot{p.pool}.carry)
	p.Start()
	return p, nil
}

// prepareSession has a session plan by index. What it runs through a pooler, or on Citus,
// says so itself, or not.
func (p *postgres) prepareSession(ctx context.Context, conn *pgx.Conn) error {
	if !p.layout.Load() || p.pooled || p.spread {
		return nil
	}
	_, err := conn.Exec(ctx, planSession)
	return err
}

// Exists is nil where there is a store at an address: not for an empty database, of
// which Open would make a new store.
func Exists(ctx context.Context, dsn string) error {
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return fmt.Errorf("looking at the store: %w", err)
	}
	defer conn.Close(ctx)
	var there bool
	if err := conn.QueryRow(ctx, "SELECT to_regclass('migrations') IS NOT NULL").Scan(&there); err != nil {
		return fmt.Errorf("looking at the store: %w", err)
	}
	if !there {
		return fmt.Errorf("there is no store in the database %s; nothing was made", conn.Config().Database)
	}
	return nil
}
