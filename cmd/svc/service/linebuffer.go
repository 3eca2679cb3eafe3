package service

import (
	"io"
	"sync"
	"time"
)

// How long a line of the service's log may wait for others, and how many bytes
// may.
const (
	lineDelay = 10 * time.Millisecond
	lineBytes = 32 << 10
)

// lineBuffer writes lines together that come close to each other: under load a
// write of its own for each would cost as much as answering a cheap request. It
// is safe for concurrent use.
type lineBuffer struct {
	w io.Writer

	mu    sync.Mutex
	lines []byte
	timer *time.Timer // runs while lines wait; nil before the first
}

// Write takes a line; what is wrong with the writer behind shows nowhere, as with
// any log.
func (b *lineBuffer) Write(line []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.lines = append(b.lines, line...)
	switch {
	case len(b.lines) >= lineBytes:
		b.flush()
	case b.timer == nil:
		b.timer = time.AfterFunc(lineDelay, func() { _ = b.Close() })
	case len(b.lines) == len(line): // the first that waits
		b.timer.Reset(lineDelay)
	}
	return len(line), nil
}

func (b *lineBuffer) flush() {
	if len(b.lines) > 0 {
		_, _ = b.w.Write(b.lines)
	}
	b.lines = b.lines[:0]
}

// Close writes what waits; lines may come after it.
func (b *lineBuffer) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.flush()
	return nil
}
