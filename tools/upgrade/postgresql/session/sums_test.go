package session

import (
	"strings"
	"testing"

	"github.com/matryer/is"
	"pgregory.net/rapid"

	"svc/tools/upgrade/engine"
	"svc/tools/upgrade/setsum"
)

func TestSumsOfRows(t *testing.T) {
	is := is.New(t)
	one, err := readSums(strings.NewReader("\\= 0\na\tb\nc\\\\= 1\td\n\\= 1\n\n\n"), 2, &engine.Reach{})
	is.NoErr(err)
	is.Equal(one[0].Count, int64(2))
	is.Equal(one[1].Count, int64(2)) // of no columns
	other, err := readSums(strings.NewReader("\\= 1\n\n\n\\= 0\nc\\\\= 1\td\na\tb\n"), 2, &engine.Reach{})
	is.NoErr(err)
	is.Equal(one, other) // whatever the order
	for _, bad := range []string{"a\n", "\\= 2\n", "\\= x\n", "\\= 0\nhalf a row"} {
		_, err := readSums(strings.NewReader(bad), 2, &engine.Reach{})
		is.True(err != nil)
	}
}

// TestSumsOfAnyRows tells tables apart that differ in anything but their order.
func TestSumsOfAnyRows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows := rapid.SliceOfN(rapid.StringMatching(`[a-c]{0,3}`), 1, 20).Draw(t, "rows")
		long := strings.Repeat("x", rapid.SampledFrom([]int{0, 1, 300 << 10}).Draw(t, "long")) // longer than what is read at a time
		of := func(rows []string) setsum.Sum {
			text := "\\= 0\n"
			for _, row := range rows {
				text += long + row + "\n"
			}
			sums, err := readSums(strings.NewReader(text), 1, &engine.Reach{})
			if err != nil {
				t.Fatal(err)
			}
			return sums[0]
		}
		if of(rows) != of(rapid.Permutation(rows).Draw(t, "permuted")) {
			t.Fatal("the order counts")
		}
		i := rapid.IntRange(0, len(rows)-1).Draw(t, "changed")
		changed := append([]string{}, rows...)
		changed[i] += "d"
		if of(rows) == of(changed) || of(rows) == of(rows[1:]) {
			t.Fatal("a change does not count")
		}
	})
}
