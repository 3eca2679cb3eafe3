package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"svc/backend/api"
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
	migrating   = 0x737663 // the lock of those that migrate: "svc"
)

// postgres is a store in PostgreSQL, which many processes may share. Commands
// and metered requests go through lanes, an account always through the same: so
// what waits shares one transaction, only other processes ever wait for its locks,
// and what was read of an account holds until its version says that it changed. It
// keeps no session state, so a transaction pooler may stand between.
type postgres struct {
	ledger
	o         Options
	pool      *pgxpool.Pool
	recorders []*recorder
}

func openPostgres(ctx context.Context, dsn string, o Options) (Store, error) {
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
	p := &postgres{o: o}
	if p.pool, err = pgxpool.NewWithConfig(ctx, config); err != nil {
		return nil, fmt.Errorf("opening the store: %w", err)
	}
	// A migration of a large store takes its time.
	migrate := func(_ context.Context, conn *pgxpool.Conn) error { return p.migrate(ctx, conn) }
	if err := p.persist(ctx, migrate); err != nil {
		p.pool.Close()
		return nil, fmt.Errorf("opening the store: %w", err)
	}
	p.ledger = ledger{now: o.Now, read: patient{p}, snapshot: p.at, change: p.transact, record: p.enqueue, seated: postgresSeated, history: postgresHistory}
	p.tokens = newLane(p.findTokens)
	for range lanesHere() {
		p.recorders = append(p.recorders, newRecorder(p))
	}
	return p, nil
}

// migrate applies the migrations that the database has not seen, all in one
// transaction. Of several processes that start at once, one does; the lock ends
// with the transaction, so a pooler does not leak it.
func (p *postgres) migrate(ctx context.Context, conn *pgxpool.Conn) error {
	files, err := fs.Glob(migrations, "migrations/postgres_*.sql")
	if err != nil {
		return err
	}
	slices.Sort(files)
	return pgx.BeginFunc(ctx, conn, func(t pgx.Tx) error {
		if _, err := t.Exec(ctx, "SELECT pg_advisory_xact_lock($1)", migrating); err != nil {
			return err
		}
		if _, err := t.Exec(ctx, "CREATE TABLE IF NOT EXISTS migrations (version integer PRIMARY KEY)"); err != nil {
			return err
		}
		version, err := one(ctx, numbered{t}, value[int], "SELECT coalesce(max(version), 0) FROM migrations")
		if err != nil {
			return err
		}
		if version > len(files) {
			return fmt.Errorf("its schema is version %d, newer than this program's %d: use a newer svc", version, len(files))
		}
		for i := version; i < len(files); i++ {
			if err := apply(ctx, t, files[i], i+1); err != nil {
				return fmt.Errorf("applying %s: %w", filepath.Base(files[i]), err)
			}
		}
		return nil
	})
}

func apply(ctx context.Context, t pgx.Tx, file string, version int) error {
	text, err := migrations.ReadFile(file)
	if err != nil {
		return err
	}
	if _, err := t.Conn().PgConn().Exec(ctx, string(text)).ReadAll(); err != nil {
		return err
	}
	_, err = t.Exec(ctx, "INSERT INTO migrations (version) VALUES ($1)", version)
	return err
}

// Close lets nothing more in, and waits for what has begun.
func (p *postgres) Close() error {
	var wg sync.WaitGroup
	for _, r := range p.recorders {
		wg.Go(r.lane.close)
	}
	wg.Go(p.tokens.close)
	wg.Wait()
	p.pool.Close()
	return nil
}

// Ready is nil on a server that takes writes: not on a standby, nor on one that
// was set to read only.
func (p *postgres) Ready(ctx context.Context) error {
	writable, err := one(ctx, p.read, value[bool], "SELECT NOT pg_is_in_recovery() AND current_setting('transaction_read_only') = 'off'")
	if err != nil {
		return err
	}
	if !writable {
		return unavailable("the database is read-only now")
	}
	return nil
}

