package sqlite

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// Value is a column of a row: a number, or text or a blob. NULL and real
// numbers are the zero Value.
type Value struct {
	Int   int64
	Bytes []byte
}

// varint reads a number of one to nine bytes, high ones first; n is 0 where it
// is cut off.
func varint(b []byte) (v uint64, n int) {
	for n < len(b) && n < 8 {
		v = v<<7 | uint64(b[n]&0x7f)
		n++
		if b[n-1] < 0x80 {
			return v, n
		}
	}
	if n < 8 || n == len(b) {
		return 0, 0
	}
	return v<<8 | uint64(b[8]), 9
}

// integers are the sizes of the serial types 1 to 6.
var integers = [...]int{1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8}

// values appends the columns of a record: first their types, then they.
func values(all []Value, record []byte) ([]Value, error) {
	head, n := varint(record)
	if n == 0 || head < uint64(n) || head > uint64(len(record)) {
		return nil, errors.New("a record without a header")
	}
	types, body := record[n:head], record[head:]
	for len(types) > 0 {
		kind, n := varint(types)
		if n == 0 {
			return nil, errors.New("a record's header is cut off")
		}
		types = types[n:]
		v, size, err := value(kind, body)
		if err != nil {
			return nil, err
		}
		all, body = append(all, v), body[size:]
	}
	return all, nil
}

// value reads one column of a serial type.
func value(kind uint64, body []byte) (v Value, size int, err error) {
	switch {
	case kind >= 1 && kind <= 6:
		size = integers[kind]
	case kind == 7:
		size = 8
	case kind == 9:
		v.Int = 1
	case kind >= 12 && kind < 2*MaxPayload:
		size = int(kind-12) / 2
	case kind > 9:
		return v, 0, fmt.Errorf("a column of type %d", kind)
	}
	if size > len(body) {
		return v, 0, fmt.Errorf("a column of %d bytes where the record has %d", size, len(body))
	}
	if kind >= 12 {
		v.Bytes = body[:size]
	} else if kind <= 6 {
		v.Int = integer(body[:size])
	} // and of a real number nobody asks the value
	return v, size, nil
}

// integer reads a signed number, high byte first.
func integer(b []byte) int64 {
	if len(b) == 0 {
		return 0
	}
	var wide [8]byte
	copy(wide[:], b)
	return int64(binary.BigEndian.Uint64(wide[:])) >> (64 - 8*len(b))
}
