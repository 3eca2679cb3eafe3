package fleet

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"svc/backend/sliced"
)

// alike is the share of two machines' packages, files and findings, of all that
// either has, from which on they are one group.
const alike = 0.9

// group parts the machines that were read into groups: each joins the first group
// of its release and verdict whose first machine is like it. The largest comes first.
func group(read []Read) []Group {
	type leader struct {
		features []uint64
		verdict  Verdict
		Group
	}
	var leaders []*leader
	for i := range read {
		r := &read[i]
		if r.Machine.Verdict == Unreadable {
			continue
		}
		at := slices.IndexFunc(leaders, func(l *leader) bool {
			return l.Source == r.Machine.Source && l.verdict == r.Machine.Verdict && similar(l.features, r.Features) >= alike
		})
		if at < 0 {
			at = len(leaders)
			leaders = append(leaders, &leader{r.Features, r.Machine.Verdict, Group{Name: r.Machine.Name, Source: r.Machine.Source}})
		}
		r.Machine.Group = leaders[at].Name
		leaders[at].Machines = append(leaders[at].Machines, r.Machine.Name)
	}
	groups := append([]Group{}, sliced.Map(leaders, func(l *leader) Group { return l.Group })...)
	slices.SortStableFunc(groups, func(a, b Group) int { return cmp.Compare(len(b.Machines), len(a.Machines)) })
	return groups
}

// similar is the share of what two sorted lists have in common, of all that is in
// either: Jaccard's measure.
func similar(a, b []uint64) float64 {
	both, i, j := 0, 0, 0
	for i < len(a) && j < len(b) {
		switch {
		case a[i] == b[j]:
			both, i, j = both+1, i+1, j+1
		case a[i] < b[j]:
			i++
		default:
			j++
		}
	}
	if len(a)+len(b) == 0 {
		return 1
	}
	return float64(both) / float64(len(a)+len(b)-both)
}

// depend finds which machines' configuration names others of the fleet. A name that
// several machines have says nothing.
func depend(read []Read) {
	owner := map[uint64]string{}
	for _, r := range read {
		for _, name := range r.Names {
			if other, taken := owner[name]; taken && other != r.Machine.Name {
				owner[name] = ""
				continue
			}
			owner[name] = r.Machine.Name
		}
	}
	for i := range read {
		m := &read[i].Machine
		m.DependsOn = []string{}
		for _, name := range read[i].Mentions {
			if on := owner[name]; on != "" && on != m.Name && !slices.Contains(m.DependsOn, on) {
				m.DependsOn = append(m.DependsOn, on)
			}
		}
		slices.Sort(m.DependsOn)
	}
}

// ToDo is how much of a machine is for a person: questions, files and findings.
func (m *Machine) ToDo() int {
	return m.Questions + m.Manual + sliced.Count(m.Findings, Finding.Work)
}

// Sizes of the waves of machines with work, by what there is to do: those with little
// go before those with much.
const little = 5

// waves are the order of the move: a pilot of each group; what is ready; what has
// little to do; what has more. No machine moves before one that its configuration
// names. What is blocked or unreadable is in no wave.
func waves(read []Read) []Wave {
	machines := map[string]*Machine{}
	for i := range read {
		if m := &read[i].Machine; m.Verdict == Ready || m.Verdict == Work {
			machines[m.Name] = m
			m.Wave = waveOf(m)
		}
	}
	for _, pilot := range pilots(read) {
		machines[pilot].Wave = 1
	}
	for changed := true; changed; { // numbers only grow, and none beyond the last wave
		changed = false
		for i := range read {
			m := machines[read[i].Machine.Name]
			if m == nil {
				continue
			}
			for _, on := range m.DependsOn {
				if p := machines[on]; p != nil && p.Wave > m.Wave {
					m.Wave, changed = p.Wave, true
				}
			}
		}
	}
	all := []Wave{}
	for n, why := range waveReasons {
		w := Wave{Number: n + 1, Machines: []string{}, Why: why}
		for i := range read {
			if read[i].Machine.Wave == n+1 {
				w.Machines = append(w.Machines, read[i].Machine.Name)
			}
		}
		if late := held(w, machines); late != "" {
			w.Why += "; " + late
		}
		if len(w.Machines) > 0 {
			all = append(all, w)
		}
	}
	return renumbered(all, machines)
}

// waveReasons say what is in each wave.
var waveReasons = []string{
	"a pilot of each group: what it teaches serves all of its group",
	"ready: nothing for a person beyond the ordered steps",
	fmt.Sprintf("at most %d things to do on each", little),
	"more to do",
}

// waveOf is the wave of a machine that is no pilot and depends on nothing.
func waveOf(m *Machine) int {
	switch {
	case m.Verdict == Ready:
		return 2
	case m.ToDo() <= little:
		return 3
	}
	return 4
}

// pilots are one machine of each group: that on which the least depends to be done,
// with the least data.
func pilots(read []Read) (names []string) {
	best := map[string]*Machine{}
	for i := range read {
		m := &read[i].Machine
		if m.Verdict != Ready && m.Verdict != Work {
			continue
		}
		b := best[m.Group]
		if b == nil || cmp.Or(cmp.Compare(len(m.DependsOn), len(b.DependsOn)), cmp.Compare(m.ToDo(), b.ToDo()), cmp.Compare(m.DataBytes, b.DataBytes)) < 0 {
			best[m.Group] = m
		}
	}
	for _, m := range best {
		names = append(names, m.Name)
	}
	slices.Sort(names)
	return names
}

// held says which machines of a wave are there only because of others that they name.
func held(w Wave, machines map[string]*Machine) string {
	var late []string
	for _, name := range w.Machines {
		m := machines[name]
		if waveOf(m) >= w.Number || w.Number == 1 {
			continue
		}
		for _, on := range m.DependsOn {
			if p := machines[on]; p != nil && p.Wave == w.Number {
				late = append(late, name+" with "+on+", which its configuration names")
				break
			}
		}
	}
	return strings.Join(late, "; ")
}

// renumbered counts the waves that have machines from 1 on.
func renumbered(all []Wave, machines map[string]*Machine) []Wave {
	for i := range all {
		all[i].Number = i + 1
		for _, name := range all[i].Machines {
			machines[name].Wave = i + 1
		}
	}
	return all
}
