package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"time"

	"svc/backend/api"
	"svc/backend/license"
)

// lifetime is how long an idempotency key is kept.
const lifetime = 24 * time.Hour

// ledger is what the stores have in common: everything that one statement after
// another can do. Its SQL is the part that both databases speak, with ? for a
// parameter.
type ledger struct {
	now      func() time.Time
	read     querier
	snapshot func(ctx context.Context, use func(querier) error) error
	change   func(ctx context.Context, do func(*tx) error) error
}

// tx is a transaction at one instant.
type tx struct {
	executor
	ctx context.Context
	now time.Time
	// locked ends a SELECT whose rows nobody else may change before the end.
	locked string
}

// exec runs a statement and counts the rows that it changed.
func (t *tx) exec(query string, args ...any) (int64, error) { return t.execute(t.ctx, query, args...) }

// row is one of rows.
type row interface{ Scan(dest ...any) error }

// rows are what a query gives.
type rows interface {
	row
	Next() bool
	Err() error
	Close()
}

// querier is a database, or a transaction.
type querier interface {
	query(ctx context.Context, query string, args ...any) (rows, error)
}

// executor is a querier that can write.
type executor interface {
	querier
	execute(ctx context.Context, query string, args ...any) (changed int64, err error)
}

// collect reads all rows of a query.
func collect[T any](ctx context.Context, q querier, scan func(row) (T, error), query string, args ...any) ([]T, error) {
	rows, err := q.query(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	all := []T{}
	for rows.Next() {
		v, err := scan(rows)
		if err != nil {
			return nil, err
		}
		all = append(all, v)
	}
	return all, rows.Err()
}

// one reads the row of a query, or gives ErrNotFound.
func one[T any](ctx context.Context, q querier, scan func(row) (T, error), query string, args ...any) (v T, err error) {
	all, err := collect(ctx, q, scan, query, args...)
	switch {
	case err != nil:
		return v, err
	case len(all) == 0:
		return v, ErrNotFound
	}
	return all[0], nil
}

// value scans a row of one column.
func value[T any](r row) (v T, err error) {
	err = r.Scan(&v)
	return v, err
}

// replayed does a write once for each idempotency key: a repeat gets what the
// first call got. Only what recorded something is kept.
func replayed[T any](ctx context.Context, s *ledger, account int64, r *Replay, do func(*tx) (T, error)) (out T, err error) {
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
		_, err = t.exec(`INSERT INTO replays (account_id, key, body_hash, answer, at) VALUES (?, ?, ?, ?, ?) ON CONFLICT (account_id, key)
			DO UPDATE SET body_hash = excluded.body_hash, answer = excluded.answer, at = excluded.at`,
			account, r.Key, r.BodyHash[:], string(answer), instant(t.now))
		return err
	})
	return out, err
}

// earlier finds the answer that a key got before, and keeps others with the key
// waiting.
func (t *tx) earlier(account int64, r *Replay, out any) (found bool, err error) {
	if err := t.lockAccount(account); err != nil {
		return false, err
	}
	k, err := one(t.ctx, t, scanKept, "SELECT body_hash, answer, at FROM replays WHERE account_id = ? AND key = ?", account, r.Key)
	if errors.Is(err, ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return k.answers(r, t.now, out)
}

// kept is the first answer to an idempotency key.
type kept struct {
	hash   []byte
	answer string
	at     int64
}

func scanKept(r row) (k kept, err error) {
	err = r.Scan(&k.hash, &k.answer, &k.at)
	return k, err
}

// answers gives the first answer again, if the key still lives and the body is
// the same.
func (k kept) answers(r *Replay, now time.Time, out any) (bool, error) {
	switch {
	case k.at <= instant(now.Add(-lifetime)):
		return false, nil
	case string(k.hash) != string(r.BodyHash[:]):
		return false, api.Errorf(api.IdempotencyMismatch, "this Idempotency-Key was used with another body in the last 24 hours; nothing was recorded: use a new key")
	}
	return true, json.Unmarshal([]byte(k.answer), out)
}

// lockAccount keeps every other writer of the account waiting.
func (t *tx) lockAccount(id int64) error {
	_, err := one(t.ctx, t, value[int64], "SELECT id FROM accounts WHERE id = ?"+t.locked, id)
	return err
}

// instant is an instant as a column keeps it.
func instant(t time.Time) int64 { return t.UnixMicro() }

// timeOf is the instant of a column.
func timeOf(micros int64) time.Time { return time.UnixMicro(micros).UTC() }

// null is a column that is empty where the string is.
func null(s string) sql.NullString { return sql.NullString{String: s, Valid: s != ""} }

// pointer is nil where the column is empty.
func pointer(s sql.NullString) *string {
	if !s.Valid {
		return nil
	}
	return &s.String
}

// stampOf is how lists show an instant that may not be there.
func stampOf(micros sql.NullInt64) *string {
	if !micros.Valid {
		return nil
	}
	s := stamp(timeOf(micros.Int64))
	return &s
}

// Authenticate implements Store.
func (s *ledger) Authenticate(ctx context.Context, hash [32]byte) (Principal, error) {
	return one(ctx, s.read, func(r row) (p Principal, err error) {
		err = r.Scan(&p.TokenID, &p.AccountID, &p.Plan, &p.Unlimited)
		return p, err
	}, `SELECT t.id, a.id, a.plan, a.unlimited FROM tokens t JOIN accounts a ON a.id = t.account_id
		WHERE t.hash = ? AND t.disabled_at IS NULL AND NOT a.disabled`, hash[:])
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

// holding is a grant, or a POV, of an account.
type holding struct {
	account int64
	pov     bool
	license.Grant
}

const grantColumns = "account_id, id, pov, seats, valid_from, valid_until, source, note, ended_at IS NOT NULL"

func scanHolding(r row) (h holding, err error) {
	err = r.Scan(&h.account, &h.ID, &h.pov, &h.Seats, &h.From, &h.Until, &h.Source, &h.Note, &h.Revoked)
	return h, err
}

// addTo puts a holding to the others of its account.
func (g holding) addTo(h *license.Holdings) {
	if g.pov {
		h.POVs = append(h.POVs, g.Grant)
	} else {
		h.Licenses = append(h.Licenses, g.Grant)
	}
}

// loadHoldings reads the grants and POVs of an account, ended ones too.
func loadHoldings(ctx context.Context, q querier, account int64) (h license.Holdings, err error) {
	grants, err := collect(ctx, q, scanHolding, "SELECT "+grantColumns+" FROM grants WHERE account_id = ? ORDER BY id", account)
	for _, g := range grants {
		g.addTo(&h)
	}
	return h, err
}

func isSeated(ctx context.Context, q querier, account int64, fingerprint string) (seated bool, err error) {
	return one(ctx, q, value[bool], "SELECT EXISTS (SELECT 1 FROM seats WHERE account_id = ? AND fingerprint = ?)", account, fingerprint)
}

// Seated implements Store.
func (s *ledger) Seated(ctx context.Context, account int64, fingerprint string) (bool, error) {
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
func (s *ledger) Peek(ctx context.Context, c Command) (o Outcome, err error) {
	err = s.snapshot(ctx, func(q querier) error {
		state, err := loadState(ctx, q, c, license.Day(s.now()))
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
	o.Decision.Licensed = seated
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
