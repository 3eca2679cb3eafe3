package dataplan

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"path/filepath"

	"svc/assess"
	"svc/backend/api/attest"
	"svc/backend/release"
	"svc/backend/visible"
	"svc/tools/artifact"
	"svc/tools/data"
	"svc/tools/evidence"
	"svc/tools/job"
	"svc/tools/machine"
	"svc/tools/tool"
)

// defaultRate is what an estimate takes for the way between two machines: bytes
// a second.
const defaultRate = 100 << 20

// PlanInput is the input of DataPlan.
type PlanInput struct {
	machine.Machine
	Target        string `json:"target" jsonschema:"release to move to"`
	Out           string `json:"out" jsonschema:"folder to write to"`
	SourceOffline bool   `json:"source_offline,omitempty" jsonschema:"true: nothing writes to the source any more"`
	RateMiB       int    `json:"rate_mib,omitempty" jsonschema:"MiB a second between the machines; 100"`
	Confirm       bool   `json:"confirm,omitempty" jsonschema:"true writes the plan"`
}

// PlanResult is what a data plan made: counts, places, digests.
type PlanResult struct {
	Source        string              `json:"source"`
	Target        string              `json:"target"`
	Fingerprint   string              `json:"fingerprint"`
	SourceOffline bool                `json:"source_offline"`
	Sum           data.PlanSum        `json:"sum"`
	Methods       map[string]int      `json:"methods"` // places by how they move
	Inhibitors    []tool.Headline     `json:"inhibitors"`
	PlanDigest    string              `json:"plan_digest"`
	Out           string              `json:"out"` // absolute
	Artifacts     []evidence.Artifact `json:"artifacts"`
	Scripts       int                 `json:"scripts"` // of places and databases: counted, not listed
	KeyID         string              `json:"key_id"`  // of the local key that signed
}

// Plan plans the move of a machine's data and, confirmed, writes the plan.
// The same data give the same bytes. It runs nothing.
func Plan(ctx context.Context, env *tool.Env, in PlanInput) (PlanResult, error) {
	target, err := in.check()
	if err != nil {
		return PlanResult{}, err
	}
	j := &job.Job{Env: env, Machine: in.Machine}
	if err := j.Open(ctx); err != nil {
		return PlanResult{}, err
	}
	defer j.Close()
	d, err := discover(ctx, j)
	if err == nil {
		err = j.Assessment.RequireFingerprint()
	}
	if err != nil {
		return PlanResult{}, err
	}
	rate := int64(defaultRate)
	if in.RateMiB > 0 {
		rate = int64(in.RateMiB) << 20
	}
	p := data.NewPlan(data.PlanInput{Discovery: d, Target: target, SourceOffline: in.SourceOffline, Rate: rate})
	return in.write(env, p)
}

// check looks at the input, before anything is read.
func (in *PlanInput) check() (release.Release, error) {
	target, err := job.TargetNamed(in.Target)
	switch {
	case in.Target == "":
		return target, &tool.InputError{Tool: "svc_data_plan", Err: errors.New("target is required: a release such as debian-13")}
	case err != nil:
		return target, err
	case in.Out == "":
		return target, &tool.InputError{Tool: "svc_data_plan", Err: errors.New("out is required: the folder to write to")}
	case in.RateMiB < 0 || in.RateMiB > 1<<20:
		return target, &tool.InputError{Tool: "svc_data_plan", Err: fmt.Errorf("rate_mib must be 1 to %d, not %d", 1<<20, in.RateMiB)}
	case !in.Confirm:
		return target, &tool.NeedsConfirm{
			Would: fmt.Sprintf("read %s%s%s, and write the plan of its data's move to %s, with scripts for a person to run, to %s", in.Root, in.Image, in.SSH, target.Slug, in.Out),
			Cost:  "It is free, calls no service and executes nothing.",
		}
	}
	return target, job.CheckOut(in.Machine, in.Out, evidence.PlanFile)
}

// write puts the plan, its scripts and its attestation into the folder.
func (in *PlanInput) write(env *tool.Env, p *data.Plan) (PlanResult, error) {
	rendered, err := data.Render(p)
	if err != nil {
		return PlanResult{}, err
	}
	files := artifact.Files(rendered)
	if files[evidence.PlanFile], err = evidence.Document(p); err != nil {
		return PlanResult{}, err
	}
	key, err := env.LocalKey()
	if err != nil {
		return PlanResult{}, err
	}
	digests, err := evidence.WriteOwn(in.Out, evidence.PlanFile, files, key, &attest.DataPlanPredicate{
		Operation: attest.Operation{Fingerprint: p.Fingerprint, Source: p.Source, Target: p.Target, Tool: "svc " + env.Version},
		Items:     p.Sum.Items, Bytes: p.Sum.Bytes, SourceOffline: p.SourceOffline,
	})
	if err != nil {
		return PlanResult{}, err
	}
	return in.result(p, digests, attest.KeyID(key.Public().(ed25519.PublicKey))), nil
}

func (in *PlanInput) result(p *data.Plan, digests artifact.Digests, keyID string) PlanResult {
	r := PlanResult{
		Source: p.Source, Target: p.Target, Fingerprint: p.Fingerprint, SourceOffline: p.SourceOffline, Sum: p.Sum, Methods: map[string]int{},
		Inhibitors: tool.Headlines(p.Inhibitors), PlanDigest: digests[evidence.PlanFile], Artifacts: []evidence.Artifact{}, KeyID: keyID,
	}
	for i := range r.Inhibitors {
		r.Inhibitors[i].Title += ": " + visible.Name(related(p.Inhibitors[i]))
	}
	for _, i := range p.Items {
		r.Methods[string(i.Method)]++
	}
	r.Out, _ = filepath.Abs(in.Out) // staging resolved it already
	for _, a := range evidence.Artifacts(r.Out, digests) {
		if filepath.Dir(a.Path) != r.Out {
			r.Scripts++
			continue
		}
		r.Artifacts = append(r.Artifacts, a)
	}
	return r
}

// related is what a finding is about first.
func related(f assess.Finding) string {
	for _, r := range f.Related {
		return r.Name
	}
	return ""
}
