// Package upgrade makes a database of this very host one of a newer version, with
// a way back from every point. It is the one part of svc that changes a host.
//
// A Job is one database on its way: it looks at the host, and gives the steps in
// their order. Each step can be undone, whether it was done, was half done or has
// never begun. Run writes into the journal what it is about to do before it does
// it, so that whatever happens (a failure, a signal, SIGKILL, a power cut) the
// next run knows where the host stands, and Resume or RollBack go on from there.
//
// # To add an engine
//
// A type that implements Job, in a file of its own, and a line in engines. Its
// exported fields are what Look found out; the journal keeps them as JSON, and a
// later process makes the steps from them alone: Steps must not look again at
// what a step may have changed. What a step learns for later ones it writes to a
// file in the backup directory (see writeFile). The rules of a step:
//
//   - Do begins where Undo has left off: nothing of an earlier try is there.
//   - Undo takes any state that Do, or Undo, can be killed in, and leaves what was
//     before; where that is so already it does nothing and succeeds.
//   - Programs are run by Host.run alone: they die with svc, and what survives it
//     all the same is ended before the next run touches anything. A server that
//     Host.serve runs gets its own signal to stop in order instead, and those of
//     inOrder are left to the steps: SIGKILL would cost them data. A server that
//     is to outlive svc is started by its service manager, or by Host.launch.
//   - Undo never removes what clients may have written to: it sets it aside.
package upgrade

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"svc/tools/database"
)

// Job is one database on its way to another version.
type Job interface {
	// Look reads the live host and fills in what the steps need. What stands in
	// the way is a Refusals; nothing is changed.
	Look(ctx context.Context, h *Host, in Request) error
	// Recheck looks whether accounts and programs are still those that the journal has,
	// before a run that was begun goes on: what root runs, and as whom, it never takes
	// from a file alone.
	Recheck(ctx context.Context, h *Host) error
	// Written says what clients have written since a step that Opens, and where a
	// roll-back keeps that. An error says why nobody can tell.
	Written(ctx context.Context, h *Host) (Written, error)
	// About says what the job is of.
	About() About
	// Steps are what is done, in this order.
	Steps(h *Host) []Step
	// Afterwards says, when all is done, what a person can do: how to look, what
	// may be removed and when.
	Afterwards(h *Host) []string
}

// engines are those that can be upgraded.
var engines = map[string]func() Job{
	"mariadb":    func() Job { return &mariadb{} },
	"redis":      func() Job { return &redis{} },
	"valkey":     func() Job { return &redis{} },
	"postgresql": func() Job { return &postgresql{} },
}

// Engines are the names of the engines that can be upgraded.
func Engines() []string {
	var names []string
	for name := range engines {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Request is what a person asks for.
type Request struct {
	Graph    database.Graph
	Engine   string
	To       database.Place // a series that is on record
	Instance string         // which of several databases of the engine, such as 13/main; empty where there is one
}

// About is what a job is of.
type About struct {
	From      database.Place `json:"from"`
	To        database.Place `json:"to"`
	Instance  string         `json:"instance"`
	Directory string         `json:"directory"` // of its data
	Method    string         `json:"method"`    // as the ways on record call it
	Downtime  string         `json:"downtime"`  // for how long clients wait, in words
	// Preparation is how long it takes before clients are cut off, and Waiting for how
	// long they are: estimates in seconds, from the size and a sample of the disks.
	Preparation float64  `json:"preparation_seconds"`
	Waiting     float64  `json:"downtime_seconds"`
	Needs       []Need   `json:"needs"` // room on disks
	Notes       []string `json:"notes"` // what a person should know before
}

// Step is one thing that is done, and its undoing.
type Step struct {
	Name string // in the journal: a word that never changes
	Does string // for people: "dumps every database"
	// Learnt says what steps before have found out of this one, as an end to Does; nil
	// where nothing can be learnt.
	Learnt  func() string
	Changes bool // something outside the backup directory changes
	Opens   bool // clients can write to the new data from when it begins
	Do      func(ctx context.Context) error
	Undo    func(ctx context.Context) error // nil where nothing is to undo
	// Cuts says that clients are cut off from when the step begins, and Serves that they
	// are served again when it is done.
	Cuts, Serves bool
	// Fills is a directory that grows while the step is done, to about so many Bytes;
	// zero where nobody knows. Both are for people who wait.
	Fills string
	Bytes int64
	// Holds reports whether what the step did is still so; nil where nothing can
	// have changed it. A step that no longer holds is done again.
	Holds func(ctx context.Context) bool
}

// Refusals are what stands in the way of an upgrade. Nothing was changed.
type Refusals []Refusal

// Refusal is one thing that stands in the way.
type Refusal struct {
	What    string `json:"what"`
	Instead string `json:"instead"` // what would make it possible
}

func (r Refusals) Error() string {
	lines := []string{"the upgrade is refused, and nothing was changed"}
	for _, x := range r {
		lines = append(lines, fmt.Sprintf("  %s: %s", x.What, x.Instead))
	}
	return strings.Join(lines, "\n")
}

// refusef is a single refusal.
func refusef(instead, format string, args ...any) error {
	return Refusals{{fmt.Sprintf(format, args...), instead}}
}

// Plan is what an upgrade would do.
type Plan struct {
	Engine string `json:"engine"`
	About
	Backup string        `json:"backup"`
	Steps  []PlannedStep `json:"steps"`
	// Written is what a roll-back would leave behind, or has left; nil where clients
	// were not let in.
	Written *Written `json:"written,omitzero"`
}

// PlannedStep is a step as a plan shows it.
type PlannedStep struct {
	Name    string `json:"name"`
	Does    string `json:"does"`
	Changes bool   `json:"changes"` // something outside the backup directory
	State   State  `json:"state"`   // what became of it so far; empty where it has not begun
}

// planOf shows a job, with what became of its steps so far.
func planOf(h *Host, engine string, job Job, so Progress) Plan {
	p := Plan{Engine: engine, About: h.about(job), Backup: h.Backup}
	for _, s := range job.Steps(h) {
		p.Steps = append(p.Steps, PlannedStep{s.Name, s.Does, s.Changes, so.steps[s.Name]})
	}
	return p
}

// Result is what became of an upgrade.
type Result struct {
	Plan
	Outcome    Outcome  `json:"outcome"`
	Journal    string   `json:"journal"`
	Log        string   `json:"log"`            // what the programs that were run have said
	Waited     float64  `json:"waited_seconds"` // how long clients were cut off, as the journal has it; 0 where they were not
	Afterwards []string `json:"afterwards"`     // what a person can do now
}
