// Package sliced has what package slices lacks: what becomes of a slice by a function.
package sliced

import "slices"

// Map is what a function makes of each; nil where there is none.
func Map[T, R any](all []T, of func(T) R) []R {
	if len(all) == 0 {
		return nil
	}
	made := make([]R, len(all))
	for i, one := range all {
		made[i] = of(one)
	}
	return made
}

// Filter are those that are wanted, in their order; nil where none is. The slice that they
// are taken from stays as it is.
func Filter[T any](all []T, wanted func(T) bool) (some []T) {
	for _, one := range all {
		if wanted(one) {
			some = append(some, one)
		}
	}
	return some
}

// FilterMap is what a function makes of those that it says are wanted, in their order; nil
// where none is.
func FilterMap[T, R any](all []T, of func(T) (made R, wanted bool)) (some []R) {
	for _, one := range all {
		if made, wanted := of(one); wanted {
			some = append(some, made)
		}
	}
	return some
}

// FlatMap is all that a function makes of each, one after the other; nil where that is
// nothing.
func FlatMap[T, R any](all []T, of func(T) []R) (made []R) {
	for _, one := range all {
		made = append(made, of(one)...)
	}
	return made
}

// Find is the first that is wanted, and whether there is one.
func Find[T any](all []T, wanted func(T) bool) (found T, ok bool) {
	if i := slices.IndexFunc(all, wanted); i >= 0 {
		return all[i], true
	}
	return found, false
}

// First is the first that is wanted; the zero value where none is.
func First[T any](all []T, wanted func(T) bool) T {
	found, _ := Find(all, wanted)
	return found
}

// Pointer is that of the first that is wanted, in the slice itself; nil where none is.
func Pointer[T any](all []T, wanted func(T) bool) *T {
	if i := slices.IndexFunc(all, wanted); i >= 0 {
		return &all[i]
	}
	return nil
}

// Count is how many are wanted.
func Count[T any](all []T, wanted func(T) bool) (n int) {
	for _, one := range all {
		if wanted(one) {
			n++
		}
	}
	return n
}

// Set has each of them.
func Set[K comparable](all []K) map[K]bool {
	return SetOf(all, func(one K) K { return one })
}

// SetOf has what a function makes of each.
func SetOf[T any, K comparable](all []T, of func(T) K) map[K]bool {
	return Index(all, func(one T) (K, bool) { return of(one), true })
}

// Index has what a function makes of each, by the key that it gives; where two have the
// same key, what it made of the later one.
func Index[T any, K comparable, V any](all []T, of func(T) (K, V)) map[K]V {
	made := make(map[K]V, len(all))
	for _, one := range all {
		key, value := of(one)
		made[key] = value
	}
	return made
}
