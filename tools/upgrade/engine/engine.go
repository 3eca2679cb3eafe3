// Package engine is what engines have in common: the upgrade of one database, its steps,
// and the host they are taken on, with its files, disks, programs and servers.
package engine

import (
	"context"
	"fmt"
	"strings"
	"time"

	"svc/backend/lazyregexp"
	"svc/backend/sliced"
	"svc/tools/database"
)

// Upgrade is one database on its way to another version.
type Upgrade interface {
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
	// About says what the upgrade is of.
	About() About
	// Steps are what is done, in this order.
	Steps(h *Host) []Step
	// Afterwards says, when all is done, what a person can do: how to look, what
	// may be removed and when.
	Afterwards(h *Host) []string
}

// Request is what a person asks for.
type Request struct {
	Graph    database.Graph
	Engine   string
	To       database.Place // a series that is on record
	Instance string         // which of several databases of the engine, such as 13/main; empty where there is one
}

// About is what an upgrade is of.
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
	lines := append([]string{"the upgrade is refused, and nothing was changed"}, sliced.Map(r, func(x Refusal) string { return fmt.Sprintf("  %s: %s", x.What, x.Instead) })...)
	return strings.Join(lines, "\n")
}

// Err are the refusals as an error; nil where there is none.
func (r Refusals) Err() error {
	if r == nil {
		return nil
	}
	return r
}

// Refusef is a single refusal.
func Refusef(instead, format string, args ...any) error {
	return Refusals{{fmt.Sprintf(format, args...), instead}}
}

// Safe are names that a shell reads as they are: programs of PostgreSQL give
// them to one.
var Safe = lazyregexp.New(`^[A-Za-z0-9/_.+-]+$`)

// Written is what clients have written since they were let in to the new server: a
// roll-back no longer serves it.
type Written struct {
	Since    time.Time `json:"since"`    // when they were let in
	Signs    []string  `json:"signs"`    // of their writing, for people; empty where there is none
	Kept     string    `json:"kept"`     // directory where a roll-back keeps the new data
	Commands []string  `json:"commands"` // for a shell, in their order: they dump what is kept
}

func (w Written) String() string {
	if len(w.Signs) == 0 {
		return fmt.Sprintf("clients were let in at %s, and nothing shows that they have written since", w.Since.UTC().Format(time.RFC3339))
	}
	return fmt.Sprintf("clients were let in at %s, and have written since: %s", w.Since.UTC().Format(time.RFC3339), strings.Join(w.Signs, "; "))
}

// Quoted is a word as a shell reads it.
func Quoted(word string) string {
	if Safe.MatchString(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// Differs refuses a journal that does not fit to the host.
func Differs(format string, args ...any) error {
	return Refusef("see who has changed the host, or the journal; svc neither goes on nor back before it fits", "the host is not the one of the journal: "+format, args...)
}
