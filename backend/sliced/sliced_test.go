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

func even(n int) bool { return n%2 == 0 }
