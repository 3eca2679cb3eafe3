// Package table is the file format of the index: named tables of sorted
// records, in compressed blocks that are unpacked when they are first read.
//
//	magic "SVCINDEX", format version u32, directory length u32, SHA-256 of all
//	that follows, then the CRC of the directory u32, the directory, the blocks
//
// A block is text: lines of key TAB value, sorted by the bytes of the key, so
// that a lookup is a binary search among blocks, and one by hash in a block.
// All numbers are little endian. The same records give the same bytes.
package table

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"hash/maphash"
	"math/bits"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"
)

const (
	magic      = "SVCINDEX"
	format     = 1
	headerSize = len(magic) + 4 + 4 + sha256.Size + 4
	blockSize  = 32 << 10
	// maxBlock bounds what a block may unpack to: one record may be longer than
	// a block.
	maxBlock = 4 << 20
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// ErrFormat says that a file is no index or is damaged.
var ErrFormat = errors.New("not an index of this format")

// block is where the records from first on are.
type block struct {
	first                  string
	offset, packed, length uint32
}

// File is an index that is open. It is safe for concurrent use.
type File struct {
	version string
	blocks  []byte
	tables  map[string]*Table
	decoder *zstd.Decoder
	cache   cache
}

// Table is one sorted table. The zero of a missing table has no records.
type Table struct {
	file   *File
	blocks []block
	count  int
	number int // of its first block in the file
}

// Open reads the directory of an index; the blocks stay packed. The bytes must
// not change while the File is in use.
func Open(data []byte) (*File, error) {
	if len(data) < headerSize || string(data[:len(magic)]) != magic {
		return nil, fmt.Errorf("%w: it does not begin with %q", ErrFormat, magic)
	}
	head := data[len(magic):headerSize]
	if v := binary.LittleEndian.Uint32(head); v != format {
		return nil, fmt.Errorf("%w: it has version %d, this program reads %d", ErrFormat, v, format)
	}
	size := uint64(binary.LittleEndian.Uint32(head[4:]))
	rest := data[headerSize:]
	if size > uint64(len(rest)) {
		return nil, fmt.Errorf("%w: it is cut off", ErrFormat)
	}
	directory := rest[:size]
	if crc32.Checksum(directory, castagnoli) != binary.LittleEndian.Uint32(head[8+sha256.Size:]) {
		return nil, fmt.Errorf("%w: its directory is damaged", ErrFormat)
	}
	decoder, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecoderMaxMemory(maxBlock))
	if err != nil {
		return nil, fmt.Errorf("preparing to unpack: %w", err)
	}
	f := &File{
		version: hex.EncodeToString(head[8 : 8+sha256.Size])[:16],
		blocks:  rest[size:],
		decoder: decoder,
	}
	if f.tables, err = f.readDirectory(directory); err != nil {
		decoder.Close()
		return nil, err
	}
	return f, nil
}

// Version is the beginning of the SHA-256 of the content, 16 hex characters.
func (f *File) Version() string { return f.version }

// Close frees what unpacks blocks.
func (f *File) Close() { f.decoder.Close() }

// Table finds a table by its name; one that is not there is empty.
func (f *File) Table(name string) *Table {
	if t, ok := f.tables[name]; ok {
		return t
	}
	return &Table{file: f}
}

