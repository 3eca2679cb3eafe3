package storetest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"svc/backend/api"
	"svc/backend/license"
	"svc/backend/store"
)

// machine drives an account of a store, and a model of it that says what every
// step has to give.
type machine struct {
	*fixture
	model
	id    int64
	tries []store.Command
}

// model is the account as the contract has it.
type model struct {
	license.Account
	grants  map[int64]*term
	seats   map[string]bool
	kinds   map[string]int           // instances by the kind and pool that their lines have
	billed  int                      // events that are billable
	events  map[string]store.Outcome // by request
	scans   map[string]store.Outcome
	answers map[string]remembered
	listed  int
	last    int64 // event
}

// term is a grant or a POV, while it is neither revoked nor converted.
type term struct {
	pov         bool
	seats       int
	from, until string
}

// remembered is the first answer to an idempotency key.
type remembered struct {
	body    [32]byte
	at      time.Time
	outcome store.Outcome
}

func (m *model) capacity(day string) int {
	n := m.FreeQuota
	for _, t := range m.grants {
		if t.from <= day && day < t.until {
			n += t.seats
		}
	}
	return n
}

// gate is what the contract says of a command that was not recorded before.
func (m *model) gate(c store.Command, day string) (claims, overage bool, refusal api.Code) {
	paying := slices.Contains([]api.Plan{api.PlanOnDemand, api.PlanPro, api.PlanFleet}, m.Plan)
	mayExceed := paying && (c.Kind == api.Migration || c.Kind == api.Verify)
	switch {
	case m.seats[c.Fingerprint], c.Kind == api.Preflight, c.Kind == api.Readiness:
		return false, false, ""
	case c.Kind == api.Drift:
		return false, false, api.UnlicensedVM
	case m.Unlimited:
		return true, false, ""
	case len(m.seats) >= m.VMLimit:
		return false, false, api.VMLimit
	case len(m.seats) < m.capacity(day):
		return true, false, ""
	case mayExceed:
		return true, true, ""
	}
	return false, false, api.SeatQuota
}

// pool is what the contract takes the next seat from.
func (m *model) pool(day string) license.Pool {
	povs := 0
	for _, t := range m.grants {
		if t.pov && t.from <= day && day < t.until {
			povs += t.seats
		}
	}
	switch used := len(m.seats); {
	case m.Unlimited:
		return "unlimited"
	case used < m.FreeQuota:
		return "free"
	case used < m.FreeQuota+povs:
		return "pov"
	case used < m.capacity(day):
		return "license"
	}
	return "overage"
}

// expect is what a command has to give; fresh says that it makes an event, whose
// id only the store knows.
func (m *model) expect(c store.Command, now time.Time) (o store.Outcome, code api.Code, fresh bool) {
	if c.Replay != nil {
		if r, ok := m.answers[c.Replay.Key]; ok && now.Sub(r.at) < 24*time.Hour {
			if r.body != c.Replay.BodyHash {
				return o, api.IdempotencyMismatch, false
			}
			return r.outcome, "", false
		}
	}
	if o, ok := m.events[c.RequestID]; ok {
		return m.again(c, o), "", false
	}
	if o, ok := m.scans[c.Fingerprint+c.ScanID]; ok && c.ScanID != "" {
		o.Decision.Claim = false
		return m.again(c, o), "", false
	}
	claims, overage, code := m.gate(c, license.Day(now))
	if code != "" {
		return o, code, true
	}
	o.Seated = m.seats[c.Fingerprint]
	o.Decision = license.Decision{
		Licensed: o.Seated || claims, Claim: claims, Overage: overage,
		Billable: claims && !m.Unlimited,
	}
	if claims {
		o.Decision.Pool = m.pool(license.Day(now))
	}
	return o, "", true
}

func (m *model) again(c store.Command, o store.Outcome) store.Outcome {
	o.Decision.Licensed, o.Decision.Pool = m.seats[c.Fingerprint], ""
	o.Seated = o.Decision.Licensed && !o.Decision.Claim
	return o
}

// note keeps what a command gave.
func (m *model) note(c store.Command, o store.Outcome, fresh bool, now time.Time) {
	if r, ok := m.answers[keyOf(c)]; c.Replay != nil && (!ok || now.Sub(r.at) >= 24*time.Hour) {
		m.answers[c.Replay.Key] = remembered{c.Replay.BodyHash, now, o}
	}
	if !fresh {
		return
	}
	m.last, m.events[c.RequestID] = o.EventID, o
	if c.ScanID != "" {
		m.scans[c.Fingerprint+c.ScanID] = o
	}
	if o.Decision.Claim {
		m.seats[c.Fingerprint] = true
		m.kinds[string(license.SeatKind(c.Kind))+" "+string(o.Decision.Pool)]++
	}
	if o.Decision.Billable {
		m.billed++
	}
	if o.Decision.Claim || slices.Contains([]api.Kind{api.Migration, api.Verify, api.License}, c.Kind) {
		m.listed++
	}
}

