package store

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"svc/backend/api"
	"svc/backend/license"
)

// One statement waits for the account, the next sees what was committed before: it
// claims where nobody changed the account, the day by which it was decided has not ended
// meanwhile, and there is neither a seat nor an answer to the key; else it writes nothing.
const (
	lockAccount = "SELECT FROM accounts WHERE id = $1 FOR UPDATE"
	claimSeat   = `WITH account AS (
			SELECT id FROM accounts WHERE id = $1 AND (billable_vms, version) = ($2, $3) AND clock_timestamp() - now() < $20 * interval '1 microsecond'
				AND NOT EXISTS (SELECT FROM replays WHERE account_id = $1 AND key = $4)
		), seat AS (
			INSERT INTO seats (account_id, fingerprint, kind, source, kinds, first_at, last_seen_at, claimed_by, pool)
			SELECT id, $5, $6, $7, $8 | (SELECT coalesce(bit_or(CASE e.kind WHEN 'preflight' THEN $9::bigint ELSE $10::bigint END), 0) FROM events e
				WHERE e.account_id = $1 AND e.fingerprint = $5 AND e.kind IN ('preflight', 'readiness')), $11, $11, $12, $21
			FROM account ON CONFLICT DO NOTHING RETURNING account_id
		), event AS (
			INSERT INTO events (account_id, request_id, kind, fingerprint, source, target, claimed, billable, overage, listed, host_hint, at)
			SELECT account_id, $12, $6, $5, $7, nullif($13, ''), true, $14, $15, $16, nullif($17, ''), $11 FROM seat RETURNING id
		), counted AS (
			UPDATE accounts a SET billable_vms = billable_vms + 1 FROM seat WHERE a.id = account_id
		), host AS (
			INSERT INTO hosts (account_id, fingerprint, host_hint, events) SELECT account_id, $5, $17, 1 FROM seat WHERE $17 <> ''
			ON CONFLICT (account_id, fingerprint, host_hint) DO UPDATE SET events = hosts.events + 1
		), replay AS (
			INSERT INTO replays (account_id, key, body_hash, answer, at) SELECT $1, $4, $18::bytea, $19 || id || '}', $11 FROM event WHERE $4 <> ''
		) SELECT id FROM event`
)

// claim records the claim of a new VM in one round trip, where the account is as
// the lane remembers it: so it is while requests come one at a time to one process.
// Done is false where nothing was written.
func (r *recorder) claim(ctx context.Context, conn *pgxpool.Conn, e *entry) (done bool, err error) {
	k := r.known[e.AccountID]
	if k == nil || !k.alone || (e.TokenID != 0 && !k.tokens[e.TokenID]) || k.Disabled || e.Kind == "" || e.ScanID != "" {
		return false, nil
	}
	now := r.o.Now().UTC()
	o := Outcome{Owner: k.Account.Account, Decision: license.Decide(stateOf(&k.Account, k.Holdings, license.Day(now), false), e.Kind, e.Target)}
	if !o.Decision.Claim {
		return false, nil
	}
	args, err := k.claimArgs(e.Command, o, now)
	if err != nil {
		return false, err
	}
	q := &pgx.Batch{}
	q.Queue(planByIndex)
	q.Queue(lockAccount, e.AccountID)
	each(q, value[int64], func(id int64) { o.EventID = id }, claimSeat, args...)
	delete(r.known, e.AccountID)
	if err := conn.SendBatch(ctx, q).Close(); err != nil {
		return false, errors.Join(errInDoubt, err)
	}
	if o.EventID == 0 {
		return false, nil
	}
	k.Used++
	r.known[e.AccountID], e.outcome, e.refusal = k, o, nil
	return true, confirmed(conn)
}

// claimArgs are those of claimSeat. The answer to the idempotency key lacks the
// event's id, which the statement adds.
func (k *known) claimArgs(c Command, o Outcome, now time.Time) ([]any, error) {
	at, day := instant(now), now.Truncate(24*time.Hour).Add(24*time.Hour).Sub(now)
	replay, answer := Replay{}, ""
	if c.Replay != nil {
		text, err := json.Marshal(struct{ Decision license.Decision }{o.Decision})
		if err != nil {
			return nil, err
		}
		replay, answer = *c.Replay, string(text[:len(text)-1])+`,"EventID":`
	}
	return []any{
		k.ID, k.Used, k.Version, replay.Key,
		c.Fingerprint, string(c.Kind), c.Source.Label(), kindBit(c.Kind), kindBit(api.Preflight), kindBit(api.Readiness), at, c.RequestID,
		label(c.Target).String, o.Decision.Billable, o.Decision.Overage, license.Listed(c.Kind, true), c.HostHint, replay.BodyHash[:], answer, day.Microseconds(), string(o.Decision.Pool),
	}, nil
}
