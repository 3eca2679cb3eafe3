package store

import (
	"context"
	"errors"

	"svc/backend/api"
	"svc/backend/license"
)

// Record implements Store.
func (s *sqlite) Record(ctx context.Context, c Command) (Outcome, error) {
	return written(ctx, &s.ledger, func(t *tx) (Outcome, error) {
		if err := t.admit(c.TokenID); err != nil {
			return Outcome{}, err
		}
		return once(t, c.AccountID, c.Replay, func(t *tx) (Outcome, error) { return t.record(c) })
	})
}

// admit checks that a token holds.
func (t *tx) admit(token int64) error {
	if token == 0 {
		return nil
	}
	holds, err := one(t.ctx, t, value[bool], `SELECT EXISTS (SELECT 1 FROM tokens t JOIN accounts a ON a.id = t.account_id
		WHERE t.id = ? AND t.disabled_at IS NULL AND NOT a.disabled)`, token)
	if err == nil && !holds {
		err = ErrTokenDisabled
	}
	return err
}

// record decides a command and writes its event, and its seat where it claims
// one.
func (t *tx) record(c Command) (Outcome, error) {
	if o, found, err := t.recorded(c); err != nil || found {
		return o, err
	}
	state, err := loadState(t.ctx, t, c, license.Day(t.now))
	if err != nil {
		return Outcome{}, err
	}
	o := Outcome{Decision: license.Decide(state, c.Kind, c.Target), Seated: state.Seated}
	if o.Decision.Refusal != nil {
		return o, o.Decision.Refusal
	}
	if o.EventID, err = t.insertEvent(c, o.Decision); err != nil {
		return o, err
	}
	return o, errors.Join(t.touchSeat(c, o.Decision), t.countHost(c))
}

// recorded finds the event of a command that was recorded before: by its
// request, or, for the later parts of a scan, by its scan.
func (t *tx) recorded(c Command) (o Outcome, found bool, err error) {
	const columns = "SELECT id, claimed, billable, overage FROM events WHERE account_id = ? AND "
	o, err = one(t.ctx, t, scanRecorded, columns+"request_id = ?", c.AccountID, c.RequestID)
	if errors.Is(err, ErrNotFound) && c.ScanID != "" {
		o, err = one(t.ctx, t, scanRecorded, columns+"fingerprint = ? AND scan_id = ?", c.AccountID, c.Fingerprint, c.ScanID)
		o.Decision.Claim = false // the first part of the scan claimed it
	}
	if errors.Is(err, ErrNotFound) {
		return Outcome{}, false, nil
	}
	if err != nil {
		return o, false, err
	}
	seated, err := isSeated(t.ctx, t, c.AccountID, c.Fingerprint)
	return o.repeated(seated), true, err
}

func (t *tx) insertEvent(c Command, d license.Decision) (id int64, err error) {
	return one(t.ctx, t, value[int64], `INSERT INTO events
		(account_id, request_id, kind, fingerprint, source, target, scan_id, claimed, billable, overage, listed, host_hint, at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id`,
		c.AccountID, c.RequestID, c.Kind, c.Fingerprint, c.Source.Label(), label(c.Target), null(c.ScanID),
		d.Claim, d.Billable, d.Overage, license.Listed(c.Kind, d.Claim), null(c.HostHint), instant(t.now))
}

// touchSeat claims the seat, or notes that the VM was seen.
func (t *tx) touchSeat(c Command, d license.Decision) error {
	if !d.Claim {
		_, err := t.exec("UPDATE seats SET kinds = kinds | ?, last_seen_at = max(last_seen_at, ?) WHERE account_id = ? AND fingerprint = ?",
			kindBit(c.Kind), instant(t.now), c.AccountID, c.Fingerprint)
		return err
	}
	earlier, err := t.earlierKinds(c)
	if err != nil {
		return err
	}
	_, err = t.exec(`INSERT INTO seats (account_id, fingerprint, kind, source, kinds, first_at, last_seen_at, claimed_by) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
		c.AccountID, c.Fingerprint, c.Kind, c.Source.Label(), earlier|kindBit(c.Kind), instant(t.now), instant(t.now), c.RequestID)
	if err != nil {
		return err
	}
	_, err = t.exec("UPDATE accounts SET billable_vms = billable_vms + 1 WHERE id = ?", c.AccountID)
	return err
}

// earlierKinds are the kinds that the VM ran before it had a seat: the free ones.
// The literals are those of the index that answers this.
func (t *tx) earlierKinds(c Command) (set int64, err error) {
	kinds, err := collect(t.ctx, t, value[api.Kind],
		"SELECT DISTINCT kind FROM events WHERE account_id = ? AND fingerprint = ? AND kind IN ('preflight', 'readiness')", c.AccountID, c.Fingerprint)
	for _, k := range kinds {
		set |= kindBit(k)
	}
	return set, err
}

// countHost counts the hosts that report under one fingerprint.
func (t *tx) countHost(c Command) error {
	if c.HostHint == "" {
		return nil
	}
	_, err := t.exec(`INSERT INTO hosts (account_id, fingerprint, host_hint, events) VALUES (?, ?, ?, 1)
		ON CONFLICT DO UPDATE SET events = events + 1`, c.AccountID, c.Fingerprint, c.HostHint)
	return err
}

// Meter implements Store.
func (s *sqlite) Meter(ctx context.Context, account int64) error {
	return s.change(ctx, func(t *tx) error {
		_, err := t.exec(`INSERT INTO metered (account_id, day, requests) VALUES (?, ?, 1)
			ON CONFLICT DO UPDATE SET requests = requests + 1`, account, license.Day(t.now))
		return err
	})
}
