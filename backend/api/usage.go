package api

import (
	"encoding/json"
	"slices"
	"time"
)

// Kind is a kind of usage event.
type Kind string

// The kinds of usage. License is the kind that enroll records; POST /v1/usage
// does not take it.
const (
	Preflight   Kind = "preflight"
	Readiness   Kind = "readiness"
	Migration   Kind = "migration"
	Verify      Kind = "verify"
	CVEScanKind Kind = "cve_scan"
	Drift       Kind = "drift"
	License     Kind = "license"
)

// UsageKinds are the kinds that POST /v1/usage takes.
var UsageKinds = []Kind{Preflight, Readiness, Migration, Verify, CVEScanKind, Drift}

// Targeted reports whether an event of the kind names a target system.
func (k Kind) Targeted() bool {
	return slices.Contains([]Kind{Preflight, Readiness, Migration, Verify}, k)
}

// OS is an operating system as an event records it.
type OS struct {
	Distro  string `json:"distro"`  // [A-Za-z0-9._-]{1,64}
	Version string `json:"version"` // [A-Za-z0-9._-]{1,64}
}

// Label is how lists show the system.
func (o OS) Label() string { return o.Distro + " " + o.Version }

func (o OS) check(what string) error {
	if !isOSLabel(o.Distro) || !isOSLabel(o.Version) {
		return Errorf(MalformedRequest, "%s.distro and %s.version must each be 1 to 64 of A-Z a-z 0-9 . _ -", what, what)
	}
	return nil
}

// HostHint is a one-way hash of a live host's hardware id, keyed with its
// machine-id: 64 lower-case hexadecimal characters, or "" where it is not sent.
type HostHint string

// UnmarshalJSON refuses null and anything that is not 64 hex characters: a
// hint is sent right, or not at all.
func (h *HostHint) UnmarshalJSON(b []byte) error {
	var s *string
	if err := json.Unmarshal(b, &s); err != nil || s == nil || !isHex64(*s) {
		return Errorf(BadHostHint, "host_hint must be exactly 64 lower-case hexadecimal characters, or be left out")
	}
	*h = HostHint(*s)
	return nil
}

// UsageRequest is one operation on one VM.
type UsageRequest struct {
	Kind        Kind     `json:"kind"`
	Fingerprint string   `json:"vm_fingerprint"`
	Source      OS       `json:"source"`
	Target      *OS      `json:"target,omitempty"`
	HostHint    HostHint `json:"host_hint,omitempty"`
}

// Check applies the rules of spec section 2.
func (r UsageRequest) Check() error {
	if !slices.Contains(UsageKinds, r.Kind) {
		return Errorf(BadKind, "kind must be one of preflight, readiness, migration, verify, cve_scan, drift")
	}
	if err := checkFingerprint(r.Fingerprint); err != nil {
		return err
	}
	if err := r.Source.check("source"); err != nil {
		return err
	}
	switch {
	case r.Kind.Targeted() && r.Target == nil:
		return Errorf(MalformedRequest, "target is required for kind %s", r.Kind)
	case !r.Kind.Targeted() && r.Target != nil:
		return Errorf(MalformedRequest, "target must be absent for kind %s", r.Kind)
	case r.Target != nil:
		return r.Target.check("target")
	}
	return nil
}

// UsageResponse says what was recorded.
type UsageResponse struct {
	EventID     int64  `json:"event_id"`
	Kind        Kind   `json:"kind"`
	VM          string `json:"vm"` // first 12 characters of the fingerprint
	Licensed    bool   `json:"licensed"`
	SeatClaimed bool   `json:"seat_claimed"`
	Billable    bool   `json:"billable"`
	Overage     bool   `json:"overage"`
}

// AuthorizeResponse says what usage would answer.
type AuthorizeResponse struct {
	Allowed        bool    `json:"allowed"`
	Kind           Kind    `json:"kind"`
	VM             string  `json:"vm"`
	Licensed       bool    `json:"licensed"`
	WouldClaimSeat bool    `json:"would_claim_seat"`
	Overage        bool    `json:"overage"`
	Denial         *Denial `json:"denial"`
	// Feed is what a cve_scan would compare with; absent for the other kinds.
	Feed *Feed `json:"feed,omitempty"`
}

// Denial is the refusal that usage would answer.
type Denial struct {
	Status int    `json:"status"`
	Code   Code   `json:"code"`
	Error  string `json:"error"`
}

