// Package report renders a plan as one page for people: the sum as a picture,
// what stops the move first, then what changes and what needs a person. The
// page needs nothing but itself: no script, no font, no network. What is hidden in
// texts of the machine is spelt out.
package report

import (
	"slices"

	"svc/assess"
	"svc/assess/ledger"
	"svc/backend/api"
	"svc/backend/sliced"
	"svc/tools/exposure"
	"svc/tools/migration"
	"svc/tools/rehearsal"
)

// slice is one part of the picture.
type slice struct {
	Relation api.Relation
	Text     string
	Count    int
	X, Width float64 // in percent of the whole
}

// meaning says what each relation is to a reader.
var meaning = map[api.Relation]string{
	api.RelationSame: "keep their name", api.RelationRenamed: "have another name", api.RelationSplit: "are split",
	api.RelationMerged: "are merged into others", api.RelationReplaced: "are replaced", api.RelationIncluded: "are installed as dependencies",
	api.RelationRemoved: "have no counterpart", api.RelationUnknown: "are not known",
}

// group is a set of configuration files with one fate.
type group struct {
	Title string
	Open  bool // a reader sees it at once
	Files []migration.Config
}

// content is what the page shows.
type content struct {
	Rehearsal *rehearsal.Document // nil where the move was not tried
	Plan      *migration.Plan
	System    assess.System
	Tiles     []tile
	Slices    []slice
	Findings  []assess.Finding // that do not stop the move
	Questions []migration.Package
	Groups    []group
	Unread    []assess.Source
	Steps     []Step
	Applied   int // units whose state the role sets
	Exposure  *exposure.Document
	Changes   []change  // of what advisories say
	FileRows  []fileRow // of the disk, in their order
	Tool      string
}

// tile is a number on top of the page, and the part of it that has the things counted.
type tile struct {
	Count           int
	Text, At, Class string
}

// tiles count what stops the move and what to know by severity, as the page has them
// below, then packages and services.
func (c *content) tiles() {
	graver := func(n int, class string) string {
		if n == 0 {
			return "none"
		}
		return class
	}
	stops := len(c.Plan.Inhibitors)
	c.Tiles = []tile{{stops, "stop the move", "stops", graver(stops, "stop")}}
	for _, s := range []assess.FindingSeverity{assess.High, assess.Medium, assess.Low} {
		n := 0
		for _, f := range c.Findings {
			if f.Severity == s {
				n++
			}
		}
		c.Tiles = append(c.Tiles, tile{n, string(s) + " findings", "findings", graver(n, string(s))})
	}
	c.Tiles = append(c.Tiles, tile{len(c.Questions), "packages need a decision", "packages", graver(len(c.Questions), "medium")},
		tile{c.Plan.Sum.Total, "packages, each accounted for", "every", ""}, tile{len(c.Plan.Install), "are installed by name, the rest with them", "every", ""},
		tile{c.Applied, "services stay enabled or disabled as on the source", "services", ""})
}

// merged are findings with those that say the same of several things as one.
func merged(findings []assess.Finding) (all []assess.Finding) {
	at := map[string]int{}
	for _, f := range findings {
		key := f.Key + "\x00" + f.Summary
		i, ok := at[key]
		if !ok || f.Key == "" {
			at[key], all = len(all), append(all, f)
			continue
		}
		all[i].Title = assess.JoinTitles(all[i].Title, f.Title)
		all[i].Evidence = append(slices.Clip(all[i].Evidence), f.Evidence...)
	}
	return all
}

// fileRow is a row of the disk's sum.
type fileRow struct {
	Row ledger.Row
	ledger.Count
}

// change is what the move does to some vulnerabilities; the page shows the
// worst of them.
type change struct {
	Title string
	Total int
	Worst []exposure.Vulnerability
}

// mostShown is how many vulnerabilities of a kind the page shows.
const mostShown = 200

func changes(d *exposure.Document) (all []change) {
	for _, c := range []change{
		{Title: "Fixed by the move", Worst: d.Fixed},
		{Title: "In the target's packages, too", Worst: d.Stays},
		{Title: "Only in the target's packages", Worst: d.Brought},
		{Title: "Not known: not all counterparts could be compared", Worst: d.Open},
	} {
		c.Total = len(c.Worst)
		c.Worst = c.Worst[:min(c.Total, mostShown)]
		all = append(all, c)
	}
	return all
}

// Render makes the page. What advisories say of the move may be nothing, and
// then says why.
func Render(p *migration.Plan, a *assess.Assessment, d *exposure.Document, tool string) []byte {
	return render(content{}, p, a, d, tool)
}

func render(c content, p *migration.Plan, a *assess.Assessment, d *exposure.Document, tool string) []byte {
	c.Plan, c.System, c.Slices, c.Exposure, c.Changes, c.Steps, c.Tool = p, a.System, parts(p), d, changes(d), Steps(p, a), tool
	c.Findings = append(c.Findings, sliced.Filter(append(append([]assess.Finding{}, p.Findings...), a.Findings...), func(f assess.Finding) bool { return !f.Inhibitor })...)
	c.Findings = merged(c.Findings)
	bySeverity(c.Findings)
	if p.Files != nil {
		c.FileRows = sliced.Map(ledger.Rows, func(row ledger.Row) fileRow { return fileRow{row, p.Files.Rows[row]} })
	}
	c.Questions = sliced.Filter(p.Packages, func(r migration.Package) bool {
		return r.Chosen() && !r.Install && (r.Relation == api.RelationUnknown || r.Relation == api.RelationRemoved && r.Role != string(api.RoleLib) || len(r.Targets) > 0 && r.Confidence < migration.Sure)
	})
	c.Applied = sliced.Count(p.Services, func(s migration.Service) bool { return s.Apply })
	c.Unread = append(c.Unread, sliced.Filter(a.Sources, func(s assess.Source) bool {
		return s.State == assess.SourceUnreadable || s.State == assess.SourceCorrupt
	})...)
	c.Groups = groups(p.Configuration)
	c.tiles()
	return c.whole()
}

// bySeverity puts the worst first, and leaves equals as they stand.
func bySeverity(findings []assess.Finding) {
	rank := map[assess.FindingSeverity]int{assess.High: 0, assess.Medium: 1, assess.Low: 2, assess.Info: 3}
	slices.SortStableFunc(findings, func(a, b assess.Finding) int { return rank[a.Severity] - rank[b.Severity] })
}

func parts(p *migration.Plan) (all []slice) {
	count := map[api.Relation]int{}
	for _, r := range p.Packages {
		count[r.Relation]++
	}
	x := 0.0
	for _, relation := range api.Relations {
		if n := count[relation]; n > 0 {
			width := 100 * float64(n) / float64(len(p.Packages))
			all = append(all, slice{relation, meaning[relation], n, x, width})
			x += width
		}
	}
	return all
}

func groups(files []migration.Config) (all []group) {
	for _, g := range []struct {
		action migration.Action
		title  string
	}{
		{migration.Manual, "A person has to carry over"},
		{migration.Merge, "Merged: the target's own file with what a person changed"},
		{migration.Convert, "Converted, or carried to a new place"},
		{migration.Copy, "Carried over as it is"},
		{migration.Remove, "Removed, as on the source"},
		{migration.LeftOut, "Left out"},
	} {
		found := group{Title: g.title, Open: g.action == migration.Manual}
		found.Files = append(found.Files, sliced.Filter(files, func(f migration.Config) bool { return f.Action == g.action })...)
		if len(found.Files) > 0 {
			all = append(all, found)
		}
	}
	return all
}
