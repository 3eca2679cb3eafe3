// Package storetest is the behaviour that every store must have: one suite, run
// on each implementation.
package storetest

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/matryer/is"
	"pgregory.net/rapid"

	"svc/backend/api"
	"svc/backend/license"
	"svc/backend/store"
)

// Clock is a clock that a test moves.
type Clock struct {
	mu  sync.Mutex
	now time.Time
}

// NewClock starts at an instant in 2026.
func NewClock() *Clock { return &Clock{now: time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)} }

// Now is the clock's time.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Add moves the clock.
func (c *Clock) Add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// Run checks a store that open makes new and empty.
func Run(t *testing.T, open func(t *testing.T, o store.Options) store.Store) {
	for name, check := range map[string]func(*testing.T, *fixture){
		"seats":          testSeats,
		"replays":        testReplays,
		"remembered":     testRemembered,
		"scans":          testScans,
		"concurrency":    testConcurrency,
		"kinds":          testKinds,
		"lists":          testLists,
		"terms":          testTerms,
		"tokens":         testTokens,
		"findings":       testFindings,
		"questions":      testQuestions,
		"metered":        testMetered,
		"keys":           testKeys,
		"prune":          testPrune,
		"audit":          testAudit,
		"model":          testModel,
		"unknown things": testUnknown,
	} {
		t.Run(name, func(t *testing.T) {
			clock := NewClock()
			s := open(t, store.Options{Now: clock.Now})
			check(t, &fixture{Store: s, clock: clock, is: is.New(t), t: t})
			problems, err := s.Check(t.Context())
			is.New(t).NoErr(err)
			is.New(t).Equal(problems, []string{}) // the counter is count(*) after every test
		})
	}
}

// fixture is a store under test.
type fixture struct {
	store.Store
	clock *Clock
	is    *is.I
	t     *testing.T
	calls int
}

