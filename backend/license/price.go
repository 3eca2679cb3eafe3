package license

import (
	"svc/backend/api"
)

// Currency of every price; prices are whole units.
const Currency = "USD"

// tariff is the price of one instance for a year, and how many are bought at a
// time.
type tariff struct{ rate, pack int }

var tariffs = map[api.Plan]tariff{
	api.PlanOnDemand: {api.OverageRate, 1},
	api.PlanPro:      {599, 10},
	api.PlanFleet:    {399, 100},
}

// Price is what an account pays for a year.
type Price struct {
	Paid     int // instances that are paid for by the subscription or as overage
	Free     int // instances that are covered otherwise
	Pack     int
	Quantity int
	Rate     int
	Overage  int // instances
	Total    int
}

// PriceOf is the price on a day, for used instances.
func PriceOf(a Account, h Holdings, used int, day string) Price {
	covered := a.FreeQuota + sum(h.POVs, day) + sumOf(h.Licenses, day, Manual, PromotedFromPOV)
	if a.Unlimited {
		return Price{Free: used, Pack: 1}
	}
	p := Price{Paid: max(0, used-covered), Pack: 1}
	p.Free = used - p.Paid
	t, paysFor := tariffs[a.Plan]
	if !paysFor {
		return p
	}
	p.Rate, p.Pack = t.rate, t.pack
	p.Quantity = roundUp(p.Paid, t.pack)
	if bought := sumOf(h.Licenses, day, Subscription); bought > 0 && t.pack > 1 {
		p.Quantity, p.Overage = bought, max(0, p.Paid-bought)
	}
	p.Total = p.Rate*p.Quantity + api.OverageRate*p.Overage
	return p
}

// roundUp is the smallest multiple of pack that holds n.
func roundUp(n, pack int) int { return (n + pack - 1) / pack * pack }

// Summary is the account as the service shows it, but for metered requests.
func Summary(a Account, h Holdings, used int, day string) api.Account {
	p := PriceOf(a, h, used, day)
	return api.Account{
		AccountID: a.ID, Name: a.Name, Plan: a.Plan, Unlimited: a.Unlimited, FreeQuota: a.FreeQuota, VMLimit: a.VMLimit,
		BillableInstances: used, PaidInstances: p.Paid, OverageInstances: p.Overage, Rate: p.Rate, Currency: Currency, AnnualTotal: p.Total,
	}
}

// period is the year that a day is in, and the day of its renewal: that of the
// active subscription which ends first, else the one counted from the first instance.
func period(h Holdings, first, day string) (from, renewal *string) {
	for _, g := range active(h.Licenses, day) {
		if g.Source == Subscription && (renewal == nil || g.Until < *renewal) {
			from, renewal = &g.From, &g.Until
		}
	}
	if renewal != nil || first == "" {
		return from, renewal
	}
	for n := 1; ; n++ {
		if next := Anniversary(first, n); next > day || next == first {
			start := Anniversary(first, n-1)
			return &start, &next
		}
	}
}

func lastDay(until *string) *string {
	if until == nil {
		return nil
	}
	return new(AddDays(*until, -1))
}

// Statement is the billing statement as of a day, without its lines: of so many
// instances, the first of which is of the day first.
func Statement(a Account, h Holdings, instances int, first, day string) api.Statement {
	p := PriceOf(a, h, instances, day)
	from, until := period(h, first, day)
	return api.Statement{
		PeriodFrom: from, PeriodUntil: lastDay(until), RenewsOn: until,
		AccountID: a.ID, AsOf: day, Plan: a.Plan, Instances: instances, FreeInstances: p.Free, PaidInstances: p.Paid,
		PackSize: p.Pack, Quantity: p.Quantity, Rate: p.Rate, OverageInstances: p.Overage, OverageRate: api.OverageRate,
		Currency: Currency, AnnualTotal: p.Total, Lines: []api.StatementLine{},
	}
}
