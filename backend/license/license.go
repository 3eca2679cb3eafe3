// Package license is the rule book: who may claim a seat, what capacity an
// account has, and what it pays. It is pure: values in, values out, no clock,
// no SQL, no HTTP.
package license

import (
	_ "embed" // the free targets
	"strings"

	"svc/backend/api"
)

// Account is what of an account the rules look at.
type Account struct {
	ID        int64
	Name      string
	Plan      api.Plan
	Unlimited bool
	FreeQuota int
	VMLimit   int
}

// State is everything that a decision depends on, read under one lock.
type State struct {
	Account Account
	Used    int  // VMs that have a seat
	Seats   int  // of active grants and POVs, the free quota apart
	Seated  bool // this VM has a seat
	POVs    int  // of Seats, those of POVs
}

// Decision is what happens to one event.
type Decision struct {
	Licensed bool // the VM has a seat once the event is recorded
	Claim    bool // the event claims it
	Billable bool // and is charged for
	Overage  bool // beyond the account's capacity
	Pool     Pool // that a claimed seat was taken from
	Refusal  *api.Error
}

// freeTargetsText is free_targets.txt.
//
//go:embed free_targets.txt
var freeTargetsText string

// freeTargets are the target systems that cost nothing, as their labels.
var freeTargets = readTargets(freeTargetsText)

// readTargets reads a label a line; those that begin with # are comments.
func readTargets(text string) map[string]bool {
	all := map[string]bool{}
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			all[line] = true
		}
	}
	return all
}

// claims are the kinds that claim a seat, and whether a paying account may go
// beyond its capacity with them. The seat that a scan claims is a licence.
var claims = map[api.Kind]struct{ overage bool }{
	api.Migration:   {overage: true},
	api.Verify:      {overage: true},
	api.License:     {overage: false},
	api.CVEScanKind: {overage: false},
}

// Pool is the part of an account's capacity that a seat is taken from when it is
// claimed. Pools are filled in this order; later nothing is moved between them.
type Pool string

// The pools.
const (
	FreePool      Pool = "free"    // the free quota
	POVPool       Pool = "pov"     // proofs of value
	LicensePool   Pool = "license" // licence grants
	OveragePool   Pool = "overage" // beyond the capacity, invoiced
	UnlimitedPool Pool = "unlimited"
)

// pool is what the next seat is taken from.
func (s State) pool() Pool {
	switch {
	case s.Account.Unlimited:
		return UnlimitedPool
	case s.Used < s.Account.FreeQuota:
		return FreePool
	case s.Used < s.Account.FreeQuota+s.POVs:
		return POVPool
	case s.Used < s.Account.FreeQuota+s.Seats:
		return LicensePool
	}
	return OveragePool
}

// SeatKind is the kind of the seat that an operation claims, as the statement has it.
func SeatKind(kind api.Kind) api.Kind {
	if kind == api.CVEScanKind {
		return api.License
	}
	return kind
}

// paying are the plans whose overage is invoiced.
var paying = map[api.Plan]bool{api.PlanOnDemand: true, api.PlanPro: true, api.PlanFleet: true}

// Decide is the gate of every recorded operation. A VM with a seat is never
// refused, and nothing is ever charged twice.
func Decide(s State, kind api.Kind, target *api.OS) Decision {
	rule, claiming := claims[kind]
	switch {
	case s.Seated:
		return Decision{Licensed: true}
	case kind == api.Drift:
		return refuse(api.UnlicensedVM, "UNLICENSED_VM: this VM has no seat, and drift does not claim one; nothing was recorded: license it with a migration, a verify or an enroll first")
	case !claiming:
		return Decision{}
	}
	d := Decision{Licensed: true, Claim: true, Billable: !s.Account.Unlimited && !isFree(target), Pool: s.pool()}
	switch {
	case s.Account.Unlimited:
		return d
	case s.Used >= s.Account.VMLimit:
		return refuse(api.VMLimit, "the account's limit of %d VMs is reached; nothing was recorded: have the limit raised", s.Account.VMLimit)
	case s.Used < s.Account.FreeQuota+s.Seats:
		return d
	case rule.overage && paying[s.Account.Plan]:
		d.Overage = true
		return d
	}
	return refuse(api.SeatQuota, "all %d seats of the account are taken; nothing was recorded: add capacity, or use a VM that has a seat", s.Account.FreeQuota+s.Seats)
}

func refuse(code api.Code, format string, args ...any) Decision {
	return Decision{Refusal: api.Errorf(code, format, args...)}
}

func isFree(target *api.OS) bool { return target != nil && freeTargets[target.Label()] }

// Listed reports whether an event belongs to the account's billable operations:
// so that every seat has its event.
func Listed(kind api.Kind, claimed bool) bool {
	switch kind {
	case api.Migration, api.Verify, api.License:
		return true
	}
	return claimed
}
