package session

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestShared gives each thing to one part, and no part much more than the least.
func TestShared(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := rapid.SliceOf(rapid.Int64Range(0, 1<<40)).Draw(t, "all")
		parts := shared(all, func(bytes int64) int64 { return bytes })
		if len(all) > 0 && len(parts) == 0 || len(parts) > MaxReaders {
			t.Fatalf("%d parts of %d", len(parts), len(all))
		}
		if got, want := slices.Sorted(slices.Values(slices.Concat(parts...))), slices.Sorted(slices.Values(all)); !slices.Equal(got, want) {
			t.Fatalf("%v of %v", got, want)
		}
		var taken []int64
		for _, part := range parts {
			var sum int64
			for _, bytes := range part {
				sum += bytes + pageBytes
			}
			taken = append(taken, sum)
		}
		if len(parts) > 0 && slices.Max(taken)-slices.Min(taken) > slices.Max(all)+pageBytes {
			t.Fatalf("uneven: %v", taken)
		}
	})
}
