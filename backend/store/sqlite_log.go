package store

import (
	"context"
	"database/sql"
	"log/slog"
	"sync"
)

const (
	// longestLog is how many pages of the log, 65 MB of them, wait before they are copied
	// into the file: so many that a page which is written again and again is copied once,
	// and that the disk seldom has to take a copy beside the log; and few enough to be
	// copied at once when a process starts after one that was killed.
	longestLog = 16000
	// logCheck is how many writes come between two looks at the log.
	logCheck = 500
	// copies is how often what came meanwhile is copied before the writer waits for the
	// rest: each takes a fraction of the time of the one before.
	copies = 3
)

// copier copies the log into the file beside the writer, which would stand still
// until the disk has all of that. A log begins anew only where all of it was copied
// before the next write: for its last pages the writer waits.
type copier struct {
	db          *sql.DB
	synchronise func() error // has the disk keep the file as it is
	log         *slog.Logger
	longest     int
	writing     sync.Mutex // held by who writes
	writes      int        // since the copier was called
	calls       chan struct{}
	ended       chan struct{}
	once        sync.Once
}

// newCopier copies the log of a file through a connection.
func newCopier(fd int, db *sql.DB, log *slog.Logger) *copier {
	c := &copier{
		db: db, synchronise: func() error { return datasync(fd) }, log: log,
		longest: longestLog, calls: make(chan struct{}, 1), ended: make(chan struct{}),
	}
	go c.run()
	return c
}

// wrote has the copier look at the log once in a while.
func (c *copier) wrote(n int) {
	if c.writes += n; c.writes < logCheck {
		return
	}
	select {
	case c.calls <- struct{}{}:
		c.writes = 0
	default: // it was called already
	}
}

func (c *copier) run() {
	defer close(c.ended)
	for range c.calls {
		if err := c.copy(); err != nil {
			c.log.Error("copying the log", "error", err)
		}
	}
}

// copy copies a log that is long: what is there, what came meanwhile, and the rest. SQLite
// has the disk keep the file only when all is copied, which the writer waits for: so the
// disk has most of it before.
func (c *copier) copy() error {
	left, err := c.checkpoint("NOOP")
	if err != nil || left < c.longest {
		return err
	}
	for range copies {
		if _, err := c.checkpoint("PASSIVE"); err != nil {
			return err
		}
		if err := c.synchronise(); err != nil {
			return err
		}
	}
	c.writing.Lock()
	defer c.writing.Unlock()
	_, err = c.checkpoint("PASSIVE")
	return err
}

// checkpoint copies what no reader keeps from it, and counts the pages that are
// left; NOOP only counts.
func (c *copier) checkpoint(mode string) (left int, err error) {
	var busy, pages, copied int
	err = c.db.QueryRowContext(context.Background(), "PRAGMA wal_checkpoint("+mode+")").Scan(&busy, &pages, &copied)
	return pages - copied, err
}

// close waits for the copy that has begun.
func (c *copier) close() error {
	c.once.Do(func() { close(c.calls) })
	<-c.ended
	return c.db.Close()
}
