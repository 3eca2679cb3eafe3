package pgfile

import (
	"bytes"
	"encoding/binary"
	"fmt"
)

// The bits of a tuple's header that say whether it counts.
const (
	hasNull       = 0x0001
	hasOID        = 0x0008
	onlyLocked    = 0x0080
	xminCommitted = 0x0100
	xminInvalid   = 0x0200
	xmaxInvalid   = 0x0800
	xmaxIsMulti   = 0x1000
)

// Tuple is one row of a table as it stands in a page.
type Tuple struct {
	OID  uint32 // of PostgreSQL before 12, where it is no column
	mask uint16
	xmin uint32
	xmax uint32
	null []byte // bitmap; nil where there is no null
	data []byte
	n    int // columns
}

// Tuples takes a page apart. What is not sound in it is left out.
func Tuples(page []byte) []Tuple {
	le := binary.LittleEndian
	var all []Tuple
	if len(page) < 24 {
		return nil
	}
	for at := 24; at+4 <= int(le.Uint16(page[12:])) && at+4 <= len(page); at += 4 {
		item := le.Uint32(page[at:])
		off, flags, length := int(item&0x7fff), item>>15&3, int(item>>17)
		if flags != 1 || length < 23 || off+length > len(page) {
			continue
		}
		if t, ok := newTuple(page[off : off+length]); ok {
			all = append(all, t)
		}
	}
	return all
}

func newTuple(b []byte) (t Tuple, ok bool) {
	le := binary.LittleEndian
	t = Tuple{xmin: le.Uint32(b), xmax: le.Uint32(b[4:]), n: int(le.Uint16(b[18:]) & 0x7ff), mask: le.Uint16(b[20:])}
	start := int(b[22])
	if start < 23 || start > len(b) {
		return t, false
	}
	if t.mask&hasNull != 0 {
		if 23+(t.n+7)/8 > start {
			return t, false
		}
		t.null = b[23 : 23+(t.n+7)/8]
	}
	if t.mask&hasOID != 0 && start >= 28 {
		t.OID = le.Uint32(b[start-4:])
	}
	t.data = b[start:]
	return t, true
}

// Visible reports whether a tuple counts, given which transactions committed.
func (t Tuple) Visible(committed func(xid uint32) bool) bool {
	born := t.mask&xminCommitted != 0 || t.mask&xminInvalid == 0 && committed(t.xmin)
	gone := t.xmax != 0 && t.mask&(xmaxInvalid|onlyLocked|xmaxIsMulti) == 0 && committed(t.xmax)
	return born && !gone
}

// The types of columns that are read.
const (
	typeName = 'n' // 64 bytes
	typeInt  = 'i' // four bytes, aligned: int4, oid, xid
	typeByte = 'b' // one byte: bool, "char"
	typeText = 't' // of any length
)

// Columns reads the first columns of a tuple, a letter for the type of each. A
// null is empty. It ends before what is not in the page.
func (t Tuple) Columns(types string) []string {
	var values []string
	at := 0
	for i, kind := range []byte(types) {
		if i >= t.n {
			break
		}
		if t.null != nil && t.null[i/8]&(1<<(i%8)) == 0 {
			values = append(values, "")
			continue
		}
		value, next, ok := t.column(kind, at)
		if !ok {
			break
		}
		values, at = append(values, value), next
	}
	return values
}

// column reads a column at an offset, and gives the offset after it.
func (t Tuple) column(kind byte, at int) (value string, next int, ok bool) {
	size := map[byte]int{typeName: 64, typeInt: 4, typeByte: 1}[kind]
	switch kind {
	case typeInt:
		at = (at + 3) &^ 3
	case typeText:
		return t.text(at)
	}
	if at+size > len(t.data) {
		return "", 0, false
	}
	b := t.data[at : at+size]
	switch kind {
	case typeName:
		b, _, _ = bytes.Cut(b, []byte{0})
	case typeInt:
		return fmt.Sprint(binary.LittleEndian.Uint32(b)), at + size, true
	}
	return string(b), at + size, true
}

// text reads a value of any length, unless it is packed or kept elsewhere.
func (t Tuple) text(at int) (value string, next int, ok bool) {
	if at >= len(t.data) {
		return "", 0, false
	}
	if first := t.data[at]; first&1 == 1 {
		end := at + int(first>>1)
		if first == 1 || end <= at || end > len(t.data) {
			return "", 0, false
		}
		return string(t.data[at+1 : end]), end, true
	}
	at = (at + 3) &^ 3
	if at+4 > len(t.data) {
		return "", 0, false
	}
	header := binary.LittleEndian.Uint32(t.data[at:])
	end := at + int(header>>2)
	if header&3 != 0 || end < at+4 || end > len(t.data) {
		return "", 0, false
	}
	return string(t.data[at+4 : end]), end, true
}

// Nodes are the files of the tables that are found before there is a
// catalog, by the tables' OIDs: what a pg_filenode.map has.
func Nodes(b []byte) map[uint32]uint32 {
	le := binary.LittleEndian
	nodes := map[uint32]uint32{}
	if len(b) < 8 || le.Uint32(b) != 0x592717 {
		return nodes
	}
	for i := range min(int(le.Uint32(b[4:])), 64) {
		if at := 8 + 8*i; at+8 <= len(b) {
			nodes[le.Uint32(b[at:])] = le.Uint32(b[at+4:])
		}
	}
	return nodes
}