// must is what a call gave in a test, which its error ends.
func must[T any](got T, err error) func(rapid.TB) T {
	return func(t rapid.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
}

func (f *fixture) account(a license.Account) int64 {
	f.t.Helper()
	a.Plan = cmp.Or(a.Plan, api.PlanFree)
	a.VMLimit = cmp.Or(a.VMLimit, 1000)
	id := must(f.CreateAccount(f.t.Context(), "test", a))(f.t)
	return id
}

// Fingerprint is a fingerprint for a number.
func Fingerprint(n int) string {
	return fmt.Sprintf("%064x", sha256.Sum256([]byte(fmt.Sprint(n))))[:64]
}

func (f *fixture) command(account int64, kind api.Kind, vm int) store.Command {
	f.calls++
	c := store.Command{
		RequestID: fmt.Sprintf("r%d", f.calls), AccountID: account, Kind: kind, Fingerprint: Fingerprint(vm), Source: api.OS{Distro: "debian", Version: "11"},
	}
	if kind.Targeted() {
		c.Target = &api.OS{Distro: "debian", Version: "13"}
	}
	return c
}

func (f *fixture) record(account int64, kind api.Kind, vm int) (store.Outcome, api.Code) {
	f.t.Helper()
	c := f.command(account, kind, vm)
	peeked := must(f.Peek(f.t.Context(), c))(f.t)
	o, err := f.Record(f.t.Context(), c)
	var refused *api.Error
	if err != nil && !errors.As(err, &refused) {
		f.t.Fatal(err)
	}
	f.is.Equal(peeked.Decision, o.Decision) // authorize says what usage answers
	return o, api.CodeOf(err)
}

// stage stages a release.
func (f *fixture) stage(tag, channel string) store.Release {
	r := must(f.StageRelease(f.t.Context(), "test", store.Release{Tag: tag, Channel: channel, Notes: "n"}))(f.t)
	return r
}

func (f *fixture) used(account int64) int {
	f.t.Helper()
	c := must(f.Capacity(f.t.Context(), account))(f.t)
	return c.BillableVMsUsed
}

func testSeats(_ *testing.T, f *fixture) {
	a := f.account(license.Account{FreeQuota: 2})
	o, code := f.record(a, api.Migration, 1)
	f.is.Equal(code, api.Code(""))
	f.is.True(o.Decision.Claim && o.Decision.Billable && o.EventID > 0)
	again, _ := f.record(a, api.Verify, 1)
	f.is.True(!again.Decision.Claim && again.Seated) // one seat for ever
	_, code = f.record(a, api.Drift, 2)
	f.is.Equal(code, api.UnlicensedVM)
	_, code = f.record(a, api.Preflight, 2)
	f.is.Equal(code, api.Code(""))
	f.is.Equal(f.used(a), 1)
	_, code = f.record(a, api.License, 2)
	f.is.Equal(code, api.Code(""))
	_, code = f.record(a, api.Migration, 3)
	f.is.Equal(code, api.SeatQuota)
	_, code = f.record(a, api.Drift, 2)
	f.is.Equal(code, api.Code(""))
	f.is.Equal(f.used(a), 2)
	usage := must(f.Usage(f.t.Context(), a, store.Page{Limit: 50}))(f.t)
	f.is.Equal(usage.Count, 3) // migration, verify, license; the refused left nothing
	vms := must(f.VMs(f.t.Context(), a, store.Page{Limit: 50}))(f.t)
	f.is.Equal(vms.Count, 2)
	for _, vm := range vms.VMs {
		if vm.VM == Fingerprint(2)[:api.VMKeyLength] {
			f.is.Equal(vm.Kinds, []string{"drift", "license", "preflight"}) // what it ran before its seat, too
		}
	}
	other := f.account(license.Account{FreeQuota: 1})
	_, code = f.record(other, api.Migration, 1)
	f.is.Equal(code, api.Code("")) // seats are an account's own
}

func testReplays(t *testing.T, f *fixture) {
	a := f.account(license.Account{FreeQuota: 5})
	c := f.command(a, api.Migration, 1)
	c.Replay = &store.Replay{Key: "k", BodyHash: [32]byte{1}}
	first := must(f.Record(t.Context(), c))(t)
	repeat := c
	repeat.RequestID = "another"
	second := must(f.Record(t.Context(), repeat))(t)
	f.is.Equal(first, second) // it still says that it claimed the seat
	repeat.Replay = &store.Replay{Key: "k", BodyHash: [32]byte{2}}
	_, err := f.Record(t.Context(), repeat)
	f.is.Equal(api.CodeOf(err), api.IdempotencyMismatch)
	f.clock.Add(25 * time.Hour)
	later := must(f.Record(t.Context(), repeat))(t)
	f.is.True(later.EventID != first.EventID) // a key lives for a day
	same, err := f.Record(t.Context(), c)
	f.is.Equal(api.CodeOf(err), api.IdempotencyMismatch)
	f.is.Equal(same, store.Outcome{})
	c.Replay = nil
	retried := must(f.Record(t.Context(), c))(t)
	f.is.Equal(retried.EventID, first.EventID) // a retry of one request is one event
	f.is.True(retried.Decision.Claim)
	full := f.account(license.Account{})
	refused := f.command(full, api.Migration, 1)
	refused.Replay = &store.Replay{Key: "k"}
	_, err = f.Record(t.Context(), refused)
	f.is.Equal(api.CodeOf(err), api.SeatQuota)
	_, err = f.AddGrant(t.Context(), "test", full, license.Grant{Seats: 1, From: "2026-01-01", Until: "2027-01-01", Source: license.Manual})
	f.is.NoErr(err)
	_, err = f.Record(t.Context(), refused)
	f.is.NoErr(err) // a refusal is not kept
}

func testScans(t *testing.T, f *fixture) {
	a := f.account(license.Account{FreeQuota: 1})
	part := f.command(a, api.CVEScanKind, 1)
	part.ScanID = "s"
	first := must(f.Record(t.Context(), part))(t)
	f.is.True(first.Decision.Claim && first.Decision.Billable)
	next := f.command(a, api.CVEScanKind, 1)
	next.ScanID = "s"
	second := must(f.Record(t.Context(), next))(t)
	f.is.Equal(second.EventID, first.EventID) // the parts of a scan are one event
	f.is.True(!second.Decision.Claim && second.Decision.Licensed)
	vms := must(f.VMs(t.Context(), a, store.Page{Limit: 50}))(t)
	f.is.Equal(vms.VMs[0].Kinds, []string{"cve-scan"})
	usage := must(f.Usage(t.Context(), a, store.Page{Limit: 50}))(t)
	f.is.Equal(usage.Count, 1) // every seat has its event
}

// testConcurrency lets many clients run for the last seats: never one too many.
func testConcurrency(t *testing.T, f *fixture) {
	a := f.account(license.Account{FreeQuota: 20})
	var mu sync.Mutex
	var wg sync.WaitGroup
	claimed, refused := map[string]int{}, 0
	for client := range 64 {
		wg.Go(func() {
			c := store.Command{
				RequestID: fmt.Sprint("c", client), AccountID: a, Kind: api.Migration, Fingerprint: Fingerprint(client % 40),
				Source: api.OS{Distro: "debian", Version: "11"}, Target: &api.OS{Distro: "debian", Version: "13"},
			}
			o, err := f.Record(t.Context(), c)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case api.CodeOf(err) == api.SeatQuota:
				refused++
			case err != nil:
				t.Error(err)
			case o.Decision.Claim:
				claimed[c.Fingerprint]++
			}
		})
	}
	wg.Wait()
	f.is.Equal(len(claimed), 20)
	f.is.Equal(f.used(a), 20)
	for _, n := range claimed {
		f.is.Equal(n, 1) // one claim a VM
	}
	f.is.True(refused > 0)
}

