package fleet

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"svc/backend/sliced"
	"svc/tools/page"
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
	State string `json:"state"`          // findings, without findings, not compared, failed or not reached
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
	StateNotReached  = "not reached" // for it was stopped before
)

var classes = map[string]Verdict{StateClean: Ready, StateFindings: Work, StateNotCompared: Unreadable, StateFailed: Blocked, StateNotReached: Unreadable}

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
func (o *Overview) Page(tool string) []byte {
	states := sliced.Map(slices.Sorted(maps.Keys(o.Totals)), func(name string) stateBar { return stateBar{bar{name, o.Totals[name]}, classes[name]} })
	slices.SortStableFunc(states, func(a, b stateBar) int {
		return cmp.Compare(slices.Index(Verdicts, a.Class), slices.Index(Verdicts, b.Class))
	})
	names := sliced.Map(states, func(s stateBar) string { return s.Name })
	waves := slices.ContainsFunc(o.Machines, func(m Outcome) bool { return m.Wave > 0 })
	title := fmt.Sprintf("%s: %d machines", o.Command, len(o.Machines))
	return page.Whole(title, page.Look(static, "look.css"),
		page.El("h1", page.Text(title)),
		page.P(page.Soft(), page.Textf("Made by %s. machines.json and machines.csv have the same rows.", tool)),
		page.Div(page.Attr("class", "facts"), page.Each(states, func(s stateBar) page.Node { return fact(s.Class, s.Count, s.Name) })),
		page.Div(page.Attr("class", "stack"), page.Attr("role", "img"), page.Attr("aria-label", "Machines by state"), page.Each(states, func(s stateBar) page.Node { return piece(s.bar, string(s.Class)) })),
		page.El("h2", page.Textf("Machines")),
		tools("State", "all states", names, nil),
		wide(page.Attr("id", "machines"),
			page.El("thead", page.Tr(page.El("th", page.Textf("Machine")), page.El("th", page.Textf("Place")), page.El("th", page.Textf("State")), page.If(waves, page.El("th", page.Textf("Wave"))), page.El("th", page.Textf("What")))),
			page.El("tbody", page.Each(o.Machines, func(m Outcome) page.Node { return m.row(waves) }))),
		page.Script(static, "script.js"))
}

// row is a machine in the table, with its wave where some have one.
func (o Outcome) row(waves bool) page.Node {
	name := page.Text(o.Name)
	if o.File != "" {
		name = page.El("a", page.Beside(o.File), name)
	}
	return page.Tr(page.Data("verdict", o.State), page.Td(page.Attr("class", "k"), name), long(page.Text(o.Place)), page.Td(page.Class("v", string(o.Class())), page.Text(o.State)), page.If(waves, wave(o.Wave)), long(page.Text(o.What)))
}
