package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"svc/backend/api"
	"svc/backend/license"
)

// Authenticate implements Store.
func (s *sqlite) Authenticate(ctx context.Context, hash [32]byte) (Principal, error) {
	return one(ctx, s.read, func(r row) (p Principal, err error) {
		return p, r.Scan(&p.TokenID, &p.AccountID, &p.Plan, &p.Unlimited)
	}, `SELECT t.id, a.id, a.plan, a.unlimited FROM tokens t JOIN accounts a ON a.id = t.account_id
		WHERE t.hash = ? AND t.disabled_at IS NULL AND a.disabled = 0`, hash[:])
}

const accountColumns = "id, name, plan, unlimited, free_quota, vm_limit, disabled, billable_vms, created_at"

func scanAccount(r row) (a Account, err error) {
	var created int64
	err = r.Scan(&a.ID, &a.Name, &a.Plan, &a.Unlimited, &a.FreeQuota, &a.VMLimit, &a.Disabled, &a.Used, &created)
	a.CreatedAt = timeOf(created)
	return a, err
}

func loadAccount(ctx context.Context, q querier, id int64) (Account, error) {
	return one(ctx, q, scanAccount, "SELECT "+accountColumns+" FROM accounts WHERE id = ?", id)
}

// loadHoldings reads the grants and POVs of an account, ended ones too.
func loadHoldings(ctx context.Context, q querier, account int64) (h license.Holdings, err error) {
	rows, err := q.QueryContext(ctx, "SELECT id, pov, seats, valid_from, valid_until, source, note, ended_at IS NOT NULL FROM grants WHERE account_id = ? ORDER BY id", account)
	if err != nil {
		return h, err
	}
	defer rows.Close()
	for rows.Next() {
		var g license.Grant
		var pov bool
		if err := rows.Scan(&g.ID, &pov, &g.Seats, &g.From, &g.Until, &g.Source, &g.Note, &g.Revoked); err != nil {
			return h, err
		}
		if pov {
			h.POVs = append(h.POVs, g)
		} else {
			h.Licenses = append(h.Licenses, g)
		}
	}
	return h, rows.Err()
}

func isSeated(ctx context.Context, q querier, account int64, fingerprint string) (seated bool, err error) {
	err = q.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM seats WHERE account_id = ? AND fingerprint = ?)", account, fingerprint).Scan(&seated)
	return seated, err
}

// Seated implements Store.
func (s *sqlite) Seated(ctx context.Context, account int64, fingerprint string) (bool, error) {
	return isSeated(ctx, s.read, account, fingerprint)
}

// loadState reads what the decision about a command depends on.
func loadState(ctx context.Context, q querier, c Command, day string) (state license.State, err error) {
	a, err := loadAccount(ctx, q, c.AccountID)
	if err != nil {
		return state, err
	}
	h, err := loadHoldings(ctx, q, c.AccountID)
	if err != nil {
		return state, err
	}
	seated, err := isSeated(ctx, q, c.AccountID, c.Fingerprint)
	return license.State{Account: a.Account, Used: a.Used, Seats: h.Seats(day), Seated: seated}, err
}

// Peek implements Store.
func (s *sqlite) Peek(ctx context.Context, c Command) (Outcome, error) {
	t, err := s.read.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return Outcome{}, fmt.Errorf("reading the seat's state: %w", err)
	}
	defer t.Rollback()
	state, err := loadState(ctx, t, c, license.Day(s.o.Now()))
	return Outcome{Decision: license.Decide(state, c.Kind, c.Target), Seated: state.Seated}, err
}

// Record implements Store.
func (s *sqlite) Record(ctx context.Context, c Command) (Outcome, error) {
	return replayed(ctx, s, c.AccountID, c.Replay, func(t *tx) (Outcome, error) { return t.record(c) })
}

// replayed does a write once for each idempotency key: a repeat gets what the
// first call got. Only what recorded something is kept.
func replayed[T any](ctx context.Context, s *sqlite, account int64, r *Replay, do func(*tx) (T, error)) (out T, err error) {
	err = s.change(ctx, func(t *tx) error {
		if r == nil {
			out, err = do(t)
			return err
		}
		found, err := t.earlier(account, r, &out)
		if err != nil || found {
			return err
		}
		if out, err = do(t); err != nil {
			return err
		}
		answer, err := json.Marshal(out)
		if err != nil {
			return err
		}
		_, err = t.ExecContext(t.ctx, "INSERT OR REPLACE INTO replays (account_id, key, body_hash, answer, at) VALUES (?, ?, ?, ?, ?)",
			account, r.Key, r.BodyHash[:], string(answer), instant(t.now))
		return err
	})
	return out, err
}