// EnrollRequest licenses a VM.
type EnrollRequest struct {
	Fingerprint string `json:"vm_fingerprint"`
	Source      OS     `json:"source"`
}

// Check applies the rules of spec section 2.
func (r EnrollRequest) Check() error {
	if err := checkFingerprint(r.Fingerprint); err != nil {
		return err
	}
	return r.Source.check("source")
}

// EnrollResponse is the answer of a success.
type EnrollResponse struct {
	Seated          bool `json:"seated"`           // always true
	AlreadyLicensed bool `json:"already_licensed"` // nothing new was claimed
}

// CVEScanRequest is the package list of a VM, at most 1000 at a time.
type CVEScanRequest struct {
	Fingerprint string           `json:"vm_fingerprint"`
	Release     string           `json:"release"`
	ScanID      string           `json:"scan_id,omitempty"` // shared by the parts of one scan
	Packages    []ScannedPackage `json:"packages"`
}

// Check refuses an empty or oversized batch, and packages without name or version.
func (r CVEScanRequest) Check() error {
	if err := checkFingerprint(r.Fingerprint); err != nil {
		return err
	}
	if r.Release == "" {
		return Errorf(MalformedRequest, "release is required: a slug such as debian-12")
	}
	if r.ScanID != "" && !isOSLabel(r.ScanID) {
		return Errorf(MalformedRequest, "scan_id must be 1 to 64 of A-Z a-z 0-9 . _ -")
	}
	if err := checkBatch(len(r.Packages), "packages"); err != nil {
		return err
	}
	for i, p := range r.Packages {
		if p.Name == "" || p.Version == "" {
			return Errorf(MalformedRequest, "packages[%d] needs name and version", i)
		}
		if max(len(p.Name), len(p.Version), len(p.Source), len(p.SourceVersion), len(p.Arch), len(p.Module)) > maxPackageField {
			return Errorf(MalformedRequest, "packages[%d] has a field of more than %d bytes", i, maxPackageField)
		}
	}
	return nil
}

// maxPackageField bounds each field of a package, in bytes.
const maxPackageField = 256

// ScannedPackage is one installed package.
type ScannedPackage struct {
	Name          string `json:"name"`
	Version       string `json:"version"`
	Source        string `json:"source,omitempty"`
	SourceVersion string `json:"source_version,omitempty"`
	Arch          string `json:"arch,omitempty"`
	Module        string `json:"module,omitempty"` // name:stream of a modular rpm
}

// CVEScanResponse is what matched, and against what.
type CVEScanResponse struct {
	Release     string     `json:"release"`
	Feed        Feed       `json:"feed"`
	SeatClaimed bool       `json:"seat_claimed"`
	Scanned     int        `json:"scanned"`
	Matches     []CVEMatch `json:"matches"`
	Updates     []CVEMatch `json:"updates"` // bug fixes and enhancements that apply: no vulnerabilities
	// Unlisted are packages that no advisory of the release names, by the name of
	// their source where the advisories name sources.
	Unlisted []string `json:"unlisted"`
}

// Feed says what advisories a scan was made with.
type Feed struct {
	Loaded     bool    `json:"loaded"`     // false: nothing was compared, which is not "clean"
	UpdatedAt  *string `json:"updated_at"` // when the newest advisory was changed
	Advisories int     `json:"advisories"` // of vulnerabilities in this release
	BuiltAt    *string `json:"built_at"`
	Version    string  `json:"version"`  // the beginning of the feed's digest; empty where none is loaded
	Rejected   int     `json:"rejected"` // advisories of the feed's sources that could not be used whole
}

// StaleAfter is the age from which advisories are too old to be trusted to be
// whole.
const StaleAfter = 7 * 24 * time.Hour

// CVEMatch is one advisory that applies to one package.
type CVEMatch struct {
	Package      string   `json:"package"`
	Version      string   `json:"version"`
	Advisory     string   `json:"advisory"`
	Aliases      []string `json:"aliases"`
	Severity     string   `json:"severity"` // critical, high, medium, low, unknown
	CVSS         string   `json:"cvss"`
	FixedVersion string   `json:"fixed_version"`
	Status       string   `json:"status"` // fixed, unfixed, end_of_life
	Summary      string   `json:"summary"`
	URL          string   `json:"url"`
}