func keyOf(c store.Command) string {
	if c.Replay == nil {
		return ""
	}
	return c.Replay.Key
}

// testModel takes random steps on a store, and the same in a model.
func testModel(t *testing.T, f *fixture) {
	rapid.Check(t, func(rt *rapid.T) {
		a := license.Account{Plan: api.PlanFree, FreeQuota: rapid.IntRange(0, 3).Draw(rt, "quota"), VMLimit: rapid.IntRange(3, 8).Draw(rt, "limit")}
		m := &machine{fixture: f, id: f.account(a), model: model{
			Account: a, grants: map[int64]*term{}, seats: map[string]bool{}, kinds: map[string]int{}, events: map[string]store.Outcome{}, scans: map[string]store.Outcome{}, answers: map[string]remembered{},
		}}
		rt.Repeat(map[string]func(*rapid.T){
			"":        m.agrees,
			"command": m.command,
			"claim":   m.command, // more of them than of what changes the account
			"retry":   m.retry,
			// Clocks are put back too.
			"time":    func(rt *rapid.T) { f.clock.Add(time.Duration(rapid.IntRange(-60, 100).Draw(rt, "hours")) * time.Hour) },
			"grant":   m.grant,
			"revoke":  m.revoke,
			"convert": m.convert,
			"plan":    m.plan,
		})
	})
}

// agrees is the invariant between the steps.
func (m *machine) agrees(rt *rapid.T) {
	c := must(m.Capacity(m.t.Context(), m.id))(rt)
	usage := must(m.Usage(m.t.Context(), m.id, store.Page{Limit: 1000}))(rt)
	vms := must(m.VMs(m.t.Context(), m.id, store.Page{Limit: 1000}))(rt)
	got := []int{c.BillableVMsUsed, c.FreeQuota + c.LicensedSeats + c.ActivePOVSeats, usage.Count, vms.Count}
	want := []int{len(m.seats), m.capacity(license.Day(m.clock.Now())), m.listed, len(m.seats)}
	if !slices.Equal(got, want) {
		rt.Fatalf("seats, capacity, events and VMs are %v, not %v", got, want)
	}
	m.billAgrees(rt)
}

// billAgrees: the events, the statement and the account tell of the same instances,
// kinds and pools, and ask for the same money, whatever became of the capacity.
func (m *machine) billAgrees(rt *rapid.T) {
	bill := must(m.Statement(m.t.Context(), m.id, store.Page{Limit: 1000}))(rt)
	sum := must(m.Summary(m.t.Context(), m.id))(rt)
	kinds := map[string]int{}
	for _, l := range bill.Lines {
		kinds[string(l.Kind)+" "+*l.Pool]++
	}
	if !maps.Equal(kinds, m.kinds) {
		rt.Fatalf("the lines have %v, the events %v", kinds, m.kinds)
	}
	got := []int{bill.Instances, bill.PaidInstances, bill.OverageInstances, bill.AnnualTotal, bill.FreeInstances + bill.PaidInstances, len(bill.Lines)}
	want := []int{sum.BillableInstances, sum.PaidInstances, sum.OverageInstances, sum.AnnualTotal, len(m.seats), len(m.seats)}
	unlimited := 0
	for kind, n := range m.kinds {
		if strings.HasSuffix(kind, " unlimited") {
			unlimited += n
		}
	}
	if !slices.Equal(got, want) || m.billed != len(m.seats)-unlimited {
		rt.Fatalf("the statement has %v, the account %v, %d events are billable of %d", got, want, m.billed, len(m.seats))
	}
}

func (m *machine) no(rt *rapid.T, err error) {
	if err != nil {
		rt.Fatal(err)
	}
}

