package storetest

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/matryer/is"

	"svc/backend/api"
	"svc/backend/license"
	"svc/backend/store"
)

// RunShared checks that several processes can have one store open: address is
// that of an empty one.
func RunShared(t *testing.T, open Open, address string) {
	is := is.New(t)
	stores := make([]store.Store, 3)
	errs := make([]error, len(stores))
	var wg sync.WaitGroup
	for i := range stores {
		wg.Go(func() { stores[i], errs[i] = open(t.Context(), address, store.Options{}) })
	}
	wg.Wait()
	for i, s := range stores {
		is.NoErr(errs[i]) // all of them find, or make, the same schema
		defer s.Close()
	}
	t.Run("operators", func(t *testing.T) { changedTogether(t, stores) })
	t.Run("resolved", func(t *testing.T) { resolvedTogether(t, stores) })
	t.Run("remembered", func(t *testing.T) { changedElsewhere(t, stores[0], stores[1]) })
	t.Run("linearizable", func(t *testing.T) { // several at once, so that their commands mix
		for account := range 5 {
			t.Run(fmt.Sprint("account ", account), func(t *testing.T) {
				t.Parallel()
				linearizable(t, stores)
			})
		}
	})
}

// changedTogether has operators change one account at the same time: each finds
// what the others did.
func changedTogether(t *testing.T, stores []store.Store) {
	is := is.New(t)
	const changes = 10
	id := must(stores[0].CreateAccount(t.Context(), "test", license.Account{Plan: api.PlanFree}))(t)
	var wg sync.WaitGroup
	for _, s := range stores {
		wg.Go(func() {
			for range changes {
				is.NoErr(s.SetAccount(t.Context(), "test", id, func(a *store.Account) { a.FreeQuota++ }))
			}
		})
	}
	wg.Wait()
	a := must(stores[0].Account(t.Context(), id))(t)
	is.Equal(a.FreeQuota, changes*len(stores))
}

// resolvedTogether has the team mark one finding fixed in two channels at the same
// time: the first stays, and all are told of it.
func resolvedTogether(t *testing.T, stores []store.Store) {
	is := is.New(t)
	id := must(stores[0].CreateAccount(t.Context(), "test", license.Account{Plan: api.PlanInternal}))(t)
	for _, channel := range api.Channels {
		_, err := stores[0].StageRelease(t.Context(), "test", store.Release{Tag: "in-" + channel, Channel: channel})
		is.NoErr(err)
	}
	for range 20 {
		f := must(stores[0].FileFinding(t.Context(), id, api.FindingRequest{Kind: "bug", Title: "a", Body: "b"}, nil, nil))(t)
		fixed := make([]api.Finding, len(stores))
		var wg sync.WaitGroup
		for i, s := range stores {
			wg.Go(func() {
				fixed[i] = must(s.ResolveFinding(t.Context(), f.ID, api.Channels[i%len(api.Channels)]))(t)
			})
		}
		wg.Wait()
		for _, other := range fixed[1:] {
			is.Equal(other, fixed[0])
		}
	}
}

// changedElsewhere has an operator's process claim, and then change what another
// remembers of an account since the commit before: the next claim there is refused.
func changedElsewhere(t *testing.T, s, operator store.Store) {
	for name, c := range map[string]struct {
		change func(a store.Account, token, grant int64) error
		want   api.Code // none for a token that no longer holds
	}{
		"token": {func(_ store.Account, token, _ int64) error { return operator.DisableToken(t.Context(), "test", token) }, ""},
		"account": {func(a store.Account, _, _ int64) error {
			return operator.SetAccount(t.Context(), "test", a.ID, func(a *store.Account) { a.Disabled = true })
		}, ""},
		"limit": {func(a store.Account, _, _ int64) error {
			return operator.SetAccount(t.Context(), "test", a.ID, func(a *store.Account) { a.VMLimit = 3 })
		}, api.VMLimit},
		"grant": {func(_ store.Account, _, grant int64) error { return operator.RevokeGrant(t.Context(), "test", grant) }, api.SeatQuota},
	} {
		is := is.New(t)
		id := must(operator.CreateAccount(t.Context(), "test", license.Account{Plan: api.PlanFree, VMLimit: 100}))(t)
		token := must(operator.CreateToken(t.Context(), "test", id, sha256.Sum256(fmt.Append(nil, name, id))))(t)
		grant := must(operator.AddGrant(t.Context(), "test", id, license.Grant{Seats: 9, From: "2020-01-01", Until: "2100-01-01", Source: license.Manual}))(t)
		claim := func(s store.Store, vm int) error {
			_, err := s.Record(t.Context(), store.Command{
				RequestID: fmt.Sprint(rand.Uint64()), TokenID: token, AccountID: id, Kind: api.License, Fingerprint: Fingerprint(vm), Source: api.OS{Distro: "debian", Version: "11"},
			})
			return err
		}
		for vm, from := range []store.Store{s, s, operator} {
			is.NoErr(claim(from, vm))
		}
		a := must(operator.Account(t.Context(), id))(t)
		is.Equal(a.Used, 3)
		is.NoErr(c.change(a, token, grant))
		if err := claim(s, 3); err == nil || api.CodeOf(err) != c.want || c.want == "" && !errors.Is(err, store.ErrTokenDisabled) {
			t.Errorf("%s: a claim after the change got %v", name, err)
		}
	}
}

