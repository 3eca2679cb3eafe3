package account

import (
	"context"

	"svc/backend/api"
	"svc/tools/job"
	"svc/tools/machine"
	"svc/tools/tool"
)

// EnrollResult is a machine that has a licence seat.
type EnrollResult struct {
	Release         string `json:"release"`
	Fingerprint     string `json:"fingerprint"`
	Seated          bool   `json:"seated"`
	AlreadyLicensed bool   `json:"already_licensed"`
}

// Enroll licenses a machine, without moving it. A machine that has its seat
// keeps it, and nothing more is claimed.
func Enroll(ctx context.Context, env *tool.Env, in machine.Machine) (EnrollResult, error) {
	j := &job.Job{Env: env, Machine: in}
	if err := j.Open(ctx); err != nil {
		return EnrollResult{}, err
	}
	defer j.Close()
	err := j.Assess(ctx)
	if err == nil {
		err = j.Assessment.RequireFingerprint()
	}
	if err != nil {
		return EnrollResult{}, err
	}
	a := j.Assessment
	e, err := tool.Call(ctx, env, api.Enroll, api.EnrollRequest{Fingerprint: a.Fingerprint, Source: job.OSOf(a.Release)})
	if err != nil {
		return EnrollResult{}, err
	}
	return EnrollResult{a.Release, a.Fingerprint, e.Seated, e.AlreadyLicensed}, nil
}
