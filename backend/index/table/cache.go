package table

import "sync"

// generation is how many blocks of 32 kB one generation of the cache holds.
const generation = 512

// cache keeps the blocks read last: what is read moves to the young
// generation, and once that is full the old one is dropped. So it holds at most
// two generations, 32 MB.
type cache struct {
	mu         sync.Mutex
	young, old map[int]content
}

func (c *cache) get(number int) (content, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if block, ok := c.young[number]; ok {
		return block, true
	}
	block, ok := c.old[number]
	if ok {
		c.add(number, block)
	}
	return block, ok
}

func (c *cache) put(number int, block content) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.add(number, block)
}

func (c *cache) add(number int, block content) {
	if c.young == nil || len(c.young) >= generation {
		c.old, c.young = c.young, map[int]content{}
	}
	c.young[number] = block
}
