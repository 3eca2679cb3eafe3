package verification

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"

	"svc/backend/api"
	"svc/backend/visible"
	"svc/tools/evidence"
	"svc/tools/job"
	"svc/tools/machine"
	"svc/tools/parity"
	"svc/tools/tool"
)

// ComparisonKind is what a machine is compared with.
type ComparisonKind string

// The kinds: with what was planned, signed; and with what it was when it was verified.
const (
	KindParity ComparisonKind = "parity"
	KindDrift  ComparisonKind = "drift"
)

// Call is the input of svc_verify.
type Call struct {
	Input
	Kind     ComparisonKind   `json:"kind,omitempty" jsonschema:"drift: what changed since; needs a seat"`
	Machines machine.Machines `json:"machines,omitempty" jsonschema:"several: source and out have a folder for each, by name"`
	tool.Aim
}

// VerifiedMachines is what comparisons of several machines found.
type VerifiedMachines struct {
	Kind     ComparisonKind    `json:"kind"`
	Total    map[string]int    `json:"total"` // machines by state: parity, differs, failed
	Machines []VerifiedMachine `json:"machines"`
	tool.Cut
}

// VerifiedMachine is one of them.
type VerifiedMachine struct {
	Name        string      `json:"name"`
	State       string      `json:"state"` // parity, differs or failed
	Sum         *parity.Sum `json:"sum,omitempty"`
	Differs     []string    `json:"differs,omitempty"` // the first of what differs, and why
	SeatClaimed bool        `json:"seat_claimed,omitempty"`
	Out         string      `json:"out,omitempty"`
	Error       string      `json:"error,omitempty"`
}

// RehearsalResult is what a rehearsal said, where no machine was moved yet.
type RehearsalResult struct {
	Rehearsal *evidence.Rehearsed `json:"rehearsal"`
}

// run is the comparison that is asked for.
func (c Call) run(ctx context.Context, env *tool.Env) (Result, error) {
	switch c.Kind {
	case "", KindParity:
		return Verify(ctx, env, c.Input)
	case KindDrift:
		if c.Out != "" || c.Data != "" || c.Digests || c.Ask {
			return Result{}, tool.InputErrorf("svc_verify", "kind drift takes no out, data, digests and ask: it writes nothing")
		}
		return Drift(ctx, env, c.Input)
	}
	return Result{}, tool.InputErrorf("svc_verify", "kind must be %s or %s, not %q", KindParity, KindDrift, tool.Excerpt(string(c.Kind), 40))
}

// VerifyAny answers svc_verify in its forms.
func VerifyAny(ctx context.Context, env *tool.Env, c Call) (any, error) {
	if len(c.Machines) > 0 {
		return verifyMany(ctx, env, c)
	}
	if c.Rehearsal != "" && c.Source == "" && c.Machine == (machine.Machine{}) {
		_, said, err := evidence.ReadRehearsal(env, c.Rehearsal) // before there is a machine to compare
		return RehearsalResult{said}, err
	}
	if !c.Aimed() {
		return c.run(ctx, env)
	}
	c.Detail = tool.DetailFull
	r, err := c.run(ctx, env)
	if err != nil {
		return nil, err
	}
	return c.Shoot(env, "svc_verify", r, c.Limit)
}

// verifyMany compares several machines, each with its own source. One failure does not
// stop the others.
func verifyMany(ctx context.Context, env *tool.Env, c Call) (*VerifiedMachines, error) {
	if (c.Machine != machine.Machine{}) {
		return nil, tool.InputErrorf("svc_verify", "machines takes the place of root, image and ssh")
	}
	if len(c.Machines) > machine.MostMachines {
		return nil, tool.InputErrorf("svc_verify", "these are %d machines, and a call takes %d: `svc verify --hosts` takes any number", len(c.Machines), machine.MostMachines)
	}
	members := machine.Distinct(c.Machines.Members())
	if err := agreement(ctx, env, c, members); err != nil {
		return nil, err
	}
	rows := make([]VerifiedMachine, len(members))
	machine.Each(members, machine.AtOnce, func(i int, m machine.Member) { rows[i] = verifyOne(ctx, env, c, m) })
	r := &VerifiedMachines{Kind: c.Kind, Total: map[string]int{}}
	r.Kind = cmp.Or(r.Kind, KindParity)
	for _, state := range []string{"failed", "differs", "parity"} { // what needs a person first
		for _, row := range rows {
			if row.State == state {
				r.Total[state]++
				r.Machines = append(r.Machines, row)
			}
		}
	}
	if env.TooBig(r) {
		cut := env.Rest("verified", r)
		for env.TooBig(r) && len(r.Machines) > 1 {
			r.Machines = r.Machines[:len(r.Machines)*3/4]
		}
		r.Cut = cut
	}
	return r, nil
}