// earlier finds the answer that a key got before.
func (t *tx) earlier(account int64, r *Replay, out any) (found bool, err error) {
	var hash []byte
	var answer string
	err = t.QueryRowContext(t.ctx, "SELECT body_hash, answer FROM replays WHERE account_id = ? AND key = ? AND at > ?",
		account, r.Key, instant(t.now.Add(-lifetime))).Scan(&hash, &answer)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return false, nil
	case err != nil:
		return false, err
	case string(hash) != string(r.BodyHash[:]):
		return false, api.Errorf(api.IdempotencyMismatch, "this Idempotency-Key was used with another body in the last 24 hours; nothing was recorded: use a new key")
	}
	return true, json.Unmarshal([]byte(answer), out)
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
	scan := func(r row) (o Outcome, err error) {
		return o, r.Scan(&o.EventID, &o.Decision.Claim, &o.Decision.Billable, &o.Decision.Overage)
	}
	o, err = one(t.ctx, t, scan, columns+"request_id = ?", c.AccountID, c.RequestID)
	if errors.Is(err, ErrNotFound) && c.ScanID != "" {
		o, err = one(t.ctx, t, scan, columns+"fingerprint = ? AND scan_id = ?", c.AccountID, c.Fingerprint, c.ScanID)
		o.Decision.Claim = false // the first part of the scan claimed it
	}
	if errors.Is(err, ErrNotFound) {
		return Outcome{}, false, nil
	}
	if err != nil {
		return o, false, err
	}
	o.Decision.Licensed, err = isSeated(t.ctx, t, c.AccountID, c.Fingerprint)
	o.Seated = o.Decision.Licensed && !o.Decision.Claim
	return o, true, err
}

func (t *tx) insertEvent(c Command, d license.Decision) (id int64, err error) {
	target := ""
	if c.Target != nil {
		target = c.Target.Label()
	}
	err = t.QueryRowContext(t.ctx, `INSERT INTO events
		(account_id, request_id, kind, fingerprint, source, target, scan_id, claimed, billable, overage, listed, host_hint, at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id`,
		c.AccountID, c.RequestID, c.Kind, c.Fingerprint, c.Source.Label(), null(target), null(c.ScanID),
		d.Claim, d.Billable, d.Overage, license.Listed(c.Kind, d.Claim), null(c.HostHint), instant(t.now)).Scan(&id)
	return id, err
}

// touchSeat claims the seat, or notes that the VM was seen.
func (t *tx) touchSeat(c Command, d license.Decision) error {
	if !d.Claim {
		_, err := t.ExecContext(t.ctx, "UPDATE seats SET kinds = kinds | ?, last_seen_at = max(last_seen_at, ?) WHERE account_id = ? AND fingerprint = ?",
			kindBit(c.Kind), instant(t.now), c.AccountID, c.Fingerprint)
		return err
	}
	earlier, err := t.earlierKinds(c)
	if err != nil {
		return err
	}
	_, err = t.ExecContext(t.ctx, `INSERT INTO seats (account_id, fingerprint, kind, source, kinds, first_at, last_seen_at, claimed_by) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
		c.AccountID, c.Fingerprint, c.Kind, c.Source.Label(), earlier|kindBit(c.Kind), instant(t.now), instant(t.now), c.RequestID)
	if err != nil {
		return err
	}
	_, err = t.ExecContext(t.ctx, "UPDATE accounts SET billable_vms = billable_vms + 1 WHERE id = ?", c.AccountID)
	return err
}

// earlierKinds are the kinds that the VM ran before it had a seat: the free ones.
// The literals are those of the index that answers this.
func (t *tx) earlierKinds(c Command) (set int64, err error) {
	kinds, err := collect(t.ctx, t, func(r row) (k api.Kind, err error) { return k, r.Scan(&k) },
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
	_, err := t.ExecContext(t.ctx, `INSERT INTO hosts (account_id, fingerprint, host_hint, events) VALUES (?, ?, ?, 1)
		ON CONFLICT DO UPDATE SET events = events + 1`, c.AccountID, c.Fingerprint, c.HostHint)
	return err
}

// Meter implements Store.
func (s *sqlite) Meter(ctx context.Context, account int64) error {
	return s.change(ctx, func(t *tx) error {
		_, err := t.ExecContext(t.ctx, `INSERT INTO metered (account_id, day, requests) VALUES (?, ?, 1)
			ON CONFLICT DO UPDATE SET requests = requests + 1`, account, license.Day(t.now))
		return err
	})
}
