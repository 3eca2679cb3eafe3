package table

import (
	"sync"
	"sync/atomic"
)

// maxUnpacked bounds how many blocks of 32 kB are kept unpacked: 32 MB.
const maxUnpacked = 1024

// cache keeps the blocks that are unpacked. Reading takes no lock. Where a block
// is one too many, the hand goes round as that of a clock: a block that was read
// since it last came by stays, the first that was not goes.
type cache struct {
	slots []slot
	mu    sync.Mutex // of what follows
	count int
	hand  int
}

type slot struct {
	block atomic.Pointer[content]
	read  atomic.Bool
}

func (c *cache) get(number int) *content {
	s := &c.slots[number]
	block := s.block.Load()
	if block != nil && !s.read.Load() {
		s.read.Store(true)
	}
	return block
}

func (c *cache) put(number int, block *content) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.count >= maxUnpacked {
		c.evict()
	}
	if c.slots[number].block.Swap(block) == nil {
		c.count++
	}
}

func (c *cache) evict() {
	for {
		s := &c.slots[c.hand]
		c.hand = (c.hand + 1) % len(c.slots)
		if s.block.Load() != nil && !s.read.Swap(false) {
			s.block.Store(nil)
			c.count--
			return
		}
	}
}
