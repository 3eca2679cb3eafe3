package ext4

import (
	"container/list"
	"sync"
)

// cache keeps what was used last, up to a sum of costs. It is safe for
// concurrent use; two that miss at once both load.
type cache[K comparable, V any] struct {
	mu    sync.Mutex
	limit int
	free  int
	order list.List // of *kept, the last used first
	items map[K]*list.Element
}

type kept[K comparable, V any] struct {
	key   K
	value V
	cost  int
}

func newCache[K comparable, V any](limit int) *cache[K, V] {
	return &cache[K, V]{limit: limit, free: limit, items: map[K]*list.Element{}}
}

func (c *cache[K, V]) get(key K) (V, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.items[key]
	if !ok {
		var none V
		return none, false
	}
	c.order.MoveToFront(e)
	return e.Value.(*kept[K, V]).value, true
}

// put keeps a value, and lets go of others until there is room for it, but not
// of more than half of them.
func (c *cache[K, V]) put(key K, value V, cost int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.items[key]; ok || cost > c.limit/2 {
		return
	}
	c.items[key] = c.order.PushFront(&kept[K, V]{key, value, cost})
	c.free -= cost
	for c.free < 0 {
		last := c.order.Remove(c.order.Back()).(*kept[K, V])
		delete(c.items, last.key)
		c.free += last.cost
	}
}
