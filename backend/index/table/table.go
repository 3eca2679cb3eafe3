// Package table is the file format of the index: named tables of sorted records,
// which are read where they lie.
//
//	magic "SVCINDEX", format version u32, directory length u32, SHA-256 of all
//	that follows: the directory, then the tables
//
// A table is its slots and its text. The text is lines of key TAB value, sorted
// by the bytes of the key. The slots are a hash table of the keys: each is a tag,
// which is a byte of the key's hash, zero where the slot is free, and an offset,
// u32, where the key's line begins. They lie side by side, since what a lookup
// costs is the memory that it waits for. A lookup goes from the hash's slot on, to
// the first that is free. All numbers are little endian. The same records give the
// same bytes.
package table

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"sort"
	"strings"

	"github.com/cespare/xxhash/v2"
)

const (
	magic      = "SVCINDEX"
	format     = 3
	headerSize = len(magic) + 4 + 4 + sha256.Size
	slotSize   = 1 + 4
	// maxText bounds the text of a table, for its offsets.
	maxText = 1 << 30
)

// ErrFormat says that a file is no index or is damaged.
var ErrFormat = errors.New("not an index of this format")

// File is an index that is open. It is safe for concurrent use.
type File struct {
	version string
	tables  map[string]*Table
}

// Table is one sorted table. That which is missing has no records.
type Table struct {
	count int
	slots string
	text  string
}

var missing = &Table{}

// Open reads the directory of an index. What it was not made by this program
// itself is to be Verified first: lookups trust the tables.
func Open(data string) (*File, error) {
	if !strings.HasPrefix(data, magic) || len(data) < headerSize {
		return nil, fmt.Errorf("%w: it does not begin with %q", ErrFormat, magic)
	}
	head := data[len(magic):headerSize]
	if v := number(head, 0); v != format {
		return nil, fmt.Errorf("%w: it has version %d, this program reads %d: svc admin index build makes it anew", ErrFormat, v, format)
	}
	size, rest := number(head, 1), data[headerSize:]
	if uint64(size) > uint64(len(rest)) {
		return nil, fmt.Errorf("%w: it is cut off", ErrFormat)
	}
	tables, err := readDirectory(rest[:size], rest[size:])
	if err != nil {
		return nil, err
	}
	return &File{version: hex.EncodeToString([]byte(head[8:]))[:16], tables: tables}, nil
}

// Version is the beginning of the SHA-256 of the content, 16 hex characters.
func (f *File) Version() string { return f.version }

// Table finds a table by its name; one that is not there is empty.
func (f *File) Table(name string) *Table {
	if t, ok := f.tables[name]; ok {
		return t
	}
	return missing
}

// Only is the file with those of its tables alone whose names a rule takes.
func (f *File) Only(takes func(name string) bool) *File {
	tables := maps.Clone(f.tables)
	maps.DeleteFunc(tables, func(name string, _ *Table) bool { return !takes(name) })
	return &File{version: f.version, tables: tables}
}

// Join is a file of the tables of two: those of over come before those of under.
func Join(under, over *File) *File {
	tables := maps.Clone(under.tables)
	maps.Copy(tables, over.tables)
	sum := sha256.Sum256([]byte(under.version + over.version))
	return &File{version: hex.EncodeToString(sum[:])[:16], tables: tables}
}

// Size is the number of bytes of the tables.
func (f *File) Size() int {
	size := 0
	for _, t := range f.tables {
		size += len(t.slots) + len(t.text)
	}
	return size
}

// Names lists the tables, sorted.
func (f *File) Names() []string { return slices.Sorted(maps.Keys(f.tables)) }

// Verify compares the content's digest, and checks that lookups in the tables
// end and find every record.
func Verify(data string) error {
	f, err := Open(data)
	if err != nil {
		return err
	}
	sum := sha256.Sum256([]byte(data[headerSize:]))
	if string(sum[:]) != data[headerSize-sha256.Size:headerSize] {
		return fmt.Errorf("%w: its digest is not that of its content", ErrFormat)
	}
	for name, t := range f.tables {
		if !t.sound() {
			return fmt.Errorf("%w: table %s is damaged", ErrFormat, name)
		}
	}
	return nil
}

