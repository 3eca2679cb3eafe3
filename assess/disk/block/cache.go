package block

import (
	"container/list"
	"encoding/binary"
	"io"
	"sync"
)

// Cache keeps the pieces of images that were used last, up to a number of bytes
// in all. One serves all files of an image. It is safe for concurrent use.
type Cache struct {
	mu    sync.Mutex
	free  int
	used  list.List // of piece, last used first
	found map[key]*list.Element
}

type key struct {
	of any
	at int64
}

type piece struct {
	key
	value any
	size  int
}

// NewCache makes a cache of at most limit bytes.
func NewCache(limit int) *Cache { return &Cache{free: limit, found: map[key]*list.Element{}} }

// Get gives the piece at a place of something comparable, and makes it where
// the cache has it no more. Nobody may write to what it gives.
func (c *Cache) Get(of any, at int64, build func() ([]byte, error)) ([]byte, error) {
	return Kept(c, of, at, func() ([]byte, int, error) {
		b, err := build()
		return b, len(b), err
	})
}

// Kept is Get for what a piece was read as; build says how many bytes that takes.
// What belongs to one of or another is of one type.
func Kept[V any](c *Cache, of any, at int64, build func() (V, int, error)) (V, error) {
	k := key{of, at}
	if v, ok := c.look(k); ok {
		return v.(V), nil
	}
	v, size, err := build()
	if err == nil {
		c.keep(piece{k, v, size})
	}
	return v, err
}

func (c *Cache) look(k key) (any, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.found[k]
	if !ok {
		return nil, false
	}
	c.used.MoveToFront(e)
	return e.Value.(piece).value, true
}

// keep adds a piece, and drops those that were not used for longest.
func (c *Cache) keep(p piece) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.found[p.key]; ok {
		return // another made it at the same time
	}
	c.found[p.key] = c.used.PushFront(p)
	for c.free -= p.size; c.free < 0; {
		last := c.used.Back()
		dropped := c.used.Remove(last).(piece)
		delete(c.found, dropped.key)
		c.free += dropped.size
	}
}

// pageSize is what a table is read in.
const pageSize = 4096

// Tables reads the entries of an image's tables through a cache.
type Tables struct {
	file  Device
	cache *Cache
}

// NewTables reads tables of a file. The file is comparable.
func NewTables(file Device, cache *Cache) *Tables { return &Tables{file, cache} }

// Uint32 is the number at off, which is a multiple of 4.
func (t *Tables) Uint32(off int64, order binary.ByteOrder) (uint32, error) {
	b, err := t.entry(off, 4)
	if err != nil {
		return 0, err
	}
	return order.Uint32(b), nil
}

// Uint64 is the number at off, which is a multiple of 8.
func (t *Tables) Uint64(off int64, order binary.ByteOrder) (uint64, error) {
	b, err := t.entry(off, 8)
	if err != nil {
		return 0, err
	}
	return order.Uint64(b), nil
}

// entry gives n bytes at off, which don't cross a page.
func (t *Tables) entry(off int64, n int) ([]byte, error) {
	in := int(off % pageSize)
	if off < 0 || in+n > pageSize {
		return nil, Damaged("a table entry at %d", off)
	}
	page, err := t.cache.Get(t, off-int64(in), func() ([]byte, error) { return t.page(off - int64(in)) })
	if err != nil {
		return nil, err
	}
	if len(page) < in+n {
		return nil, Damaged("a table entry at %d lies beyond the end of the file", off)
	}
	return page[in : in+n], nil
}

// page reads the page at off, less of it where the file ends.
func (t *Tables) page(off int64) ([]byte, error) {
	if off >= t.file.Size() {
		return nil, Damaged("a table at %d lies beyond the end of the file", off)
	}
	b := make([]byte, min(pageSize, t.file.Size()-off))
	if _, err := t.file.ReadAt(b, off); err != nil && err != io.EOF {
		return nil, err
	}
	return b, nil
}
