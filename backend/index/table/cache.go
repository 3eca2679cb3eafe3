package table

import "sync"

// generation is how many blocks of 32 kB one generation of the cache holds.
const generation = 256

// cache keeps the blocks read last: what is read moves to the young
// generation, and once that is full the old one is dropped. So it holds at most
// two generations, 16 MB.
type cache struct {
	mu         sync.Mutex
	young, old map[int]string
}

func (c *cache) get(number int) (string, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if text, ok := c.young[number]; ok {
		return text, true
	}
	text, ok := c.old[number]
	if ok {
		c.add(number, text)
	}
	return text, ok
}

func (c *cache) put(number int, text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.add(number, text)
}

func (c *cache) add(number int, text string) {
	if c.young == nil || len(c.young) >= generation {
		c.old, c.young = c.young, make(map[int]string, generation)
	}
	c.young[number] = text
}
