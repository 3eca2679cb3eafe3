// Package pes reads the package evolution events of Red Hat's upgrade tools,
// as they are in pes-events.json and in the files of vendors: what became of a
// package between two releases of EL, chained from minor release to minor
// release.
package pes

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"svc/backend/api"
	"svc/backend/index/record"
)

// maxFile bounds what is read of a file; the largest real one has 8.5 MB.
const maxFile = 256 << 20

// The actions of events.
const (
	present = iota
	removed
	deprecated
	replaced
	split
	merged
	moved
	renamed
)

// relations of the actions. What is deprecated or moved to another repository
// is still there.
var relations = map[int]api.Relation{
	present: api.RelationSame, removed: api.RelationRemoved, deprecated: api.RelationSame, replaced: api.RelationReplaced,
	split: api.RelationSplit, merged: api.RelationMerged, moved: api.RelationSame, renamed: api.RelationRenamed,
}

// The confidence of an event, and of one that others contradict.
const (
	Confidence  = 0.97
	conflicting = 0.9
)

// Method is that of trails from events.
const Method = "pes"

// Release is where an event begins or ends; its zero is not known.
type Release struct {
	Major int `json:"major_version"`
	Minor int `json:"minor_version"`
}

func (r Release) compare(o Release) int {
	return cmp.Or(cmp.Compare(r.Major, o.Major), cmp.Compare(r.Minor, o.Minor))
}

// Event is what became of some packages together.
type Event struct {
	Relation api.Relation
	In, Out  []string
	From, To Release // From is zero where the file does not say it
}

// document is the file. Module streams, repositories and legal notices in it
// are passed over: the names alone decide.
type document struct {
	Events *[]struct {
		Action   int       `json:"action"`
		Arches   *[]string `json:"architectures"`
		OldArch  *[]string `json:"arches"`
		In       *packages `json:"in_packageset"`
		Out      *packages `json:"out_packageset"`
		From     *Release  `json:"initial_release"`
		To       *Release  `json:"release"`
		Approved *bool     `json:"is_approved"`
	} `json:"packageinfo"`
}

type packages struct {
	Package []struct {
		Name string `json:"name"`
	} `json:"package"`
}

func (p *packages) names() []string {
	var names []string
	if p == nil {
		return nil
	}
	for _, q := range p.Package {
		if q.Name != "" && !strings.ContainsAny(q.Name, " \t\n") && !slices.Contains(names, q.Name) {
			names = append(names, q.Name)
		}
	}
	slices.Sort(names)
	return names
}

// Read reads the events of a file that hold for x86_64, in its order. It
// refuses a file without packageinfo.
func Read(r io.Reader) ([]Event, error) {
	var d document
	limited := &io.LimitedReader{R: r, N: maxFile + 1}
	err := json.NewDecoder(limited).Decode(&d)
	if limited.N <= 0 {
		return nil, fmt.Errorf("reading events: the file has more than %d bytes", maxFile)
	}
	if err != nil {
		return nil, fmt.Errorf("reading events: %w", err)
	}
	if d.Events == nil {
		return nil, fmt.Errorf("reading events: the file has no packageinfo")
	}
	var events []Event
	for _, e := range *d.Events {
		relation, ok := relations[e.Action]
		if !ok || e.To == nil || !holds(e.Arches) || !holds(e.OldArch) || e.Approved != nil && !*e.Approved {
			continue
		}
		event := Event{Relation: relation, In: e.In.names(), Out: e.Out.names(), To: *e.To}
		if e.From != nil {
			event.From = *e.From
		}
		if len(event.In) > 0 {
			events = append(events, event)
		}
	}
	return events, nil
}

// holds reports whether a list of architectures has x86_64; none is all.
func holds(arches *[]string) bool {
	return arches == nil || len(*arches) == 0 || slices.Contains(*arches, "x86_64")
}

// Trails chains the events to trails from each major release to the next.
func Trails(events []Event) map[int]map[string]record.Trail {
	sorted := slices.Clone(events)
	slices.SortStableFunc(sorted, func(a, b Event) int { return a.To.compare(b.To) })
	steps := map[int]map[string]record.Trail{}
	for _, e := range sorted {
		if e.From.Major != e.To.Major && e.From.Major != 0 { // within a release: what crosses it is chained
			e.cross(steps, agreed)
		}
	}
	for _, e := range sorted {
		if e.From.Major == 0 && e.Relation != api.RelationSame { // since when is not said: by then at the latest
			e.cross(steps, func(known, _ record.Trail) record.Trail { return known })
		}
	}
	for _, e := range sorted {
		if e.From.Major == e.To.Major && e.From.Major != 0 {
			e.chain(steps)
		}
	}
	return steps
}

// cross adds the trails of an event to those into its major release; both says
// what a package becomes that has one already.
func (e Event) cross(steps map[int]map[string]record.Trail, both func(old, own record.Trail) record.Trail) {
	from := e.To.Major - 1
	if steps[from] == nil {
		steps[from] = map[string]record.Trail{}
	}
	for _, name := range e.In {
		t := e.trail(name)
		if old, twice := steps[from][name]; twice {
			t = both(old, t)
		}
		steps[from][name] = t
	}
}

// trail is what the event makes of one of its packages.
func (e Event) trail(name string) record.Trail {
	t := record.Trail{Relation: e.Relation, Confidence: Confidence, Targets: e.Out, Method: Method}
	switch {
	case len(e.Out) == 0 && e.Relation == api.RelationSame:
		t.Targets = []string{name} // what is present or deprecated stands on one side alone
	case len(e.Out) == 0:
		t.Relation = api.RelationRemoved
	case e.Relation == api.RelationSplit && len(e.Out) == 1 && e.Out[0] == name:
		t.Relation = api.RelationSame
	case e.Relation == api.RelationSplit && len(e.Out) == 1:
		t.Relation = api.RelationRenamed
	}
	return t
}

// agreed is what two events for one package say together: what they agree on,
// else that which names packages.
func agreed(a, b record.Trail) record.Trail {
	if slices.Equal(a.Targets, b.Targets) {
		return a
	}
	if len(a.Targets) == 0 || len(a.Targets) < len(b.Targets) && len(b.Targets) > 0 {
		a = b
	}
	a.Confidence = conflicting
	return a
}

// chain carries an event between two minor releases into the trails that end
// before it, and into those that begin after it.
func (e Event) chain(steps map[int]map[string]record.Trail) {
	for _, name := range e.In {
		own := e.trail(name)
		for into, t := range steps[e.To.Major-1] {
			if i := slices.Index(t.Targets, name); i >= 0 {
				t.Targets = slices.Compact(slices.Sorted(slices.Values(slices.Concat(t.Targets[:i], own.Targets, t.Targets[i+1:]))))
				steps[e.To.Major-1][into] = relabelled(t)
			}
		}
		if next, ok := steps[e.To.Major]; ok && len(own.Targets) == 1 {
			if t, ok := next[own.Targets[0]]; ok && next[name].Method == "" {
				next[name] = t
			}
		}
	}
}

// relabelled gives the relation that fits the number of targets.
func relabelled(t record.Trail) record.Trail {
	switch {
	case len(t.Targets) == 0:
		t.Relation = api.RelationRemoved
	case len(t.Targets) > 1 && t.Relation == api.RelationSame:
		t.Relation = api.RelationSplit
	case t.Relation == api.RelationSame:
		t.Relation = api.RelationRenamed
	}
	return t
}
