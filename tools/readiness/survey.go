package readiness

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"svc/backend/api"
	"svc/backend/api/attest"
	"svc/backend/release"
	"svc/backend/sliced"
	"svc/tools/cvescan"
	"svc/tools/fleet"
	"svc/tools/job"
	"svc/tools/machine"
	"svc/tools/move"
	"svc/tools/tool"
)

// Bounds of a preflight of several machines.
const (
	surveyWaits   = 15 * time.Minute // for one machine
	sharedOfFleet = 5
)

// Several reports whether a call is about more than one machine or target.
func Several(in move.Input) bool {
	return len(in.Targets)+len(in.Machines) > 0 || in.Images != ""
}

// releasesOf are the targets of a call, each once.
func releasesOf(in move.Input) (slugs []string, err error) {
	for _, name := range append([]string{in.Target}, in.Targets...) {
		if name == "" {
			continue
		}
		r, err := job.TargetNamed(name)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(slugs, r.Slug) {
			slugs = append(slugs, r.Slug)
		}
	}
	if len(slugs) == 0 {
		return nil, tool.InputErrorf("svc_migrate", "target is required: a release such as debian-13")
	}
	return slugs, nil
}

// membersOf are the machines of a call about several.
func membersOf(in move.Input) ([]machine.Member, error) {
	members := in.Machines.Members()
	if in.Images != "" {
		found, err := machine.ImagesIn(in.Images)
		if err != nil {
			return nil, err
		}
		if len(found) == 0 {
			return nil, tool.InputErrorf("svc_migrate", "images holds no disk image")
		}
		members = append(members, found...)
	}
	if len(members) > machine.MostMachines {
		return nil, tool.InputErrorf("svc_migrate", "these are %d machines, and a call takes %d: `svc readiness` takes any number", len(members), machine.MostMachines)
	}
	return machine.Distinct(members), nil
}

// Survey answers a preflight of several machines, or of one for several targets.
func Survey(ctx context.Context, env *tool.Env, in move.Input) (any, error) {
	one := in.Machine != machine.Machine{}
	switch {
	case !in.Preflight:
		return nil, tool.InputErrorf("svc_migrate", "machines, images and targets go with preflight=true: a move is written for one machine and one target")
	case one && (len(in.Machines) > 0 || in.Images != ""):
		return nil, tool.InputErrorf("svc_migrate", "machines and images take the place of root, image and ssh")
	}
	targets, err := releasesOf(in)
	if err != nil {
		return nil, err
	}
	if one || len(in.Machines) == 1 && in.Images == "" {
		if !one {
			in.Machine = in.Machines[0]
		}
		return compareTargets(ctx, env, in, targets)
	}
	members, err := membersOf(in)
	if err != nil {
		return nil, err
	}
	return surveyFleet(ctx, env, members, targets)
}

// TargetsResult is one machine held against several releases: what all of them ask
// for is said once.
type TargetsResult struct {
	Source      string          `json:"source"`
	Fingerprint string          `json:"fingerprint"`
	Packages    int             `json:"packages"`
	Cost        string          `json:"cost"`
	Targets     []TargetPreview `json:"targets"`
	Shared      []tool.Headline `json:"shared"`          // findings that every target has, what stops the move first
	Total       map[string]int  `json:"total,omitempty"` // of lists that are cut
	Next        []tool.Step     `json:"next"`
	tool.Cut
}

// TargetPreview is what a move to one release would be.
type TargetPreview struct {
	Target         string                   `json:"target"`
	Verdict        fleet.Verdict            `json:"verdict"`
	SupportedUntil string                   `json:"supported_until,omitempty"` // YYYY-MM-DD, free support
	Sum            attest.PackageSum        `json:"sum"`
	Install        int                      `json:"install"`
	Configuration  map[string]int           `json:"configuration"`
	Removed        []string                 `json:"removed,omitempty"`
	Replaced       []string                 `json:"replaced,omitempty"`
	Undecided      []string                 `json:"undecided,omitempty"`
	Total          map[string]int           `json:"total,omitempty"` // of lists that are cut
	Inhibitors     []tool.Headline          `json:"inhibitors,omitempty"`
	Findings       []tool.Headline          `json:"findings"` // of this target alone
	Exposure       *cvescan.MigrateExposure `json:"exposure,omitempty"`
	PlanDigest     string                   `json:"plan_digest"`
}

