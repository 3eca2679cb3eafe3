package several

import (
	"fmt"
	"maps"
	"slices"
	"sync"
)

// Warnings are those of many machines, of which most have the same. Its zero value has
// none; it is safe for concurrent use.
type Warnings struct {
	mu sync.Mutex
	of map[string][]string // machines by warning
}

// Add takes the warnings of a machine.
func (w *Warnings) Add(machine string, warnings []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.of == nil {
		w.of = map[string][]string{}
	}
	for _, text := range warnings {
		w.of[text] = append(w.of[text], machine)
	}
}

// Lines has each warning once, with whose it is.
func (w *Warnings) Lines() (all []string) {
	for _, text := range slices.Sorted(maps.Keys(w.of)) {
		whose := slices.Min(w.of[text])
		if n := len(w.of[text]) - 1; n > 0 {
			whose += fmt.Sprintf(" and %d more", n)
		}
		all = append(all, whose+": "+text)
	}
	return all
}
