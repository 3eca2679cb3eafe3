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
	"sync"
	"time"

	"golang.org/x/sys/unix"
	driver "modernc.org/sqlite"
	codes "modernc.org/sqlite/lib"
)

//go:embed migrations/*.sql
var migrations embed.FS

const (
	busyWait     = 10 * time.Second
	busyPause    = 5 * time.Millisecond
	readingConns = 4
	// othersTurn is of how many batches one waits for the disk before the writer takes
	// the file for it: then other processes get the file.
	othersTurn = 4
	// Claims write pages all over the file, which no cache holds for long; a large one
	// costs more than it saves, as SQLite looks at all of it after each commit that split
	// a page. What the writer commits, disk makes last.
	writing = "&_txlock=immediate&_pragma=cache_size(-8192)&_pragma=synchronous(normal)"
)

// sqlite is a store in one file. One goroutine writes: whatever waits when it
// comes to commit shares the commit. Other processes may have the file open too;
// they wait for each other's commits.
type sqlite struct {
	ledger
	o      Options
	path   string
	folder string // where the file lies, and its log
	reads  *readers
	write  *sql.DB
	conn   *prepared // the writer's, of write
	writer *lane[write]
	recall *recall
	log    *copier
	disk   *disk
	place  *place
}

// sqlRows are rows whose Close can't fail.
type sqlRows struct{ *sql.Rows }

// Close implements rows.
func (r sqlRows) Close() { _ = r.Rows.Close() } // what went wrong, Err says

// readers are connections, each lent to one reader at a time.
type readers struct {
	db    *sql.DB
	free  chan *prepared
	done  chan struct{} // nobody is let in any more
	close func() error  // waits for those who read
	disk  *disk         // has what was read
	place *place        // is told of damage
}

func newReaders(db *sql.DB, n int, d *disk, p *place) *readers {
	r := &readers{db: db, free: make(chan *prepared, n), done: make(chan struct{}), disk: d, place: p}
	r.close = sync.OnceValue(r.end)
	for range n {
		r.free <- &prepared{stmts: map[string]*sql.Stmt{}}
	}
	return r
}

// borrow waits for a connection, and opens it where nobody has used it yet.
func (r *readers) borrow(ctx context.Context) (*prepared, error) {
	select {
	case p := <-r.free:
		if p.conn != nil {
			return p, nil
		}
		conn, err := r.db.Conn(ctx)
		if err != nil {
			r.free <- p
			return nil, fmt.Errorf("reading the store: %w", err)
		}
		p.conn = conn
		return p, nil
	case <-r.done:
		return nil, unavailable("the store is closed")
	case <-ctx.Done():
		return nil, fmt.Errorf("waiting to read the store: %w", ctx.Err())
	}
}

func (r *readers) query(ctx context.Context, query string, args ...any) (rows, error) {
	p, err := r.borrow(ctx)
	if err != nil {
		return nil, err
	}
	found, err := p.query(ctx, query, args...)
	if err != nil {
		r.place.note(err)
		r.free <- p
		return nil, err
	}
	return lent{found, func() { r.giveBack(p) }, r.place}, nil
}

// giveBack ends a reading. It waits until what may have been read will last.
func (r *readers) giveBack(p *prepared) {
	r.free <- p
	r.disk.wait()
}

// lent are rows whose Close gives the connection back.
type lent struct {
	rows
	giveBack func()
	place    *place
}

// Err implements rows.
func (l lent) Err() error {
	err := l.rows.Err()
	l.place.note(err)
	return err
}

// Close implements rows.
func (l lent) Close() {
	l.rows.Close()
	l.giveBack()
}

// at reads the store as it is at one instant.
func (r *readers) at(ctx context.Context, use func(querier) error) error {
	p, err := r.borrow(ctx)
	if err != nil {
		return err
	}
	defer r.giveBack(p)
	if _, err := p.execute(ctx, "BEGIN"); err != nil {
		return fmt.Errorf("reading the store: %w", err)
	}
	defer p.execute(context.WithoutCancel(ctx), "ROLLBACK") // nothing was written
	err = use(p)
	r.place.note(err)
	return err
}

func (r *readers) end() (err error) {
	close(r.done)
	for range cap(r.free) {
		if p := <-r.free; p.conn != nil {
			err = errors.Join(err, p.close())
		}
	}
	return errors.Join(err, r.db.Close())
}

// prepared prepares each statement once: parsing it would cost more than running
// it. The statements of this package are few; their texts hold no values.
type prepared struct {
	conn  *sql.Conn
	stmts map[string]*sql.Stmt
}

