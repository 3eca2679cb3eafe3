package tools

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"

	"svc/assess"
	"svc/backend/api"
	"svc/backend/visible"
	"svc/tools/migration"
)

// Told is what a person asks next about a move: what it costs, which packages
// stay behind, and what to do now.
type Told struct {
	Cost      string         `json:"cost,omitempty"`      // of a confirmed call, as a preflight finds it
	Removed   []string       `json:"removed,omitempty"`   // packages without a counterpart, those that a person chose first
	Replaced  []string       `json:"replaced,omitempty"`  // packages with others in their place: "a: b, c"
	Undecided []string       `json:"undecided,omitempty"` // packages that a person has to decide on
	Total     map[string]int `json:"total,omitempty"`     // of lists that are cut
	Next      []Step         `json:"next"`
	Cut
}

// Step is a call of a tool, or a command, that follows.
type Step struct {
	Tool    string         `json:"tool,omitempty"`
	Input   map[string]any `json:"input,omitempty"` // of the tool, beside what the call before had
	Command string         `json:"command,omitempty"`
	Why     string         `json:"why"`
}

// Headline is a finding in short. In a result that is cut the least have only
// their titles.
type Headline struct {
	Key      string                 `json:"key"`
	Severity assess.FindingSeverity `json:"severity"`
	Title    string                 `json:"title"`
	Summary  string                 `json:"summary,omitempty"`
	Do       []string               `json:"do,omitempty"`
}

// headlines are findings in short, the gravest first; those that say the same of
// several things are one.
func headlines(findings []assess.Finding) []Headline {
	all, at := []Headline{}, map[string]int{}
	for _, f := range findings {
		key := f.Key + "\x00" + f.Summary
		if i, ok := at[key]; ok {
			all[i].Title = assess.JoinTitles(all[i].Title, f.Title)
			continue
		}
		h := Headline{Key: f.Key, Severity: f.Severity, Title: f.Title, Summary: f.Summary}
		for _, r := range f.Remediations {
			h.Do = append(h.Do, r.Text)
		}
		at[key] = len(all)
		all = append(all, h)
	}
	rank := []assess.FindingSeverity{assess.High, assess.Medium, assess.Low, assess.Info}
	slices.SortStableFunc(all, func(a, b Headline) int {
		return cmp.Compare(slices.Index(rank, a.Severity), slices.Index(rank, b.Severity))
	})
	return all
}

// told adds what a person asks next, and cuts the result to what a model reads.
func (m *move) told(r MigrateResult) MigrateResult {
	r.Removed, r.Replaced, r.Undecided = m.namely()
	r.Next = m.next(r)
	if !m.env.tooBig(r) {
		return r
	}
	r.Truncated, r.Total = true, map[string]int{}
	for name, names := range map[string]*[]string{"removed": &r.Removed, "replaced": &r.Replaced, "undecided": &r.Undecided} {
		if n := len(*names); n > defaultLimit {
			r.Total[name], *names = n, (*names)[:defaultLimit]
		}
	}
	if plan := m.files[planFile]; r.Preflight && plan != nil {
		r.Resource = m.env.Resources.Put("plan-"+m.a.Fingerprint[:12], plan)
	}
	tooBig := func() bool { return m.env.tooBig(r) }
	shorten(tooBig, telling{&r.Findings, noted(&r.Total, "findings")})
	shorten(tooBig, telling{&r.Inhibitors, noted(&r.Total, "inhibitors")})
	return r
}

// shortened is what goes first of findings where there is no room for all: what to do
// about a grave one stays longer than that there is a slight one.
var shortened = []struct {
	of   assess.FindingSeverity
	part func(*Headline) // nil is the whole
}{
	{assess.Info, (*Headline).forgetDo},
	{assess.Low, (*Headline).forgetDo},
	{assess.Info, (*Headline).forgetSummary},
	{assess.Medium, (*Headline).forgetDo},
	{assess.Low, (*Headline).forgetSummary},
	{assess.Medium, (*Headline).forgetSummary},
	{assess.Info, nil},
	{assess.Low, nil},
	{assess.High, (*Headline).forgetDo},
	{assess.Medium, nil},
	{assess.High, (*Headline).forgetSummary},
}

// telling is a list of findings of a result, and where it is noted how many there are
// if some are left out.
type telling struct {
	list  *[]Headline
	total func(int)
}

// noted notes the first length of a list that is cut.
func noted(total *map[string]int, name string) func(int) {
	return func(n int) {
		if *total == nil {
			*total = map[string]int{}
		}
		(*total)[name] = max(n, (*total)[name])
	}
}

// shorten takes from lists of findings what goes first, of the last ones first, until
// the result that they are in is small enough.
func shorten(tooBig func() bool, lists ...telling) {
	for _, s := range shortened {
		for _, l := range lists {
			all := len(*l.list)
			for i := all - 1; i >= 0 && tooBig(); i-- {
				switch {
				case (*l.list)[i].Severity != s.of:
				case s.part != nil:
					s.part(&(*l.list)[i])
				default:
					*l.list = slices.Delete(*l.list, i, i+1)
				}
			}
			if len(*l.list) < all {
				l.total(all)
			}
		}
	}
}

func (h *Headline) forgetDo() { h.Do = nil }

func (h *Headline) forgetSummary() { h.Summary = "" }

// namely are the packages that do not simply go along, by name.
func (m *move) namely() (removed, replaced, undecided []string) {
	chosen := slices.Clone(m.plan.Packages)
	slices.SortStableFunc(chosen, func(a, b migration.Package) int {
		switch {
		case a.Chosen() == b.Chosen():
			return 0
		case a.Chosen():
			return -1
		}
		return 1
	})
	for _, p := range chosen {
		unsure := p.Relation == api.RelationUnknown || len(p.Targets) > 0 && p.Confidence < migration.Sure
		switch {
		case p.Relation == api.RelationRemoved:
			removed = append(removed, p.Name)
		case unsure && p.Chosen() && !p.Install:
			undecided = append(undecided, p.Name)
		case p.Relation == api.RelationReplaced:
			names := []string{}
			for _, t := range p.Targets {
				names = append(names, t.Name)
			}
			replaced = append(replaced, p.Name+": "+strings.Join(names, ", "))
		}
	}
	return removed, replaced, undecided
}

// next are the steps that follow.
func (m *move) next(r MigrateResult) []Step {
	if r.Preflight {
		return []Step{{
			Tool: "svc_migrate", Input: map[string]any{"preflight": false, "confirm": true, "plan_digest": r.PlanDigest, "out": "a folder to write to"},
			Why: "writes this plan, once the user agrees to what was found and what it costs",
		}}
	}
	return []Step{
		{Command: "ansible-playbook -i NEWHOST, " + visible.Word(filepath.Join(r.Out, "site.yml")), Why: "the user applies the role to a fresh " + r.Target + "; the source stays as it is"},
		{Tool: "svc_verify", Input: map[string]any{"ssh": "NEWHOST", "source": r.Out}, Why: "compares the new machine with this one"},
	}
}
