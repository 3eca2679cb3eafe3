package postgres

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"svc/backend/api"
	"svc/backend/license"
	"svc/backend/store"
	"svc/backend/store/ledger"
)

// claimSeat claims a seat where nobody wrote to the account since it was read, and the VM
// has none; else it writes nothing. Whoever writes what it depends on counts a write: so
// what it reads at its beginning still holds when it had to wait for the account. Its
// event is listed, as that of each seat is. It gets what a claim seldom has, an
// answer to keep or a host, only where there is that: each table that a statement may write
// to costs, though nothing is written.
func claimSeat(host, replay bool) string {
	where, more := "", ""
	if host {
		more += `, host AS (
			INSERT INTO hosts (account_id, fingerprint, host_hint, events) SELECT id, $3, $16::text, 1 FROM account
			ON CONFLICT (account_id, fingerprint, host_hint) DO UPDATE SET events = hosts.events + 1
		)`
	}
	if replay {
		where = " AND NOT EXISTS (SELECT FROM replays WHERE account_id = $1 AND key = $17::text)"
		more += `, replay AS (
			INSERT INTO replays (account_id, key, body_hash, answer, at) SELECT id, $17::text, $18::bytea, $19::text, $8 FROM account
		)`
	}
	return fmt.Sprintf(`WITH account AS (
			UPDATE accounts SET billable_vms = billable_vms + 1, writes = writes + 1 WHERE id = $1 AND (writes, version, created_at) = ($2::bigint, $14::bigint, $15::bigint)
				AND NOT EXISTS (SELECT FROM seats WHERE account_id = $1 AND fingerprint = $3)%s RETURNING id
		), seat AS (
			INSERT INTO seats (account_id, fingerprint, kind, source, kinds, first_at, last_seen_at, claimed_by, pool)
			SELECT id, $3, $4, $5, $6 | (SELECT coalesce(bit_or(CASE e.kind WHEN 'preflight' THEN %d ELSE %d END), 0) FROM events e
				WHERE e.account_id = $1 AND e.fingerprint = $3 AND e.kind IN ('preflight', 'readiness')), $8, $8, $9, $7 FROM account
		)%s
		INSERT INTO events (id, account_id, request_id, kind, fingerprint, source, target, claimed, billable, overage, listed, host_hint, at)
		SELECT $10::bigint, id, $9, $4, $3, $5, nullif($11::text, ''), true, $12::boolean, $13::boolean, true, nullif($16::text, ''), $8::bigint FROM account`,
		where, ledger.KindBit(api.Preflight), ledger.KindBit(api.Readiness), more)
}

// claims are these statements, by whether a claim has a host and a key.
var claims = map[[2]bool]string{
	{false, false}: claimSeat(false, false), {true, false}: claimSeat(true, false), {false, true}: claimSeat(false, true), {true, true}: claimSeat(true, true),
}

// claim records the claim of a new VM in one statement, where the account is as it is
// remembered: so it is while requests come one at a time to one process. Done is false
// where nothing was written, or where nobody knows.
func (r *recorder) claim(e *entry) (done bool, err error) {
	k := r.known
	if k == nil || !k.alone || (e.TokenID != 0 && !k.Tokens[e.TokenID]) || k.Account.Disabled || e.Kind == "" || e.ScanID != "" {
		return false, nil
	}
	now := r.o.Now().UTC()
	if license.Day(now) != license.Day(now.Add(quickly)) { // it might be decided by a day that ended
		return false, nil
	}
	o := store.Outcome{Owner: k.Account.Account, Decision: license.Decide(ledger.StateOf(k.Account, k.Holdings, license.Day(now), false), e.Kind, e.Target)}
	if !o.Decision.Claim {
		return false, nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*quickly)
	defer cancel()
	taken, err := r.ids.take(ctx, r.pool, 1)
	if err != nil {
		return false, err
	}
	o.EventID = taken[0]
	args, err := claimArgs(k, e.Command, o, now)
	if err != nil {
		return false, err
	}
	r.known = nil
	f := &flight{query: claims[[2]bool{e.HostHint != "", e.Replay != nil}], args: args}
	if err := r.pilot.Do(ctx, f); err != nil || f.rows == 0 {
		return false, err
	}
	k.Account.Used++
	k.writes++
	r.known, e.Outcome, e.Refusal = k, o, nil
	return true, nil
}

// claimArgs are those of claimSeat.
func claimArgs(k *known, c store.Command, o store.Outcome, now time.Time) ([]any, error) {
	a := k.Account
	args := []any{
		a.ID, k.writes, c.Fingerprint, string(c.Kind), c.Source.Label(), ledger.KindBit(c.Kind), string(o.Decision.Pool), ledger.Instant(now), c.RequestID,
		o.EventID, ledger.Label(c.Target).String, o.Decision.Billable, o.Decision.Overage, a.Version, ledger.Instant(a.CreatedAt), c.HostHint,
	}
	if c.Replay == nil {
		return args, nil
	}
	answer, err := json.Marshal(o)
	return append(args, c.Replay.Key, c.Replay.BodyHash[:], string(answer)), err
}
