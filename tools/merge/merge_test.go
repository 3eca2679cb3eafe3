package merge

import (
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"
	"pgregory.net/rapid"
)

// merged is the whole result, with clashes as A Base | Ours | Theirs Z.
func merged(base, ours, theirs []string) (lines []string, clashes int) {
	for _, p := range Lines(base, ours, theirs) {
		if agreed, ok := p.Lines(); ok {
			lines = append(lines, agreed...)
			continue
		}
		clashes++
		lines = slices.Concat(lines, []string{"<"}, p.Ours, []string{"|"}, p.Theirs, []string{">"})
	}
	return lines, clashes
}

func TestMerges(t *testing.T) {
	for _, c := range []struct{ name, base, ours, theirs, want string }{
		{"each changed another line", "a b c d e", "a B c d e", "a b c D e", "a B c D e"},
		{"the target left one out", "a b c", "a b c d", "a c", "a c d"},
		{"a person left one out", "a b c", "a c", "a b c d", "a c d"},
		{"both the same", "a b c", "a X c", "a X c", "a X c"},
		{"both changed a line", "a b c", "a X c", "a Y c", "a < X | Y > c"},
		{"one changed what the other left out", "a b c", "a X c", "a c", "a < X |  > c"},
		{"both added at the same place", "a b", "a X b", "a Y b", "a < X | Y > b"},
		{"neighbours are one place", "a b c d", "a X c d", "a b Y d", "a < X c | b Y > d"},
		{"empty", "", "", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, _ := merged(strings.Fields(c.base), strings.Fields(c.ours), strings.Fields(c.theirs))
			is.New(t).Equal(strings.Join(got, " "), strings.Join(strings.Fields(c.want), " "))
		})
	}
}

// TestLinesThatAreAloneAreHeldOnTo: a block that was put before another that ends
// alike does not tear that apart.
func TestLinesThatAreAloneAreHeldOnTo(t *testing.T) {
	is := is.New(t)
	a := strings.Split("one {\nx\n}\n\ntwo {\ny\n}", "\n")
	b := strings.Split("one {\nx\n}\n\nnew {\nz\n}\n\ntwo {\ny\n}", "\n")
	is.Equal(Common(a, b), []int{0, 1, 2, 3, 8, 9, 10})
}

func texts(t *rapid.T) (base, ours, theirs []string) {
	text := rapid.SliceOfN(rapid.SampledFrom(strings.Fields("a b c d e f g h")), 0, 14)
	return text.Draw(t, "base"), text.Draw(t, "ours"), text.Draw(t, "theirs")
}

func TestWhatHoldsOfEveryMerge(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		base, ours, theirs := texts(t)
		holds(t, base, ours, theirs)
	})
}

// holds checks what holds of every merge: no line of any side is lost, who did
// not change anything has no say, and both sides are alike to it.
func holds(t interface{ Errorf(string, ...any) }, base, ours, theirs []string) {
	parts := Lines(base, ours, theirs)
	whole := func(side func(Part) []string) (lines []string) {
		for _, p := range parts {
			lines = append(lines, side(p)...)
		}
		return lines
	}
	for name, same := range map[string]bool{
		"the base is whole":   slices.Equal(whole(func(p Part) []string { return p.Base }), base),
		"ours is whole":       slices.Equal(whole(func(p Part) []string { return p.Ours }), ours),
		"theirs is whole":     slices.Equal(whole(func(p Part) []string { return p.Theirs }), theirs),
		"ours unchanged":      becomes(base, base, theirs, theirs),
		"theirs unchanged":    becomes(base, ours, base, ours),
		"both alike":          becomes(base, ours, ours, ours),
		"clashes are clashes": clashes(base, ours, theirs) == clashes(base, theirs, ours),
	} {
		if !same {
			t.Errorf("%s: not so for %q, %q, %q", name, base, ours, theirs)
		}
	}
	last := -1
	for i, at := range Common(base, ours) {
		if at >= 0 && (at <= last || base[i] != ours[at]) {
			t.Errorf("line %d of %q is not line %d of %q, or out of order", i, base, at, ours)
		}
		last = max(last, at)
	}
}

func becomes(base, ours, theirs, want []string) bool {
	got, clashes := merged(base, ours, theirs)
	return clashes == 0 && slices.Equal(got, want)
}

func clashes(base, ours, theirs []string) int {
	_, n := merged(base, ours, theirs)
	return n
}

func FuzzLines(f *testing.F) {
	f.Add("a\nb\nc", "a\nx\nc", "a\nb\ny")
	f.Add("", "\n\n", "\n")
	f.Fuzz(func(t *testing.T, base, ours, theirs string) {
		if len(base)+len(ours)+len(theirs) < 4000 {
			holds(t, strings.Split(base, "\n"), strings.Split(ours, "\n"), strings.Split(theirs, "\n"))
		}
	})
}
