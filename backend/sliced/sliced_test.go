package sliced

import (
	"slices"
	"strconv"
	"testing"

	"github.com/matryer/is"
	"pgregory.net/rapid"
)

func TestOfNoneIsNil(t *testing.T) {
	is := is.New(t)
	is.True(Map([]int{}, strconv.Itoa) == nil)
	is.True(Filter([]int{1, 3}, even) == nil)
	is.True(FilterMap([]int{1, 3}, halved) == nil)
	is.True(FlatMap([]int{0}, counted) == nil)
}

func TestMadeOfEachInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		is := is.New(t)
		all := rapid.SliceOf(rapid.Int()).Draw(t, "all")
		before := slices.Clone(all)
		texts, some := Map(all, strconv.Itoa), Filter(all, even)
		is.Equal(all, before) // neither changes what it is given
		is.Equal(len(texts), len(all))
		for i, n := range all {
			is.Equal(texts[i], strconv.Itoa(n))
		}
		is.True(slices.Equal(some, slices.DeleteFunc(before, func(n int) bool { return !even(n) })))
		is.Equal(FilterMap(all, halved), Map(some, func(n int) int { return n / 2 }))
	})
}

func TestFirstThatIsWanted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		is := is.New(t)
		all := rapid.SliceOf(rapid.Int()).Draw(t, "all")
		some := Filter(all, even)
		found, ok := Find(all, even)
		is.Equal(ok, len(some) > 0)
		is.Equal(First(all, even), found)
		is.Equal(Count(all, even), len(some))
		at := Pointer(all, even)
		is.Equal(at != nil, ok)
		if ok {
			is.Equal(found, some[0])
			*at = 1
			is.Equal(Count(all, even), len(some)-1) // it points into the slice
		}
	})
}

func TestIndexedByWhatAFunctionMakes(t *testing.T) {
	is := is.New(t)
	is.Equal(Set([]int{2, 1, 2}), map[int]bool{1: true, 2: true})
	is.Equal(SetOf([]int{2, 1}, strconv.Itoa), map[string]bool{"1": true, "2": true})
	is.Equal(Index([]int{1, 2, 4}, func(n int) (bool, int) { return even(n), n }), map[bool]int{false: 1, true: 4}) // the later one
	is.True(Set([]int(nil)) != nil)
}

func TestAllThatIsMadeOfEach(t *testing.T) {
	is.New(t).Equal(FlatMap([]int{2, 0, 3}, counted), []int{0, 1, 0, 1, 2})
}

func even(n int) bool { return n%2 == 0 }

func halved(n int) (int, bool) { return n / 2, even(n) }

// counted are the numbers before one.
func counted(n int) (all []int) {
	for i := range n {
		all = append(all, i)
	}
	return all
}
