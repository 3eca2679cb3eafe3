package ext4

import (
	"testing"

	"github.com/matryer/is"
	"pgregory.net/rapid"
)

// TestCache compares with a list of what was used last.
func TestCache(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const limit = 10
		is := is.New(t)
		c, used := newCache[int, int](limit), []int{} // the cost of a key is the key
		forget := func(key int) {
			for i, other := range used {
				if other == key {
					used = append(used[:i], used[i+1:]...)
					return
				}
			}
		}
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			key := rapid.IntRange(1, 7).Draw(t, "key")
			known := len(used)
			forget(key)
			value, ok := c.get(key)
			is.Equal(ok, len(used) < known)
			if ok {
				is.Equal(value, -key)
			}
			c.put(key, -key, key)
			if ok || key <= limit/2 {
				used = append(used, key)
			}
			for total(used) > limit {
				used = used[1:]
			}
			is.Equal(len(c.items), len(used))
			is.Equal(c.free, limit-total(used))
		}
	})
}

func total(costs []int) (sum int) {
	for _, cost := range costs {
		sum += cost
	}
	return sum
}