// compareTargets plans the move of one machine to each target.
func compareTargets(ctx context.Context, env *tool.Env, in move.Input, targets []string) (*TargetsResult, error) {
	whole := *env
	whole.Resources = nil // this result is cut, not each plan
	r := &TargetsResult{}
	for _, target := range targets {
		one := in
		one.Target, one.Targets, one.Machines = target, nil, nil
		p, err := move.Migrate(ctx, &whole, one)
		if err != nil {
			return nil, err
		}
		r.Source, r.Fingerprint, r.Packages, r.Cost = p.Source, p.Fingerprint, p.Sum.Total, p.Cost
		r.Targets = append(r.Targets, previewOf(p))
	}
	r.share()
	r.Next = []tool.Step{{Tool: "svc_migrate", Input: map[string]any{"target": "the release that the user chose", "preflight": true}, Why: "shows that plan whole; its plan_digest confirms it"}}
	return r.fit(env), nil
}

func previewOf(p move.Result) TargetPreview {
	row := fleet.Machine{Questions: len(p.Undecided), Manual: p.Configuration["manual"], Inhibitors: short(p.Inhibitors), Findings: short(p.Findings)}
	known, _ := release.Lookup(p.Target)
	t := TargetPreview{
		Target: p.Target, Verdict: fleet.VerdictOf(&row), SupportedUntil: known.EndOfLife, Sum: p.Sum, Install: p.Install, Configuration: p.Configuration,
		Removed: p.Removed, Replaced: p.Replaced, Undecided: p.Undecided, Inhibitors: p.Inhibitors, Findings: p.Findings, PlanDigest: p.PlanDigest,
	}
	if p.Exposure != nil && p.Exposure.Compared {
		t.Exposure = p.Exposure
	}
	return t
}

// share takes the inhibitors and findings that all targets have out of each.
func (r *TargetsResult) share() {
	r.Shared = []tool.Headline{}
	for _, of := range []func(*TargetPreview) *[]tool.Headline{
		func(t *TargetPreview) *[]tool.Headline { return &t.Inhibitors }, func(t *TargetPreview) *[]tool.Headline { return &t.Findings },
	} {
		count := map[string]int{}
		key := func(h tool.Headline) string { return h.Key + "\x00" + h.Summary }
		for i := range r.Targets {
			for _, h := range *of(&r.Targets[i]) {
				count[key(h)]++
			}
		}
		everywhere := func(h tool.Headline) bool { return count[key(h)] == len(r.Targets) }
		r.Shared = append(r.Shared, sliced.Filter(*of(&r.Targets[0]), everywhere)...)
		for i := range r.Targets {
			list := of(&r.Targets[i])
			*list = slices.DeleteFunc(*list, everywhere)
		}
	}
}

// fit cuts what a model reads: long lists of names first, then what is shared by all
// targets, and the least of what is not.
func (r *TargetsResult) fit(env *tool.Env) *TargetsResult {
	if !env.TooBig(r) {
		return r
	}
	cut := env.Rest("targets-"+api.VMKey(r.Fingerprint), r)
	for most := tool.DefaultLimit; most >= 5 && env.TooBig(r); most /= 2 {
		for i := range r.Targets {
			t := &r.Targets[i]
			t.Total = tool.CutNames(t.Total, most, map[string]*[]string{"removed": &t.Removed, "replaced": &t.Replaced, "undecided": &t.Undecided})
		}
	}
	lists := []tool.Telling{{List: &r.Shared, Name: "shared", Total: &r.Total}}
	for i := range r.Targets {
		t := &r.Targets[i]
		lists = append(lists, tool.Telling{List: &t.Findings, Name: "findings", Total: &t.Total})
	}
	for i := range r.Targets {
		t := &r.Targets[i]
		lists = append(lists, tool.Telling{List: &t.Inhibitors, Name: "inhibitors", Total: &t.Total})
	}
	tool.Shorten(func() bool { return env.TooBig(r) }, lists...)
	r.Cut = cut
	return r
}

// FleetResult is what several machines need for a move to each of some releases.
type FleetResult struct {
	Machines int           `json:"machines"`
	Targets  []FleetTarget `json:"targets"`
	Next     []tool.Step   `json:"next"`
	tool.Cut
}

// FleetTarget is the answer for one release.
type FleetTarget struct {
	Target   string       `json:"target"`
	Totals   fleet.Totals `json:"totals"`
	Cost     string       `json:"cost"`
	Waves    []FleetWave  `json:"waves"`
	Shared   []string     `json:"shared,omitempty"` // findings of several machines, those first that alone keep most from being ready
	Fixes    []string     `json:"fixes,omitempty"`  // what to deal with first, in that order, and how many machines are ready then
	Machines []FleetRow   `json:"machines"`         // the first waves first
}

// FleetWave is what moves together: its machines are the rows of its number.
type FleetWave struct {
	Number   int    `json:"number"`
	Machines int    `json:"machines"`
	Why      string `json:"why"`
}

