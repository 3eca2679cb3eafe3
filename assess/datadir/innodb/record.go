package innodb

import (
	"fmt"

	"svc/backend/sliced"
)

// column is one of a row, in the order in which rows have them.
type column struct {
	name     string
	fixed    int  // bytes; 0 where a row says how many
	long     bool // it may be longer than 255 bytes
	nullable bool
	key      bool
}

// keys are the columns that rows are sorted by.
func keys(columns []column) []column {
	return sliced.Filter(columns, func(c column) bool { return c.key })
}

func nullable(columns []column) int {
	return sliced.Count(columns, func(c column) bool { return c.nullable })
}

// record is a row in a page. What is known of it stands before it, backwards:
// 5 bytes of a header, a bit for each column that may be null, and the lengths.
type record struct {
	page []byte
	at   int
}

const recordHeader = 5

// The bits of a record's header.
const (
	deleted = 0x20
	changed = 0xc0 // made before or after columns were added to the table in place
)

func (r record) isDeleted() bool { return r.page[r.at-recordHeader]&deleted != 0 }

// values are a row's, of which those that may be null have so many bits; that of
// a column which is null is nil. Of a long one whose rest is elsewhere it is what
// is here.
func (r record) values(columns []column, bits int) ([][]byte, error) {
	if r.page[r.at-recordHeader]&changed != 0 {
		return nil, fmt.Errorf("columns were added in place: %w", ErrForm)
	}
	nulls := r.at - recordHeader - 1
	lengths := nulls - (bits+7)/8
	values, at, null := make([][]byte, len(columns)), r.at, 0
	for i, c := range columns {
		if lengths <= pageHeader {
			return nil, fmt.Errorf("a row begins before its page: %w", ErrDamaged)
		}
		if c.nullable {
			isNull := r.page[nulls-null/8]>>(null%8)&1 != 0
			if null++; isNull {
				continue
			}
		}
		n := c.fixed
		if n == 0 {
			n, lengths = r.length(lengths, c.long)
		}
		if n > len(r.page)-at {
			return nil, fmt.Errorf("a row is longer than its page: %w", ErrDamaged)
		}
		values[i] = r.page[at : at+n : at+n]
		at += n
	}
	return values, nil
}

// length reads the length at a place, and where the next one is: a long one has
// two bytes.
func (r record) length(at int, long bool) (n, next int) {
	first := int(r.page[at])
	if !long || first&0x80 == 0 {
		return first, at - 1
	}
	return first&0x3f<<8 | int(r.page[at-1]), at - 2
}
