package index

import (
	"sync"

	"svc/backend/index/course"
	"svc/backend/index/lookup"
	"svc/backend/index/translate"
	"svc/backend/sliced"
)

// What is kept of what was followed: of a machine's packages it is asked where they go,
// and then where their configuration goes, and those of many machines are the same.
const (
	maxPaths   = 16
	maxCourses = 4096 // of each path
)

// paths are the ways between releases that were asked for last.
type paths struct {
	mu  sync.Mutex
	all map[[2]*lookup.Release]*path
}

// path is a way between two releases, with what became of canonicals on it.
type path struct {
	*translate.Path
	mu      sync.Mutex
	courses map[string]*course.Course // nobody may change one
}

// between is the path from one release to another, which is found once.
func (w *paths) between(ix *lookup.Tables, from, to *lookup.Release) *path {
	w.mu.Lock()
	defer w.mu.Unlock()
	ends := [2]*lookup.Release{from, to}
	h, ok := w.all[ends]
	if ok {
		return h
	}
	if w.all == nil || len(w.all) >= maxPaths {
		w.all = map[[2]*lookup.Release]*path{}
	}
	h = &path{Path: translate.Between(ix, from, to)}
	w.all[ends] = h
	return h
}

// follow gives what became of each of some canonicals to use, with the path for this call.
func (h *path) follow(canonicals []string, use func(way *translate.Path, i int, p *course.Course) error) error {
	way, known := h.Anew(), h.known(canonicals)
	var followed []course.Course // those that were not known
	for i, canonical := range canonicals {
		p := known[i]
		if p == nil {
			if followed == nil {
				followed = make([]course.Course, 0, len(canonicals)-i)
			}
			followed = followed[:len(followed)+1]
			p = &followed[len(followed)-1]
			way.Follow(p, canonical)
		}
		if err := use(way, i, p); err != nil {
			return err
		}
	}
	h.keep(canonicals, known, followed)
	return nil
}

// known are the courses of those canonicals that were followed before.
func (h *path) known(canonicals []string) []*course.Course {
	h.mu.Lock()
	defer h.mu.Unlock()
	return sliced.Map(canonicals, func(canonical string) *course.Course { return h.courses[canonical] })
}

// keep keeps the courses of those canonicals that were not known. Where there would be too
// many, those before are forgotten.
func (h *path) keep(canonicals []string, known []*course.Course, followed []course.Course) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i, canonical := range canonicals {
		if known[i] != nil {
			continue
		}
		if h.courses == nil || len(h.courses) >= maxCourses {
			h.courses = make(map[string]*course.Course, min(len(canonicals)-i, maxCourses))
		}
		h.courses[canonical], followed = &followed[0], followed[1:]
	}
}