// FleetRow is one machine.
type FleetRow struct {
	Name      string        `json:"name"`
	Source    string        `json:"source,omitempty"`
	Verdict   fleet.Verdict `json:"verdict"`
	Wave      int           `json:"wave,omitempty"`
	VM        string        `json:"vm,omitempty"` // the first of its fingerprint
	Licensed  bool          `json:"licensed"`
	CloneOf   string        `json:"clone_of,omitempty"`
	DependsOn []string      `json:"depends_on,omitempty"`
	Databases []string      `json:"databases,omitempty"`
	Why       []string      `json:"why,omitempty"` // the worst of what there is to do
	Error     string        `json:"error,omitempty"`
}

// surveyFleet looks at each machine for each target.
func surveyFleet(ctx context.Context, env *tool.Env, members []machine.Member, targets []string) (*FleetResult, error) {
	r := &FleetResult{Machines: len(members)}
	var documents []*fleet.Document
	for _, target := range targets {
		d, err := Of(ctx, env, Input{Members: members, Target: target, Parallel: machine.AtOnce, Patience: surveyWaits})
		if err != nil {
			return nil, err
		}
		documents = append(documents, d)
		r.Targets = append(r.Targets, fleetTarget(d))
	}
	r.Next = []tool.Step{{
		Tool: "svc_migrate", Input: map[string]any{"root, image or ssh": "a machine of the first wave", "target": targets[0], "preflight": true},
		Why: "plans one machine, with what to do about each finding; the whole fleet with pages for people: svc readiness --out",
	}}
	return r.fit(env, documents), nil
}

func fleetTarget(d *fleet.Document) FleetTarget {
	t := FleetTarget{Target: d.Target, Totals: d.Totals, Cost: fleetCost(d.Cost), Waves: []FleetWave{}, Machines: []FleetRow{}}
	t.Waves = append(t.Waves, sliced.Map(d.Waves, func(w fleet.Wave) FleetWave { return FleetWave{w.Number, len(w.Machines), w.Why} })...)
	for _, s := range d.Shared[:min(sharedOfFleet, len(d.Shared))] {
		t.Shared = append(t.Shared, fmt.Sprintf("%s: %d machines, of which %d need its fix, and %d nothing else", s.Title, len(s.Machines), s.Waiting, len(s.Frees)))
	}
	for _, f := range d.Fixes[:min(sharedOfFleet, len(d.Fixes))] {
		t.Fixes = append(t.Fixes, fmt.Sprintf("%s: %d machines need it; %d of %d are ready with it and those before", f.Title, len(f.Machines), f.Ready, d.Totals.Machines))
	}
	for _, m := range d.Machines {
		row := FleetRow{
			Name: m.Name, Source: m.Source, Verdict: m.Verdict, Wave: m.Wave, VM: api.VMKey(m.Fingerprint), Licensed: m.Licensed,
			CloneOf: m.CloneOf, DependsOn: m.DependsOn, Databases: m.Databases, Error: m.Error,
		}
		for _, f := range slices.Concat(m.Inhibitors, m.Findings) {
			if len(row.Why) < machine.Reasons && (slices.Contains(m.Inhibitors, f) || f.Work()) {
				row.Why = append(row.Why, f.Title)
			}
		}
		if m.Questions+m.Manual > 0 {
			row.Why = append(row.Why, fmt.Sprintf("%d packages and %d files to decide on", m.Questions, m.Manual))
		}
		t.Machines = append(t.Machines, row)
	}
	last := len(d.Waves) + 1
	slices.SortStableFunc(t.Machines, func(a, b FleetRow) int { return cmp.Compare(cmp.Or(a.Wave, last), cmp.Or(b.Wave, last)) })
	return t
}

// fleetCost says what the seats of a fleet cost.
func fleetCost(c fleet.Cost) string {
	words := []string{fmt.Sprintf("%d seats are needed", c.SeatsNeeded)}
	switch {
	case c.CapacityLeft == nil:
		words = append(words, "the account has no limit")
	case c.Price > 0:
		words = append(words, fmt.Sprintf("%d are left", *c.CapacityLeft), fmt.Sprintf("the others cost %d USD a year at the On-Demand rate of %d", c.Price, api.OverageRate))
	default:
		words = append(words, fmt.Sprintf("%d are left, which suffices", *c.CapacityLeft))
	}
	return strings.Join(words, "; ") + ". A preflight claims none."
}

// fit leaves of each target's machines what a model reads.
func (r *FleetResult) fit(env *tool.Env, documents []*fleet.Document) *FleetResult {
	if !env.TooBig(r) {
		return r
	}
	cut := env.Rest("fleet", documents)
	for env.TooBig(r) {
		longest := slices.MaxFunc(r.Targets, func(a, b FleetTarget) int { return cmp.Compare(len(a.Machines), len(b.Machines)) })
		if len(longest.Machines) <= 1 {
			break
		}
		for i := range r.Targets {
			if rows := r.Targets[i].Machines; len(rows) == len(longest.Machines) {
				r.Targets[i].Machines = rows[:len(rows)*3/4]
			}
		}
	}
	r.Cut = cut
	return r
}
