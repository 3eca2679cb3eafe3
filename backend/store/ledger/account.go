package ledger

import (
	"context"
	"errors"
	"fmt"
	"math"

	"svc/backend/api"
	"svc/backend/license"
	"svc/backend/store"
)

const AccountColumns = "id, name, plan, unlimited, free_quota, vm_limit, disabled, billable_vms, version, created_at"

func ScanAccount(r Row) (a store.Account, err error) {
	err = r.Scan(&a.ID, &a.Name, &a.Plan, &a.Unlimited, &a.FreeQuota, &a.VMLimit, &a.Disabled, &a.Used, &a.Version, at(&a.CreatedAt))
	return a, err
}

func LoadAccount(ctx context.Context, q Querier, id int64) (store.Account, error) {
	return One(ctx, q, ScanAccount, "SELECT "+AccountColumns+" FROM accounts WHERE id = ?", id)
}

// Holding is a grant, or a POV, of an account.
type Holding struct {
	account int64
	pov     bool
	license.Grant
}

const GrantColumns = "account_id, id, pov, seats, valid_from, valid_until, source, note, ended_at IS NOT NULL"

func ScanHolding(r Row) (h Holding, err error) {
	err = r.Scan(&h.account, &h.ID, &h.pov, &h.Seats, &h.From, &h.Until, &h.Source, &h.Note, &h.Revoked)
	return h, err
}

// AddTo puts a holding to the others of its account.
func (g Holding) AddTo(h *license.Holdings) {
	if g.pov {
		h.POVs = append(h.POVs, g.Grant)
	} else {
		h.Licenses = append(h.Licenses, g.Grant)
	}
}

// LoadHoldings reads the grants and POVs of an account, ended ones too.
func LoadHoldings(ctx context.Context, q Querier, account int64) (h license.Holdings, err error) {
	grants, err := Collect(ctx, q, ScanHolding, "SELECT "+GrantColumns+" FROM grants WHERE account_id = ? ORDER BY id", account)
	for _, g := range grants {
		g.AddTo(&h)
	}
	return h, err
}

// billing reads an account and its holdings at one instant.
func (s *Ledger) billing(ctx context.Context, account int64, use func(q Querier, a store.Account, h license.Holdings, day string) error) error {
	return s.Snapshot(ctx, func(q Querier) error {
		a, err := LoadAccount(ctx, q, account)
		if err != nil {
			return err
		}
		h, err := LoadHoldings(ctx, q, account)
		if err != nil {
			return err
		}
		return use(q, a, h, license.Day(s.Now()))
	})
}

// Summary implements store.Store.
func (s *Ledger) Summary(ctx context.Context, account int64) (out api.Account, err error) {
	err = s.billing(ctx, account, func(q Querier, a store.Account, h license.Holdings, day string) error {
		out = license.Summary(a.Account, h, a.Used, day)
		out.MeteredRequests, err = One(ctx, q, func(r Row) (m api.MeteredRequests, err error) {
			err = r.Scan(&m.Today, &m.ThisMonth)
			return m, err
		}, `SELECT coalesce(sum(requests) FILTER (WHERE day = ?), 0), coalesce(sum(requests), 0)
			FROM metered WHERE account_id = ? AND day BETWEEN ? AND ?`, day, account, day[:len("2006-01-")]+"01", day)
		return err
	})
	return out, err
}

// Capacity implements store.Store.
func (s *Ledger) Capacity(ctx context.Context, account int64) (out api.Capacity, err error) {
	err = s.billing(ctx, account, func(_ Querier, a store.Account, h license.Holdings, day string) error {
		out = license.Capacity(a.Account, h, a.Used, day)
		return nil
	})
	return out, err
}

// Statement implements store.Store.
func (s *Ledger) Statement(ctx context.Context, account int64, p store.Page) (out api.Statement, err error) {
	err = s.billing(ctx, account, func(q Querier, a store.Account, h license.Holdings, day string) error {
		first, err := One(ctx, q, Value[int64], "SELECT first_at FROM seats WHERE account_id = ? ORDER BY first_at LIMIT 1", account)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
		since := ""
		if err == nil {
			since = license.Day(TimeOf(first))
		}
		var instants []int64
		lines, err := Collect(ctx, q, func(r Row) (l api.StatementLine, err error) {
			var since int64
			var pool string
			err = r.Scan(&l.VM, &since, &l.Source, &l.Kind, &pool)
			if pool != "" {
				l.Pool = &pool
			}
			l.Since, l.Kind = license.Day(TimeOf(since)), license.SeatKind(l.Kind)
			instants = append(instants, since)
			return l, err
		}, `SELECT substr(fingerprint, 1, 12), first_at, source, kind, pool FROM seats
			WHERE account_id = ? AND first_at >= ? ORDER BY first_at, fingerprint LIMIT ? OFFSET ?`, account, p.Start(math.MinInt64), p.Limit+1, p.Offset)
		out = license.Statement(a.Account, h, a.Used, since, day)
		out.Lines, out.NextCursor = pageFrom(lines, instants, p)
		return err
	})
	return out, err
}

// pageFrom cuts a list whose entries have these instants, and says where it goes on.
func pageFrom[T any](all []T, instants []int64, p store.Page) (page []T, next string) {
	if len(all) > p.Limit {
		return all[:p.Limit], p.Next(instants[:p.Limit]).Cursor()
	}
	return all, ""
}

// VMs implements store.Store.
func (s *Ledger) VMs(ctx context.Context, account int64, p store.Page) (api.VMList, error) {
	var instants []int64
	all, err := Collect(ctx, s.Read, func(r Row) (vm api.VM, err error) {
		var first, last, kinds int64
		err = r.Scan(&vm.VM, &first, &last, &kinds)
		instants = append(instants, first)
		vm.FirstBillableAt, vm.LastSeenAt, vm.Licensed, vm.Kinds = stamp(TimeOf(first)), stamp(TimeOf(last)), true, kindNames(kinds)
		return vm, err
	}, `SELECT substr(fingerprint, 1, 12), first_at, last_seen_at, kinds FROM seats
		WHERE account_id = ? AND first_at <= ? ORDER BY first_at DESC, fingerprint DESC LIMIT ? OFFSET ?`, account, p.Start(math.MaxInt64), p.Limit+1, p.Offset)
	if err != nil {
		return api.VMList{}, fmt.Errorf("listing VMs: %w", err)
	}
	l := api.VMList{Limit: p.Limit, Offset: p.Offset}
	l.VMs, l.NextCursor = pageFrom(all, instants, p)
	l.Count, l.HasMore = len(l.VMs), l.NextCursor != ""
	return l, nil
}

// Usage implements store.Store.
func (s *Ledger) Usage(ctx context.Context, account int64, p store.Page) (api.UsageHistory, error) {
	var instants []int64
	all, err := Collect(ctx, s.Read, func(r Row) (e api.UsageEvent, err error) {
		var at int64
		err = r.Scan(&e.ID, &e.Kind, &e.VM, &e.Source, &e.Target, &at)
		e.At = stamp(TimeOf(at))
		instants = append(instants, at)
		return e, err
	}, s.History, account, p.Start(math.MaxInt64), p.Limit+1, p.Offset)
	if err != nil {
		return api.UsageHistory{}, fmt.Errorf("listing usage: %w", err)
	}
	h := api.UsageHistory{Limit: p.Limit, Offset: p.Offset}
	h.Events, h.NextCursor = pageFrom(all, instants, p)
	h.Count, h.HasMore = len(h.Events), h.NextCursor != ""
	return h, nil
}
