package api

import (
	"slices"
	"strings"
)

// Plan is an account's tariff.
type Plan string

// The plans of the contract.
const (
	PlanFree     Plan = "free"
	PlanOnDemand Plan = "on_demand"
	PlanPro      Plan = "pro"
	PlanFleet    Plan = "fleet"
	PlanInternal Plan = "internal"
)

// Plans lists every plan.
var Plans = []Plan{PlanFree, PlanOnDemand, PlanPro, PlanFleet, PlanInternal}

// OverageRate is what an instance beyond the capacity costs, in US dollars a year: the
// on-demand rate, whatever the plan.
const OverageRate = 799

// Page asks for a part of a long list. A number out of range is clamped and
// echoed; what is no integer is refused.
type Page struct {
	Limit  int    `json:"-" query:"limit" default:"50" minimum:"1" maximum:"1000"`
	Offset int    `json:"-" query:"offset" default:"0" minimum:"0" maximum:"1000000000"`
	Cursor string `json:"-" query:"cursor" default:""` // next_cursor, in place of the offset: any page costs the same
}

// Check refuses two beginnings.
func (p *Page) Check() error { return oneBeginning(p.Offset, p.Cursor) }

func oneBeginning(offset int, cursor string) error {
	if offset != 0 && cursor != "" {
		return Errorf(MalformedRequest, "cursor takes the place of offset: give one of them; nothing was read")
	}
	return nil
}

// StatementRequest says which lines of a statement are asked for, and how.
type StatementRequest struct {
	Limit  int             `json:"-" query:"limit" default:"0" minimum:"1" maximum:"10000"` // all lines where it is not given
	Offset int             `json:"-" query:"offset" default:"0" minimum:"0" maximum:"1000000000"`
	Cursor string          `json:"-" query:"cursor" default:""`
	Format StatementFormat `json:"-" query:"format" default:"json"`
}

// StatementFormat is what a statement is written as.
type StatementFormat string

// The formats of a statement: CSV has its lines alone.
const (
	StatementJSON StatementFormat = "json"
	StatementCSV  StatementFormat = "csv"
)

// StatementFormats lists every format.
var StatementFormats = []StatementFormat{StatementJSON, StatementCSV}

// Check refuses two beginnings, and a format that there is not.
func (r *StatementRequest) Check() error {
	if r.Format != "" && !slices.Contains(StatementFormats, r.Format) {
		return Errorf(MalformedRequest, "format must be json or csv, not %.20q; nothing was read", r.Format)
	}
	return oneBeginning(r.Offset, r.Cursor)
}

// ShortPage is a Page of the lists that give at most 100.
type ShortPage struct {
	Limit  int `json:"-" query:"limit" default:"50" minimum:"1" maximum:"100"`
	Offset int `json:"-" query:"offset" default:"0" minimum:"0" maximum:"1000000000"`
}

// ByID names one finding or question.
type ByID struct {
	ID int64 `json:"-" path:"id"`
}

// Account is the billing and usage summary. Money is whole US dollars.
type Account struct {
	AccountID         int64           `json:"account_id"`
	Name              string          `json:"name"`
	Plan              Plan            `json:"plan"`
	Unlimited         bool            `json:"unlimited"`
	FreeQuota         int             `json:"free_quota"`
	BillableInstances int             `json:"billable_instances"`
	PaidInstances     int             `json:"paid_instances"`
	OverageInstances  int             `json:"overage_instances"`
	Rate              int             `json:"rate"` // per instance and year
	Currency          string          `json:"currency"`
	AnnualTotal       int             `json:"annual_total"`
	VMLimit           int             `json:"vm_limit"`
	MeteredRequests   MeteredRequests `json:"metered_requests"`
	CreditsGranted    int             `json:"credits_granted"`   // always 0
	CreditsUsed       int             `json:"credits_used"`      // always 0
	CreditsRemaining  int             `json:"credits_remaining"` // always 0
}

// MeteredRequests counts resolve, translate and config-paths; not charged.
type MeteredRequests struct {
	Today     int64 `json:"today"`
	ThisMonth int64 `json:"this_month"`
}

