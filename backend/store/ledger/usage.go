package ledger

import (
	"context"
	"database/sql"

	"svc/backend/api"
	"svc/backend/license"
	"svc/backend/store"
)

// SelectSeated reports whether an account has a seat for a VM.
const SelectSeated = "SELECT EXISTS (SELECT 1 FROM seats WHERE account_id = ? AND fingerprint = ?)"

// Seated implements store.Store.
func (s *Ledger) Seated(ctx context.Context, account int64, fingerprint string) (bool, error) {
	return One(ctx, s.Read, Value[bool], SelectSeated, account, fingerprint)
}

// loadState reads what the decision about a command depends on.
func (s *Ledger) loadState(ctx context.Context, q Querier, c store.Command, day string) (state license.State, err error) {
	a, err := LoadAccount(ctx, q, c.AccountID)
	if err != nil {
		return state, err
	}
	h, err := LoadHoldings(ctx, q, c.AccountID)
	if err != nil {
		return state, err
	}
	seated, err := One(ctx, q, Value[bool], SelectSeated, c.AccountID, c.Fingerprint)
	return StateOf(&a, &h, day, seated), err
}

// StateOf is what the decision about a VM depends on.
func StateOf(a *store.Account, h *license.Holdings, day string, seated bool) license.State {
	return license.State{Account: a.Account, Used: a.Used, Seats: h.Seats(day), POVs: h.POVSeats(day), Seated: seated}
}

// Peek implements store.Store.
func (s *Ledger) Peek(ctx context.Context, c store.Command) (o store.Outcome, err error) {
	err = s.Snapshot(ctx, func(q Querier) error {
		state, err := s.loadState(ctx, q, c, license.Day(s.Now()))
		o = store.Outcome{Decision: license.Decide(state, c.Kind, c.Target), Seated: state.Seated}
		return err
	})
	return o, err
}

// ScanRecorded scans what is known of a command that was recorded before.
func ScanRecorded(r Row) (o store.Outcome, err error) {
	err = r.Scan(&o.EventID, &o.Decision.Claim, &o.Decision.Billable, &o.Decision.Overage)
	return o, err
}

// repeated is the outcome of a command whose event is there already.
func repeated(o store.Outcome, seated bool) store.Outcome {
	o.Decision.Licensed, o.Decision.Pool = seated, "" // the seat has it
	o.Seated = seated && !o.Decision.Claim
	return o
}

// Label is a target as a column keeps it.
func Label(target *api.OS) sql.NullString {
	if target == nil {
		return sql.NullString{}
	}
	return Null(target.Label())
}
