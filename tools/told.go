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
			what, more := strings.CutPrefix(f.Title, "About ")
			if more && strings.HasPrefix(all[i].Title, "About ") && all[i].Title != f.Title {
				all[i].Title += ", " + what
			}
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
	for _, s := range shortened {
		for i := len(r.Findings) - 1; i >= 0 && m.env.tooBig(r); i-- {
			if r.Findings[i].Severity == s.of {
				s.shorten(&r.Findings[i])
			}
		}
	}
	return r
}

// shortened is what goes first of findings where there is no room for all: what to do
// about a grave one stays longer than what a slight one says.
var shortened = []struct {
	of      assess.FindingSeverity
	shorten func(*Headline)
}{
	{assess.Info, (*Headline).forgetDo},
	{assess.Low, (*Headline).forgetDo},
	{assess.Info, (*Headline).forgetSummary},
	{assess.Medium, (*Headline).forgetDo},
	{assess.Low, (*Headline).forgetSummary},
	{assess.Medium, (*Headline).forgetSummary},
	{assess.High, (*Headline).forgetDo},
	{assess.High, (*Headline).forgetSummary},
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
