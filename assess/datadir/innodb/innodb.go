// Package innodb reads rows of a tablespace that describes its own tables, as
// those of MySQL 8.0 and newer do: their descriptions are rows too, of JSON.
// What is only in the redo log is not seen. Every read is bounded.
package innodb

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// What may be wrong with a tablespace.
var (
	ErrForm    = errors.New("not in a form that is known")
	ErrDamaged = errors.New("damaged")
	ErrTooBig  = errors.New("more of it would have to be read than is sensible")
)

// Bounds of what is read of a tablespace: loops are many pages or rows, too.
const (
	maxPages     = 1 << 11
	maxRows      = 1 << 18
	maxDescribed = 32 << 20 // bytes of descriptions
)

// Tablespace is a file of tables.
type Tablespace struct {
	file   io.ReaderAt
	page   []byte                               // the one in hand
	read   struct{ pages, rows, described int } // so far
	tables map[string]table
}

// The places of a page's header that are read here.
const (
	pageNext    = 12
	pageType    = 24
	pageHeader  = 38
	pageRecords = pageHeader + 16 // how many there are
	pageLevel   = pageHeader + 26 // 0 is a leaf
	infimum     = 99              // the record before the first
	flagsAt     = pageHeader + 16 // of the first page
)

// The types of pages with an index.
const (
	typeIndex = 17855
	typeSDI   = 17853
)

// The bits of the first page's flags.
const (
	flagsZip       = 0xf << 1
	flagsSize      = 6 // 4 bits from here on
	flagsEncrypted = 1 << 13
	flagsSDI       = 1 << 14
)

// Open reads what a tablespace says of its tables.
func Open(file io.ReaderAt) (*Tablespace, error) {
	t := &Tablespace{file: file, tables: map[string]table{}}
	b := make([]byte, flagsAt+4)
	if _, err := file.ReadAt(b, 0); err != nil {
		return nil, err
	}
	flags := binary.BigEndian.Uint32(b[flagsAt:])
	switch {
	case flags&flagsEncrypted != 0:
		return nil, fmt.Errorf("encrypted: %w", ErrForm)
	case flags&flagsZip != 0 || flags&flagsSDI == 0:
		return nil, ErrForm
	}
	size := 16 << 10
	if n := flags >> flagsSize & 0xf; n != 0 {
		size = 512 << n
	}
	if size < 4<<10 || size > 64<<10 {
		return nil, ErrForm
	}
	t.page = make([]byte, size)
	return t, t.describe()
}

// describe reads the descriptions, whose root the first page names behind what
// it says of extents and of encryption.
func (t *Tablespace) describe() error {
	const header, key = 150, 115
	if err := t.turn(0); err != nil {
		return err
	}
	pages := max(1<<20/len(t.page), 64) // of an extent
	at := header + len(t.page)/pages*(24+pages/4) + key
	root := binary.BigEndian.Uint32(t.page[at+4:])
	return t.each(descriptions, root, typeSDI, func(row [][]byte) error {
		if kind := binary.BigEndian.Uint32(row[0]); kind != 1 { // a table
			return nil
		}
		return t.add(row[len(row)-1])
	})
}

// turn takes a page in hand.
func (t *Tablespace) turn(page uint32) error {
	if t.read.pages++; t.read.pages > maxPages {
		return ErrTooBig
	}
	_, err := t.file.ReadAt(t.page, int64(page)*int64(len(t.page)))
	if errors.Is(err, io.EOF) {
		return fmt.Errorf("page %d is not there: %w", page, ErrDamaged)
	}
	return err
}

// each gives the rows of an index in its order. They are valid until row returns.
func (t *Tablespace) each(columns []column, root uint32, kind uint16, row func([][]byte) error) error {
	page, err := t.firstLeaf(columns, root, kind)
	for ; err == nil && page != none; page = binary.BigEndian.Uint32(t.page[pageNext:]) {
		if err = t.turn(page); err == nil {
			err = t.rows(columns, nullable(columns), kind, row)
		}
	}
	return err
}

// none is the number of no page.
const none = 1<<32 - 1

// firstLeaf goes down from an index's root by the first row of each page, which
// ends in the number of the page below. Such rows have the key alone, and the
// bits of nulls of all columns.
func (t *Tablespace) firstLeaf(columns []column, page uint32, kind uint16) (uint32, error) {
	below := append(keys(columns), column{fixed: 4})
	for {
		if err := t.turn(page); err != nil {
			return 0, err
		}
		if binary.BigEndian.Uint16(t.page[pageLevel:]) == 0 {
			return page, nil
		}
		child := uint32(none)
		err := t.rows(below, nullable(columns), kind, func(row [][]byte) error {
			child = min(child, binary.BigEndian.Uint32(row[len(below)-1]))
			return errStop
		})
		if err != nil && err != errStop {
			return 0, err
		}
		page = child
	}
}

var errStop = errors.New("enough")

// rows gives the rows of the page in hand: each names the place of the next.
func (t *Tablespace) rows(columns []column, bits int, kind uint16, row func([][]byte) error) error {
	if binary.BigEndian.Uint16(t.page[pageType:]) != kind {
		return fmt.Errorf("a page is of another type: %w", ErrDamaged)
	}
	at := infimum
	for range binary.BigEndian.Uint16(t.page[pageRecords:]) {
		at = int(uint16(at) + binary.BigEndian.Uint16(t.page[at-2:]))
		r := record{t.page, at}
		if t.read.rows++; t.read.rows > maxRows {
			return ErrTooBig
		}
		if at < infimum || at >= len(t.page) {
			return fmt.Errorf("a row is outside its page: %w", ErrDamaged)
		}
		if r.isDeleted() {
			continue
		}
		values, err := r.values(columns, bits)
		if err != nil {
			return err
		}
		if err := row(values); err != nil {
			return err
		}
	}
	return nil
}
