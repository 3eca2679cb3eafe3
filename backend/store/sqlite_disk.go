package store

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// disk makes commits last. SQLite's own way, synchronous=FULL, keeps the writer
// waiting for the disk; here it prepares the next batch meanwhile. Nobody is told of a
// commit before the disk has it, neither who wrote it nor who reads it, whichever
// process made it.
type disk struct {
	synchronise func() error // has the disk keep the log as it is
	log         *os.File
	position    func() (position, bool)

	turn  chan struct{} // full from before a commit until the disk has it
	asked atomic.Int64  // how often the disk was asked; by who has the turn

	mu     sync.Mutex
	synced position // of the log when it was last synchronised
	failed error    // nobody knows what the disk has
}

// newDisk opens the log of a file that has a connection. SQLite locks nothing in the
// log, so that closing it takes no lock of SQLite's away.
func newDisk(file string, at func() (position, bool)) (*disk, error) {
	log, err := os.OpenFile(file+"-wal", os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	return &disk{synchronise: func() error { return datasync(int(log.Fd())) }, log: log, position: at, turn: make(chan struct{}, 1)}, nil
}

// datasync has the disk keep the bytes of a file.
func datasync(fd int) (err error) {
	for err = unix.EINTR; errors.Is(err, unix.EINTR); {
		err = unix.Fdatasync(fd)
	}
	return err
}

// free takes the turn to commit where nobody has it.
func (d *disk) free() bool {
	select {
	case d.turn <- struct{}{}:
		return true
	default:
		return false
	}
}

// abandon gives the turn back.
func (d *disk) abandon() { <-d.turn }

// lost is why nothing more may be committed; nil where it may.
func (d *disk) lost() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.failed != nil {
		return fmt.Errorf("a commit before this one may be lost, start svc again: %w", d.failed)
	}
	return nil
}

// settled reports whether the disk has all that is committed, or never will: what is
// read then may be lost, as the log says.
func (d *disk) settled() bool {
	at, known := d.position()
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.failed != nil || known && at == d.synced
}

// sync ends a turn: the disk has what was committed, or there was nothing. After a
// failure no later one is believed, as a kernel tells of a page that it could not
// write only once.
func (d *disk) sync() error {
	defer d.abandon()
	at, known := d.position()
	if d.mu.Lock(); known && at == d.synced {
		d.mu.Unlock()
		return nil
	}
	d.mu.Unlock()
	d.asked.Add(1)
	err := d.synchronise()
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.failed = err; err == nil {
		d.synced = at
	}
	return err
}

// wait waits until the disk has what is committed, by another process too, whose writer
// is told of its own failures. What was asked of the disk for one who waits does for all
// who waited then.
func (d *disk) wait() {
	before := d.asked.Load()
	if d.settled() {
		return
	}
	d.turn <- struct{}{}
	if d.settled() || d.asked.Load() > before {
		d.abandon()
		return
	}
	_ = d.sync()
}

func (d *disk) close() { _ = d.log.Close() } // nothing was written through it
