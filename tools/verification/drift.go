package verification

import (
	"context"
	"crypto/rand"
	"errors"
	"strings"

	"svc/assess/host"
	"svc/backend/api"
	"svc/backend/client"
	"svc/tools/evidence"
	"svc/tools/job"
	"svc/tools/parity"
	"svc/tools/tool"
)

// Drift compares a machine with what it was when it was verified, or, given the
// folder of a migration, with what that planned. The machine needs a seat.
// Nothing is written, and nothing is sent but the usage event.
func Drift(ctx context.Context, env *tool.Env, in Input) (Result, error) {
	v := &verification{Job: &job.Job{Env: env, Machine: in.Machine}, in: in}
	if err := v.check("svc drift"); err != nil {
		return Result{}, err
	}
	if err := v.readAccepted(); err != nil {
		return Result{}, err
	}
	if err := v.begin(ctx); err != nil {
		return Result{}, err
	}
	defer v.Close()
	if v.origin.plan == nil && v.origin.parity == nil {
		return Result{}, errors.New("the source is but an assessment: name the out folder of a verification, or of a migration; nothing was compared")
	}
	usage := v.event(api.Drift)
	if v.origin.parity != nil {
		usage.Fingerprint = v.origin.parity.Fingerprint
	}
	if err := job.Authorize(ctx, v.Client, usage); err != nil {
		return Result{}, err
	}
	if err := v.trust(ctx); err != nil {
		return Result{}, err
	}
	r, err := v.drift(ctx)
	if err != nil {
		return Result{}, err
	}
	recorded, err := client.Call(ctx, v.Client, api.Usage, usage, client.WithKey(rand.Text()))
	if err != nil {
		return Result{}, err
	}
	return v.shown(Result{Report: *r, Licensed: recorded.Licensed, Artifacts: []evidence.Artifact{}}), nil
}

func (v *verification) drift(ctx context.Context) (*parity.Report, error) {
	if v.origin.plan == nil {
		r := parity.Drift(v.origin.before, v.Assessment, v.kept(), v.accepted)
		r.Fingerprint, r.IndexVersion, r.PlanDigest = v.origin.parity.Fingerprint, v.origin.parity.IndexVersion, v.origin.parity.PlanDigest
		r.AcceptedDigest = v.acceptedDigest
		return r, host.Lost(v.Host)
	}
	r, err := v.compare(ctx)
	if err == nil {
		r.Kind = "drift"
	}
	return r, err
}

// kept are the places where the verification saw data, and whether something is
// still there.
func (v *verification) kept() map[string]bool {
	places := map[string]bool{}
	for _, c := range v.origin.parity.Checks {
		if c.Dimension == parity.Data && c.After != "" {
			entries, err := v.Host.FS().ReadDir(strings.TrimPrefix(c.Subject, "/"))
			places[c.Subject] = err == nil && len(entries) > 0
		}
	}
	return places
}
