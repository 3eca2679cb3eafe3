// Package fleet says of many machines which can move to a release, what each needs,
// what they cost together, and in which order to begin. It is pure.
package fleet

import (
	"cmp"
	"slices"
	"strings"

	"svc/assess"
	"svc/backend/sliced"
)

// Schema names the form of fleet.json.
const Schema = "svc.fleet/v1"

// Verdict is the answer for one machine.
type Verdict string

// The verdicts, by these rules: a machine that could not be read is unreadable; one
// with an inhibitor is blocked; one with a question about a package, a file for a
// person, or a finding that is high or medium, is work, unless the finding is about
// data and databases: their move is among the ordered steps that every move has; all
// others are ready.
const (
	Ready      Verdict = "ready"
	Work       Verdict = "work"
	Blocked    Verdict = "blocked"
	Unreadable Verdict = "unreadable"
)

// Verdicts are all, the best first.
var Verdicts = []Verdict{Ready, Work, Blocked, Unreadable}

// Document is fleet.json. No list is ever null.
type Document struct {
	Schema       string    `json:"schema"`
	Target       string    `json:"target"` // slug
	IndexVersion string    `json:"index_version"`
	Totals       Totals    `json:"totals"`
	Machines     []Machine `json:"machines"` // in the order of their names
	Groups       []Group   `json:"groups"`   // the largest first
	Waves        []Wave    `json:"waves"`    // in their order
	Shared       []Shared  `json:"shared"`   // findings of several machines, those first that alone keep most from being ready
	Fixes        []Fix     `json:"fixes"`    // what keeps machines from being ready, in the order in which to deal with it
	Cost         Cost      `json:"cost"`
}

// Totals counts machines.
type Totals struct {
	Machines   int `json:"machines"`
	Ready      int `json:"ready"`
	Work       int `json:"work"`
	Blocked    int `json:"blocked"`
	Unreadable int `json:"unreadable"`
}

// Machine is one machine of the fleet.
type Machine struct {
	Name        string    `json:"name"`
	Place       string    `json:"place"`  // as it was given: /mnt/web1, ssh:root@web1
	Source      string    `json:"source"` // release slug
	Verdict     Verdict   `json:"verdict"`
	Fingerprint string    `json:"fingerprint"`
	Packages    int       `json:"packages"`
	Questions   int       `json:"questions"` // packages that a person has to decide on
	Unknown     int       `json:"unknown"`   // packages that the index does not know
	Manual      int       `json:"manual"`    // files of configuration that a person has to carry over
	Inhibitors  []Finding `json:"inhibitors"`
	Findings    []Finding `json:"findings"` // others, the gravest first
	Databases   []string  `json:"databases"`
	DataBytes   int64     `json:"data_bytes"`
	Licensed    bool      `json:"licensed"` // has its seat
	CloneOf     string    `json:"clone_of,omitempty"`
	DependsOn   []string  `json:"depends_on"` // machines of the fleet that its configuration names
	Group       string    `json:"group"`
	Wave        int       `json:"wave"` // from 1; 0 where it is in none
	Error       string    `json:"error,omitempty"`
}

// Finding is a finding in short.
type Finding struct {
	Key      string                 `json:"key"`
	Severity assess.FindingSeverity `json:"severity"`
	Title    string                 `json:"title"`
	Summary  string                 `json:"summary,omitempty"`
}

// Group are machines that are alike: one rehearsal serves all.
type Group struct {
	Name     string   `json:"name"` // that of its first machine
	Source   string   `json:"source"`
	Machines []string `json:"machines"`
}

// Wave is what moves together.
type Wave struct {
	Number   int      `json:"number"`
	Machines []string `json:"machines"`
	Why      string   `json:"why"`
}

// Shared is a finding that several machines have: one fix, or one decision, serves
// all of them.
type Shared struct {
	Finding
	Inhibitor bool     `json:"inhibitor"`
	Machines  []string `json:"machines"`
	Waiting   int      `json:"waiting"` // of these, how many are not ready before it is dealt with
	Frees     []string `json:"frees"`   // and those that nothing else keeps from it
}

// Cost is what the move of all machines costs.
type Cost struct {
	SeatsNeeded  int  `json:"seats_needed"`  // one a fingerprint that has none yet
	CapacityLeft *int `json:"capacity_left"` // seats that are left; null where there is no limit
	Price        int  `json:"price"`         // US dollars a year for the seats beyond that
	AnnualBefore int  `json:"annual_before"` // what the account costs a year now, in US dollars
	AnnualAfter  int  `json:"annual_after"`  // and once all have moved
}

// Read is what was read of a machine: its row, and what it is compared by.
type Read struct {
	Machine  Machine  `json:"machine"`
	Features []uint64 `json:"features"` // digests of packages, files and findings, sorted
	Names    []uint64 `json:"names"`    // keyed digests of the host names and addresses that are its own
	Mentions []uint64 `json:"mentions"` // those of the words of its configuration
}

// Funds are what an account has left.
type Funds struct {
	Unlimited bool
	Left      int // seats
	Annual    int // US dollars a year, as it is
	Rate      int // US dollars a year for one beyond that
}

