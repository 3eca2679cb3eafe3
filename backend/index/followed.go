package index

import "sync"

// What is kept of the courses that were followed: a machine's packages are asked
// for more than once, for what they become and for their configuration.
const (
	maxWays    = 16
	maxCourses = 4096 // of each way
)

// ways are the ways that were gone last.
type ways struct {
	mu  sync.Mutex
	all map[string]*followed
}

// way is what was followed from one release to another.
func (w *ways) way(name string) *followed {
	w.mu.Lock()
	defer w.mu.Unlock()
	f, ok := w.all[name]
	if ok {
		return f
	}
	if w.all == nil || len(w.all) >= maxWays {
		w.all = map[string]*followed{}
	}
	f = &followed{}
	w.all[name] = f
	return f
}

// followed are courses by canonical. The nil one keeps nothing.
type followed struct {
	mu      sync.RWMutex
	courses map[string]course
}

func (f *followed) get(canonical string) (course, bool) {
	if f == nil {
		return course{}, false
	}
	f.mu.RLock()
	defer f.mu.RUnlock()
	p, ok := f.courses[canonical]
	return p, ok
}

// expect makes room for some courses more.
func (f *followed) expect(n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.courses == nil {
		f.courses = make(map[string]course, min(n, maxCourses))
	}
}

func (f *followed) put(canonical string, p course) {
	if f == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.courses == nil || len(f.courses) >= maxCourses {
		f.courses = map[string]course{}
	}
	f.courses[canonical] = p
}