// testKinds asks for a seat while what is free for the same VM is recorded: however
// they share commits, the seat has both kinds.
func testKinds(t *testing.T, f *fixture) {
	a := f.account(license.Account{Unlimited: true})
	var wg sync.WaitGroup
	for vm := range 100 {
		for _, kind := range []api.Kind{api.Preflight, api.License} {
			c := f.command(a, kind, vm)
			wg.Go(func() {
				if _, err := f.Record(t.Context(), c); err != nil {
					t.Error(err)
				}
			})
		}
	}
	wg.Wait()
	vms := must(f.VMs(t.Context(), a, store.Page{Limit: 100}))(t)
	f.is.Equal(len(vms.VMs), 100)
	for _, vm := range vms.VMs {
		f.is.Equal(vm.Kinds, []string{"license", "preflight"})
	}
}

func testLists(t *testing.T, f *fixture) {
	a := f.account(license.Account{FreeQuota: 100})
	for vm := range 7 {
		f.record(a, api.Migration, vm)
		if vm%2 == 0 {
			f.clock.Add(time.Second) // some share an instant
		}
	}
	whole := must(f.Usage(t.Context(), a, store.Page{Limit: 100}))(t)
	f.is.True(slices.IsSortedFunc(whole.Events, func(x, y api.UsageEvent) int { return int(y.ID - x.ID) }))
	f.is.Equal(*whole.Events[0].Target, "debian 13")
	f.is.Equal(whole.Events[6].At, "2026-05-01 12:00:00+00")
	var pages []api.UsageEvent
	for offset := 0; ; offset += 3 {
		page := must(f.Usage(t.Context(), a, store.Page{Limit: 3, Offset: offset}))(t)
		pages = append(pages, page.Events...)
		if !page.HasMore {
			break
		}
	}
	f.is.Equal(pages, whole.Events)
	f.is.Equal(allPages(f, 3, func(p store.Page) ([]api.UsageEvent, string) {
		page := must(f.Usage(t.Context(), a, p))(t)
		f.is.Equal(page.HasMore, page.NextCursor != "")
		return page.Events, page.NextCursor
	}), whole.Events)
	vms := must(f.VMs(t.Context(), a, store.Page{Limit: 3, Offset: 5}))(t)
	f.is.Equal(vms.Count, 2)
	f.is.True(!vms.HasMore)
	f.is.Equal(len(vms.VMs[0].VM), api.VMKeyLength)
	all := must(f.VMs(t.Context(), a, store.Page{Limit: 100}))(t)
	f.is.Equal(allPages(f, 2, func(p store.Page) ([]api.VM, string) {
		page := must(f.VMs(t.Context(), a, p))(t)
		return page.VMs, page.NextCursor
	}), all.VMs)
	statement := must(f.Statement(t.Context(), a, store.Page{Limit: 100}))(t)
	f.is.Equal([]int{len(statement.Lines), statement.Instances}, []int{7, 7})
	f.is.Equal(statement.NextCursor, "")
	for limit := 1; limit <= 7; limit++ {
		f.is.Equal(allPages(f, limit, func(p store.Page) ([]api.StatementLine, string) {
			page := must(f.Statement(t.Context(), a, p))(t)
			f.is.Equal(page.Instances, 7) // of the whole, on each page
			return page.Lines, page.NextCursor
		}), statement.Lines)
	}
}

