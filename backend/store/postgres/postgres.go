// Package postgres keeps a store in PostgreSQL, on one server or spread over several by
// Citus.
package postgres

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"svc/backend/store"
	"svc/backend/store/ledger"
)

// Limits of a store on PostgreSQL.
const (
	connections = 16               // where the address has no pool_max_conns
	dialTime    = 5 * time.Second  // where it has no connect_timeout
	pingTime    = time.Second      // for a session that rested to show that it lives
	persistence = 10 * time.Second // how long a write is tried
	patience    = 4 * time.Second  // how long one try may take: a server that froze answers none
	quickly     = 2 * time.Second  // how long the first may, and each round trip of it
	firstPause  = 20 * time.Millisecond
	lastPause   = 500 * time.Millisecond
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

	pilot *ledger.Lane[*flight] // of the claims of many accounts

	mu        sync.Mutex
	closed    bool
	recorders map[int64]*recorder // by account
}

// Open opens a store by its address, postgres://…, and brings its schema up to date.
func Open(ctx context.Context, dsn string, o store.Options) (store.Store, error) {
	config, err := pgxpool.ParseConfig(dsn)
	if err != nil {
		return nil, fmt.Errorf("opening the store: %w", err) // pgx leaves the password out
	}
	if !strings.Contains(dsn, "pool_max_conns") {
		config.MaxConns = connections
	}
	if config.ConnConfig.ConnectTimeout == 0 {
		config.ConnConfig.ConnectTimeout = dialTime
	}
	if config.PingTimeout == 0 {
		config.PingTimeout = pingTime
	}
	config.ConnConfig.OnNotice = noteUnconfirmed
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
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
	p.pilot = ledger.NewLane(p.carry)
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
		return ledger.Unavailable("the database is read-only now")
	}
	found, err := ledger.One(ctx, p.Read, ledger.Value[string], selectIdentity)
	if err != nil && !refused(err) && !errors.Is(err, store.ErrNotFound) {
		return err
	}
	return p.same(found)
}

// Backup implements store.Operator: a database server has its own tool for that.
func (p *postgres) Backup(_ context.Context, file string) error {
	if p.spread {
		return errors.New("backing up: this store is spread over several servers; nothing was written. Run on the coordinator: SELECT citus_create_restore_point('NAME'); and keep a base backup and the WAL of each server up to it")
	}
	c := p.pool.Config().ConnConfig
	return fmt.Errorf("backing up: this store is in PostgreSQL; nothing was written. Run: pg_dump --format=custom --file=%s --host=%s --port=%d --username=%s %s",
		strconv.Quote(file), c.Host, c.Port, c.User, c.Database)
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
	return ledger.Unavailable("the database holds another store, or none, in the place of the one that was opened: put that back and start svc again")
}

// tx is the transaction of a change.
func (p *postgres) tx(ctx context.Context, t pgx.Tx) *ledger.Tx {
	return &ledger.Tx{Executor: numbered{t}, Ctx: ctx, Now: p.o.Now().UTC(), Locked: " FOR UPDATE"}
}

// Check implements store.Operator: it also looks where the tables lie.
func (p *postgres) Check(ctx context.Context) ([]string, error) {
	wrong, err := p.Ledger.Check(ctx)
	if err != nil || !p.spread {
		return wrong, err
	}
	misplaced, err := ledger.Collect(ctx, p.Read, ledger.Value[string], misplaced, ofAccounts, everywhere)
	return append(wrong, misplaced...), err
}

// misplaced are tables that Citus does not have, or not beside the accounts, and shards
// that no server has.
const misplaced = `SELECT 'table ' || t.name || ' does not lie beside the accounts' FROM unnest(?::text[]) t (name)
		LEFT JOIN pg_dist_partition p ON p.logicalrelid = t.name::regclass AND p.partmethod = 'h'
			AND p.colocationid = (SELECT colocationid FROM pg_dist_partition WHERE logicalrelid = 'accounts'::regclass) WHERE p.logicalrelid IS NULL
	UNION ALL SELECT 'table ' || t.name || ' is not on every server' FROM unnest(?::text[]) t (name)
		LEFT JOIN pg_dist_partition p ON p.logicalrelid = t.name::regclass AND p.partmethod = 'n' WHERE p.logicalrelid IS NULL
	UNION ALL SELECT 'shard ' || s.shardid || ' of ' || s.logicalrelid || ' is on no server' FROM pg_dist_shard s
		WHERE NOT EXISTS (SELECT FROM pg_dist_placement p JOIN pg_dist_node n USING (groupid) WHERE p.shardid = s.shardid AND n.isactive)`

// Prune implements store.Operator. The act is audited before the first event goes; those
// of an account that can't be reached stay.
func (p *postgres) Prune(ctx context.Context, actor string, before time.Time) (total int64, err error) {
	if err := p.Act(ctx, actor, "events.prune", func(*ledger.Tx) (string, error) {
		return "events before " + before.UTC().Format(time.RFC3339), nil
	}); err != nil {
		return 0, err
	}
	accounts, err := ledger.Collect(ctx, p.Read, ledger.Value[int64], "SELECT id FROM accounts ORDER BY id")
	for _, account := range accounts {
		n, failed := p.pruneAccount(ctx, account, before)
		total, err = total+n, errors.Join(err, failed)
	}
	return total, err
}

// old are an account's events before an instant, by the index that has them.
const (
	deleteOld     = "DELETE FROM events WHERE account_id = ?1 AND request_id IN (SELECT request_id FROM events WHERE account_id = ?1 AND %s AND at < ?2 ORDER BY at LIMIT ?3)"
	deleteReplays = "DELETE FROM replays WHERE account_id = ? AND at < ?"
)

func (p *postgres) pruneAccount(ctx context.Context, account int64, before time.Time) (total int64, err error) {
	for _, which := range []string{"listed", "NOT listed"} {
		for n := int64(ledger.PrunedAtOnce); n == ledger.PrunedAtOnce; total += n {
			err := p.transact(ctx, func(t *ledger.Tx) error {
				n, err = t.Exec(fmt.Sprintf(deleteOld, which), account, ledger.Instant(before), ledger.PrunedAtOnce)
				return err
			})
			if err != nil {
				return total, fmt.Errorf("account %d: %w", account, err)
			}
		}
	}
	return total, p.transact(ctx, func(t *ledger.Tx) error {
		_, err := t.Exec(deleteReplays, account, ledger.Instant(t.Now.Add(-ledger.Lifetime)))
		return err
	})
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
