package store

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	_ "modernc.org/sqlite" // the driver
)

//go:embed migrations/*.sql
var migrations embed.FS

// Limits of the writer.
const (
	maxBatch = 256  // writes that share one commit
	maxQueue = 4096 // writes that wait
	busyWait = 10 * time.Second
	readers  = 4
	lifetime = 24 * time.Hour // of an idempotency key
)

// sqlite is a store in one file. One goroutine writes: whatever waits when it
// comes to commit shares the commit, so a full synchronisation of the disk
// costs each little. Other processes may have the file open too; they wait for
// each other's commits.
type sqlite struct {
	o     Options
	path  string
	read  *sql.DB
	write *sql.DB
	queue chan *write
	done  chan struct{}
	once  sync.Once
	ended chan struct{} // the writer has stopped
}

// write is one change that waits for the writer.
type write struct {
	ctx    context.Context
	do     func(*tx) error
	result chan error
}

// tx is the transaction of a batch of writes, at one instant. Its statements are
// prepared once: parsing them would cost more than running them.
type tx struct {
	conn  *sql.Conn
	stmts map[string]*sql.Stmt
	ctx   context.Context
	now   time.Time
}

// stmt is the prepared form of a query.
func (t *tx) stmt(query string) (*sql.Stmt, error) {
	if s, ok := t.stmts[query]; ok {
		return s, nil
	}
	s, err := t.conn.PrepareContext(t.ctx, query)
	if err == nil {
		t.stmts[query] = s
	}
	return s, err
}

// ExecContext runs a statement.
func (t *tx) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	s, err := t.stmt(query)
	if err != nil {
		return nil, err
	}
	return s.ExecContext(ctx, args...)
}

// QueryContext implements querier.
func (t *tx) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	s, err := t.stmt(query)
	if err != nil {
		return nil, err
	}
	return s.QueryContext(ctx, args...)
}

// QueryRowContext implements querier.
func (t *tx) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	s, err := t.stmt(query)
	if err != nil {
		return t.conn.QueryRowContext(ctx, query, args...) // which says the same
	}
	return s.QueryRowContext(ctx, args...)
}

func openSQLite(ctx context.Context, path string, o Options) (Store, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("opening the store: %w", err)
	}
	s := &sqlite{o: o, path: path, queue: make(chan *write, maxQueue), done: make(chan struct{}), ended: make(chan struct{})}
	var err error
	if s.write, err = openFile(path, 1, "&_txlock=immediate"); err != nil {
		return nil, err
	}
	if err := s.migrate(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("opening the store %s: %w", path, err), s.write.Close())
	}
	if s.read, err = openFile(path, readers, "&_pragma=query_only(1)"); err != nil {
		return nil, errors.Join(err, s.write.Close())
	}
	conn, err := s.write.Conn(ctx)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("opening the store %s: %w", path, err), s.read.Close(), s.write.Close())
	}
	go s.writer(&tx{conn: conn, stmts: map[string]*sql.Stmt{}, ctx: context.Background()})
	return s, nil
}

func openFile(path string, connections int, options string) (*sql.DB, error) {
	dsn := "file:" + (&url.URL{Path: path}).EscapedPath() + fmt.Sprintf(
		"?_pragma=busy_timeout(%d)&_pragma=journal_mode(wal)&_pragma=synchronous(full)&_pragma=foreign_keys(1)", busyWait.Milliseconds()) + options
	db, err := sql.Open("sqlite", dsn)
	if err != nil {
		return nil, fmt.Errorf("opening the store %s: %w", path, err)
	}
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections)
	return db, nil
}

// migrate applies the migrations that the file has not seen, each with its
// number in one transaction. Of several processes that start at once, one does.
func (s *sqlite) migrate(ctx context.Context) error {
	files, err := fs.Glob(migrations, "migrations/sqlite_*.sql")
	if err != nil {
		return err
	}
	slices.Sort(files)
	var version int
	if err := s.write.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
		return err
	}
	if version > len(files) {
		return fmt.Errorf("its schema is version %d, newer than this program's %d: use a newer svc", version, len(files))
	}
	for i := version; i < len(files); i++ {
		if err := s.apply(ctx, files[i], i); err != nil {
			return fmt.Errorf("applying %s: %w", filepath.Base(files[i]), err)
		}
	}
	return nil
}

func (s *sqlite) apply(ctx context.Context, file string, before int) error {
	text, err := migrations.ReadFile(file)
	if err != nil {
		return err
	}
	t, err := s.write.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer t.Rollback()
	var version int
	if err := t.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil || version != before {
		return err // another process was faster
	}
	if _, err := t.ExecContext(ctx, string(text)+fmt.Sprintf("\nPRAGMA user_version = %d;", before+1)); err != nil {
		return err
	}
	return t.Commit()
}

// change queues a write and waits for its commit. A write that has begun is
// finished even where the caller is gone.
func (s *sqlite) change(ctx context.Context, do func(*tx) error) error {
	w := &write{ctx, do, make(chan error, 1)}
	select {
	case <-s.done:
		return unavailable("the store is closed")
	case s.queue <- w:
	default:
		return unavailable("too many writes are waiting")
	}
	select {
	case err := <-w.result:
		return err
	case <-ctx.Done():
		return fmt.Errorf("waiting for the store: %w", ctx.Err())
	case <-s.done:
		return unavailable("the store is closed")
	}
}

