package edits

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestDifferencesLeadFromOneTextToTheOther: with what they say, the first text
// becomes the second.
func TestDifferencesLeadFromOneTextToTheOther(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.SliceOf(rapid.SampledFrom([]string{"a", "b", "c", "d"}))
		was, now := text.Draw(t, "was"), text.Draw(t, "now")
		got, left := []string{}, was
		for _, c := range Between(was, now) {
			for len(got) < c.Line-1 {
				got, left = append(got, left[0]), left[1:]
			}
			if c.Was != "" {
				if left[0] != c.Was {
					t.Fatalf("%q is not %q", left[0], c.Was)
				}
				left = left[1:]
			}
			if c.Now != "" {
				got = append(got, c.Now)
			}
		}
		if got = append(got, left...); strings.Join(got, "") != strings.Join(now, "") {
			t.Fatalf("%q is not %q", got, now)
		}
	})
}