// Capacity is what an account may use, pooled. Dates are YYYY-MM-DD, UTC.
type Capacity struct {
	AccountID         int64   `json:"account_id"`
	LicensedSeats     int     `json:"licensed_seats"`
	LicenseValidFrom  *string `json:"license_valid_from"`
	LicenseValidUntil *string `json:"license_valid_until"` // last active day
	ActivePOVSeats    int     `json:"active_pov_seats"`
	POVEndsAt         *string `json:"pov_ends_at"`
	FreeQuota         int     `json:"free_quota"`
	BillableVMsUsed   int     `json:"billable_vms_used"`
	Terms             []Term  `json:"terms"`
}

// Term is one active licence term or POV.
type Term struct {
	Kind       string  `json:"kind"`   // license or pov
	Source     *string `json:"source"` // subscription, manual, promoted-from-pov; null for a POV
	Seats      int     `json:"seats"`
	ValidFrom  string  `json:"valid_from"`
	ValidUntil string  `json:"valid_until"` // last active day
	Note       *string `json:"note"`
}

// VMList is a page of licensed VMs.
type VMList struct {
	VMs        []VM   `json:"vms"`
	Limit      int    `json:"limit"`
	Offset     int    `json:"offset"`
	Count      int    `json:"count"`
	HasMore    bool   `json:"has_more"`
	NextCursor string `json:"next_cursor,omitempty"` // where there is more
}

// VM is a licensed VM. Times are YYYY-MM-DD HH:MM:SS+00.
type VM struct {
	VM              string   `json:"vm"`
	FirstBillableAt string   `json:"first_billable_at"`
	Licensed        bool     `json:"licensed"` // always true
	LastSeenAt      string   `json:"last_seen_at"`
	Kinds           []string `json:"kinds"` // sorted; the CVE scan is spelt cve-scan here
}

// UsageHistory is a page of billable operations.
type UsageHistory struct {
	Events     []UsageEvent `json:"events"`
	Limit      int          `json:"limit"`
	Offset     int          `json:"offset"`
	Count      int          `json:"count"`
	HasMore    bool         `json:"has_more"`
	NextCursor string       `json:"next_cursor,omitempty"` // where there is more
}

// UsageEvent is one billable operation.
type UsageEvent struct {
	ID     int64   `json:"id"`
	Kind   Kind    `json:"kind"`
	VM     string  `json:"vm"`
	Source string  `json:"source"`
	Target *string `json:"target"`
	At     string  `json:"at"` // YYYY-MM-DD HH:MM:SS+00
}

// Statement is the billing statement as of a day. Money is whole US dollars.
type Statement struct {
	AccountID        int64           `json:"account_id"`
	AsOf             string          `json:"as_of"`
	Plan             Plan            `json:"plan"`
	Instances        int             `json:"instances"`
	FreeInstances    int             `json:"free_instances"`
	PaidInstances    int             `json:"paid_instances"`
	PackSize         int             `json:"pack_size"`
	Quantity         int             `json:"quantity"`
	Rate             int             `json:"rate"`
	OverageInstances int             `json:"overage_instances"`
	OverageRate      int             `json:"overage_rate"`
	Currency         string          `json:"currency"`
	AnnualTotal      int             `json:"annual_total"`
	PeriodFrom       *string         `json:"period_from"`           // the year that the total is for; null without instances
	PeriodUntil      *string         `json:"period_until"`          // its last day
	RenewsOn         *string         `json:"renews_on"`             // the day after, when the next year is due
	NextCursor       string          `json:"next_cursor,omitempty"` // where a limit was given and there are more lines
	Lines            []StatementLine `json:"lines"`
}

// StatementLine is one instance.
type StatementLine struct {
	VM     string `json:"vm"`
	Since  string `json:"since"`
	Source string `json:"source"`
	Kind   Kind   `json:"kind"` // migration, verify or license, which is also the seat that a scan claimed
	// Pool is what the seat was taken from when it was claimed: free, pov, license,
	// overage or unlimited; null where that was not recorded.
	Pool *string `json:"pool"`
}

// StatementColumns head the lines of a statement as a table.
var StatementColumns = []string{"vm", "since", "source", "kind", "pool"}

// Cells are a line of that table. What a customer called a system is no formula there.
func (l StatementLine) Cells() []string {
	source, pool := l.Source, ""
	if strings.ContainsAny(source[:min(1, len(source))], "=+-@") {
		source = "'" + source
	}
	if l.Pool != nil {
		pool = *l.Pool
	}
	return []string{l.VM, l.Since, source, string(l.Kind), pool}
}
