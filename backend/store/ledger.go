package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"time"

	"svc/backend/api"
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
	record   func(ctx context.Context, e *entry) error
	tokens   *lane[*lookup]
	// seated asks whether an account has a seat for a fingerprint.
	seated string
	// history asks for the listed events of an account, the newest first: its id, how
	// many, and after how many.
	history string
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
func replayed[T any](ctx context.Context, s *ledger, account int64, r *Replay, do func(*tx) (T, error)) (T, error) {
	return written(ctx, s, func(t *tx) (T, error) { return once(t, account, r, do) })
}

// written does a write that has an answer. It is handed over only with the end of
// the write: a caller that is gone must not read what the writer still sets.
func written[T any](ctx context.Context, s *ledger, do func(*tx) (T, error)) (T, error) {
	answer := make(chan T, 1)
	err := s.change(ctx, func(t *tx) error {
		out, err := do(t)
		select {
		case <-answer: // of an attempt before this one
		default:
		}
		answer <- out
		return err
	})
	select {
	case out := <-answer:
		return out, err
	default:
		var none T
		return none, err
	}
}

// once does a write, or finds what its key got before.
func once[T any](t *tx, account int64, r *Replay, do func(*tx) (T, error)) (out T, err error) {
	if r == nil {
		return do(t)
	}
	found, err := t.earlier(account, r, &out)
	if err != nil || found {
		return out, err
	}
	if out, err = do(t); err != nil {
		return out, err
	}
	text, err := json.Marshal(out)
	if err != nil {
		return out, err
	}
	return out, t.keep(answer{account, r, string(text)})
}

// keep keeps the first answer to an idempotency key.
func (t *tx) keep(a answer) error {
	_, err := t.exec(`INSERT INTO replays (account_id, key, body_hash, answer, at) VALUES (?, ?, ?, ?, ?) ON CONFLICT (account_id, key)
			DO UPDATE SET body_hash = excluded.body_hash, answer = excluded.answer, at = excluded.at`,
		a.account, a.Key, a.BodyHash[:], a.text, instant(t.now))
	return err
}

const selectKept = "SELECT body_hash, answer, at FROM replays WHERE account_id = ? AND key = ?"

// earlier finds the answer that a key got before, and keeps others with the key
// waiting.
func (t *tx) earlier(account int64, r *Replay, out any) (found bool, err error) {
	if err := t.lockAccount(account); err != nil {
		return false, err
	}
	k, err := one(t.ctx, t, scanKept, selectKept, account, r.Key)
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