// Backup implements Operator: a database server has its own tool for that.
func (p *postgres) Backup(_ context.Context, file string) error {
	c := p.pool.Config().ConnConfig
	return fmt.Errorf("backing up: this store is in PostgreSQL; nothing was written. Run: pg_dump --format=custom --file=%s --host=%s --port=%d --username=%s %s",
		strconv.Quote(file), c.Host, c.Port, c.User, c.Database)
}

// at reads the store as it is at one instant.
func (p *postgres) at(ctx context.Context, use func(querier) error) error {
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
	if !unconnected(err) {
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
func (p *postgres) transact(ctx context.Context, do func(*tx) error) error {
	return p.persist(ctx, func(ctx context.Context, conn *pgxpool.Conn) error {
		t, err := conn.Begin(ctx)
		if err != nil {
			return err
		}
		defer t.Rollback(ctx)
		if err := do(&tx{executor: numbered{t}, ctx: ctx, now: p.o.Now().UTC(), locked: " FOR UPDATE"}); err != nil {
			return err
		}
		if err := t.Commit(ctx); err != nil && !refused(err) {
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
func (p *postgres) persist(caller context.Context, try func(context.Context, *pgxpool.Conn) error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(caller), persistence)
	defer cancel()
	why := unavailable("the store can't be reached")
	for pause := firstPause; ; pause = min(2*pause, lastPause) {
		again, err := p.attempt(ctx, try)
		if !again {
			return err
		}
		if errors.Is(err, errInDoubt) {
			why = unconfirmed()
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
func (p *postgres) attempt(ctx context.Context, try func(context.Context, *pgxpool.Conn) error) (again bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	conn, err := p.pool.Acquire(ctx)
	if err != nil {
		return true, err
	}
	defer conn.Release() // which closes a connection that is still in a transaction
	err = try(ctx, conn)
	switch {
	case err == nil || api.CodeOf(err) != "":
		return false, err
	case lost(conn, err):
		p.pool.Reset() // its neighbours lead to the same server
		return true, err
	}
	return conflicts[sqlState(err)], err
}

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
	return errors.Join(unavailable("the store can't be reached"), err)
}

// pgxQuerier is a pgx pool, connection or transaction.
type pgxQuerier interface {
	Query(ctx context.Context, query string, args ...any) (pgx.Rows, error)
	Exec(ctx context.Context, query string, args ...any) (pgconn.CommandTag, error)
}

// numbered runs statements whose parameters are question marks.
type numbered struct{ pgxQuerier }

func (n numbered) query(ctx context.Context, query string, args ...any) (rows, error) {
	r, err := n.Query(ctx, number(query), args...)
	return r, err
}

func (n numbered) execute(ctx context.Context, query string, args ...any) (int64, error) {
	tag, err := n.Exec(ctx, number(query), args...)
	return tag.RowsAffected(), err
}

// number writes the parameters as PostgreSQL does. The SQL of this package has no
// question mark that is not one.
func number(query string) string {
	parts := strings.Split(query, "?")
	var b strings.Builder
	b.WriteString(parts[0])
	for i, part := range parts[1:] {
		b.WriteString("$" + strconv.Itoa(i+1) + part)
	}
	return b.String()
}

// reading is a querier whose errors say that the server can't be reached.
type reading struct{ numbered }

func (r reading) query(ctx context.Context, query string, args ...any) (rows, error) {
	found, err := r.numbered.query(ctx, query, args...)
	return readRows{found}, readable(err)
}

// readRows are the rows of a reading.
type readRows struct{ rows }

// Err implements rows.
func (r readRows) Err() error { return readable(r.rows.Err()) }

// patient reads from the pool, twice if it must.
type patient struct{ *postgres }

func (p patient) query(ctx context.Context, query string, args ...any) (found rows, err error) {
	err = p.twice(func() error {
		if found, err = (reading{numbered{p.pool}}).query(ctx, query, args...); err != nil {
			return err
		}
		begun := &begunRows{rows: found}
		begun.first = found.Next()
		found = begun
		return found.Err()
	})
	return found, err
}

// begunRows are rows of which the first was asked for already: a lost connection
// shows there.
type begunRows struct {
	rows
	first, past bool
}

// Next implements rows.
func (r *begunRows) Next() bool {
	if r.past {
		return r.rows.Next()
	}
	r.past = true
	return r.first
}
