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

// maxKnown bounds the accounts that a lane remembers.
const maxKnown = 10_000

// known is what a lane remembers of an account that it wrote last.
type known struct {
	Account
	license.Holdings
	// alone says that nobody else wrote between the lane's last two batches, and
	// shared that somebody did.
	alone, shared bool
}

// recorder decides and records the batches of one lane.
type recorder struct {
	lane  *lane[*entry]
	now   func() time.Time
	known map[int64]*known
}

// learn remembers the accounts of a batch that is committed.
func (r *recorder) learn(b *batch) {
	if len(r.known) > maxKnown {
		clear(r.known)
	}
	for id, a := range b.accounts {
		k := &known{Account: *a, Holdings: *b.holdings[id]}
		if before := r.known[id]; before != nil {
			k.alone = before.Used == a.Used-int(b.claims[id])
			k.shared = !k.alone
		}
		r.known[id] = k
	}
}

// One statement waits for the account, the next sees what was committed before: it
// claims where the account, its token and its grants are what the
// decision was made on, and there is no seat and no answer to the key; else it
// writes nothing. Grants are only added and ended, so their counts tell them apart.
const (
	lockAccount = "SELECT FROM accounts WHERE id = $1 FOR UPDATE"
	claimSeat   = `WITH account AS (
			SELECT id FROM accounts a WHERE id = $1 AND billable_vms = $2 AND NOT disabled AND (plan, unlimited, free_quota, vm_limit) = ($3, $4, $5, $6)
				AND ($7::bigint = 0 OR EXISTS (SELECT FROM tokens WHERE id = $7 AND disabled_at IS NULL))
				AND (SELECT count(*) FROM grants WHERE account_id = $1) = $8 AND (SELECT count(ended_at) FROM grants WHERE account_id = $1) = $9
				AND NOT EXISTS (SELECT FROM replays WHERE account_id = $1 AND key = $10)
		), seat AS (
			INSERT INTO seats (account_id, fingerprint, kind, source, kinds, first_at, last_seen_at, claimed_by)
			SELECT id, $11, $12, $13, $14 | (SELECT coalesce(bit_or(CASE e.kind WHEN 'preflight' THEN $15::bigint ELSE $16::bigint END), 0) FROM events e
				WHERE e.account_id = $1 AND e.fingerprint = $11 AND e.kind IN ('preflight', 'readiness')), $17, $17, $18
			FROM account ON CONFLICT DO NOTHING RETURNING account_id
		), event AS (
			INSERT INTO events (account_id, request_id, kind, fingerprint, source, target, claimed, billable, overage, listed, host_hint, at)
			SELECT account_id, $18, $12, $11, $13, nullif($19, ''), true, $20, $21, $22, nullif($23, ''), $17 FROM seat RETURNING id
		), counted AS (
			UPDATE accounts a SET billable_vms = billable_vms + 1 FROM seat WHERE a.id = account_id
		), host AS (
			INSERT INTO hosts (account_id, fingerprint, host_hint, events) SELECT account_id, $11, $23, 1 FROM seat WHERE $23 <> ''
			ON CONFLICT (account_id, fingerprint, host_hint) DO UPDATE SET events = hosts.events + 1
		), replay AS (
			INSERT INTO replays (account_id, key, body_hash, answer, at) SELECT $1, $10, $24::bytea, $25 || id || '}', $17 FROM event WHERE $10 <> ''
		) SELECT id FROM event`
)

// claim records the claim of a new VM in one round trip, where the account is as
// the lane remembers it: so it is while requests come one at a time to one process.
// Done is false where nothing was written.
func (r *recorder) claim(ctx context.Context, conn *pgxpool.Conn, e *entry) (done bool, err error) {
	k := r.known[e.AccountID]
	if k == nil || !k.alone || e.Kind == "" || e.ScanID != "" {
		return false, nil
	}
	now := r.now().UTC()
	o := Outcome{Owner: k.Account.Account, Decision: license.Decide(license.State{Account: k.Account.Account, Used: k.Used, Seats: k.Seats(license.Day(now))}, e.Kind, e.Target)}
	if !o.Decision.Claim {
		return false, nil
	}
	args, err := k.claimArgs(e.Command, o, instant(now))
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
func (k *known) claimArgs(c Command, o Outcome, at int64) ([]any, error) {
	grants, ended := k.counts()
	replay, answer := Replay{}, ""
	if c.Replay != nil {
		text, err := json.Marshal(struct{ Decision license.Decision }{o.Decision})
		if err != nil {
			return nil, err
		}
		replay, answer = *c.Replay, string(text[:len(text)-1])+`,"EventID":`
	}
	return []any{
		k.ID, k.Used, k.Plan, k.Unlimited, k.FreeQuota, k.VMLimit, c.TokenID, grants, ended, replay.Key,
		c.Fingerprint, string(c.Kind), c.Source.Label(), kindBit(c.Kind), kindBit(api.Preflight), kindBit(api.Readiness), at, c.RequestID,
		label(c.Target).String, o.Decision.Billable, o.Decision.Overage, license.Listed(c.Kind, true), c.HostHint, replay.BodyHash[:], answer,
	}, nil
}

// counts are how many grants and POVs the account ever had, and how many of them
// were ended.
func (k *known) counts() (all, ended int) {
	for _, grants := range [][]license.Grant{k.Licenses, k.POVs} {
		all += len(grants)
		ended += len(filter(grants, func(g license.Grant) bool { return g.Revoked }))
	}
	return all, ended
}
