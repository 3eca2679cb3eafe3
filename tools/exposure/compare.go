package exposure

import (
	"cmp"
	"maps"
	"slices"

	"svc/backend/api"
)

// Vulnerability is one CVE, or an advisory without one, and the packages it is
// in.
type Vulnerability struct {
	ID       string   `json:"id"`
	Severity string   `json:"severity"`
	Packages []string `json:"packages"` // sorted; of the source, or of the target where the move brings it
	Status   string   `json:"status"`   // fixed: there is a fix to install; unfixed or end_of_life: there is none
}

// Change is what a move to another release does to what the advisories say.
// Every vulnerability of the source is in one of Fixed, Stays and Open.
type Change struct {
	Fixed   []Vulnerability `json:"fixed"`   // gone after the move
	Stays   []Vulnerability `json:"stays"`   // in the target's packages too
	Brought []Vulnerability `json:"brought"` // only in the target's packages
	Open    []Vulnerability `json:"open"`    // nobody can say: a counterpart could not be compared
}

// Schema names the form of a Document.
const Schema = "svc.exposure/v1"

// Document is what a move does to what the advisories say of a machine, with
// the feeds that say so.
type Document struct {
	Schema     string   `json:"schema"`
	Source     string   `json:"source"`
	Target     string   `json:"target"`
	Compared   bool     `json:"compared"` // false: nothing is known, and Why says why
	Why        string   `json:"why,omitempty"`
	SourceFeed api.Feed `json:"source_feed"`
	TargetFeed api.Feed `json:"target_feed"`
	Scanned    int      `json:"scanned"` // packages of the machine
	Planned    int      `json:"planned"` // packages of the plan that were compared
	Before     Counts   `json:"before"`  // advisories that apply to the machine
	Unsure     []string `json:"unsure"`  // packages of the machine whose counterparts could not all be compared
	Change
}

// Uncompared is the document of a move of which nothing is known.
func Uncompared(source, target, why string) *Document {
	return &Document{Schema: Schema, Source: source, Target: target, Why: why, Unsure: []string{}, Change: Compare(nil, nil, nil)}
}

// Compare holds the matches of the source's packages against those of their
// planned counterparts. Unsure are packages of the source of whose counterparts
// one or more could not be compared.
func Compare(before, after []api.CVEMatch, unsure map[string]bool) Change {
	old, planned := group(before), group(after)
	c := Change{Fixed: []Vulnerability{}, Stays: []Vulnerability{}, Brought: []Vulnerability{}, Open: []Vulnerability{}}
	for _, v := range sorted(old) {
		_, stays := planned[v.ID]
		switch {
		case stays:
			c.Stays = append(c.Stays, v)
		case slices.ContainsFunc(v.Packages, func(p string) bool { return unsure[p] }):
			c.Open = append(c.Open, v)
		default:
			c.Fixed = append(c.Fixed, v)
		}
	}
	for _, v := range sorted(planned) {
		if _, known := old[v.ID]; !known {
			c.Brought = append(c.Brought, v)
		}
	}
	return c
}

// group gathers matches by what they are about.
func group(matches []api.CVEMatch) map[string]Vulnerability {
	all := map[string]Vulnerability{}
	for _, m := range matches {
		for _, id := range names(m) {
			v, seen := all[id]
			if !seen {
				v = Vulnerability{ID: id, Severity: m.Severity, Status: m.Status}
			}
			if Rank(m.Severity) < Rank(v.Severity) {
				v.Severity = m.Severity
			}
			if m.Status != "fixed" {
				v.Status = m.Status
			}
			if i, found := slices.BinarySearch(v.Packages, m.Package); !found {
				v.Packages = slices.Insert(v.Packages, i, m.Package)
			}
			all[id] = v
		}
	}
	return all
}

// sorted has the worst first.
func sorted(all map[string]Vulnerability) []Vulnerability {
	return slices.SortedFunc(maps.Values(all), func(a, b Vulnerability) int {
		return cmp.Or(cmp.Compare(Rank(a.Severity), Rank(b.Severity)), cmp.Compare(a.ID, b.ID))
	})
}
