package fleet

import (
	"cmp"
	"slices"

	"svc/assess"
	"svc/backend/sliced"
)

// Fix is one in the order of fixes: a finding that keeps machines from being ready, to
// be mended or decided on. It counts as one for all machines that have it, however much
// it is on each.
type Fix struct {
	Key       string                 `json:"key"`
	Severity  assess.FindingSeverity `json:"severity"`
	Title     string                 `json:"title"`
	Inhibitor bool                   `json:"inhibitor"` // of one machine at least
	Machines  []string               `json:"machines"`  // that are not ready before it is done
	Ready     int                    `json:"ready"`     // machines of the fleet, once this and all fixes before it are done
}

// counted are the counts of a machine, and the findings that tell what they count: who
// has dealt with these has none left. Where none tells it, the count is a fix itself.
var counted = []struct {
	of      func(*Machine) int
	told    []string
	instead Finding
}{
	{func(m *Machine) int { return m.Questions }, []string{"packages.unknown", "packages.uncertain"}, Finding{Key: "packages.undecided", Severity: assess.Medium, Title: "Packages that a person has to decide on"}},
	{func(m *Machine) int { return m.Manual }, []string{"configuration.by-hand"}, Finding{Key: "configuration.by-hand", Severity: assess.Medium, Title: "Configuration that a person has to carry over"}},
}

// needs are what has to be done before a machine is ready, each once.
func needs(m *Machine) []Finding {
	if m.Error != "" {
		return nil
	}
	all := slices.Clone(m.Inhibitors)
	all = append(all, sliced.Filter(m.Findings, Finding.Work)...)
	for _, c := range counted {
		if c.of(m) > 0 && !slices.ContainsFunc(all, func(f Finding) bool { return slices.Contains(c.told, f.Key) }) {
			all = append(all, c.instead)
		}
	}
	seen := map[identity]bool{}
	return slices.DeleteFunc(all, func(f Finding) bool {
		again := seen[f.identity()]
		seen[f.identity()] = true
		return again
	})
}

// identity is what makes findings of several machines one: some keys are those of a
// kind, and the title tells of what.
type identity struct{ key, title string }

func (f Finding) identity() identity { return identity{f.Key, f.Title} }

func (f Finding) same(g Finding) bool { return f.identity() == g.identity() }

// waiting is a fix while the order is made.
type waiting struct {
	Fix
	machines []int
	hangs    int // the shares of the machines that could still be ready with it
	frees    int // machines whose last fix it is
}

// whole is what one machine is worth: its fixes share it, and most numbers of fixes
// divide it.
const whole = 720720

// fixes are what keeps machines from being ready, in an order in which few fixes make
// many of them ready. It is made from its end, greedily: the fix that the least hangs
// on comes last, and its machines count for no other from then on. A machine is worth
// one, which the fixes that it needs share.
func fixes(machines []Machine) []Fix {
	left, of, ready := waits(machines)
	var order []*waiting // from its end
	late := make([]bool, len(machines))
	for len(left) > 0 {
		last := slices.MinFunc(left, least)
		for _, i := range last.machines {
			if late[i] {
				continue
			}
			late[i] = true
			last.frees++
			for _, w := range of[i] {
				w.hangs -= whole / len(of[i])
			}
		}
		order = append(order, last)
		left = slices.DeleteFunc(left, func(w *waiting) bool { return w == last })
	}
	all := []Fix{}
	for _, w := range slices.Backward(order) {
		ready += w.frees
		w.Ready = ready
		all = append(all, w.Fix)
	}
	return all
}

// waits are the fixes, those of each machine, and how many machines need none.
func waits(machines []Machine) (all []*waiting, of [][]*waiting, ready int) {
	known := map[identity]*waiting{}
	of = make([][]*waiting, len(machines))
	for i := range machines {
		m := &machines[i]
		if m.Verdict == Ready {
			ready++
		}
		todo := needs(m)
		for _, f := range todo {
			w := known[f.identity()]
			if w == nil {
				w = &waiting{Fix: Fix{Key: f.Key, Severity: f.Severity, Title: f.Title}}
				known[f.identity()] = w
				all = append(all, w)
			}
			w.Inhibitor = w.Inhibitor || slices.ContainsFunc(m.Inhibitors, f.same)
			w.Machines, w.machines = append(w.Machines, m.Name), append(w.machines, i)
			w.hangs += whole / len(todo)
			of[i] = append(of[i], w)
		}
	}
	return all, of, ready
}

// least compares by how much hangs on a fix. Of equals, what stops a move goes before
// what does not, and the order of names decides the rest.
func least(a, b *waiting) int {
	stops := func(w *waiting) int {
		if w.Inhibitor {
			return 1
		}
		return 0
	}
	return cmp.Or(cmp.Compare(a.hangs, b.hangs), cmp.Compare(len(a.machines), len(b.machines)), cmp.Compare(stops(a), stops(b)), cmp.Compare(b.Key, a.Key), cmp.Compare(b.Title, a.Title))
}
