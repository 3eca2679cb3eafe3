package block

import (
	"slices"
	"testing"

	"github.com/matryer/is"
	"pgregory.net/rapid"
)

// TestCache compares with a list of what was used last.
func TestCache(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const limit = 10
		is := is.New(t)
		c, used := NewCache(limit), []int64{} // the size of a piece is its place
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			at := int64(rapid.IntRange(1, 12).Draw(t, "at"))
			i, built := slices.Index(used, at), false
			value, err := Kept(c, t, at, func() (int64, int, error) {
				built = true
				return -at, int(at), nil
			})
			is.NoErr(err)
			is.Equal(value, -at)
			is.Equal(built, i < 0)
			if i >= 0 {
				used = slices.Delete(used, i, i+1)
			}
			for used = append(used, at); total(used) > limit; {
				used = used[1:]
			}
			is.Equal(len(c.found), len(used))
			is.Equal(c.free, limit-int(total(used)))
		}
	})
}

func total(sizes []int64) (sum int64) {
	for _, size := range sizes {
		sum += size
	}
	return sum
}