// writer commits what waits, until the store is closed.
func (s *sqlite) writer(t *tx) {
	defer close(s.ended)
	defer t.conn.Close()
	for {
		select {
		case <-s.done:
			return
		case w := <-s.queue:
			s.commit(t, s.gather(w))
		}
	}
}

// gather takes what else waits, and drops what nobody waits for any more.
func (s *sqlite) gather(first *write) []*write {
	batch := []*write{first}
	for len(batch) < maxBatch {
		select {
		case w := <-s.queue:
			batch = append(batch, w)
		default:
			return live(batch)
		}
	}
	return live(batch)
}

func live(batch []*write) []*write {
	return slices.DeleteFunc(batch, func(w *write) bool { return w.ctx.Err() != nil })
}

// commit does the writes of a batch in one transaction, each in a savepoint of
// its own: what one of them refuses does not touch the others.
func (s *sqlite) commit(t *tx, batch []*write) {
	if len(batch) == 0 {
		return
	}
	t.now = s.o.Now().UTC()
	results, err := t.commit(batch)
	for i, w := range batch {
		if err != nil {
			results[i] = unavailable("the store can't be written to")
		}
		w.result <- results[i]
	}
	if err != nil {
		s.o.Log.Error("committing", "error", err)
	}
}

// commit gives each write's refusal, or the error by which all are lost.
func (t *tx) commit(batch []*write) (results []error, err error) {
	results = make([]error, len(batch))
	if _, err := t.ExecContext(t.ctx, "BEGIN IMMEDIATE"); err != nil {
		return results, err
	}
	defer func() {
		if err != nil {
			_, undo := t.ExecContext(t.ctx, "ROLLBACK")
			err = errors.Join(err, undo)
		}
	}()
	for i, w := range batch {
		if results[i], err = t.attempt(w.do); err != nil {
			return results, err
		}
	}
	_, err = t.ExecContext(t.ctx, "COMMIT")
	return results, err
}

// attempt does one write in a savepoint. A refusal is the write's own; failed
// means that the transaction is lost.
func (t *tx) attempt(do func(*tx) error) (refusal, failed error) {
	if _, err := t.ExecContext(t.ctx, "SAVEPOINT one"); err != nil {
		return nil, err
	}
	refusal = do(t)
	if refusal != nil {
		if _, err := t.ExecContext(t.ctx, "ROLLBACK TO one"); err != nil {
			return nil, err
		}
	}
	_, failed = t.ExecContext(t.ctx, "RELEASE one")
	return refusal, failed
}

// Close lets nothing more in and closes the file.
func (s *sqlite) Close() error {
	s.once.Do(func() { close(s.done) })
	<-s.ended
	return errors.Join(s.read.Close(), s.write.Close())
}

// Ready writes nothing, but takes the lock that a write takes.
func (s *sqlite) Ready(ctx context.Context) error {
	return s.change(ctx, func(t *tx) error {
		var n int
		return t.QueryRowContext(t.ctx, "SELECT count(*) FROM accounts WHERE id = 0").Scan(&n)
	})
}

// Backup copies the store as it is at one instant.
func (s *sqlite) Backup(ctx context.Context, file string) error {
	if _, err := os.Lstat(file); !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("backing up: %s is already there; nothing was written", file)
	}
	db, err := openFile(s.path, 1, "")
	if err != nil {
		return err
	}
	defer db.Close()
	if _, err := db.ExecContext(ctx, "VACUUM INTO ?", file); err != nil {
		return fmt.Errorf("backing up: %w", err)
	}
	return nil
}

// row is what QueryRow gives and what Rows are.
type row interface{ Scan(dest ...any) error }

// querier is a transaction or a database.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// collect reads all rows of a query.
func collect[T any](ctx context.Context, q querier, scan func(row) (T, error), query string, args ...any) ([]T, error) {
	rows, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	all := []T{}
	for rows.Next() {
		v, err := scan(rows)
		if err != nil {
			return nil, err
		}
		all = append(all, v)
	}
	return all, rows.Err()
}

// one reads the row of a query, or gives ErrNotFound.
func one[T any](ctx context.Context, q querier, scan func(row) (T, error), query string, args ...any) (T, error) {
	v, err := scan(q.QueryRowContext(ctx, query, args...))
	if errors.Is(err, sql.ErrNoRows) {
		return v, ErrNotFound
	}
	return v, err
}

// instant is an instant as a column keeps it.
func instant(t time.Time) int64 { return t.UnixMicro() }

// timeOf is the instant of a column.
func timeOf(micros int64) time.Time { return time.UnixMicro(micros).UTC() }

// null is a column that is empty where the string is.
func null(s string) sql.NullString { return sql.NullString{String: s, Valid: s != ""} }

// pointer is nil where the column is empty.
func pointer(s sql.NullString) *string {
	if !s.Valid {
		return nil
	}
	return &s.String
}

// stampOf is how lists show an instant that may not be there.
func stampOf(micros sql.NullInt64) *string {
	if !micros.Valid {
		return nil
	}
	s := stamp(timeOf(micros.Int64))
	return &s
}

func sortStrings(s []string) { slices.SortFunc(s, strings.Compare) }
