package tools

import (
	"context"

	"svc/assess"
	"svc/assess/inspect"
	"svc/backend/api"
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
func Enroll(ctx context.Context, env *Env, in Machine) (EnrollResult, error) {
	host, err := in.open(ctx, env)
	if err != nil {
		return EnrollResult{}, err
	}
	defer host.Close()
	a, err := inspect.Assess(ctx, host, assess.Options{Now: env.Now(), Progress: env.Progress})
	if err == nil {
		err = a.RequireFingerprint()
	}
	if err != nil {
		return EnrollResult{}, err
	}
	e, err := call(ctx, env, api.Enroll, api.EnrollRequest{Fingerprint: a.Fingerprint, Source: osOf(a.Release)})
	if err != nil {
		return EnrollResult{}, err
	}
	return EnrollResult{a.Release, a.Fingerprint, e.Seated, e.AlreadyLicensed}, nil
}