func (p *prepared) stmt(ctx context.Context, query string) (*sql.Stmt, error) {
	if s, ok := p.stmts[query]; ok {
		return s, nil
	}
	s, err := p.conn.PrepareContext(ctx, query)
	if err == nil {
		p.stmts[query] = s
	}
	return s, err
}

func (p *prepared) query(ctx context.Context, query string, args ...any) (rows, error) {
	s, err := p.stmt(ctx, query)
	if err != nil {
		return nil, err
	}
	r, err := s.QueryContext(ctx, args...)
	return sqlRows{r}, err
}

func (p *prepared) execute(ctx context.Context, query string, args ...any) (int64, error) {
	s, err := p.stmt(ctx, query)
	if err != nil {
		return 0, err
	}
	r, err := s.ExecContext(ctx, args...)
	if err != nil {
		return 0, err
	}
	return r.RowsAffected()
}

// close gives the statements up, too: SQLite keeps a connection that has any, and
// a log that has such a connection.
func (p *prepared) close() (err error) {
	for _, s := range p.stmts {
		err = errors.Join(err, s.Close())
	}
	return errors.Join(err, p.conn.Close())
}

func openSQLite(ctx context.Context, path string, o Options) (_ Store, err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("opening the store: %w", err)
	}
	s := &sqlite{o: o, path: path}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("opening the store %s: %w", path, err), s.closeFiles())
		}
	}()
	if err := created(path); err != nil {
		return nil, err
	}
	behind := fmt.Sprintf("&_pragma=wal_autocheckpoint(%d)", 4*longestLog) // then the writer copies the log itself
	if s.write, err = openFile(path, 1, writing+behind); err != nil {
		return nil, err
	}
	if err := sound(ctx, s.write, o.CheckPages); err != nil {
		return nil, err
	}
	if err := s.migrate(ctx); err != nil {
		return nil, err
	}
	identity, err := identified(ctx, s.write)
	if err != nil {
		return nil, err
	}
	if err := s.settle(ctx); err != nil {
		return nil, err
	}
	file, err := filepath.EvalSymlinks(path) // SQLite names what lies beside it by where it is
	if err != nil {
		return nil, err
	}
	s.folder = filepath.Dir(file)
	if s.place, err = newPlace(file, identity); err != nil {
		return nil, err
	}
	s.recall = newRecall(file)
	if s.disk, err = newDisk(file, s.recall.position); err != nil {
		return nil, err
	}
	files, err := openFile(path, readingConns, "&_pragma=query_only(1)")
	if err != nil {
		return nil, err
	}
	s.reads = newReaders(files, readingConns, s.disk, s.place)
	conn, err := s.write.Conn(ctx)
	if err != nil {
		return nil, err
	}
	s.conn = &prepared{conn, map[string]*sql.Stmt{}}
	s.ledger = ledger{now: o.Now, read: s.reads, snapshot: s.reads.at, change: s.apply, record: s.enqueue, seated: sqliteSeated, history: sqliteHistory}
	s.tokens = newLane(s.findTokens)
	if files, err = openFile(path, 1, ""); err != nil {
		return nil, err
	}
	s.log = newCopier(s.place.fd, files, o.Log)
	w := s.newWriter(s.conn)
	s.writer = newLane(func(batch []*task[write]) { s.commit(w, batch) })
	return s, nil
}

// newWriter is a writer on the writer's connection.
func (s *sqlite) newWriter(e executor) *writer {
	more := func(turn chan<- struct{}) ([]*task[write], bool) { return s.writer.more(turn) }
	return &writer{tx: &tx{executor: e, ctx: context.Background()}, clock: s.o.Now, disk: s.disk, recall: s.recall, more: more, known: newOwners()}
}

// settle has the file take what the log of an earlier process holds: where that
// could not be written, this process may read it from the kernel's cache alone, and
// the kernel tells nobody twice. A log that others use is theirs to write.
func (s *sqlite) settle(ctx context.Context) error {
	_, err := s.write.ExecContext(ctx, "PRAGMA wal_checkpoint(PASSIVE)")
	return err
}

// apply has the writer do a change.
func (s *sqlite) apply(ctx context.Context, do func(*tx) error) error {
	return s.writer.do(ctx, write{change: do})
}