func (m *machine) command(rt *rapid.T) {
	kinds := append([]api.Kind{api.License}, api.UsageKinds...)
	c := m.fixture.command(m.id, rapid.SampledFrom(kinds).Draw(rt, "kind"), rapid.IntRange(1, 9).Draw(rt, "vm"))
	if c.Kind == api.CVEScanKind && rapid.Bool().Draw(rt, "in parts") {
		c.ScanID = fmt.Sprint("scan ", rapid.IntRange(1, 2).Draw(rt, "scan"))
	}
	if rapid.Bool().Draw(rt, "with a key") {
		c.Replay = &store.Replay{Key: fmt.Sprint("key ", rapid.IntRange(1, 4).Draw(rt, "key")), BodyHash: [32]byte{byte(rapid.IntRange(1, 2).Draw(rt, "body"))}}
	}
	c.HostHint = rapid.SampledFrom([]string{"", "one", "two"}).Draw(rt, "host")
	m.tries = append(m.tries, c)
	m.do(rt, c)
}

func (m *machine) retry(rt *rapid.T) {
	if len(m.tries) > 0 {
		m.do(rt, rapid.SampledFrom(m.tries).Draw(rt, "try"))
	}
}

// do runs a command; of one that decides anything, Peek says the same before.
func (m *machine) do(rt *rapid.T, c store.Command) {
	want, code, fresh := m.expect(c, m.clock.Now())
	peeked := must(m.Peek(m.t.Context(), c))(rt)
	got, err := m.Record(m.t.Context(), c)
	if api.CodeOf(err) != code || (err != nil && code == "") {
		rt.Fatalf("%+v gives %v, not %q", c, err, code)
	}
	var refusal api.Code
	if peeked.Decision.Refusal != nil {
		refusal = peeked.Decision.Refusal.Code
	}
	peeked.Decision.Refusal = nil
	if fresh && (refusal != code || peeked.Decision != want.Decision || peeked.Seated != want.Seated && code == "") {
		rt.Fatalf("authorizing %+v gives %+v and %q, but recording it %+v and %q", c, peeked, refusal, want, code)
	}
	if code != "" {
		return
	}
	if fresh {
		if got.EventID <= m.last {
			rt.Fatalf("event %d comes after %d", got.EventID, m.last)
		}
		want.EventID = got.EventID
	}
	want.Owner = m.Account
	want.Owner.ID = m.id
	if got != want {
		rt.Fatalf("%+v gives %+v, not %+v", c, got, want)
	}
	m.note(c, got, fresh, m.clock.Now())
}

func (m *machine) grant(rt *rapid.T) {
	today := license.Day(m.clock.Now())
	from := license.AddDays(today, rapid.IntRange(-3, 3).Draw(rt, "from"))
	t := &term{pov: rapid.Bool().Draw(rt, "pov"), seats: rapid.IntRange(1, 3).Draw(rt, "seats"), from: from, until: license.AddDays(from, rapid.IntRange(0, 9).Draw(rt, "days"))}
	g := license.Grant{Seats: t.seats, From: t.from, Until: t.until}
	add := m.AddPOV
	if !t.pov {
		add, g.Source = m.AddGrant, license.Manual
	}
	id := must(add(m.t.Context(), "test", m.id, g))(rt)
	m.grants[id] = t
}

// some is the id of a grant, or of a POV, if there is one.
func (m *machine) some(rt *rapid.T, pov bool) (id int64, ok bool) {
	ids := slices.Sorted(maps.Keys(m.grants))
	ids = slices.DeleteFunc(ids, func(id int64) bool { return m.grants[id].pov != pov })
	if len(ids) == 0 {
		return 0, false
	}
	return rapid.SampledFrom(ids).Draw(rt, "term"), true
}

func (m *machine) revoke(rt *rapid.T) {
	if id, ok := m.some(rt, false); ok {
		m.no(rt, m.RevokeGrant(m.t.Context(), "test", id))
		delete(m.grants, id)
	}
}

func (m *machine) convert(rt *rapid.T) {
	id, ok := m.some(rt, true)
	if !ok {
		return
	}
	today := license.Day(m.clock.Now())
	t := &term{seats: m.grants[id].seats, from: today, until: license.AddDays(today, rapid.IntRange(1, 20).Draw(rt, "days"))}
	grant := must(m.ConvertPOV(m.t.Context(), "test", id, t.until))(rt)
	delete(m.grants, id)
	m.grants[grant] = t
}

func (m *machine) plan(rt *rapid.T) {
	m.Account = license.Account{
		ID: m.id, Plan: rapid.SampledFrom(api.Plans).Draw(rt, "plan"), Unlimited: rapid.IntRange(0, 3).Draw(rt, "unlimited") == 0,
		FreeQuota: rapid.IntRange(0, 4).Draw(rt, "quota"), VMLimit: rapid.IntRange(2, 9).Draw(rt, "limit"),
	}
	m.no(rt, m.SetAccount(m.t.Context(), "test", m.id, func(a *store.Account) { a.Account = m.Account }))
}
