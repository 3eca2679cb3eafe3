package license

import (
	"testing"

	"github.com/matryer/is"
	"pgregory.net/rapid"

	"svc/backend/api"
)

func TestGate(t *testing.T) {
	free := Account{Plan: api.PlanFree, FreeQuota: 2, VMLimit: 100}
	pro := Account{Plan: api.PlanPro, FreeQuota: 2, VMLimit: 100}
	unlimited := Account{Plan: api.PlanFree, Unlimited: true, VMLimit: 1}
	internal := Account{Plan: api.PlanInternal, FreeQuota: 0, VMLimit: 100}
	for name, c := range map[string]struct {
		s    State
		kind api.Kind
		want Decision
		code api.Code
	}{
		"room":                           {State{free, 1, 0, false, 0}, api.Migration, Decision{Licensed: true, Claim: true, Billable: true}, ""},
		"full":                           {State{free, 2, 0, false, 0}, api.Migration, Decision{}, api.SeatQuota},
		"full, but a grant":              {State{free, 2, 1, false, 0}, api.Verify, Decision{Licensed: true, Claim: true, Billable: true}, ""},
		"paying goes over":               {State{pro, 2, 0, false, 0}, api.Verify, Decision{Licensed: true, Claim: true, Billable: true, Overage: true}, ""},
		"enroll never goes over":         {State{pro, 2, 0, false, 0}, api.License, Decision{}, api.SeatQuota},
		"a scan never goes over":         {State{pro, 2, 0, false, 0}, api.CVEScanKind, Decision{}, api.SeatQuota},
		"a scan claims a licence":        {State{free, 0, 0, false, 0}, api.CVEScanKind, Decision{Licensed: true, Claim: true, Billable: true}, ""},
		"the cap comes first":            {State{pro, 100, 500, false, 0}, api.Migration, Decision{}, api.VMLimit},
		"unlimited has no cap":           {State{unlimited, 9, 0, false, 0}, api.Migration, Decision{Licensed: true, Claim: true}, ""},
		"internal is not unlimited":      {State{internal, 0, 0, false, 0}, api.Migration, Decision{}, api.SeatQuota},
		"a seated VM is never refused":   {State{free, 900, 0, true, 0}, api.Drift, Decision{Licensed: true}, ""},
		"drift needs a seat":             {State{free, 0, 0, false, 0}, api.Drift, Decision{}, api.UnlicensedVM},
		"drift needs one, unlimited too": {State{unlimited, 0, 0, false, 0}, api.Drift, Decision{}, api.UnlicensedVM},
		"preflight is free":              {State{free, 900, 0, false, 0}, api.Preflight, Decision{}, ""},
		"readiness is free":              {State{free, 900, 0, false, 0}, api.Readiness, Decision{}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			got := Decide(c.s, c.kind, nil)
			if c.code != "" {
				is.Equal(got.Refusal.Code, c.code)
				got.Refusal = nil
			}
			got.Pool = ""
			is.Equal(got, c.want)
		})
	}
}

func TestPoolsAreFilledInTheirOrder(t *testing.T) {
	is := is.New(t)
	s := State{Account: Account{Plan: api.PlanOnDemand, FreeQuota: 1, VMLimit: 9}, Seats: 2, POVs: 1}
	for _, want := range []Pool{FreePool, POVPool, LicensePool, OveragePool} {
		d := Decide(s, api.Migration, nil)
		is.Equal(d.Pool, want)
		is.Equal(d.Overage, want == OveragePool)
		s.Used++
	}
	s.Account.Unlimited = true
	is.Equal(Decide(s, api.CVEScanKind, nil).Pool, UnlimitedPool)
	s.Seated = true
	is.Equal(Decide(s, api.CVEScanKind, nil).Pool, Pool("")) // no seat is claimed
}

// TestGateProperties holds for every state: capacity is never exceeded but by
// what is allowed to, and a refusal claims nothing.
func TestGateProperties(t *testing.T) {
	kinds := append([]api.Kind{api.License}, api.UsageKinds...)
	rapid.Check(t, func(t *rapid.T) {
		s := State{
			Account: Account{
				Plan: rapid.SampledFrom(api.Plans).Draw(t, "plan"), Unlimited: rapid.Bool().Draw(t, "unlimited"),
				FreeQuota: rapid.IntRange(0, 5).Draw(t, "free"), VMLimit: rapid.IntRange(0, 12).Draw(t, "limit"),
			},
			Used: rapid.IntRange(0, 15).Draw(t, "used"), Seats: rapid.IntRange(0, 5).Draw(t, "seats"), Seated: rapid.Bool().Draw(t, "seated"),
		}
		kind := rapid.SampledFrom(kinds).Draw(t, "kind")
		d := Decide(s, kind, nil)
		room := s.Used < s.Account.FreeQuota+s.Seats
		switch {
		case d.Refusal != nil && (d.Claim || d.Licensed || s.Seated):
			t.Fatalf("a refusal that claims: %+v", d)
		case d.Claim && (s.Seated || !d.Licensed):
			t.Fatalf("a claim for a VM that has a seat, or without effect: %+v", d)
		case d.Claim && !s.Account.Unlimited && s.Used >= s.Account.VMLimit:
			t.Fatal("a claim over the hard limit")
		case d.Claim && !s.Account.Unlimited && !room != d.Overage:
			t.Fatalf("overage %v with room %v", d.Overage, room)
		case d.Overage && (kind == api.License || kind == api.CVEScanKind):
			t.Fatal("a kind that never goes over did")
		case d.Billable && (!d.Claim || s.Account.Unlimited):
			t.Fatal("charged without a claim")
		}
	})
}

