// Package sqlite reads the tables of a SQLite file, with what still stands in
// its write-ahead log, through nothing but reads at a place. It knows rows, not
// SQL: it is for files of a machine that may be hostile, that may not be written
// to, and that may have no path on this host.
package sqlite

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"

	"svc/assess/packages/pages"
)

// MaxPayload is the most bytes of one row.
const MaxPayload = 32 << 20

// maxDepth is how deep a table's tree may be: pages of 512 bytes get there with
// more rows than a file can have.
const maxDepth = 24

// The types of a table's pages.
const (
	interior = 0x05
	leaf     = 0x0d
)

// DB is an open file.
type DB struct {
	file     *pages.Reader
	log      *log
	pageSize int
	usable   int    // bytes of a page that SQLite uses
	last     uint32 // number of the last page
	left     int64  // bytes of rows that the file can still hold
}

// Open opens a file, with the write-ahead log beside it; that is nil where
// there is none. Of a file that was cut off there is a DB beside the error.
func Open(file io.ReaderAt, size int64, wal io.ReaderAt, walSize int64) (*DB, error) {
	db := &DB{file: pages.New(file, size), left: size + walSize}
	head, err := db.file.Bytes(0, 100)
	if err != nil {
		return nil, fmt.Errorf("header: %w", err)
	}
	if err := db.header(head); err != nil {
		return nil, err
	}
	if wal != nil {
		if db.log, err = openLog(pages.New(wal, walSize), db.pageSize); err != nil {
			return nil, fmt.Errorf("write-ahead log: %w", err)
		}
	}
	first, err := db.page(1)
	if err != nil {
		return nil, err
	}
	db.last = binary.BigEndian.Uint32(first[28:])
	return db, db.whole()
}

// header takes the page size from the file's first bytes.
func (db *DB) header(head []byte) error {
	db.pageSize = int(binary.BigEndian.Uint16(head[16:]))
	if db.pageSize == 1 {
		db.pageSize = 64 << 10
	}
	db.usable = db.pageSize - int(head[20])
	switch {
	case !bytes.HasPrefix(head, []byte("SQLite format 3\x00")):
		return errors.New("header: not SQLite's")
	case db.pageSize < 512 || db.pageSize&(db.pageSize-1) != 0 || db.usable < 480:
		return fmt.Errorf("header: a page of %d bytes, %d of them used", db.pageSize, db.usable)
	case binary.BigEndian.Uint32(head[56:]) > 1:
		return errors.New("header: text that is not UTF-8")
	}
	return nil
}

// whole is an error where the file ends before its last page.
func (db *DB) whole() error {
	if _, err := db.page(max(db.last, 1)); errors.Is(err, pages.ErrOutside) {
		return fmt.Errorf("%w: the file is cut off", err)
	}
	return nil
}

// page is a page, by its number from 1 on, as the log has it, else the file. It
// is valid until the next is read.
func (db *DB) page(n uint32) ([]byte, error) {
	p, ok, err := db.log.page(n)
	if !ok {
		p, err = db.file.Bytes((int64(n)-1)*int64(db.pageSize), db.pageSize)
	}
	if err != nil {
		return nil, fmt.Errorf("page %d: %w", n, err)
	}
	return p, nil
}

// Each calls do for each row of a table in the order of its keys, with the
// values of the columns named. Values are valid until do returns. A damaged
// page or row is passed over and told to fault.
func (db *DB) Each(table string, columns []string, fault func(error), do func([]Value)) error {
	t, err := db.table(table)
	if err != nil {
		return err
	}
	at, err := t.positions(columns)
	if err != nil {
		return err
	}
	values := make([]Value, len(columns))
	w := &walk{db: db, fault: fault, seen: db.pages(), row: func(key int64, all []Value) {
		for i, column := range at {
			values[i] = Value{}
			if column < len(all) {
				values[i] = all[column]
			}
			if column == t.key {
				values[i] = Value{Int: key}
			}
		}
		do(values)
	}}
	w.tree(t.root, 0)
	return nil
}

// pages has a place for each page that the file and its log can hold.
func (db *DB) pages() []bool {
	size := db.file.Size()
	if db.log != nil {
		size += db.log.file.Size()
	}
	return make([]bool, size/int64(db.pageSize)+2)
}

// walk goes through a table's tree.
type walk struct {
	db    *DB
	fault func(error)
	seen  []bool // by page
	row   func(key int64, values []Value)
	buf   []byte
	all   []Value
}

