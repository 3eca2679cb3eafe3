// Package parity compares a migrated machine with what it was made from, and a
// machine with what it was. It is pure: two assessments, a plan and what stands
// in some files give the same checks.
package parity

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	"svc/assess"
	"svc/backend/api/attest"
	"svc/backend/secret"
	"svc/backend/sliced"
)

// Schema names the form of parity.json, and of a drift's document.
const Schema = "svc.parity/v1"

// Result is how one check ended.
type Result string

// The results. They add up to the checks.
const (
	Match    Result = "match"         // as on the source
	Planned  Result = "planned"       // otherwise than on the source, as the plan announced
	Accepted Result = "accepted"      // differs, and a person accepted it in writing
	Manual   Result = "manual"        // not as on the source, and announced: the plan left it to a person, or no migration carries it
	Differs  Result = "differs"       // otherwise than the plan announced
	Unknown  Result = "not-checkable" // could not be read or is not known, on one of the machines
)

// The dimensions in which machines are compared.
const (
	Identity      = "identity"
	Packages      = "packages"
	Services      = "services"
	Timers        = "timers"
	Jobs          = "jobs"
	Users         = "users"
	Groups        = "groups"
	Sudoers       = "sudoers"
	Keys          = "authorized_keys"
	Configuration = "configuration"
	Ports         = "ports"
	Sites         = "sites"
	Certificates  = "certificates"
	Mounts        = "mounts"
	Sysctl        = "sysctl"
	Firewall      = "firewall"
	System        = "system"
	Data          = "data"
	Databases     = "databases"
	Software      = "software"
	Containers    = "containers"
	Facts         = "facts"
	Archives      = "archives" // where packages come from, and whose signatures are trusted
	Programs      = "programs"
	Modules       = "modules" // of the kernel
	PAM           = "pam"
)

// dimensions is the order of a report.
var dimensions = []string{
	Identity, Packages, Archives, Programs, Services, Timers, Jobs, Users, Groups, Sudoers, Keys, PAM, Modules, Configuration, Ports, Sites, Certificates, Mounts, Sysctl,
	Firewall, System, Data, Databases, Software, Containers, Facts,
}

// Check is the comparison of one thing.
type Check struct {
	Dimension string            `json:"dimension"`
	Subject   string            `json:"subject"` // name of the package, unit, file, user, …
	Result    Result            `json:"result"`
	Before    string            `json:"before"` // as it was; empty where it was not there
	After     string            `json:"after"`  // as it is; empty where it is not there
	Why       string            `json:"why"`
	Evidence  []assess.Evidence `json:"evidence"` // where it was read
	// Added says that the thing is there, or has grown, without the source, the
	// plan or a package that accounts for it.
	Added bool `json:"added,omitempty"`
}

// Sum counts checks by result; the others add up to Total.
type Sum struct {
	Total    int `json:"total"`
	Match    int `json:"match"`
	Planned  int `json:"planned"`
	Accepted int `json:"accepted"`
	Manual   int `json:"manual,omitzero"`
	Differs  int `json:"differs"`
	Added    int `json:"added,omitzero"` // of those that differ
	Unknown  int `json:"not_checkable"`
}

func (s *Sum) add(r Result, added bool) {
	s.Total++
	if added && r == Differs {
		s.Added++
	}
	*map[Result]*int{Match: &s.Match, Planned: &s.Planned, Accepted: &s.Accepted, Manual: &s.Manual, Differs: &s.Differs, Unknown: &s.Unknown}[r]++
}

// CheckSum is the sum as an attestation has it.
func (s Sum) CheckSum() attest.CheckSum {
	return attest.CheckSum{Total: s.Total, Passed: s.Match + s.Planned + s.Accepted, Manual: s.Manual, Differ: s.Differs, Unknown: s.Unknown}
}

// DimensionSum is the sum of one dimension.
type DimensionSum struct {
	Dimension string `json:"dimension"`
	Sum
	// Base counts the things that only the target has, and that its own packages
	// account for.
	Base int `json:"base,omitzero"`
}

