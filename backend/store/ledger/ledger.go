// Package ledger is what the stores have in common: the statements that both
// databases speak, the decisions of a batch, and the lane that makes batches of what
// waits.
package ledger

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"svc/backend/api"
	"svc/backend/store"
	"svc/backend/store/lane"
)

// Lifetime is how long an idempotency key is kept.
const Lifetime = 24 * time.Hour

// Ledger is what the stores have in common: everything that one statement after
// another can do. Its SQL is the part that both databases speak, with ? for a
// parameter. Each statement of a customer's request names the account.
type Ledger struct {
	Now      func() time.Time
	Read     Querier
	Snapshot func(ctx context.Context, use func(Querier) error) error
	Change   func(ctx context.Context, do func(*Tx) error) error
	// Enter decides and records an entry.
	Enter func(ctx context.Context, e *Entry) error
	// History asks for the listed events of an account, the newest first: its id, from
	// which instant back, how many, and after how many.
	History string

	tokens *lane.Lane[*lookup]
}

// Start readies a ledger whose fields are set.
func (s *Ledger) Start() { s.tokens = lane.New(s.findTokens) }

// Close lets no search for a token in any more.
func (s *Ledger) Close() { s.tokens.Close() }

// Tx is a transaction at one instant.
type Tx struct {
	Executor
	Ctx context.Context
	Now time.Time
	// Locked ends a SELECT whose rows nobody else may change before the end.
	Locked string
}

// Exec runs a statement and counts the rows that it changed.
func (t *Tx) Exec(query string, args ...any) (int64, error) { return t.Execute(t.Ctx, query, args...) }

// Row is one of rows.
type Row interface{ Scan(dest ...any) error }

// Rows are what a query gives.
type Rows interface {
	Row
	Next() bool
	Err() error
	Close()
}

// Querier is a database, or a transaction.
type Querier interface {
	Query(ctx context.Context, query string, args ...any) (Rows, error)
}

// Executor is a querier that can write.
type Executor interface {
	Querier
	Execute(ctx context.Context, query string, args ...any) (changed int64, err error)
}

// Collect reads all rows of a query.
func Collect[T any](ctx context.Context, q Querier, scan func(Row) (T, error), query string, args ...any) ([]T, error) {
	rows, err := q.Query(ctx, query, args...)
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

// One reads the row of a query, or gives ErrNotFound.
func One[T any](ctx context.Context, q Querier, scan func(Row) (T, error), query string, args ...any) (v T, err error) {
	all, err := Collect(ctx, q, scan, query, args...)
	switch {
	case err != nil:
		return v, err
	case len(all) == 0:
		return v, store.ErrNotFound
	}
	return all[0], nil
}

// Value scans a row of one column.
func Value[T any](r Row) (v T, err error) {
	err = r.Scan(&v)
	return v, err
}

// replayed does a write once for each idempotency key: a repeat gets what the
// first call got. Only what recorded something is kept.
func replayed[T any](ctx context.Context, s *Ledger, account int64, r *store.Replay, do func(*Tx) (T, error)) (T, error) {
	return written(ctx, s, func(t *Tx) (T, error) { return once(t, account, r, do) })
}

// written does a write that has an answer. It is handed over only with the end of
// the write: a caller that is gone must not read what the writer still sets.
func written[T any](ctx context.Context, s *Ledger, do func(*Tx) (T, error)) (T, error) {
	answer := make(chan T, 1)
	err := s.Change(ctx, func(t *Tx) error {
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
func once[T any](t *Tx, account int64, r *store.Replay, do func(*Tx) (T, error)) (out T, err error) {
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
	return out, t.Keep(Answer{account, r, string(text)})
}

// Answer is the first answer to an idempotency key.
type Answer struct {
	Account int64
	*store.Replay
	Text string
}

// Keep keeps the first answer to an idempotency key.
func (t *Tx) Keep(a Answer) error {
	_, err := t.Exec(`INSERT INTO replays (account_id, key, body_hash, answer, at) VALUES (?, ?, ?, ?, ?) ON CONFLICT (account_id, key)
			DO UPDATE SET body_hash = excluded.body_hash, answer = excluded.answer, at = excluded.at`,
		a.Account, a.Key, a.BodyHash[:], a.Text, Instant(t.Now))
	return err
}

const SelectKept = "SELECT body_hash, answer, at FROM replays WHERE account_id = ? AND key = ?"

// earlier finds the answer that a key got before, and keeps others with the key
// waiting.
func (t *Tx) earlier(account int64, r *store.Replay, out any) (found bool, err error) {
	if err := t.lockAccount(account); err != nil {
		return false, err
	}
	k, err := One(t.Ctx, t, ScanKept, SelectKept, account, r.Key)
	if errors.Is(err, store.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return k.answers(r, t.Now, out)
}

// Kept is the first answer to an idempotency key.
type Kept struct {
	hash   []byte
	answer string
	at     int64
}

func ScanKept(r Row) (k Kept, err error) {
	err = r.Scan(&k.hash, &k.answer, &k.at)
	return k, err
}

// answers gives the first answer again, if the key still lives and the body is
// the same.
func (k Kept) answers(r *store.Replay, now time.Time, out any) (bool, error) {
	switch {
	case k.at <= Instant(now.Add(-Lifetime)):
		return false, nil
	case string(k.hash) != string(r.BodyHash[:]):
		return false, api.Errorf(api.IdempotencyMismatch, "this Idempotency-Key was used with another body in the last 24 hours; nothing was recorded: use a new key")
	}
	return true, json.Unmarshal([]byte(k.answer), out)
}

// lockAccount keeps every other writer of the account waiting.
func (t *Tx) lockAccount(id int64) error {
	_, err := One(t.Ctx, t, Value[int64], "SELECT id FROM accounts WHERE id = ?"+t.Locked, id)
	return err
}

// Instant is an instant as a column keeps it.
func Instant(t time.Time) int64 { return t.UnixMicro() }

// TimeOf is the instant of a column.
func TimeOf(micros int64) time.Time { return time.UnixMicro(micros).UTC() }

// Null is a column that is empty where the string is.
func Null(s string) sql.NullString { return sql.NullString{String: s, Valid: s != ""} }

// instant scans a column of microseconds into a time, or what lists show of one; of
// none it sets nothing.
type instant[T time.Time | *time.Time | string | *string] struct{ to *T }

func at[T time.Time | *time.Time | string | *string](to *T) sql.Scanner { return instant[T]{to} }

// Scan implements sql.Scanner.
func (i instant[T]) Scan(column any) error {
	micros, ok := column.(int64)
	switch {
	case column == nil:
		return nil
	case !ok:
		return fmt.Errorf("%v is no instant", column)
	}
	at := TimeOf(micros)
	switch to := any(i.to).(type) {
	case *time.Time:
		*to = at
	case **time.Time:
		*to = &at
	case *string:
		*to = stamp(at)
	case **string:
		*to = new(stamp(at))
	}
	return nil
}