// sound reports whether every line is found in a slot of its own, whether there
// are no other slots than these and at least one that is free.
func (t *Table) sound() bool {
	used := 0
	for i := 0; i < len(t.slots); i += slotSize {
		if t.offset(i) > len(t.text) {
			return false
		}
		if t.slots[i] != 0 {
			used++
		}
	}
	if used != t.count || used*slotSize == len(t.slots) || strings.Count(t.text, "\n") != t.count || !strings.HasSuffix("\n"+t.text, "\n") {
		return false
	}
	previous := ""
	for at := 0; at < len(t.text); at += strings.IndexByte(t.text[at:], '\n') + 1 {
		line, _, _ := strings.Cut(t.text[at:], "\n")
		key, _, ok := strings.Cut(line, "\t")
		if found, there := t.find(key); !ok || !there || found != at || at > 0 && key <= previous {
			return false
		}
		previous = key
	}
	return true
}

// Len is the number of records.
func (t *Table) Len() int { return t.count }

// Get finds the value of a key.
func (t *Table) Get(key string) (value string, ok bool) {
	at, ok := t.find(key)
	if !ok {
		return "", false
	}
	value = t.text[at+len(key)+1:]
	return value[:strings.IndexByte(value, '\n')], true
}

// Value is the value of a key; empty where there is none.
func (t *Table) Value(key string) string {
	value, _ := t.Get(key)
	return value
}

// Has reports whether there is a record of a key.
func (t *Table) Has(key string) bool {
	_, ok := t.find(key)
	return ok
}

// find is where the line of a key begins.
func (t *Table) find(key string) (offset int, ok bool) {
	if t.count == 0 {
		return 0, false
	}
	for i, tag := place(xxhash.Sum64String(key), len(t.slots)); ; i = next(i, len(t.slots)) {
		switch t.slots[i] {
		case 0:
			return 0, false
		case tag:
			offset = t.offset(i)
			if line := t.text[offset:]; len(line) > len(key) && line[len(key)] == '\t' && line[:len(key)] == key {
				return offset, true
			}
		}
	}
}

// offset is that of the slot which begins at a byte.
func (t *Table) offset(i int) int { return int(number(t.slots[i+1:], 0)) }

// place is where the slot of a hash begins among the bytes of all, and its tag.
func place(hash uint64, size int) (slot int, tag byte) {
	return slotSize * int(hash>>32*uint64(size/slotSize)>>32), max(byte(hash), 1)
}

// next is where the slot after another begins.
func next(slot, size int) int {
	if slot += slotSize; slot < size {
		return slot
	}
	return 0
}

// number is the i-th number of a text of them.
func number(s string, i int) uint32 {
	s = s[4*i : 4*i+4]
	return uint32(s[0]) | uint32(s[1])<<8 | uint32(s[2])<<16 | uint32(s[3])<<24
}

// All are the records, in order.
func (t *Table) All() iter.Seq2[string, string] { return t.Under("") }

// Under are the records whose keys begin with a prefix, in order.
func (t *Table) Under(prefix string) iter.Seq2[string, string] {
	return func(yield func(key, value string) bool) {
		begin := func(i int) int { return i + strings.IndexByte(t.text[i:], '\n') + 1 } // of the line after a byte
		at := 0
		if t.text < prefix {
			at = begin(sort.Search(len(t.text)-1, func(i int) bool { return t.text[begin(i):] >= prefix }))
		}
		for line := range strings.Lines(t.text[at:]) {
			key, value, _ := strings.Cut(line[:len(line)-1], "\t")
			if !strings.HasPrefix(key, prefix) || !yield(key, value) {
				return
			}
		}
	}
}

// With are the records that have a byte in their keys, in order. What lies
// between is passed over.
func (t *Table) With(b byte) iter.Seq2[string, string] {
	return func(yield func(key, value string) bool) {
		for at := 0; ; {
			found := strings.IndexByte(t.text[at:], b)
			if found < 0 {
				return
			}
			found += at // the first of its line
			begin, end := strings.LastIndexByte(t.text[:found], '\n')+1, found+strings.IndexByte(t.text[found:], '\n')
			tab := begin + strings.IndexByte(t.text[begin:end], '\t')
			if found < tab && !yield(t.text[begin:tab], t.text[tab+1:end]) {
				return
			}
			at = end + 1
		}
	}
}
