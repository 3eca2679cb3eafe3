package store

import (
	"errors"
	"fmt"
	"os"
	"sync"

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

	mu     sync.RWMutex // held from before a commit until the disk has it
	synced position     // of the log when it was last synchronised
	failed error        // nobody knows what the disk has
}

// newDisk opens the log of a file that has a connection. SQLite locks nothing in the
// log, so that closing it takes no lock of SQLite's away.
func newDisk(file string, at func() (position, bool)) (*disk, error) {
	log, err := os.OpenFile(file+"-wal", os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	return &disk{synchronise: func() error { return datasync(int(log.Fd())) }, log: log, position: at}, nil
}

// datasync has the disk keep the bytes of a file.
func datasync(fd int) (err error) {
	for err = unix.EINTR; errors.Is(err, unix.EINTR); {
		err = unix.Fdatasync(fd)
	}
	return err
}

// begin waits for the commit before: the next one may be written.
func (d *disk) begin() error {
	d.mu.Lock()
	if d.failed != nil {
		defer d.mu.Unlock()
		return fmt.Errorf("a commit before this one may be lost, start svc again: %w", d.failed)
	}
	return nil
}

// abandon ends a commit that was not made.
func (d *disk) abandon() { d.mu.Unlock() }

// sync ends a commit: the disk has it, or there was nothing to be written. After a
// failure no later one is believed, as a kernel tells of a page that it could not
// write only once.
func (d *disk) sync() error {
	defer d.mu.Unlock()
	at, known := d.position()
	if known && at == d.synced {
		return nil
	}
	if d.failed = d.synchronise(); d.failed == nil {
		d.synced = at
	}
	return d.failed
}

// wait waits until the disk has what is committed. After a failure there is nothing
// to wait for: what is read then may be lost, as the log says.
func (d *disk) wait() {
	d.mu.RLock()
	at, known := d.position()
	settled := d.failed != nil || known && at == d.synced
	d.mu.RUnlock()
	if !settled && d.begin() == nil {
		_ = d.sync() // of another process, whose writer is told of its own failures
	}
}

func (d *disk) close() { _ = d.log.Close() } // nothing was written through it
