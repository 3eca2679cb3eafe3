package index

import (
	"sync"

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
	all map[string]followed
}

// way is what was followed from one release to another.
func (w *ways) way(name string) followed {
	w.mu.Lock()
	defer w.mu.Unlock()
	f, ok := w.all[name]
	if ok {
		return f
	}
	if w.all == nil || len(w.all) >= maxWays {
		w.all = map[string]followed{}
	}
	f = followed{&memo[course]{}, &memo[api.Translation]{}, &memo[[]api.Relocation]{}}
	w.all[name] = f
	return f
}

// followed is what became of canonicals. The zero one keeps nothing.
type followed struct {
	courses     *memo[course]
	answers     *memo[api.Translation]
	relocations *memo[[]api.Relocation]
}

// memo is what was found for canonicals. The nil one keeps nothing.
type memo[V any] struct {
	mu  sync.RWMutex
	all map[string]V
}

// expect makes room for some more.
func (m *memo[V]) expect(n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.all == nil {
		m.all = make(map[string]V, min(n, maxCourses))
	}
}

// once is what find gives for a canonical. It is shared: nobody may change it.
func (m *memo[V]) once(canonical string, find func(string) (V, error)) (V, error) {
	if m == nil {
		return find(canonical)
	}
	m.mu.RLock()
	v, ok := m.all[canonical]
	m.mu.RUnlock()
	if ok {
		return v, nil
	}
	v, err := find(canonical)
	if err == nil {
		m.keep(canonical, v)
	}
	return v, err
}

func (m *memo[V]) keep(canonical string, v V) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.all == nil || len(m.all) >= maxCourses {
		m.all = map[string]V{}
	}
	m.all[canonical] = v
}
