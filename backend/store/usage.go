package store

import (
	"context"
	"database/sql"

	"svc/backend/api"
	"svc/backend/license"
)

// Seated implements Store.
func (s *ledger) Seated(ctx context.Context, account int64, fingerprint string) (bool, error) {
	return one(ctx, s.read, value[bool], s.seated, account, fingerprint)
}

// loadState reads what the decision about a command depends on.
func (s *ledger) loadState(ctx context.Context, q querier, c Command, day string) (state license.State, err error) {
	a, err := loadAccount(ctx, q, c.AccountID)
	if err != nil {
		return state, err
	}
	h, err := loadHoldings(ctx, q, c.AccountID)
	if err != nil {
		return state, err
	}
	seated, err := one(ctx, q, value[bool], s.seated, c.AccountID, c.Fingerprint)
	return stateOf(&a, &h, day, seated), err
}

// stateOf is what the decision about a VM depends on.
func stateOf(a *Account, h *license.Holdings, day string, seated bool) license.State {
	return license.State{Account: a.Account, Used: a.Used, Seats: h.Seats(day), POVs: h.POVSeats(day), Seated: seated}
}

// Peek implements Store.
func (s *ledger) Peek(ctx context.Context, c Command) (o Outcome, err error) {
	err = s.snapshot(ctx, func(q querier) error {
		state, err := s.loadState(ctx, q, c, license.Day(s.now()))
		o = Outcome{Decision: license.Decide(state, c.Kind, c.Target), Seated: state.Seated}
		return err
	})
	return o, err
}

// scanRecorded scans what is known of a command that was recorded before.
func scanRecorded(r row) (o Outcome, err error) {
	err = r.Scan(&o.EventID, &o.Decision.Claim, &o.Decision.Billable, &o.Decision.Overage)
	return o, err
}

// repeated is the outcome of a command whose event is there already.
func (o Outcome) repeated(seated bool) Outcome {
	o.Decision.Licensed, o.Decision.Pool = seated, "" // the seat has it
	o.Seated = seated && !o.Decision.Claim
	return o
}

// label is a target as a column keeps it.
func label(target *api.OS) sql.NullString {
	if target == nil {
		return sql.NullString{}
	}
	return null(target.Label())
}