// DimensionSums are the sums of the dimensions as an attestation has them.
func (r *Report) DimensionSums() []attest.DimensionSum {
	return append([]attest.DimensionSum{}, sliced.Map(r.Dimensions, func(d DimensionSum) attest.DimensionSum {
		return attest.DimensionSum{
			Dimension: d.Dimension, Compared: d.Total, Equal: d.Match, Announced: d.Planned + d.Manual, Accepted: d.Accepted,
			Differ: d.Differs, Added: d.Added, Base: d.Base, Unreadable: d.Unknown,
		}
	})...)
}

// Report is parity.json. No list is ever null.
type Report struct {
	Schema         string         `json:"schema"`
	Kind           string         `json:"kind"`   // verify or drift
	Source         string         `json:"source"` // release slug
	Target         string         `json:"target"` // release slug
	Fingerprint    string         `json:"fingerprint"`
	IndexVersion   string         `json:"index_version"`
	PlanDigest     string         `json:"plan_digest"`                // SHA-256 of the plan that was checked
	DataPlanDigest string         `json:"data_plan_digest,omitempty"` // SHA-256 of the data plan whose places were counted
	AcceptedDigest string         `json:"accepted_digest,omitempty"`  // SHA-256 of the reviewed file of accepted differences
	Parity         bool           `json:"parity"`                     // nothing differs
	Sum            Sum            `json:"sum"`
	Dimensions     []DimensionSum `json:"dimensions"`
	NotLooked      []string       `json:"not_looked"` // what was not looked at, and why; text for people
	Checks         []Check        `json:"checks"`
	// Unused are accepted differences that were not found: they may go.
	Unused []string `json:"unused_acceptances"`
}

// Differences are the checks that differ.
func (r *Report) Differences() []Check {
	return append([]Check{}, sliced.Filter(r.Checks, func(c Check) bool { return c.Result == Differs })...)
}

// Bounds of what a check shows: places, and bytes of what was and is there. What
// is compared is not cut.
const (
	maxEvidence = 20
	maxValue    = 2000
)

// shown is a value, or of a long one its beginning and its digest.
func shown(value string) string {
	if len(value) <= maxValue {
		return value
	}
	sum := sha256.Sum256([]byte(value))
	return fmt.Sprintf("%s… (%d bytes, sha256:%x)", strings.ToValidUTF8(value[:maxValue], ""), len(value), sum)
}

// finish accepts, sorts and counts the checks.
func (r *Report) finish(accepted Acceptances) *Report {
	r.Schema, r.Unused = Schema, accepted.apply(r.Checks)
	slices.SortStableFunc(r.Checks, func(a, b Check) int {
		return cmp.Or(cmp.Compare(slices.Index(dimensions, a.Dimension), slices.Index(dimensions, b.Dimension)), cmp.Compare(a.Subject, b.Subject))
	})
	r.Checks, r.NotLooked, r.Dimensions = append([]Check{}, r.Checks...), append([]string{}, r.NotLooked...), []DimensionSum{}
	for i := range r.Checks {
		c := &r.Checks[i]
		c.Evidence = append([]assess.Evidence{}, c.Evidence[:min(len(c.Evidence), maxEvidence)]...)
		c.Before, c.After = shown(c.Before), shown(c.After)
		secret.MaskIn(c) // of a machine that is looked at after the plan, too
		r.count(c.Dimension, c.Result, c.Added)
	}
	r.Parity = r.Sum.Differs == 0
	return r
}

// count adds a thing to the sums.
func (r *Report) count(dimension string, result Result, added bool) {
	r.Sum.add(result, added)
	r.dimension(dimension).add(result, added)
}

// dimension is the sum of a dimension, which is made in its place where there is
// none.
func (r *Report) dimension(dimension string) *DimensionSum {
	i := slices.IndexFunc(r.Dimensions, func(d DimensionSum) bool {
		return slices.Index(dimensions, d.Dimension) >= slices.Index(dimensions, dimension)
	})
	if i < 0 {
		i = len(r.Dimensions)
	}
	if i == len(r.Dimensions) || r.Dimensions[i].Dimension != dimension {
		r.Dimensions = slices.Insert(r.Dimensions, i, DimensionSum{Dimension: dimension})
	}
	return &r.Dimensions[i]
}
