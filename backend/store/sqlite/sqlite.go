// Package sqlite keeps a store in one file of SQLite.
package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"time"

	driver "modernc.org/sqlite"

	"svc/backend/store"
	"svc/backend/store/lane"
	"svc/backend/store/ledger"
)

const (
	busyWait     = 10 * time.Second
	busyPause    = 5 * time.Millisecond
	readingConns = 4
	// checkpoint is after how many pages of its log, 16 MB, SQLite copies them into the
	// file: so many that a page which is written again and again is copied once.
	checkpoint = 4000
	// Claims write pages all over the file, which no cache holds for long; a large one
	// costs more than it saves, as SQLite looks at all of it after each commit that split
	// a page.
	writing = "&_txlock=immediate&_pragma=cache_size(-8192)"
)

// sqlite is a store in one file. One goroutine writes: whatever waits when it
// comes to commit shares the commit, which the disk has before anybody is told. Other
// processes may have the file open too; they wait for each other's commits.
type sqlite struct {
	ledger.Ledger
	o      store.Options
	path   string
	folder string // where the file lies, and its log
	reads  *readers
	write  *sql.DB
	conn   *prepared // the writer's, of write
	lane   *lane.Lane[write]
	place  *place
}

// Open opens the store in a file, which is made where there is none, and brings its
// schema up to date.
func Open(ctx context.Context, path string, o store.Options) (_ store.Store, err error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
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
	if s.write, err = openFile(path, 1, writing); err != nil {
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
	if err := s.start(ctx, identity); err != nil {
		return nil, err
	}
	return s, nil
}

// start readies a file that is open, and up to date, for use.
func (s *sqlite) start(ctx context.Context, identity uint32) error {
	file, err := filepath.EvalSymlinks(s.path) // SQLite names what lies beside it by where it is
	if err != nil {
		return err
	}
	s.folder = filepath.Dir(file)
	if s.place, err = newPlace(file, identity); err != nil {
		return err
	}
	files, err := openFile(s.path, readingConns, "&_pragma=query_only(1)")
	if err != nil {
		return err
	}
	s.reads = newReaders(files, readingConns, s.place)
	conn, err := s.write.Conn(ctx)
	if err != nil {
		return err
	}
	// SQLite's own way of waiting sleeps longer and longer, and meets no gap of another writer.
	if _, err := conn.ExecContext(ctx, "PRAGMA busy_timeout = 0"); err != nil {
		return err
	}
	s.conn = &prepared{conn, map[string]*sql.Stmt{}}
	s.Ledger = ledger.Ledger{Now: s.o.Now, Read: s.reads, Snapshot: s.reads.at, Change: s.apply, Enter: s.enter, History: history}
	s.Start()
	w := s.newWriter()
	s.lane = lane.New(func(batch []*lane.Task[write]) { s.commit(w, batch) })
	return nil
}

// settle has the file take what the log of an earlier process holds: where that
// could not be written, this process may read it from the kernel's cache alone, and
// the kernel tells nobody twice. A log that others use is theirs to write.
func (s *sqlite) settle(ctx context.Context) error {
	_, err := s.write.ExecContext(ctx, "PRAGMA wal_checkpoint(PASSIVE)")
	return err
}

func openFile(path string, connections int, options string) (*sql.DB, error) {
	dsn := "file:" + (&url.URL{Path: path}).EscapedPath() + fmt.Sprintf(
		"?_pragma=busy_timeout(%d)&_pragma=journal_mode(wal)&_pragma=synchronous(full)&_pragma=foreign_keys(1)&_pragma=wal_autocheckpoint(%d)", busyWait.Milliseconds(), checkpoint) + options
	db, err := sql.Open("sqlite", dsn)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections)
	return db, nil
}

// code is SQLite's of an error; 0 for none.
func code(err error) int {
	if failed, ok := errors.AsType[*driver.Error](err); ok {
		return failed.Code()
	}
	return 0
}

// Close lets nothing more in and closes the file.
func (s *sqlite) Close() error {
	s.lane.Close()
	s.Ledger.Close()
	return s.closeFiles()
}

func (s *sqlite) closeFiles() (err error) {
	if s.conn != nil {
		_ = s.conn.close() // its database says what went wrong, and closing it twice is nothing wrong
	}
	if s.reads != nil {
		err = s.reads.close()
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
	err := s.Change(ctx, func(t *ledger.Tx) error {
		_, err := ledger.Collect(t.Ctx, t, ledger.Value[int64], "SELECT id FROM accounts WHERE id = 0")
		return err
	})
	if err != nil {
		return err
	}
	return hasRoom(s.folder)
}

// room is more than one transaction writes: each of its claims, lane.MaxBatch of them,
// some 33 KB in a large store, where hardly two touch the same page.
const room = 16 << 20

// hasRoom takes the room for a file that goes with its end. The store itself would not
// tell: a write that failed leaves its log longer, where a small one then finds room.
func hasRoom(dir string) error {
	f, err := os.CreateTemp(dir, ".room-*")
	if err != nil {
		return store.Unavailable("the store's folder can't be written to")
	}
	defer f.Close()
	if err := os.Remove(f.Name()); err != nil {
		return err
	}
	if err := reserve(f, room); err != nil {
		return store.Unavailable("the disk is full")
	}
	return nil
}

// Check implements store.Operator: the file itself is checked too.
func (s *sqlite) Check(ctx context.Context) ([]string, error) {
	wrong, err := s.Ledger.Check(ctx)
	if err != nil {
		return nil, err
	}
	pages, err := ledger.Collect(ctx, s.Read, ledger.Value[string], "SELECT v FROM (SELECT integrity_check AS v FROM pragma_integrity_check) WHERE v <> 'ok'")
	if err != nil {
		return nil, fmt.Errorf("checking the store: %w", err)
	}
	return append(wrong, pages...), nil
}

// Prune implements store.Operator.
func (s *sqlite) Prune(ctx context.Context, actor string, before time.Time) (total int64, err error) {
	for n := int64(ledger.PrunedAtOnce); n == ledger.PrunedAtOnce; total += n {
		err = s.Act(ctx, actor, "events.prune", func(t *ledger.Tx) (string, error) {
			if n, err = t.Exec("DELETE FROM events WHERE id IN (SELECT id FROM events WHERE at < ? ORDER BY id LIMIT ?)", ledger.Instant(before), ledger.PrunedAtOnce); err != nil {
				return "", err
			}
			_, err = t.Exec("DELETE FROM replays WHERE at < ?", ledger.Instant(t.Now.Add(-ledger.Lifetime)))
			return fmt.Sprintf("%d events before %s", n, before.UTC().Format(time.RFC3339)), err
		})
		if err != nil {
			return total, err
		}
	}
	return total, nil
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

var errOneFile = errors.New("this store is a file on one machine; only one in PostgreSQL with Citus is spread over servers; nothing was changed")

// Spread implements store.Operator.
func (s *sqlite) Spread(context.Context, string) error { return errOneFile }

// Isolate implements store.Operator.
func (s *sqlite) Isolate(context.Context, string, int64, string) (int64, error) { return 0, errOneFile }

// Shards implements store.Operator.
func (s *sqlite) Shards(context.Context) ([]store.Shard, error) { return nil, nil }

// apply has the writer do a change.
func (s *sqlite) apply(ctx context.Context, do func(*ledger.Tx) error) error {
	return s.lane.Do(ctx, write{change: do})
}

// enter has the writer decide an entry.
func (s *sqlite) enter(ctx context.Context, e *ledger.Entry) error {
	return s.lane.Do(ctx, write{Entry: e})
}