// agreement is what is to be confirmed where an agent calls and seats of some machines
// would be claimed. It asks before anything is compared, by what the sources say of
// themselves; what can't be read or is refused, its own row tells.
func agreement(ctx context.Context, env *tool.Env, c Call, members []machine.Member) error {
	if !env.ForAgent || c.Confirm || c.Kind == KindDrift {
		return nil
	}
	service, err := env.Client(ctx)
	if err != nil {
		return err
	}
	var names []string
	var last api.AuthorizeResponse
	for _, m := range members {
		o, err := readOrigin(OwnFolder(c.Source, m.Name))
		if err != nil || o.before.RequireFingerprint() != nil {
			continue
		}
		system := job.OSOf(o.before.Release)
		answer, err := job.Admitted(ctx, service, api.UsageRequest{Kind: api.Verify, Fingerprint: o.before.Fingerprint, Source: system, Target: &system})
		if err == nil && answer.WouldClaimSeat {
			names, last = append(names, m.Name), answer
		}
	}
	if len(names) == 0 {
		return nil
	}
	cost, err := job.CostOf(ctx, env, last)
	if err != nil {
		return err
	}
	return &tool.NeedsConfirm{
		Would: fmt.Sprintf("compare %d machines, have each result signed, and claim licence seats for those that have none: %s", len(members), visible.Names(names)),
		Cost:  "Of one of them: " + cost, Seat: true,
	}
}

// verifyOne compares one of several.
func verifyOne(ctx context.Context, env *tool.Env, c Call, m machine.Member) VerifiedMachine {
	quiet := *env
	quiet.Progress, quiet.Resources = nil, nil
	c.Machine, c.Detail = m.Machine, tool.DetailFull
	c.Source, c.Data = OwnFolder(c.Source, m.Name), OwnFolder(c.Data, m.Name)
	row := VerifiedMachine{Name: m.Name, State: "failed"}
	if c.Out != "" {
		if err := os.MkdirAll(c.Out, 0o755); err != nil {
			row.Error = err.Error()
			return row
		}
		c.Out = filepath.Join(c.Out, m.Name)
	}
	r, err := c.run(ctx, &quiet)
	if err != nil {
		row.Error = tool.Excerpt(err.Error(), maxReason)
		return row
	}
	row.Sum, row.SeatClaimed, row.Out, row.State = &r.Sum, r.SeatClaimed, r.Out, "parity"
	for _, check := range r.Differences() {
		row.State = "differs"
		if len(row.Differs) < machine.Reasons {
			row.Differs = append(row.Differs, tool.Excerpt(fmt.Sprintf("%s %s: %s", check.Dimension, check.Subject, check.Why), maxReason))
		}
	}
	return row
}

// maxReason is how long a reason in a row is, in characters.
const maxReason = 200

// OwnFolder is a machine's folder in one of many. Where it has none there, and the folder
// is what is meant itself, of one machine, it is that folder.
func OwnFolder(dir, name string) string {
	own := filepath.Join(dir, name)
	if dir == "" {
		return dir
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return dir
	}
	if _, err := os.Stat(own); err == nil {
		return own
	}
	for _, file := range []string{evidence.AssessmentFile, evidence.PlanFile} {
		if _, err := os.Stat(filepath.Join(dir, file)); err == nil {
			return dir
		}
	}
	return own
}
