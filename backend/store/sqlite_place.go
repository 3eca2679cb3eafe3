package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"sync/atomic"
	"time"

	codes "modernc.org/sqlite/lib"
)

// place is where a store's file lay when it was opened. It is only looked at from
// outside: to open and close the file once more would take SQLite's locks away.
type place struct {
	file    string
	opened  os.FileInfo
	damaged atomic.Bool
}

// newPlace remembers the file that was opened.
func newPlace(file string) (*place, error) {
	info, err := os.Stat(file)
	return &place{file: file, opened: info}, err
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

// created makes a store's file for its owner alone, before SQLite does: what lies
// beside it gets the same mode.
func created(file string) error {
	f, err := os.OpenFile(file, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return f.Close()
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

// Exists is nil where there is a store at an address: not for a file that is missing
// or empty, of which Open would make a new store.
func Exists(dsn string) error {
	path, ok := strings.CutPrefix(dsn, "sqlite:")
	if !ok {
		return nil
	}
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