func openFile(path string, connections int, options string) (*sql.DB, error) {
	dsn := "file:" + (&url.URL{Path: path}).EscapedPath() + fmt.Sprintf(
		"?_pragma=busy_timeout(%d)&_pragma=journal_mode(wal)&_pragma=synchronous(full)&_pragma=foreign_keys(1)", busyWait.Milliseconds()) + options
	db, err := sql.Open("sqlite", dsn)
	if err != nil {
		return nil, err
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
	version, err := s.version(ctx)
	if err != nil {
		return err
	}
	if version > len(files) {
		return fmt.Errorf("its schema is version %d, newer than this program's %d: use a newer svc", version, len(files))
	}
	for i := version; i < len(files); i++ {
		if err := s.applyFile(ctx, files[i], i); err != nil {
			return fmt.Errorf("applying %s: %w", filepath.Base(files[i]), err)
		}
	}
	return nil
}

// version is the number of the last migration. Where several processes make a file
// at once, SQLite lets one begin its log, and turns the others away at once
// although they would wait.
func (s *sqlite) version(ctx context.Context) (v int, err error) {
	for end := time.Now().Add(busyWait); ; time.Sleep(busyPause) {
		err = s.write.QueryRowContext(ctx, "PRAGMA user_version").Scan(&v)
		if code(err)&0xff != codes.SQLITE_BUSY || time.Now().After(end) {
			return v, err
		}
	}
}

func (s *sqlite) applyFile(ctx context.Context, file string, before int) error {
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

// commit does the writes of a batch in one transaction. That a request was
// recorded before, the unique index tells; then all is done again with that in
// mind.
func (s *sqlite) commit(w *writer, batch []*task[write]) {
	if w.batches++; w.batches%othersTurn == 0 {
		s.disk.wait()
	}
	s.log.writing.Lock()
	defer s.log.writing.Unlock()
	t := &transaction{tasks: batch}
	if err := s.place.lost(); err != nil {
		s.answer(t, err, unavailable("the store is not where it was, or damaged"))
		return
	}
	err := w.commit(t, false)
	if code(err)&0xff == codes.SQLITE_CONSTRAINT {
		err = w.commit(t, true)
	}
	s.log.wrote(len(t.tasks))
	if err != nil {
		s.place.note(err)
		s.answer(t, err, unavailable("the store can't be written to"))
		return
	}
	s.writer.answers.Go(func() { s.answer(t, s.disk.sync(), unsure("the disk failed")) })
}

// answer gives each write its refusal, or where an error concerns all what is said of
// that.
func (s *sqlite) answer(t *transaction, err, said error) {
	if err != nil {
		s.o.Log.Error("committing", "error", err)
	}
	for i, write := range t.tasks {
		if err != nil {
			write.result <- said
		} else {
			write.result <- t.results[i]
		}
	}
}

// code is SQLite's of an error; 0 for none.
func code(err error) int {
	var failed *driver.Error
	if errors.As(err, &failed) {
		return failed.Code()
	}
	return 0
}

// writer writes in one transaction after another.
type writer struct {
	*tx
	clock  func() time.Time
	disk   *disk
	recall *recall
	// more waits for writes, or for the turn to commit.
	more func(turn chan<- struct{}) (some []*task[write], ours bool)
	// known is what the writer knows of accounts from the transactions before: it
	// holds until somebody else has written to the file, which its version tells, or
	// something but entries was written here.
	known   owners
	version int64
	batches int
}

// transaction is what one commit makes last.
type transaction struct {
	tasks   []*task[write]
	results []error // each task's refusal; shorter than tasks where some are to be done
	entries bool    // an entry wrote something
	changes bool    // something else may have
}

// commit does the writes of a transaction, and those that come before the disk has the
// commit before. An error loses them all; without one the disk is to sync what was
// written.
func (w *writer) commit(t *transaction, repeated bool) (err error) {
	t.results, t.entries, t.changes = nil, false, false
	if _, err := w.exec("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_, undo := w.exec("ROLLBACK")
			err = errors.Join(err, undo)
			w.known = newOwners()
		}
	}()
	if err := w.forget(); err != nil { // only now: other processes may have written
		return err
	}
	for ours := false; !ours; ours = w.extend(t) {
		if err := w.do(t, repeated); err != nil {
			return err
		}
	}
	return w.end(t)
}

// do does the tasks of a transaction that are to be done. Entries refuse before anything
// of theirs is written; each change has a savepoint of its own, so that what it refuses
// does not touch the others.
func (w *writer) do(t *transaction, repeated bool) error {
	w.now = w.clock().UTC() // while nobody else writes: the day may have ended before
	batch := t.tasks[len(t.results):]
	entries := filter(column(batch, func(t *task[write]) *entry { return t.work.entry }), func(e *entry) bool { return e != nil })
	wrote, err := w.recordAll(entries, repeated)
	t.entries, t.changes = t.entries || wrote, t.changes || len(entries) < len(batch)
	for _, write := range batch {
		var refusal error
		if err == nil && write.work.change != nil {
			w.known = newOwners()
			refusal, err = w.attempt(write.work.change)
		}
		t.results = append(t.results, refusal)
	}
	return err
}

// extend has a transaction take what waits while the disk is busy, and reports whether
// it is its turn to be committed.
func (w *writer) extend(t *transaction) (ours bool) {
	if w.disk.free() {
		return true
	}
	if len(t.tasks) >= maxBatch {
		w.disk.turn <- struct{}{}
		return true
	}
	some, ours := w.more(w.disk.turn)
	t.tasks = append(t.tasks, some...)
	return ours
}

// end commits, when the disk has the commit before. What wrote entries, and nothing
// else, touches no token.
func (w *writer) end(t *transaction) error {
	if err := w.disk.lost(); err != nil {
		w.disk.abandon()
		return err
	}
	before, _ := w.recall.position()
	if _, err := w.exec("COMMIT"); err != nil {
		w.disk.abandon()
		return err
	}
	if after, known := w.recall.position(); known && t.entries && !t.changes {
		w.recall.pass(before, after)
	}
	return nil
}

// forget drops what may not hold any more.
func (w *writer) forget() error {
	version, err := one(w.ctx, w, value[int64], "PRAGMA data_version")
	if version != w.version || len(w.known.accounts) > maxKnown || len(w.known.tokens) > maxKnown {
		w.known, w.version = newOwners(), version
	}
	return err
}

// attempt does one write in a savepoint. A refusal is the write's own; failed
// means that the transaction is lost.
func (t *tx) attempt(do func(*tx) error) (refusal, failed error) {
	if _, err := t.exec("SAVEPOINT one"); err != nil {
		return nil, err
	}
	refusal = do(t)
	if refusal != nil {
		if _, err := t.exec("ROLLBACK TO one"); err != nil {
			return nil, err
		}
	}
	_, failed = t.exec("RELEASE one")
	return refusal, failed
}

// Close lets nothing more in and closes the file.
func (s *sqlite) Close() error {
	s.writer.close()
	s.tokens.close()
	return s.closeFiles()
}

func (s *sqlite) closeFiles() (err error) {
	if s.log != nil {
		err = s.log.close()
	}
	if s.conn != nil {
		_ = s.conn.close() // its database says what went wrong, and closing it twice is nothing wrong
	}
	if s.reads != nil {
		err = errors.Join(err, s.reads.close())
	}
	if s.disk != nil {
		s.disk.close()
	}
	if s.write != nil {
		err = errors.Join(err, s.write.Close())
	}
	return err
}

// Ready writes nothing to the store, but takes the lock that a write takes, and the
// room on the disk.
func (s *sqlite) Ready(ctx context.Context) error {
	if err := s.place.lost(); err != nil {
		return err
	}
	err := s.change(ctx, func(t *tx) error {
		_, err := collect(t.ctx, t, value[int64], "SELECT id FROM accounts WHERE id = 0")
		return err
	})
	if err != nil {
		return err
	}
	return hasRoom(s.folder)
}

// room is more than one transaction writes: each of its claims, up to twice maxBatch,
// some 33 KB in a large store, where hardly two touch the same page.
const room = 32 << 20

// hasRoom takes the room for a file that goes with its end. The store itself would not
// tell: a write that failed leaves its log longer, where a small one then finds room.
func hasRoom(dir string) error {
	f, err := os.CreateTemp(dir, ".room-*")
	if err != nil {
		return unavailable("the store's folder can't be written to")
	}
	defer f.Close()
	if err := os.Remove(f.Name()); err != nil {
		return err
	}
	if err := reserve(f, room); err != nil {
		return unavailable("the disk is full")
	}
	return nil
}

// reserve takes room for a file without writing to it, where the file system can.
func reserve(f *os.File, size int64) (err error) {
	for err = unix.EINTR; errors.Is(err, unix.EINTR); {
		err = unix.Fallocate(int(f.Fd()), 0, 0, size)
	}
	if errors.Is(err, unix.EOPNOTSUPP) {
		_, err = f.Write(make([]byte, size))
	}
	return err
}

// Check implements Operator: the file itself is checked too.
func (s *sqlite) Check(ctx context.Context) ([]string, error) {
	wrong, err := s.ledger.Check(ctx)
	if err != nil {
		return nil, err
	}
	pages, err := collect(ctx, s.read, value[string], "SELECT v FROM (SELECT integrity_check AS v FROM pragma_integrity_check) WHERE v <> 'ok'")
	if err != nil {
		return nil, fmt.Errorf("checking the store: %w", err)
	}
	return append(wrong, pages...), nil
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
	if err := created(file); err != nil {
		return fmt.Errorf("backing up: %w", err)
	}
	if _, err := db.ExecContext(ctx, "VACUUM INTO ?", file); err != nil {
		_ = os.Remove(file) // what is there of it is none
		return fmt.Errorf("backing up: %w", err)
	}
	if err := identify(file); err != nil {
		return fmt.Errorf("backing up: %w", err)
	}
	return nil
}
