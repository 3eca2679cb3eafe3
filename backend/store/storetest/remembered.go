package storetest

import (
	"crypto/sha256"
	"errors"
	"testing"
	"time"

	"svc/backend/api"
	"svc/backend/license"
	"svc/backend/store"
)

// testRemembered changes accounts between claims that come one at a time: a store
// may remember an account from one to the next, but must see what became of it.
func testRemembered(t *testing.T, f *fixture) {
	until := license.Day(f.clock.Now().AddDate(0, 0, 1))
	for name, c := range map[string]struct {
		account license.Account
		seats   int // granted until tomorrow
		change  func(account store.Account, token, grant int64) error
		want    error
	}{
		"token": {license.Account{FreeQuota: 9}, 0, func(_ store.Account, token, _ int64) error {
			return f.DisableToken(t.Context(), "test", token)
		}, store.ErrTokenDisabled},
		"account": {license.Account{FreeQuota: 9}, 0, func(a store.Account, _, _ int64) error {
			return f.SetAccount(t.Context(), "test", a.ID, func(a *store.Account) { a.Disabled = true })
		}, store.ErrTokenDisabled},
		"quota": {license.Account{FreeQuota: 9}, 0, func(a store.Account, _, _ int64) error {
			return f.SetAccount(t.Context(), "test", a.ID, func(a *store.Account) { a.FreeQuota = 3 })
		}, &api.Error{Code: api.SeatQuota}},
		"limit": {license.Account{FreeQuota: 9}, 0, func(a store.Account, _, _ int64) error {
			return f.SetAccount(t.Context(), "test", a.ID, func(a *store.Account) { a.VMLimit = 3 })
		}, &api.Error{Code: api.VMLimit}},
		"unlimited": {license.Account{Unlimited: true}, 0, func(a store.Account, _, _ int64) error {
			return f.SetAccount(t.Context(), "test", a.ID, func(a *store.Account) { a.Unlimited = false })
		}, &api.Error{Code: api.SeatQuota}},
		"grant": {license.Account{}, 9, func(_ store.Account, _, grant int64) error {
			return f.RevokeGrant(t.Context(), "test", grant)
		}, &api.Error{Code: api.SeatQuota}},
		"day": {license.Account{}, 9, func(store.Account, int64, int64) error {
			f.clock.Add(24 * time.Hour)
			return nil
		}, &api.Error{Code: api.SeatQuota}},
	} {
		id := f.account(c.account)
		token := must(f.CreateToken(t.Context(), "test", id, sha256.Sum256([]byte(name))))(t)
		grant := must(f.AddGrant(t.Context(), "test", id, license.Grant{Seats: c.seats, From: license.Day(f.clock.Now()), Until: until, Source: license.Manual}))(t)
		// A scan's claim takes another way than one of a single request.
		claim := func(vm int, scan string) error {
			command := f.command(id, api.License, vm)
			if command.TokenID = token; scan != "" {
				command.Kind, command.ScanID = api.CVEScanKind, scan
			}
			_, err := f.Record(t.Context(), command)
			return err
		}
		for vm, scan := range []string{"", "", "first"} {
			f.is.NoErr(claim(vm, scan))
		}
		a := must(f.Account(t.Context(), id))(t)
		f.is.NoErr(c.change(a, token, grant))
		for _, scan := range []string{"second", "", "third"} {
			if err := claim(3, scan); !errors.Is(err, c.want) && (api.CodeOf(err) == "" || api.CodeOf(err) != api.CodeOf(c.want)) {
				t.Errorf("%s: a claim after the change got %v, not %v", name, err, c.want)
			}
		}
		f.is.Equal(f.used(id), 3)
		until = license.Day(f.clock.Now().AddDate(0, 0, 1))
	}
	f.remembersAll()
}

// remembersAll claims for an account that may be remembered with all that a claim
// can carry.
func (f *fixture) remembersAll() {
	ctx := f.t.Context()
	id := f.account(license.Account{FreeQuota: 9})
	for vm := range 3 {
		f.record(id, api.License, vm)
	}
	f.record(id, api.Preflight, 3)
	f.clock.Add(time.Second) // so that it is the newest VM
	c := f.command(id, api.Migration, 3)
	c.HostHint, c.Replay = Fingerprint(99), &store.Replay{Key: "remembered", BodyHash: [32]byte{1}}
	first := must(f.Record(ctx, c))(f.t)
	f.is.True(first.EventID > 0 && first.Decision.Claim && first.Decision.Billable && !first.Seated)
	c.RequestID = "again"
	again := must(f.Record(ctx, c))(f.t)
	f.is.Equal(again, first) // the answer that was kept
	c.Replay = &store.Replay{Key: "remembered", BodyHash: [32]byte{2}}
	_, err := f.Record(ctx, c)
	f.is.Equal(api.CodeOf(err), api.IdempotencyMismatch)
	c.Fingerprint = Fingerprint(4) // of a VM that has no seat
	_, err = f.Record(ctx, c)
	f.is.Equal(api.CodeOf(err), api.IdempotencyMismatch)
	vms := must(f.VMs(ctx, id, store.Page{Limit: 1}))(f.t)
	f.is.Equal(vms.VMs[0].Kinds, []string{"migration", "preflight"})
	o, code := f.record(id, api.Verify, 3)
	f.is.True(code == "" && o.Seated && !o.Decision.Claim)
	f.is.Equal(f.used(id), 4)
}