// call is one call of a history: a claim for a VM, or where that is -1, one more
// seat.
type call struct{ vm int }

// answer is what a call gave.
type answer struct {
	code    api.Code
	claimed bool
}

// books are an account with a set of seats.
type books struct {
	capacity int
	seats    uint64
}

// sequential is an account whose calls come one after another.
var sequential = porcupine.Model{
	Init: func() any { return books{capacity: 3} },
	Step: func(state, input, output any) (bool, any) {
		b := state.(books)
		want, next := b.after(input.(call))
		return output.(answer) == want, next
	},
	DescribeOperation: func(input, output any) string { return fmt.Sprintf("%+v: %+v", input, output) },
}

func (b books) after(c call) (answer, books) {
	switch {
	case c.vm < 0:
		b.capacity++
		return answer{}, b
	case b.seats&(1<<c.vm) != 0:
		return answer{}, b
	case bits.OnesCount64(b.seats) < b.capacity:
		b.seats |= 1 << c.vm
		return answer{claimed: true}, b
	}
	return answer{code: api.SeatQuota}, b
}

// linearizable lets clients of several stores run for the last seats of an
// account. Every answer must be one that some order of the calls explains, in
// which no call moves before one that had ended when it began.
func linearizable(t *testing.T, stores []store.Store) {
	is := is.New(t)
	account := must(stores[0].CreateAccount(t.Context(), "test", license.Account{Plan: api.PlanFree, FreeQuota: 3, VMLimit: 100}))(t)
	start := time.Now()
	var mu sync.Mutex
	var history []porcupine.Operation
	var wg sync.WaitGroup
	for client := range 9 {
		wg.Go(func() {
			for range 12 {
				c := call{rand.IntN(14) - 1}
				begun := time.Since(start).Nanoseconds()
				a := c.make(t, stores[client%len(stores)], account)
				ended := time.Since(start).Nanoseconds()
				mu.Lock()
				history = append(history, porcupine.Operation{ClientId: client, Input: c, Call: begun, Output: a, Return: ended})
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	is.Equal(porcupine.CheckOperationsTimeout(sequential, history, 30*time.Second), porcupine.Ok)
}

func (c call) make(t *testing.T, s store.Store, account int64) answer {
	if c.vm < 0 {
		_, err := s.AddGrant(t.Context(), "test", account, license.Grant{Seats: 1, From: "2020-01-01", Until: "2100-01-01", Source: license.Manual})
		return answer{code: codeOf(t, err)}
	}
	o, err := s.Record(t.Context(), store.Command{
		RequestID: fmt.Sprint(rand.Uint64()), AccountID: account, Kind: api.License, Fingerprint: Fingerprint(c.vm), Source: api.OS{Distro: "debian", Version: "11"},
	})
	return answer{codeOf(t, err), o.Decision.Claim}
}

// codeOf is the code of a refusal; any other error fails the test.
func codeOf(t testing.TB, err error) api.Code {
	code := api.CodeOf(err)
	if err != nil && (code == "" || code == api.Unavailable) {
		t.Error(err)
	}
	return code
}
