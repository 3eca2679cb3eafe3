// Package assessment is the tool that says what a machine is.
package assessment

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"svc/assess"
	"svc/backend/release"
	"svc/tools/artifact"
	"svc/tools/job"
	"svc/tools/machine"
	"svc/tools/tool"
)

// Input is the input of Assess.
type Input struct {
	machine.Machine
	Target string      `json:"target,omitempty" jsonschema:"release to look at it for"`
	Limit  int         `json:"limit,omitempty" jsonschema:"entries of each list; 20"`
	Detail tool.Detail `json:"detail,omitempty" jsonschema:"full cuts nothing"`
	tool.Aim
	// Hazards is a folder with tables of known trouble beside the program's own; a person
	// names it, agents can't.
	Hazards string `json:"-"`
}

// Result is the assessment. A summary's lists are cut, each finding shows
// the first of its resources and evidence, and without a limit the least of them
// only their titles: Total then has the whole length of each cut list, and
// Resource is where the rest can be read.
type Result struct {
	assess.Assessment
	Total     map[string]int `json:"total,omitempty"`
	Truncated bool           `json:"truncated,omitempty"`
	Resource  string         `json:"resource,omitempty"`
	Next      []tool.Step    `json:"next,omitempty"` // of a summary
}

// AssessPart is Assess, or the part of its result that a call aims at.
func AssessPart(ctx context.Context, env *tool.Env, in Input) (any, error) {
	if !in.Aimed() {
		return Assess(ctx, env, in)
	}
	in.Detail = tool.DetailFull
	whole, err := Assess(ctx, env, in)
	if err != nil {
		return nil, err
	}
	return in.Shoot(env, "svc_assess", whole, in.Limit)
}

// Assess reads a machine. Where its package database is corrupt, the result
// has what could be read, and the error wraps assess.ErrCorrupt.
func Assess(ctx context.Context, env *tool.Env, in Input) (Result, error) {
	if err := tool.CheckShown("svc_assess", &in.Detail, in.Limit); err != nil {
		return Result{}, err
	}
	if r, ok := release.Named(in.Target); ok {
		in.Target = r.Slug
	}
	j := &job.Job{Env: env, Machine: in.Machine}
	var err error
	if j.Hazards, err = job.HazardTables(in.Hazards); err != nil {
		return Result{}, err
	}
	if err := j.Open(ctx); err != nil {
		return Result{}, err
	}
	defer j.Close()
	err = j.AssessFor(ctx, in.Target)
	a := j.Assessment
	if a == nil {
		return Result{}, err
	}
	env.Saw(a, in.Machine)
	if in.Detail == tool.DetailFull {
		return Result{Assessment: *a}, err
	}
	return summarize(env, a, in), err
}

// following are the steps after an assessment.
func following(a *assess.Assessment, target string) []tool.Step {
	if a.RequireFingerprint() != nil {
		return []tool.Step{}
	}
	target = cmp.Or(target, "the release that the user chose")
	steps := []tool.Step{{Tool: "svc_migrate", Input: map[string]any{"target": target, "preflight": true}, Why: "plans the move, for free; targets in place of target compares several"}}
	if len(a.Databases) > 0 {
		steps = append(steps, tool.Step{Tool: "svc_db_plan", Input: map[string]any{"target": target}, Why: "the role carries no data of a database: these are the ways for them"})
	}
	return steps
}

// summarize cuts every list to the limit, and then, where there is a budget, has
// of the least findings their titles alone, and cuts the longest of the other
// lists until the whole fits.
func summarize(env *tool.Env, a *assess.Assessment, in Input) Result {
	r := Result{Assessment: *a, Total: map[string]int{}, Next: following(a, in.Target)}
	most := tool.BoundsOf(in.Limit)
	r.Findings = headed(a.Findings)
	briefly := titled(r.Findings[:min(most.Limit, len(r.Findings))], most.Budget/2)
	lists := tool.ListsOf("", &r.Assessment)
	if a.Running != nil {
		running := *a.Running
		r.Running = &running
		lists = append(lists, tool.ListsOf("running.", r.Running)...)
	}
	tool.Fit(func() any { return r }, lists, most, r.Total)
	if len(r.Total) == 0 && !briefly {
		return r
	}
	r.Truncated = true
	if env.Resources != nil {
		whole := tool.Encoded(a) // its digest tells apart machines that have no fingerprint
		r.Resource = env.Resources.Put("assessment-"+cmp.Or(a.Fingerprint, artifact.Digest(whole))[:12], whole)
	}
	return r
}

// MarshalJSON leaves out the lists of which a summary shows nothing: an empty one
// would say that there is nothing. Their lengths are in Total.
func (r Result) MarshalJSON() ([]byte, error) {
	type plain Result
	b, err := json.Marshal(plain(r))
	if err != nil || len(r.Total) == 0 {
		return b, err
	}
	return tool.WithoutCut(b, "", r.Total)
}

// MarshalJSONTo is MarshalJSON, for who writes a whole document as it is made.
func (r Result) MarshalJSONTo(e *jsontext.Encoder) error {
	type plain Result
	if len(r.Total) == 0 {
		return jsonv2.MarshalEncode(e, plain(r))
	}
	b, err := r.MarshalJSON()
	if err != nil {
		return err
	}
	return e.WriteValue(b)
}

// headed are findings with the first of their resources and evidence.
func headed(findings []assess.Finding) []assess.Finding {
	const most = 1
	short := slices.Clone(findings)
	for i := range short {
		f := &short[i]
		f.Related, f.Evidence = f.Related[:min(most, len(f.Related))], f.Evidence[:min(most, len(f.Evidence))]
	}
	return short
}

// titled leaves of the last findings, which are the least, only what they are
// called, until all fit the room. It reports whether it had to.
func titled(findings []assess.Finding, room int) (cut bool) {
	for i := len(findings) - 1; i >= 0 && len(tool.Encoded(findings)) > room; i-- {
		f := &findings[i]
		f.Summary, f.Remediations, f.Related, f.Evidence = "", []assess.Remediation{}, []assess.Resource{}, []assess.Evidence{}
		cut = true
	}
	return cut
}
