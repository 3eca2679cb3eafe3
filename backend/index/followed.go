package index

import (
	"sync"

	"svc/backend/api"
	"svc/backend/index/course"
	"svc/backend/index/lookup"
	"svc/backend/index/translate"
)

// What is kept of what was followed: a machine's packages are asked for more than
// once, and those of many machines are the same.
const (
	maxPaths   = 16
	maxCourses = 4096 // of each path
)

// keptPath is a way between two releases, with what was followed on it.
type keptPath struct {
	*translate.Path
	followed
}

// paths are those that were asked for last.
type paths struct {
	mu  sync.Mutex
	all map[[2]*lookup.Release]*keptPath
}

// path is that from one release to another, which is found once.
func (w *paths) path(from, to *lookup.Release, find func() *keptPath) *keptPath {
	w.mu.Lock()
	defer w.mu.Unlock()
	ends := [2]*lookup.Release{from, to}
	h, ok := w.all[ends]
	if ok {
		return h
	}
	if w.all == nil || len(w.all) >= maxPaths {
		w.all = map[[2]*lookup.Release]*keptPath{}
	}
	h = find()
	w.all[ends] = h
	return h
}

// followed is what became of canonicals.
type followed struct {
	mu   sync.Mutex
	all  map[string]*outcome
	free []outcome // room for more
}

// outcome is what became of a canonical, as far as it was asked for. It is
// shared: nobody may change it.
type outcome struct {
	mu          sync.Mutex
	followed    bool // there is a course
	course      course.Course
	answer      once[api.Translation]
	relocations once[[]api.Relocation]
}

// of are the outcomes of some canonicals, which may still be to be found.
func (f *followed) of(canonicals []string) []*outcome {
	f.mu.Lock()
	defer f.mu.Unlock()
	all := make([]*outcome, len(canonicals))
	for i, canonical := range canonicals {
		if all[i] = f.all[canonical]; all[i] == nil {
			all[i] = f.add(canonical, len(canonicals)-i)
		}
	}
	return all
}

// add keeps one of some outcomes that may follow. Where there would be too many,
// those before are forgotten.
func (f *followed) add(canonical string, more int) *outcome {
	if f.all == nil || len(f.all) >= maxCourses {
		f.all = make(map[string]*outcome, min(more, maxCourses))
	}
	if len(f.free) == 0 {
		f.free = make([]outcome, more)
	}
	o := &f.free[0]
	f.all[canonical], f.free = o, f.free[1:]
	return o
}

// once is a part of an outcome that is found the first time that it is asked for.
type once[V any] struct {
	found bool
	value V
}

// part gives a part of an outcome, or the error with which it is not found.
func part[V any](o *outcome, p *once[V], find func() (V, error)) (*V, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if p.found {
		return &p.value, nil
	}
	var err error
	p.value, err = find()
	p.found = err == nil
	return &p.value, err
}