// New joins what was read of the machines of a fleet.
func New(target, indexVersion string, read []Read, funds Funds) *Document {
	read = slices.Clone(read)
	slices.SortStableFunc(read, func(a, b Read) int { return cmp.Compare(a.Machine.Name, b.Machine.Name) })
	d := &Document{Schema: Schema, Target: target, IndexVersion: indexVersion, Machines: []Machine{}, Groups: []Group{}, Waves: []Wave{}}
	for i := range read {
		m := &read[i].Machine
		m.Verdict = VerdictOf(m)
		d.count(m.Verdict)
	}
	clones(read)
	d.Groups = group(read)
	depend(read)
	d.Waves = waves(read)
	d.Machines = append(d.Machines, sliced.Map(read, func(r Read) Machine { return r.Machine })...)
	d.Shared, d.Fixes = shared(d.Machines), fixes(d.Machines)
	d.Cost = cost(d.Machines, funds)
	return d
}

func (d *Document) count(v Verdict) {
	d.Totals.Machines++
	*map[Verdict]*int{Ready: &d.Totals.Ready, Work: &d.Totals.Work, Blocked: &d.Totals.Blocked, Unreadable: &d.Totals.Unreadable}[v]++
}

// VerdictOf follows the rules of the verdicts.
func VerdictOf(m *Machine) Verdict {
	switch {
	case m.Error != "":
		return Unreadable
	case len(m.Inhibitors) > 0:
		return Blocked
	case m.Questions > 0 || m.Manual > 0 || slices.ContainsFunc(m.Findings, Finding.Work):
		return Work
	}
	return Ready
}

// Work reports whether a finding is for a person to look at before the move.
func (f Finding) Work() bool {
	return (f.Severity == assess.High || f.Severity == assess.Medium) && !f.ordered()
}

// clones says of machines with one fingerprint whose they are: they share a seat.
func clones(read []Read) {
	first := map[string]string{}
	for i := range read {
		m := &read[i].Machine
		if m.Fingerprint == "" {
			continue
		}
		if name, ok := first[m.Fingerprint]; ok {
			m.CloneOf = name
			continue
		}
		first[m.Fingerprint] = m.Name
	}
}

// shared are the findings that two machines or more have.
func shared(machines []Machine) []Shared {
	known := map[identity]*Shared{}
	note := func(m *Machine, f Finding, todo []Finding) {
		s := known[f.identity()]
		if s == nil {
			s = &Shared{Finding: f, Frees: []string{}}
			known[f.identity()] = s
		}
		if n := len(s.Machines); n > 0 && s.Machines[n-1] == m.Name {
			return
		}
		s.Machines = append(s.Machines, m.Name)
		s.Inhibitor = s.Inhibitor || slices.ContainsFunc(m.Inhibitors, f.same)
		if slices.ContainsFunc(todo, f.same) {
			s.Waiting++
			if len(todo) == 1 {
				s.Frees = append(s.Frees, m.Name)
			}
		}
	}
	for i := range machines {
		m := &machines[i]
		todo := needs(m)
		for _, f := range slices.Concat(m.Inhibitors, m.Findings) {
			if f.Severity != assess.Info || slices.ContainsFunc(m.Inhibitors, f.same) {
				note(m, f, todo)
			}
		}
	}
	all := []Shared{}
	for _, s := range known {
		if len(s.Machines) > 1 {
			all = append(all, *s)
		}
	}
	slices.SortFunc(all, func(a, b Shared) int {
		return cmp.Or(cmp.Compare(len(b.Frees), len(a.Frees)), cmp.Compare(b.Waiting, a.Waiting), cmp.Compare(len(b.Machines), len(a.Machines)), cmp.Compare(a.Key, b.Key), cmp.Compare(a.Title, b.Title))
	})
	return all
}

// cost counts the seats that the machines still need.
func cost(machines []Machine, funds Funds) Cost {
	c, seen := Cost{}, map[string]bool{}
	for _, m := range machines {
		if m.Error == "" && !m.Licensed && !seen[m.Fingerprint] {
			seen[m.Fingerprint] = true
			c.SeatsNeeded++
		}
	}
	c.AnnualBefore, c.AnnualAfter = funds.Annual, funds.Annual
	if funds.Unlimited {
		return c
	}
	left := max(0, funds.Left)
	c.CapacityLeft, c.Price = &left, max(0, c.SeatsNeeded-left)*funds.Rate
	c.AnnualAfter += c.Price
	return c
}

// steps are the beginnings of the keys of findings that ask nothing beyond what every
// move does in its ordered steps, and why.
var steps = []struct{ key, why string }{
	{"target.database.", "data move by the data plan"},
	{"database.", "data move by the data plan"},
	{"data.", "data move by the data plan"},
	{"configuration.secrets-left-out", "secrets are carried by --include-secrets, or set anew"},
	{"network.take-over", "the address is taken over when the machine is put in place"},
	{"release.end-of-life", "the reason to move"},
}

// ordered reports whether a finding is answered by the ordered steps of every move.
func (f Finding) ordered() bool {
	return slices.ContainsFunc(steps, func(s struct{ key, why string }) bool { return strings.HasPrefix(f.Key, s.key) })
}