// Names lists the tables, sorted.
func (f *File) Names() []string {
	names := make([]string, 0, len(f.tables))
	for name := range f.tables {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Verify unpacks every block and compares the content's digest.
func Verify(data []byte) error {
	f, err := Open(data)
	if err != nil {
		return err
	}
	defer f.Close()
	sum := sha256.Sum256(data[headerSize:])
	if !bytes.Equal(sum[:], data[len(magic)+8:len(magic)+8+sha256.Size]) {
		return fmt.Errorf("%w: its digest is not that of its content", ErrFormat)
	}
	for name, t := range f.tables {
		for i := range t.blocks {
			if _, err := t.content(i); err != nil {
				return fmt.Errorf("table %s: %w", name, err)
			}
		}
	}
	return nil
}

// Len is the number of records.
func (t *Table) Len() int { return t.count }

// Get finds the value of a key. An error means a damaged file.
func (t *Table) Get(key string) (value string, ok bool, err error) {
	i := t.last(key)
	if i < 0 {
		return "", false, nil
	}
	c, err := t.content(i)
	if err != nil {
		return "", false, err
	}
	value, ok = c.search(key)
	return value, ok, nil
}

// last is the last block that does not begin after a key; -1 where all do.
func (t *Table) last(key string) int {
	low, high := 0, len(t.blocks)
	for low < high {
		if middle := int(uint(low+high) >> 1); t.blocks[middle].first <= key {
			low = middle + 1
		} else {
			high = middle
		}
	}
	return low - 1
}

// content is a block, unpacked: lines, where each begins, and a hash table of
// their keys: slots has the number of a line plus one below 16 bits of the key's
// hash, at the place of the hash or in the next free one after it.
type content struct {
	text   string
	starts []uint32
	slots  []uint32
}

// maxLines bounds the lines of a block, for their numbers; one of the usual size
// has far fewer.
const maxLines = 1<<16 - 2

var seed = maphash.MakeSeed()

func newContent(text string) (*content, error) {
	text = strings.TrimSuffix(text, "\n") + "\n"
	n := strings.Count(text, "\n")
	if n > maxLines {
		return nil, fmt.Errorf("%w: a block has %d lines", ErrFormat, n)
	}
	c := &content{text: text, starts: make([]uint32, 0, n), slots: make([]uint32, 1<<bits.Len(uint(2*n)))}
	for at := 0; at < len(text); at += strings.IndexByte(text[at:], '\n') + 1 {
		c.starts = append(c.starts, uint32(at))
		key, _ := c.line(len(c.starts)-1, at+strings.IndexByte(text[at:], '\n'))
		i, tag := c.slot(key)
		c.slots[i] = tag | uint32(len(c.starts))
	}
	return c, nil
}

// slot is the place of a key, where it is or where it would be, and the bits of
// its hash that stand there.
func (c *content) slot(key string) (place int, tag uint32) {
	hash := maphash.String(seed, key)
	mask := len(c.slots) - 1
	tag = uint32(hash>>48) << 16
	for i := int(hash) & mask; ; i = (i + 1) & mask {
		slot := c.slots[i]
		if slot == 0 || slot&^maxSlot == tag && c.is(int(slot&maxSlot)-1, key) {
			return i, tag
		}
	}
}

// maxSlot is the part of a slot that is a number.
const maxSlot = 1<<16 - 1

// is reports whether a line is that of a key.
func (c *content) is(line int, key string) bool {
	rest, ok := strings.CutPrefix(c.text[c.starts[line]:], key)
	return ok && (rest[0] == '\t' || rest[0] == '\n')
}

// record is the key and the value of a line.
func (c *content) record(i int) (key, value string) {
	end := len(c.text)
	if i+1 < len(c.starts) {
		end = int(c.starts[i+1])
	}
	return c.line(i, end-1)
}

func (c *content) line(i, end int) (key, value string) {
	key, value, _ = strings.Cut(c.text[c.starts[i]:end], "\t")
	return key, value
}

// search finds the value of a key.
func (c *content) search(key string) (string, bool) {
	i, _ := c.slot(key)
	n := c.slots[i] & maxSlot
	if n == 0 {
		return "", false
	}
	_, value := c.record(int(n) - 1)
	return value, true
}

// All calls yield with every record in order, until it returns false.
func (t *Table) All(yield func(key, value string) bool) error {
	for i := range t.blocks {
		c, err := t.content(i)
		if err != nil {
			return err
		}
		for line := range c.starts {
			if !yield(c.record(line)) {
				return nil
			}
		}
	}
	return nil
}

// content is a block, unpacked when it is first read.
func (t *Table) content(i int) (*content, error) {
	number := t.number + i
	if c := t.file.cache.get(number); c != nil {
		return c, nil
	}
	b := t.blocks[i]
	packed := t.file.blocks[b.offset : b.offset+b.packed]
	raw, err := t.file.decoder.DecodeAll(packed, make([]byte, 0, b.length))
	if err != nil || len(raw) != int(b.length) {
		return nil, fmt.Errorf("%w: block %d is damaged", ErrFormat, number)
	}
	c, err := newContent(string(raw))
	if err != nil {
		return nil, err
	}
	t.file.cache.put(number, c)
	return c, nil
}
