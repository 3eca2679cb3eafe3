package sqlite

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	codes "modernc.org/sqlite/lib"
)

// place is where a store's file lay when it was opened, and which store it held. What
// it opens is never closed: POSIX would take SQLite's locks on the file away, too.
type place struct {
	file     string
	opened   os.FileInfo
	page     firstPage
	identity uint32
	damaged  atomic.Bool
	replaced atomic.Bool

	mu   sync.Mutex
	seen header // the last one
}

// header is what of a store's first page tells it from another store, and from a copy
// of itself: SQLite's application id, which is each store's own, and the counter of
// changes to the first page, which only grows.
type header struct{ identity, changes uint32 }

// Where these are in a file: https://sqlite.org/fileformat.html#the_database_header.
const (
	headerBytes = 100
	changesAt   = 24
	identityAt  = 68
)

// newPlace remembers the file that was opened, which holds the store of an identity.
func newPlace(file string, identity uint32) (*place, error) {
	info, err := os.Stat(file)
	if err != nil {
		return nil, err
	}
	p := &place{file: file, opened: info, identity: identity}
	if p.page, err = openFirstPage(file); err != nil {
		return nil, err
	}
	p.seen, err = p.header()
	return p, err
}

func (p *place) header() (h header, err error) {
	b := make([]byte, headerBytes)
	if n, err := p.page.read(b); err != nil || n < len(b) {
		return h, errors.Join(err, errors.New("the store's first page can't be read"))
	}
	return header{binary.BigEndian.Uint32(b[identityAt:]), binary.BigEndian.Uint32(b[changesAt:])}, nil
}

// follows says that the file still holds the store: its own identity, which stands in
// the log alone for a while after it was given, and no earlier state of it.
func (p *place) follows() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	now, err := p.header()
	if err != nil || now.identity != p.identity && (now.identity != 0 || p.seen.identity != 0) || int32(now.changes-p.seen.changes) < 0 {
		return false
	}
	p.seen = now
	return true
}

// overwritten says that another store was written over this one. What is in the midst
// of being written is looked at once more; what was replaced once stays so, as
// SQLite goes on with pages of both.
func (p *place) overwritten() bool {
	if p.replaced.Load() || p.follows() {
		return p.replaced.Load()
	}
	time.Sleep(busyPause)
	if !p.follows() {
		p.replaced.Store(true)
	}
	return p.replaced.Load()
}

// lost is why nothing may be acknowledged any more: the file was moved, removed or
// replaced, so that what is written goes where nobody finds it, or it is damaged.
func (p *place) lost() error {
	info, err := os.Stat(p.file)
	switch {
	case err != nil || !os.SameFile(info, p.opened):
		return errors.New("the store's file " + p.file + " was moved or replaced while it is in use: put it back, or start svc again")
	case info.Size() < 512: // the smallest page
		return errors.New("the store's file " + p.file + " was cut short while it is in use: restore it from a backup")
	case p.overwritten():
		return errors.New("another store was written over the store's file " + p.file + " while it is in use: end svc, put the right one there without the -wal and -shm beside it, and start svc again")
	case p.damaged.Load():
		return errors.New("the store's file " + p.file + " has damaged pages: see svc admin check, and restore it from a backup")
	}
	return nil
}

// note remembers that SQLite found damage.
func (p *place) note(err error) {
	if c := code(err) & 0xff; c == codes.SQLITE_CORRUPT || c == codes.SQLITE_NOTADB {
		p.damaged.Store(true)
	}
}

// identified gives a store that has none an identity of its own.
func identified(ctx context.Context, db *sql.DB) (identity uint32, err error) {
	t, err := db.BeginTx(ctx, nil) // which waits for another process that does the same
	if err != nil {
		return 0, err
	}
	defer t.Rollback() // nothing, where it was committed
	if err := t.QueryRowContext(ctx, "PRAGMA application_id").Scan(&identity); err != nil || identity != 0 {
		return identity, err
	}
	identity = newIdentity()
	if _, err := t.ExecContext(ctx, fmt.Sprintf("PRAGMA application_id = %d", identity)); err != nil {
		return 0, err
	}
	return identity, t.Commit()
}

// newIdentity is a positive number of SQLite's.
func newIdentity() uint32 { return 1 + rand.Uint32N(math.MaxInt32) }

// identify has a copy of a store, which nobody has open, be told from the store.
func identify(file string) error {
	f, err := os.OpenFile(file, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(binary.BigEndian.AppendUint32(nil, newIdentity()), identityAt)
	return errors.Join(err, f.Sync(), f.Close())
}

// created makes a store's file for its owner alone, before SQLite does: what lies
// beside it gets the same mode.
func created(file string) error {
	f, err := os.OpenFile(file, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return isStore(file)
	}
	if err != nil {
		return err
	}
	return f.Close()
}

// magic begins every file of SQLite.
const magic = "SQLite format 3\x00"

// isStore refuses what SQLite can't open, before SQLite says so in numbers of its
// own. A store that was made and never written is empty.
func isStore(file string) error {
	info, err := os.Stat(file)
	switch {
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return errors.New("it is no regular file; nothing was changed: name the file of a store, or one that is not there yet")
	case info.Size() == 0:
		return nil
	}
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	head := make([]byte, len(magic))
	if _, err := io.ReadFull(f, head); err != nil || string(head) != magic {
		return errors.New("it is no store of svc, or its beginning is damaged; nothing was changed: name another file, or restore it from a backup")
	}
	return nil
}

// sound has SQLite look through the pages, for some time at most: what could not be
// looked at till then is not known to be damaged.
func sound(ctx context.Context, db *sql.DB, most time.Duration) error {
	if most <= 0 {
		return nil
	}
	look, stop := context.WithTimeout(ctx, most)
	defer stop()
	problems, err := pages(look, db, "PRAGMA quick_check(1)")
	switch {
	case look.Err() != nil:
		return ctx.Err()
	case err != nil:
		return fmt.Errorf("it is damaged: %w; restore it from a backup", err)
	case len(problems) > 0:
		return fmt.Errorf("it is damaged: %s; see svc admin check, and restore it from a backup", problems[0])
	}
	return nil
}

// pages gives what a check of the pages complains of.
func pages(ctx context.Context, db *sql.DB, check string) (problems []string, err error) {
	rows, err := db.QueryContext(ctx, check)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			return nil, err
		}
		for line := range strings.Lines(text) {
			if line = strings.TrimSpace(line); line != "ok" && line != "" {
				problems = append(problems, line)
			}
		}
	}
	return problems, rows.Err()
}

// Exists is nil where there is a store in a file: not where that is missing or empty, of
// which Open would make a new store.
func Exists(path string) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("there is no store at %s; nothing was made", path)
	case err != nil:
		return fmt.Errorf("looking at the store: %w", err)
	case info.Size() == 0:
		return fmt.Errorf("%s is empty: it is no store, or all of it is lost; nothing was made", path)
	}
	return nil
}
