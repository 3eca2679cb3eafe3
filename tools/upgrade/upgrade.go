// Package upgrade makes a database of this very host one of a newer version, with
// a way back from every point. It is the one part of svc that changes a host.
//
// An engine.Upgrade is one database on its way: it looks at the host, and gives the
// steps in their order. Each step can be undone, whether it was done, was half done or has
// never begun. Run writes into the journal what it is about to do before it does
// it, so that whatever happens (a failure, a signal, SIGKILL, a power cut) the
// next run knows where the host stands, and Resume or RollBack go on from there.
//
// # To add an engine
//
// A folder with a type that implements engine.Upgrade, and a line in engines. Its
// exported fields are what Look found out; the journal keeps them as JSON, and a
// later process makes the steps from them alone: Steps must not look again at
// what a step may have changed. What a step learns for later ones it writes to a
// file in the backup directory (see engine.Host.WriteFile). The rules of a step:
//
//   - Do begins where Undo has left off: nothing of an earlier try is there.
//   - Undo takes any state that Do, or Undo, can be killed in, and leaves what was
//     before; where that is so already it does nothing and succeeds.
//   - Programs are run by Host.Run alone: they die with svc, and what survives it
//     all the same is ended before the next run touches anything. A server that
//     Host.Serve runs gets its own signal to stop in order instead, and those of
//     inOrder are left to the steps: SIGKILL would cost them data. A server that
//     is to outlive svc is started by its service manager, or by Host.Launch.
//   - Undo never removes what clients may have written to: it sets it aside.
package upgrade

import (
	"maps"
	"slices"

	"svc/backend/sliced"
	"svc/tools/upgrade/engine"
	"svc/tools/upgrade/mariadb"
	"svc/tools/upgrade/postgresql"
	"svc/tools/upgrade/redis"
)

// engines are those that can be upgraded.
var engines = map[string]func() engine.Upgrade{
	"mariadb":    func() engine.Upgrade { return &mariadb.Upgrade{} },
	"redis":      func() engine.Upgrade { return &redis.Upgrade{} },
	"valkey":     func() engine.Upgrade { return &redis.Upgrade{} },
	"postgresql": func() engine.Upgrade { return &postgresql.Upgrade{} },
}

// Engines are the names of the engines that can be upgraded.
func Engines() []string { return slices.Sorted(maps.Keys(engines)) }

// Plan is what an upgrade would do.
type Plan struct {
	Engine string `json:"engine"`
	engine.About
	Backup string        `json:"backup"`
	Steps  []PlannedStep `json:"steps"`
	// Written is what a roll-back would leave behind, or has left; nil where clients
	// were not let in.
	Written *engine.Written `json:"written,omitzero"`
}

// PlannedStep is a step as a plan shows it.
type PlannedStep struct {
	Name    string `json:"name"`
	Does    string `json:"does"`
	Changes bool   `json:"changes"` // something outside the backup directory
	State   State  `json:"state"`   // what became of it so far; empty where it has not begun
}

// planOf shows an upgrade, with what became of its steps so far.
func planOf(h *engine.Host, of string, todo engine.Upgrade, so Progress) Plan {
	p := Plan{Engine: of, About: h.AboutOf(todo), Backup: h.Backup}
	p.Steps = append(p.Steps, sliced.Map(todo.Steps(h), func(s engine.Step) PlannedStep { return PlannedStep{s.Name, s.Does, s.Changes, so.steps[s.Name]} })...)
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
