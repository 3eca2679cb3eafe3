package fleet

import (
	"cmp"
	"maps"
	"slices"
)

// OverviewSchema names the form of machines.json.
const OverviewSchema = "svc.machines/v1"

// Overview is machines.json: what a command came to on each of many machines.
type Overview struct {
	Schema   string         `json:"schema"`
	Command  string         `json:"command"`
	Totals   map[string]int `json:"totals"`   // machines by state
	Machines []Outcome      `json:"machines"` // in the order of their names
}

// Outcome is what a command came to on one machine.
type Outcome struct {
	Name  string `json:"name"`
	Place string `json:"place"`          // as it was given
	State string `json:"state"`          // findings, without findings, not compared or failed
	What  string `json:"what"`           // why, in short
	Exit  int    `json:"exit"`           // the exit code that the command has for this machine alone
	Wave  int    `json:"wave,omitempty"` // of a move
	File  string `json:"file,omitempty"` // what was written of it, below the overview's folder
}

// States that all commands share, and how they are coloured.
const (
	StateClean       = "without findings"
	StateFindings    = "findings"
	StateNotCompared = "not compared"
	StateFailed      = "failed"
)

var classes = map[string]Verdict{StateClean: Ready, StateFindings: Work, StateNotCompared: Unreadable, StateFailed: Blocked}

// Class is the verdict that a state is coloured as.
func (o Outcome) Class() Verdict { return classes[o.State] }

// NewOverview joins what a command came to.
func NewOverview(command string, outcomes []Outcome) *Overview {
	o := &Overview{Schema: OverviewSchema, Command: command, Totals: map[string]int{}, Machines: []Outcome{}}
	o.Machines = append(o.Machines, outcomes...)
	slices.SortStableFunc(o.Machines, func(a, b Outcome) int { return cmp.Compare(a.Name, b.Name) })
	for _, m := range o.Machines {
		o.Totals[m.State]++
	}
	return o
}

// stateBar is a part of the picture of the states.
type stateBar struct {
	bar
	Class Verdict
}

// Page is the overview as one page for people, which needs nothing but itself.
func (o *Overview) Page(tool string) ([]byte, error) {
	var states []stateBar
	for _, name := range slices.Sorted(maps.Keys(o.Totals)) {
		states = append(states, stateBar{bar{name, o.Totals[name]}, classes[name]})
	}
	slices.SortStableFunc(states, func(a, b stateBar) int {
		return cmp.Compare(slices.Index(Verdicts, a.Class), slices.Index(Verdicts, b.Class))
	})
	return render("overview.html", struct {
		*Overview
		States []stateBar
		Waves  bool
		Tool   string
	}{o, states, slices.ContainsFunc(o.Machines, func(m Outcome) bool { return m.Wave > 0 }), tool})
}
