package license

import (
	"cmp"
	"slices"
	"time"

	"svc/backend/api"
)

// Sources of a licence grant.
const (
	Subscription    = "subscription"
	Manual          = "manual"
	PromotedFromPOV = "promoted-from-pov"
)

// GrantSources lists the sources of a licence grant.
var GrantSources = []string{Subscription, Manual, PromotedFromPOV}

// Grant is capacity for a time. Dates are YYYY-MM-DD in UTC; Until is the first
// day that does not count any more.
type Grant struct {
	ID      int64
	Seats   int
	From    string
	Until   string
	Source  string // empty for a POV
	Note    string
	Revoked bool // or, of a POV, converted
}

// Active reports whether the grant counts on a day.
func (g Grant) Active(day string) bool {
	return !g.Revoked && g.From <= day && day < g.Until
}

// Day is the UTC date of an instant.
func Day(t time.Time) string { return t.UTC().Format(time.DateOnly) }

// AddDays moves a date; of what is no date it is the same.
func AddDays(date string, days int) string {
	t, err := time.Parse(time.DateOnly, date)
	if err != nil {
		return date
	}
	return t.AddDate(0, 0, days).Format(time.DateOnly)
}

// Anniversary is the n-th yearly return of a date, always counted from the
// date itself: the 29th of February falls on the 28th where there is none.
func Anniversary(date string, n int) string {
	t, err := time.Parse(time.DateOnly, date)
	if err != nil {
		return date
	}
	first := time.Date(t.Year()+n, t.Month(), 1, 0, 0, 0, 0, time.UTC)
	last := first.AddDate(0, 1, -1).Day()
	return first.AddDate(0, 0, min(t.Day(), last)-1).Format(time.DateOnly)
}

// Holdings are all grants and POVs of an account, active or not.
type Holdings struct {
	Licenses []Grant
	POVs     []Grant
}

// Seats is the capacity that the holdings give on a day.
func (h Holdings) Seats(day string) int { return sum(h.Licenses, day) + sum(h.POVs, day) }

// POVSeats are those of the capacity that POVs give.
func (h Holdings) POVSeats(day string) int { return sum(h.POVs, day) }

func active(grants []Grant, day string) []Grant {
	return slices.DeleteFunc(slices.Clone(grants), func(g Grant) bool { return !g.Active(day) })
}

func sum(grants []Grant, day string) (seats int) {
	for _, g := range active(grants, day) {
		seats += g.Seats
	}
	return seats
}

// sumOf counts the active licence seats of the sources.
func sumOf(grants []Grant, day string, sources ...string) (seats int) {
	for _, g := range active(grants, day) {
		if slices.Contains(sources, g.Source) {
			seats += g.Seats
		}
	}
	return seats
}

// Capacity is the account's capacity as the service shows it.
func Capacity(a Account, h Holdings, used int, day string) api.Capacity {
	licenses, povs := active(h.Licenses, day), active(h.POVs, day)
	c := api.Capacity{
		AccountID: a.ID, FreeQuota: a.FreeQuota, BillableVMsUsed: used, LicensedSeats: sum(licenses, day), ActivePOVSeats: sum(povs, day),
		Terms: append(terms("license", licenses), terms("pov", povs)...),
	}
	c.LicenseValidFrom, c.LicenseValidUntil = span(licenses)
	_, c.POVEndsAt = span(povs)
	return c
}

// span is the first and the last day that any of the grants covers.
func span(grants []Grant) (from, until *string) {
	for _, g := range grants {
		last := AddDays(g.Until, -1)
		if from == nil || g.From < *from {
			from = &g.From
		}
		if until == nil || last > *until {
			until = &last
		}
	}
	return from, until
}

// terms groups licences by (start, end, source, note); each POV is one.
func terms(kind string, grants []Grant) []api.Term {
	list := []api.Term{}
	group := map[Grant]int{}
	for _, g := range grants {
		key := Grant{From: g.From, Until: g.Until, Source: g.Source, Note: g.Note}
		if i, ok := group[key]; ok && kind == "license" {
			list[i].Seats += g.Seats
			continue
		}
		group[key] = len(list)
		list = append(list, api.Term{Kind: kind, Source: optional(g.Source), Seats: g.Seats, ValidFrom: g.From, ValidUntil: AddDays(g.Until, -1), Note: optional(g.Note)})
	}
	slices.SortStableFunc(list, func(a, b api.Term) int {
		return cmp.Or(cmp.Compare(a.ValidFrom, b.ValidFrom), cmp.Compare(a.ValidUntil, b.ValidUntil))
	})
	return list
}

func optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
