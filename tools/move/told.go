package move

import (
	"path/filepath"
	"slices"
	"strings"

	"svc/backend/api"
	"svc/backend/visible"
	"svc/tools/evidence"
	"svc/tools/migration"
	"svc/tools/tool"
)

// Told is what a person asks next about a move: what it costs, which packages
// stay behind, and what to do now.
type Told struct {
	Cost      string         `json:"cost,omitempty"`      // of a confirmed call, as a preflight finds it
	Removed   []string       `json:"removed,omitempty"`   // packages without a counterpart, those that a person chose first
	Replaced  []string       `json:"replaced,omitempty"`  // packages with others in their place: "a: b, c"
	Undecided []string       `json:"undecided,omitempty"` // packages that a person has to decide on
	Total     map[string]int `json:"total,omitempty"`     // of lists that are cut
	Next      []tool.Step    `json:"next"`
	tool.Cut
}

// told adds what a person asks next, and cuts the result to what a model reads.
func (m *Move) told(r Result) Result {
	r.Removed, r.Replaced, r.Undecided = m.Namely()
	r.Next = m.next(r)
	if !m.Env.TooBig(r) {
		return r
	}
	r.Truncated = true
	r.Total = tool.CutNames(nil, tool.DefaultLimit, map[string]*[]string{"removed": &r.Removed, "replaced": &r.Replaced, "undecided": &r.Undecided})
	if plan := m.Files[evidence.PlanFile]; r.Preflight && plan != nil {
		r.Resource = m.Env.Resources.Put("plan-"+m.Assessment.Fingerprint[:12], plan)
	}
	tooBig := func() bool { return m.Env.TooBig(r) }
	tool.Shorten(tooBig, tool.Telling{List: &r.Findings, Name: "findings", Total: &r.Total})
	tool.Shorten(tooBig, tool.Telling{List: &r.Inhibitors, Name: "inhibitors", Total: &r.Total})
	return r
}

// Namely are the packages that do not simply go along, by name.
func (m *Move) Namely() (removed, replaced, undecided []string) {
	chosen := slices.Clone(m.Plan.Packages)
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
			replaced = append(replaced, p.Name+": "+strings.Join(p.TargetNames(), ", "))
		}
	}
	return removed, replaced, undecided
}

// next are the steps that follow.
func (m *Move) next(r Result) []tool.Step {
	if r.Preflight {
		return []tool.Step{{
			Tool: "svc_migrate", Input: map[string]any{"preflight": false, "confirm": true, "plan_digest": r.PlanDigest, "out": "a folder to write to"},
			Why: "writes this plan, once the user agrees to what was found and what it costs",
		}}
	}
	return []tool.Step{
		{Command: "ansible-playbook -i NEWHOST, " + visible.Word(filepath.Join(r.Out, "site.yml")), Why: "the user applies the role to a fresh " + r.Target + "; the source stays as it is"},
		{Tool: "svc_verify", Input: map[string]any{"ssh": "NEWHOST", "source": r.Out}, Why: "compares the new machine with this one"},
	}
}
