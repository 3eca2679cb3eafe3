package index

import (
	"sync"
	"sync/atomic"

	"svc/backend/api"
)

// What is kept of what was followed: a machine's packages are asked for more than
// once, and those of many machines are the same.
const (
	maxWays    = 16
	maxCourses = 4096 // of each way
)

// ways are the ways that were gone last.
type ways struct {
	mu  sync.Mutex
	all map[[2]*releaseTables]*hops
}

// way is the way from one release to another, which is found once.
func (w *ways) way(from, to *releaseTables, find func(from, to *releaseTables) *hops) *hops {
	w.mu.Lock()
	defer w.mu.Unlock()
	ends := [2]*releaseTables{from, to}
	h, ok := w.all[ends]
	if ok {
		return h
	}
	if w.all == nil || len(w.all) >= maxWays {
		w.all = map[[2]*releaseTables]*hops{}
	}
	h = find(from, to)
	w.all[ends] = h
	return h
}

// followed is what became of canonicals.
type followed struct {
	mu  sync.Mutex
	all map[string]*outcome
}

// outcome is what became of a canonical, as far as it was asked for. It is
// shared: nobody may change it.
type outcome struct {
	course      once[course]
	answer      once[api.Translation]
	relocations once[[]api.Relocation]
}

// of are the outcomes of some canonicals, which may still be to be found.
func (f *followed) of(canonicals []string) []*outcome {
	f.mu.Lock()
	defer f.mu.Unlock()
	all := make([]*outcome, len(canonicals))
	for i, canonical := range canonicals {
		o, ok := f.all[canonical]
		if !ok {
			o = f.add(canonical, len(canonicals)-i)
		}
		all[i] = o
	}
	return all
}

// add begins an outcome; some more are to follow.
func (f *followed) add(canonical string, more int) *outcome {
	if f.all == nil || len(f.all) >= maxCourses {
		f.all = make(map[string]*outcome, min(more, maxCourses))
	}
	o := &outcome{}
	f.all[canonical] = o
	return o
}

// once is a value that is found the first time that it is asked for. Several may
// find it at the same time: they find the same.
type once[V any] struct{ found atomic.Pointer[V] }

func (o *once[V]) get(find func() (V, error)) (*V, error) {
	if v := o.found.Load(); v != nil {
		return v, nil
	}
	v, err := find()
	if err != nil {
		return nil, err
	}
	o.found.Store(&v)
	return &v, nil
}
