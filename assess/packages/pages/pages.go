// Package pages reads a large file at many places through a few windows, so
// that reads close to each other cost one: the file may be on another machine
// or inside a disk image.
package pages

import (
	"errors"
	"fmt"
	"io"
)

// ErrOutside means that a part of the file is asked for that it does not have:
// the file was cut off, or what points there is damaged.
var ErrOutside = errors.New("beyond the end of the file")

// The windows hold a chain of pages that lies in one piece, and a few places
// between which a tree is walked. They fit into a processor's cache together.
const (
	windows = 6
	ahead   = 64 << 10
)

// MaxRead is the most that one call of Bytes gives.
const MaxRead = 128 << 10

// Reader reads a file. It is not for concurrent use.
type Reader struct {
	r       io.ReaderAt
	size    int64
	windows [windows]window
	clock   int
}

// window is a piece of the file that is at hand.
type window struct {
	off  int64
	data []byte
	used int // the clock at its last use
}

// New reads the size bytes of r.
func New(r io.ReaderAt, size int64) *Reader { return &Reader{r: r, size: size} }

// Size is the file's size in bytes.
func (r *Reader) Size() int64 { return r.size }

// Bytes gives n bytes at an offset. They are valid until the next call.
func (r *Reader) Bytes(off int64, n int) ([]byte, error) {
	if off < 0 || n < 0 || n > MaxRead || off > r.size-int64(n) {
		return nil, fmt.Errorf("%d bytes at %d: %w", n, off, ErrOutside)
	}
	r.clock++
	oldest := &r.windows[0]
	for i := range r.windows {
		w := &r.windows[i]
		if off >= w.off && off+int64(n) <= w.off+int64(len(w.data)) {
			w.used = r.clock
			return w.data[off-w.off:][:n], nil
		}
		if w.used < oldest.used {
			oldest = w
		}
	}
	if err := r.fill(oldest, off, n); err != nil {
		return nil, err
	}
	return oldest.data[:n], nil
}

// fill moves a window to an offset, where at least n bytes are.
func (r *Reader) fill(w *window, off int64, n int) error {
	n = int(min(max(ahead, int64(n)), r.size-off))
	if cap(w.data) < n {
		w.data = make([]byte, n)
	}
	w.off, w.used, w.data = off, r.clock, w.data[:n]
	if err := r.ReadAt(w.data, off); err != nil {
		w.data = w.data[:0]
		return err
	}
	return nil
}

// ReadAt reads the whole of p at an offset, past the windows.
func (r *Reader) ReadAt(p []byte, off int64) error {
	if off < 0 || off > r.size-int64(len(p)) {
		return fmt.Errorf("%d bytes at %d: %w", len(p), off, ErrOutside)
	}
	if n, err := r.r.ReadAt(p, off); n < len(p) {
		return fmt.Errorf("%d bytes at %d: %w", len(p), off, err)
	}
	return nil
}