// allPages follows a list by its cursors.
func allPages[T any](f *fixture, limit int, read func(store.Page) ([]T, string)) (all []T) {
	for p := (store.Page{Limit: limit}); ; {
		page, next := read(p)
		all = append(all, page...)
		if next == "" {
			return all
		}
		f.is.Equal(len(page), limit)
		p = must(store.PageAt(next, limit))(f.t)
	}
}

func testTerms(t *testing.T, f *fixture) {
	ctx := t.Context()
	a := f.account(license.Account{})
	pov := must(f.AddPOV(ctx, "test", a, license.Grant{Seats: 1, From: "2026-05-01", Until: "2026-05-03"}))(t)
	grant := must(f.AddGrant(ctx, "test", a, license.Grant{Seats: 1, From: "2026-05-02", Until: "2026-06-01", Source: license.Subscription, Note: "PO"}))(t)
	_, code := f.record(a, api.Migration, 1)
	f.is.Equal(code, api.Code(""))
	_, code = f.record(a, api.Migration, 2)
	f.is.Equal(code, api.SeatQuota) // the grant has not begun
	f.clock.Add(24 * time.Hour)
	_, code = f.record(a, api.Migration, 2)
	f.is.Equal(code, api.Code(""))
	converted := must(f.ConvertPOV(ctx, "test", pov, "2027-05-01"))(t)
	f.is.True(converted > grant)
	c := must(f.Capacity(ctx, a))(t)
	f.is.Equal([]int{c.ActivePOVSeats, c.LicensedSeats}, []int{0, 2}) // never both, never neither
	_, err := f.ConvertPOV(ctx, "test", pov, "2027-05-01")
	f.is.Equal(err, store.ErrNotFound)
	f.is.NoErr(f.RevokeGrant(ctx, "test", grant))
	_, code = f.record(a, api.Migration, 3)
	f.is.Equal(code, api.SeatQuota)
	_, code = f.record(a, api.Migration, 2)
	f.is.Equal(code, api.Code("")) // a VM with a seat is never refused
}