func TestTermsAndDays(t *testing.T) {
	is := is.New(t)
	h := Holdings{
		Licenses: []Grant{
			{Seats: 10, From: "2026-01-01", Until: "2027-01-01", Source: Subscription, Note: "PO 1"},
			{Seats: 5, From: "2026-01-01", Until: "2027-01-01", Source: Subscription, Note: "PO 1"},
			{Seats: 3, From: "2025-06-01", Until: "2026-06-01", Source: Manual},
			{Seats: 99, From: "2026-01-01", Until: "2027-01-01", Source: Manual, Revoked: true},
		},
		POVs: []Grant{{Seats: 4, From: "2026-05-01", Until: "2026-05-31"}},
	}
	c := Capacity(Account{ID: 1, FreeQuota: 10}, h, 7, "2026-05-30")
	is.Equal(c.LicensedSeats, 18)
	is.Equal(c.ActivePOVSeats, 4)
	is.Equal(*c.LicenseValidFrom, "2025-06-01")
	is.Equal(*c.LicenseValidUntil, "2026-12-31")
	is.Equal(*c.POVEndsAt, "2026-05-30")
	is.Equal(len(c.Terms), 3)
	is.Equal(c.Terms[1].Seats, 15)      // grouped
	is.Equal(h.Seats("2026-05-31"), 18) // the POV's end is exclusive
	is.Equal(h.Seats("2026-06-01"), 15) // and the manual grant's
	none := Capacity(Account{}, Holdings{}, 0, "2026-01-01")
	is.True(none.LicenseValidFrom == nil && none.POVEndsAt == nil && none.Terms != nil)
}

func TestAnniversary(t *testing.T) {
	is := is.New(t)
	is.Equal(Anniversary("2024-02-29", 1), "2025-02-28")
	is.Equal(Anniversary("2024-02-29", 4), "2028-02-29") // counted from the first day, never chained
	is.Equal(Anniversary("2026-01-31", 1), "2027-01-31")
}

// TestNoGapBetweenTerms: where one term ends the day the next begins, exactly
// one of them counts on every day.
func TestNoGapBetweenTerms(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		start := "2024-01-01"
		change := AddDays(start, rapid.IntRange(1, 700).Draw(t, "change"))
		end := AddDays(start, 800)
		h := Holdings{Licenses: []Grant{{Seats: 1, From: start, Until: change}, {Seats: 1, From: change, Until: end}}}
		day := AddDays(start, rapid.IntRange(0, 799).Draw(t, "day"))
		if h.Seats(day) != 1 {
			t.Fatalf("%d terms on %s", h.Seats(day), day)
		}
	})
}

func TestPrices(t *testing.T) {
	is := is.New(t)
	day := "2026-05-01"
	bought := func(n int) Holdings {
		return Holdings{Licenses: []Grant{{Seats: n, From: "2026-01-01", Until: "2027-01-01", Source: Subscription}}}
	}
	price := func(plan api.Plan, h Holdings, used int) Price {
		return PriceOf(Account{Plan: plan, FreeQuota: 10}, h, used, day)
	}
	is.Equal(price(api.PlanFree, Holdings{}, 12).Total, 0)
	is.Equal(price(api.PlanOnDemand, Holdings{}, 13).Total, 3*799)
	is.Equal(price(api.PlanPro, Holdings{}, 13).Quantity, 10)
	is.Equal(price(api.PlanPro, Holdings{}, 13).Total, 10*599)
	is.Equal(price(api.PlanFleet, Holdings{}, 111).Quantity, 200)
	over := price(api.PlanPro, bought(10), 25)
	is.Equal(over.Quantity, 10)
	is.Equal(over.Overage, 5)
	is.Equal(over.Total, 10*599+5*799)
	is.Equal(PriceOf(Account{Plan: api.PlanPro, Unlimited: true}, Holdings{}, 50, day).Total, 0)
	manual := Holdings{Licenses: []Grant{{Seats: 5, From: "2026-01-01", Until: "2027-01-01", Source: Manual}}}
	is.Equal(price(api.PlanOnDemand, manual, 16).Paid, 1)
}

func TestFreeTargetsAreData(t *testing.T) {
	is := is.New(t)
	is.Equal(len(freeTargets), 0) // as they are now, every target bills
	is.Equal(readTargets("# none\n\ndebian 13\n  ubuntu 24.04 \n"), map[string]bool{"debian 13": true, "ubuntu 24.04": true})
}