// tree reads all rows below a page.
func (w *walk) tree(n uint32, depth int) {
	p, err := w.db.page(n)
	switch {
	case err == nil && (int64(n) >= int64(len(w.seen)) || w.seen[n] || depth > maxDepth):
		err = fmt.Errorf("page %d: twice in the tree, too deep, or past its end", n)
	case err == nil && w.db.kind(n, p) != interior && w.db.kind(n, p) != leaf:
		err = fmt.Errorf("page %d: type %d where a table's is expected", n, w.db.kind(n, p))
	}
	if err != nil {
		w.fault(err)
		return
	}
	w.seen[n] = true
	if w.db.kind(n, p) == interior {
		for _, child := range w.children(n, p) {
			w.tree(child, depth+1)
		}
		return
	}
	cells, err := cellsOf(n, p, 8)
	if err != nil {
		w.fault(err)
	}
	for _, cell := range cells {
		if err := w.cell(n, cell); err != nil {
			w.fault(fmt.Errorf("page %d, cell at %d: %w", n, cell, err))
		}
	}
}

// kind is a page's type. The first page has the file's header before it.
func (db *DB) kind(n uint32, p []byte) byte { return p[start(n)] }

func start(n uint32) int {
	if n == 1 {
		return 100
	}
	return 0
}

// cellsOf are where the cells of a page stand; head is the size of its header.
func cellsOf(n uint32, p []byte, head int) (cells []int, err error) {
	at := start(n)
	count := int(binary.BigEndian.Uint16(p[at+3:]))
	if at+head+2*count > len(p) {
		return nil, fmt.Errorf("page %d: %d cells", n, count)
	}
	for i := range count {
		cells = append(cells, int(binary.BigEndian.Uint16(p[at+head+2*i:])))
	}
	return cells, nil
}

// children are the pages below an interior page.
func (w *walk) children(n uint32, p []byte) (children []uint32) {
	cells, err := cellsOf(n, p, 12)
	if err != nil {
		w.fault(err)
	}
	for _, cell := range cells {
		if cell+4 > len(p) {
			w.fault(fmt.Errorf("page %d: a cell at %d", n, cell))
			continue
		}
		children = append(children, binary.BigEndian.Uint32(p[cell:]))
	}
	return append(children, binary.BigEndian.Uint32(p[start(n)+8:]))
}

// cell reads a row: the size of its payload, its key, the payload.
func (w *walk) cell(n uint32, at int) error {
	p, err := w.db.page(n) // again: the row before may have read others
	if err != nil {
		return err
	}
	if at >= w.db.usable {
		return errors.New("outside of the page")
	}
	cell := p[at:w.db.usable]
	size, a := varint(cell)
	key, b := varint(cell[a:])
	if a == 0 || b == 0 || size > MaxPayload {
		return fmt.Errorf("a row of %d bytes", size)
	}
	if w.buf, err = w.db.payload(w.buf[:0], cell[a+b:], int(size)); err != nil {
		return err
	}
	if w.all, err = values(w.all[:0], w.buf); err != nil {
		return err
	}
	w.row(int64(key), w.all)
	return nil
}

// payload appends a row's payload, of which the end may stand on a chain of
// other pages. All rows together are no larger than the file.
func (db *DB) payload(buf, cell []byte, size int) ([]byte, error) {
	if db.left -= int64(size); db.left < 0 {
		return buf, errors.New("rows overlap: together they are larger than the file")
	}
	local := db.local(size)
	if local == size {
		if size > len(cell) {
			return buf, errors.New("the row is longer than its page")
		}
		return append(buf, cell[:size]...), nil
	}
	if local+4 > len(cell) {
		return buf, errors.New("the row is longer than its page")
	}
	buf = append(slices.Grow(buf, size), cell[:local]...)
	next := binary.BigEndian.Uint32(cell[local:])
	for len(buf) < size {
		if next == 0 {
			return buf, fmt.Errorf("the row ends after %d of %d bytes", len(buf), size)
		}
		p, err := db.page(next)
		if err != nil {
			return buf, err
		}
		next = binary.BigEndian.Uint32(p)
		buf = append(buf, p[4:4+min(db.usable-4, size-len(buf))]...)
	}
	return buf, nil
}

// local is how much of a payload stands in its cell, by SQLite's rule.
func (db *DB) local(size int) int {
	most := db.usable - 35
	if size <= most {
		return size
	}
	least := (db.usable-12)*32/255 - 23
	if k := least + (size-least)%(db.usable-4); k <= most {
		return k
	}
	return least
}