func testTokens(t *testing.T, f *fixture) {
	ctx := t.Context()
	a := f.account(license.Account{Plan: api.PlanInternal, FreeQuota: 9})
	hash := sha256.Sum256([]byte("token"))
	id := must(f.CreateToken(ctx, "test", a, hash))(t)
	p := must(f.Authenticate(ctx, hash))(t)
	f.is.Equal(p, store.Principal{AccountID: a, TokenID: id, Plan: api.PlanInternal})
	_, err := f.Authenticate(ctx, [32]byte{})
	f.is.Equal(err, store.ErrNotFound)
	c := f.command(a, api.License, 1)
	c.TokenID, c.Replay = id, &store.Replay{Key: "k"}
	_, err = f.Record(ctx, c)
	f.is.NoErr(err)
	f.is.NoErr(f.DisableToken(ctx, "test", id))
	_, err = f.Record(ctx, c) // not even what it got before
	f.is.Equal(err, store.ErrTokenDisabled)
	_, err = f.Authenticate(ctx, hash)
	f.is.Equal(err, store.ErrNotFound)
	second := sha256.Sum256([]byte("second"))
	id = must(f.CreateToken(ctx, "test", a, second))(t)
	c = f.command(a, api.License, 2)
	c.TokenID = id
	_, err = f.Record(ctx, c)
	f.is.NoErr(err)
	f.is.NoErr(f.SetAccount(ctx, "test", a, func(a *store.Account) { a.Disabled = true }))
	f.is.Equal(f.SetAccount(ctx, "test", 1e9, func(*store.Account) {}), store.ErrNotFound)
	_, err = f.Authenticate(ctx, second)
	f.is.Equal(err, store.ErrNotFound)
	c = f.command(a, api.License, 3)
	c.TokenID = id
	_, err = f.Record(ctx, c)
	f.is.Equal(err, store.ErrTokenDisabled)
	f.is.Equal(f.used(a), 2)
	tokens := must(f.Tokens(ctx, a))(t)
	f.is.Equal(len(tokens), 2)
	f.is.True(tokens[0].DisabledAt != nil && tokens[1].DisabledAt == nil)
}

func testFindings(t *testing.T, f *fixture) {
	ctx := t.Context()
	a, b := f.account(license.Account{}), f.account(license.Account{})
	replay := &store.Replay{Key: "k"}
	filed := must(f.FileFinding(ctx, a, api.FindingRequest{Kind: "bug", Title: "t", Body: "b"}, map[string]int{"host": 2}, replay))(t)
	f.is.Equal(filed.Status, "open")
	f.is.Equal(filed.Redactions, map[string]int{"host": 2})
	again := must(f.FileFinding(ctx, a, api.FindingRequest{Kind: "bug", Title: "t", Body: "b"}, nil, replay))(t)
	f.is.Equal(again, filed)
	_, err := f.Finding(ctx, b, filed.ID)
	f.is.Equal(err, store.ErrNotFound) // another account's is not there
	_, err = f.ResolveFinding(ctx, filed.ID, "stable")
	f.is.Equal(err, store.ErrNoStagedRelease)
	staged := f.stage("v1", "stable")
	release := must(f.PublishRelease(ctx, "test", "v1"))(t)
	f.is.True(release.PublishedAt != nil)
	release.PublishedAt = nil
	f.is.Equal(release, staged)
	f.clock.Add(time.Hour)
	f.stage("v2", "stable")
	f.stage("v3", "beta")
	fixed := must(f.ResolveFinding(ctx, filed.ID, "stable"))(t)
	f.is.Equal([]string{*fixed.Release, fixed.Status}, []string{"v2", "fixed"})
	f.clock.Add(time.Hour)
	unchanged := must(f.ResolveFinding(ctx, filed.ID, "beta"))(t)
	f.is.Equal(unchanged, fixed)
	published := must(f.Releases(ctx))(t)
	f.is.Equal(len(published), 1)
	list := must(f.Findings(ctx, a, store.Page{Limit: 10}))(t)
	f.is.Equal(list.Findings, []api.Finding{fixed})
	open := must(f.EveryFinding(ctx, true))(t)
	f.is.Equal(len(open), 0)
	every := must(f.EveryFinding(ctx, false))(t)
	f.is.Equal(every, []api.Finding{fixed})
}

