package api

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
	Limit  int `json:"-" query:"limit" default:"50" minimum:"1" maximum:"1000"`
	Offset int `json:"-" query:"offset" default:"0" minimum:"0" maximum:"1000000000"`
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
	VMs     []VM `json:"vms"`
	Limit   int  `json:"limit"`
	Offset  int  `json:"offset"`
	Count   int  `json:"count"`
	HasMore bool `json:"has_more"`
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
	Events  []UsageEvent `json:"events"`
	Limit   int          `json:"limit"`
	Offset  int          `json:"offset"`
	Count   int          `json:"count"`
	HasMore bool         `json:"has_more"`
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
	PeriodFrom       *string         `json:"period_from"`  // the year that the total is for; null without instances
	PeriodUntil      *string         `json:"period_until"` // its last day
	RenewsOn         *string         `json:"renews_on"`    // the day after, when the next year is due
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