func testQuestions(t *testing.T, f *fixture) {
	ctx := t.Context()
	a, b := f.account(license.Account{}), f.account(license.Account{})
	q := must(f.AskQuestion(ctx, a, "why?", nil, nil))(t)
	f.is.Equal(q.Status, "open")
	open := must(f.EveryQuestion(ctx, true))(t)
	f.is.Equal(len(open), 1)
	answered := must(f.AnswerQuestion(ctx, q.ID, "because"))(t)
	f.is.Equal([]string{answered.Status, *answered.Answer}, []string{"answered", "because"})
	every := must(f.EveryQuestion(ctx, false))(t)
	f.is.Equal(every, []api.Question{answered})
	_, err := f.Question(ctx, b, q.ID)
	f.is.Equal(err, store.ErrNotFound)
	_, err = f.AnswerQuestion(ctx, 999, "x")
	f.is.Equal(err, store.ErrNotFound)
	list := must(f.Questions(ctx, a, store.Page{Limit: 10}))(t)
	f.is.Equal(list.Count, 1)
}

func testMetered(t *testing.T, f *fixture) {
	a := f.account(license.Account{})
	for range 3 {
		f.is.NoErr(f.Meter(t.Context(), a))
	}
	f.clock.Add(24 * time.Hour)
	f.is.NoErr(f.Meter(t.Context(), a))
	s := must(f.Summary(t.Context(), a))(t)
	f.is.Equal(s.MeteredRequests, api.MeteredRequests{Today: 1, ThisMonth: 4})
	f.clock.Add(31 * 24 * time.Hour)
	s = must(f.Summary(t.Context(), a))(t)
	f.is.Equal(s.MeteredRequests, api.MeteredRequests{})
}

func testKeys(t *testing.T, f *fixture) {
	ctx := t.Context()
	f.is.NoErr(f.AddKey(ctx, "test", api.Key{KeyID: "a", Algorithm: "ed25519", PEM: "A"}))
	f.clock.Add(time.Hour)
	f.is.NoErr(f.AddKey(ctx, "test", api.Key{KeyID: "b", Algorithm: "ed25519", PEM: "B"}))
	keys := must(f.Keys(ctx))(t)
	f.is.Equal(len(keys), 2)
	entries := must(f.Audit(ctx))(t)
	f.is.Equal(entries[len(entries)-1].Detail, "key b signs from now on")
	f.is.True(keys[0].RetiredAt != nil && keys[1].RetiredAt == nil) // retired ones stay listed
}

func testPrune(t *testing.T, f *fixture) {
	a := f.account(license.Account{FreeQuota: 5})
	f.record(a, api.Migration, 1)
	f.clock.Add(48 * time.Hour)
	n := must(f.Prune(t.Context(), "test", f.clock.Now().Add(-time.Hour)))(t)
	f.is.Equal(n, int64(1))
	f.is.Equal(f.used(a), 1) // seats stay
	o, _ := f.record(a, api.Drift, 1)
	f.is.True(o.Decision.Licensed)
}

func testAudit(t *testing.T, f *fixture) {
	a := f.account(license.Account{Name: "acme"})
	f.is.Equal(f.DisableToken(t.Context(), "op", 999), store.ErrNotFound)
	_, err := f.CreateToken(t.Context(), "op", a, [32]byte{7})
	f.is.NoErr(err)
	entries := must(f.Audit(t.Context()))(t)
	f.is.Equal(len(entries), 2) // what failed is not there
	f.is.Equal([]string{entries[1].Actor, entries[1].Act}, []string{"op", "token.create"})
}

func testUnknown(t *testing.T, f *fixture) {
	ctx := t.Context()
	_, err := f.Summary(ctx, 99)
	f.is.Equal(err, store.ErrNotFound)
	_, err = f.Record(ctx, f.command(99, api.Migration, 1))
	f.is.Equal(err, store.ErrNotFound)
	_, err = f.AddGrant(ctx, "test", 99, license.Grant{})
	f.is.Equal(err, store.ErrNotFound)
	_, err = f.CreateToken(ctx, "test", 99, [32]byte{})
	f.is.Equal(err, store.ErrNotFound)
	_, err = f.PublishRelease(ctx, "test", "v9")
	f.is.Equal(err, store.ErrNotFound)
}
