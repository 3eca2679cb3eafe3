package postgres

import (
	"maps"
	"slices"

	"svc/backend/sliced"

	"github.com/jackc/pgx/v5"

	"svc/backend/api"
	"svc/backend/license"
	"svc/backend/store"
	"svc/backend/store/ledger"
)

const history = `SELECT id, kind, substr(fingerprint, 1, 12), source, target, at FROM events
	WHERE account_id = ? AND listed AND at <= ? ORDER BY at DESC, id DESC LIMIT ? OFFSET ?`

// The lookups name rows one by one: a join might read a whole table where the
// planner has not seen it grow. For the same reason sequential scans are off; and as
// there is but one good plan, it is made once. One that holds for any limit looks dear
// where a table is large, and PostgreSQL would compile it each time, which takes far
// longer than its few rows. A session is told so at its beginning; where a pooler may
// give each transaction another one, each transaction. Citus makes its plans itself,
// where it knows the account.
const (
	planByIndex   = "SELECT set_config('enable_seqscan', 'off', true), set_config('plan_cache_mode', 'force_generic_plan', true), set_config('jit', 'off', true)"
	planSession   = "SET enable_seqscan = off; SET plan_cache_mode = force_generic_plan; SET jit = off"
	lockAndReadIt = "SELECT writes, " + ledger.AccountColumns + " FROM accounts WHERE id = $1 FOR UPDATE"
	findTokens    = "SELECT id FROM tokens WHERE account_id = $1 AND id = ANY($2) AND disabled_at IS NULL"
	findGrants    = "SELECT " + ledger.GrantColumns + " FROM grants WHERE account_id = $1 ORDER BY id"
	findSeats     = `SELECT q.n FROM unnest($2::text[]) WITH ORDINALITY q (fingerprint, n) CROSS JOIN LATERAL
		(SELECT FROM seats s WHERE s.account_id = $1 AND s.fingerprint = q.fingerprint LIMIT 1) s`
	findEvents = `SELECT q.n, e.* FROM unnest($2::text[]) WITH ORDINALITY q (request_id, n) CROSS JOIN LATERAL
		(SELECT id, claimed, billable, overage FROM events e WHERE e.account_id = $1 AND e.request_id = q.request_id LIMIT 1) e`
	findScans = `SELECT q.n, e.* FROM unnest($2::text[], $3::text[]) WITH ORDINALITY q (fingerprint, scan_id, n) CROSS JOIN LATERAL
		(SELECT id, claimed, billable, overage FROM events e WHERE e.account_id = $1 AND e.fingerprint = q.fingerprint AND e.scan_id = q.scan_id LIMIT 1) e`
	findReplays = `SELECT q.n, r.* FROM unnest($2::text[]) WITH ORDINALITY q (key, n) CROSS JOIN LATERAL
		(SELECT body_hash, answer, at FROM replays r WHERE r.account_id = $1 AND r.key = q.key LIMIT 1) r`
)

// idle is the state of a session outside of transactions.
const idle = 'I'

// begin opens a batch's transaction.
func (p *postgres) begin(q *pgx.Batch) {
	q.Queue("BEGIN")
	p.plan(q)
}

// plan begins a transaction that plans by index, where the session does not always.
func (p *postgres) plan(q *pgx.Batch) {
	if p.pooled && !p.spread {
		q.Queue(planByIndex)
	}
}

// reads locks the account, and then, in statements that see what was committed
// before the lock was had, reads all that the decisions depend on and is not
// remembered.
func (r *recorder) reads(q *pgx.Batch, t *turn, again bool) {
	each(q, nth(ledger.ScanAccount), func(f found[store.Account]) { t.Account, t.writes = &f.it, int64(f.n) }, lockAndReadIt, r.account)
	strange := t.Entries
	if t.remembered = r.known; r.known != nil {
		strange = sliced.Filter(t.Entries, func(e *entry) bool { return !r.known.Tokens[e.TokenID] })
		r.readTokens(q, t, tokensOf(strange))
	} else {
		r.readOwner(q, t, tokensOf(strange))
	}
	commands := t.Commands()
	if len(commands) == 0 {
		return
	}
	each(q, ledger.Value[int], func(n int) { t.Seated[commands[n-1].Fingerprint] = true }, findSeats, r.account, sliced.Map(commands, fingerprint))
	// A part of a scan may find the scan's first part, which must not be itself.
	if known := sliced.Filter(commands, func(e *entry) bool { return again || e.ScanID != "" }); len(known) > 0 {
		each(q, nth(ledger.ScanRecorded), func(f found[store.Outcome]) { t.Recorded[known[f.n-1].RequestID] = f.it },
			findEvents, r.account, sliced.Map(known, func(e *entry) string { return e.RequestID }))
	}
	if scans := sliced.Filter(commands, func(e *entry) bool { return e.ScanID != "" }); len(scans) > 0 {
		each(q, nth(ledger.ScanRecorded), func(f found[store.Outcome]) { t.Scanned[scans[f.n-1].Scan()] = f.it },
			findScans, r.account, sliced.Map(scans, fingerprint), sliced.Map(scans, func(e *entry) string { return e.ScanID }))
	}
	if replays := sliced.Filter(commands, func(e *entry) bool { return e.Replay != nil }); len(replays) > 0 {
		each(q, nth(ledger.ScanKept), func(f found[ledger.Kept]) { t.Kept[replays[f.n-1].Replay.Key] = f.it },
			findReplays, r.account, sliced.Map(replays, func(e *entry) string { return e.Replay.Key }))
	}
}

func fingerprint(e *entry) string { return e.Fingerprint }

// readOwner reads which store this is, what the account holds, and which of its tokens
// hold.
func (r *recorder) readOwner(q *pgx.Batch, t *turn, tokens []int64) {
	each(q, ledger.Value[string], func(identity string) { t.identity = identity }, selectIdentity)
	t.Holdings = &license.Holdings{}
	each(q, ledger.ScanHolding, func(h ledger.Holding) { h.AddTo(t.Holdings) }, findGrants, r.account)
	r.readTokens(q, t, tokens)
}

func (r *recorder) readTokens(q *pgx.Batch, t *turn, tokens []int64) {
	if len(tokens) > 0 {
		each(q, ledger.Value[int64], func(id int64) { t.Tokens[id] = true }, findTokens, r.account, tokens)
	}
}

// found is a thing that a lookup found, with the number of the lookup from 1.
type found[T any] struct {
	n  int
	it T
}

// nth scans a thing after the number of its lookup.
func nth[T any](scan func(ledger.Row) (T, error)) func(ledger.Row) (found[T], error) {
	return func(r ledger.Row) (f found[T], err error) {
		f.it, err = scan(after{r, &f.n})
		return f, err
	}
}

// after is a row whose first column goes elsewhere.
type after struct {
	ledger.Row
	first any
}

// Scan implements ledger.Row.
func (a after) Scan(dest ...any) error { return a.Row.Scan(append([]any{a.first}, dest...)...) }

// each queues a query and what to do with each of its rows.
func each[T any](q *pgx.Batch, scan func(ledger.Row) (T, error), use func(T), query string, args ...any) {
	q.Queue(query, args...).Query(func(rows pgx.Rows) error {
		for rows.Next() {
			v, err := scan(rows)
			if err != nil {
				return err
			}
			use(v)
		}
		return rows.Err()
	})
}

// Rows are selected beside their account: only so has Citus the whole statement done by
// the server that has it. A new seat gets the kinds that the VM ran before it had one, the
// free ones, here those of earlier batches; the literals are those of the index that finds
// them. Every write of a row that may be there is an upsert: its plan is always the unique
// index.
const (
	insertSeats = `INSERT INTO seats (account_id, fingerprint, kind, source, kinds, first_at, last_seen_at, claimed_by, pool)
		SELECT a.id, q.fingerprint, q.kind, q.source,
			q.kinds | (SELECT coalesce(bit_or(CASE e.kind WHEN 'preflight' THEN $9::bigint ELSE $10::bigint END), 0) FROM events e
				WHERE e.account_id = $1 AND e.fingerprint = q.fingerprint AND e.kind IN ('preflight', 'readiness')),
			$8::bigint, $8::bigint, q.request_id, q.pool
		FROM accounts a, unnest($2::text[], $3::text[], $4::text[], $5::bigint[], $6::text[], $7::text[]) q (fingerprint, kind, source, kinds, request_id, pool) WHERE a.id = $1`
	insertEvents = `INSERT INTO events (id, account_id, request_id, kind, fingerprint, source, target, scan_id, claimed, billable, overage, listed, host_hint, at)
		SELECT q.id, a.id, q.request_id, q.kind, q.fingerprint, q.source, nullif(q.target, ''), nullif(q.scan_id, ''), q.claimed, q.billable, q.overage, q.listed, nullif(q.host_hint, ''), $14::bigint
		FROM accounts a, unnest($2::bigint[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::boolean[], $10::boolean[], $11::boolean[], $12::boolean[], $13::text[])
			q (id, request_id, kind, fingerprint, source, target, scan_id, claimed, billable, overage, listed, host_hint) WHERE a.id = $1`
	countWrites = "UPDATE accounts SET billable_vms = billable_vms + $2, writes = writes + 1 WHERE id = $1"
	upsertSeats = `INSERT INTO seats (account_id, fingerprint, kind, source, kinds, first_at, last_seen_at, claimed_by)
		SELECT a.id, q.fingerprint, q.kind, q.source, q.kinds, $7::bigint, $7::bigint, q.claimed_by
		FROM accounts a, unnest($2::text[], $3::text[], $4::text[], $5::bigint[], $6::text[]) q (fingerprint, kind, source, kinds, claimed_by) WHERE a.id = $1
		ON CONFLICT (account_id, fingerprint) DO UPDATE SET kinds = seats.kinds | excluded.kinds, last_seen_at = greatest(seats.last_seen_at, excluded.last_seen_at)`
	upsertHosts = `INSERT INTO hosts (account_id, fingerprint, host_hint, events)
		SELECT a.id, q.fingerprint, q.host_hint, q.events FROM accounts a, unnest($2::text[], $3::text[], $4::bigint[]) q (fingerprint, host_hint, events) WHERE a.id = $1
		ON CONFLICT (account_id, fingerprint, host_hint) DO UPDATE SET events = hosts.events + excluded.events`
	upsertMetered = `INSERT INTO metered (account_id, day, requests) VALUES ($1, $2, $3)
		ON CONFLICT (account_id, day) DO UPDATE SET requests = metered.requests + excluded.requests`
	upsertReplays = `INSERT INTO replays (account_id, key, body_hash, answer, at)
		SELECT a.id, q.key, q.body_hash, q.answer, $5::bigint FROM accounts a, unnest($2::text[], $3::bytea[], $4::text[]) q (key, body_hash, answer) WHERE a.id = $1
		ON CONFLICT (account_id, key) DO UPDATE SET body_hash = excluded.body_hash, answer = excluded.answer, at = excluded.at`
)

// writes writes what was decided of an account.
func writes(b *ledger.Batch, account int64) *pgx.Batch {
	q := &pgx.Batch{}
	at := ledger.Instant(b.Now)
	if c := sliced.Filter(b.Events, func(e ledger.Event) bool { return e.Decision.Claim }); len(c) > 0 {
		q.Queue(insertSeats, account, sliced.Map(c, func(e ledger.Event) string { return e.Fingerprint }),
			sliced.Map(c, func(e ledger.Event) string { return string(e.Kind) }), sliced.Map(c, func(e ledger.Event) string { return e.Source.Label() }),
			sliced.Map(c, func(e ledger.Event) int64 { return b.Seats[e.Fingerprint].Kinds }), sliced.Map(c, func(e ledger.Event) string { return e.RequestID }),
			sliced.Map(c, func(e ledger.Event) string { return string(e.Decision.Pool) }), at, ledger.KindBit(api.Preflight), ledger.KindBit(api.Readiness))
	}
	if e := b.Events; len(e) > 0 {
		q.Queue(insertEvents, account, sliced.Map(e, func(e ledger.Event) int64 { return e.ID }),
			sliced.Map(e, func(e ledger.Event) string { return e.RequestID }), sliced.Map(e, func(e ledger.Event) string { return string(e.Kind) }),
			sliced.Map(e, func(e ledger.Event) string { return e.Fingerprint }), sliced.Map(e, func(e ledger.Event) string { return e.Source.Label() }),
			sliced.Map(e, func(e ledger.Event) string { return ledger.Label(e.Target).String }), sliced.Map(e, func(e ledger.Event) string { return e.ScanID }),
			sliced.Map(e, func(e ledger.Event) bool { return e.Decision.Claim }), sliced.Map(e, func(e ledger.Event) bool { return e.Decision.Billable }),
			sliced.Map(e, func(e ledger.Event) bool { return e.Decision.Overage }), sliced.Map(e, func(e ledger.Event) bool { return license.Listed(e.Kind, e.Decision.Claim) }),
			sliced.Map(e, func(e ledger.Event) string { return e.HostHint }), at)
		q.Queue(countWrites, account, b.Claims)
	}
	if s := sliced.Filter(slices.Collect(maps.Values(b.Seats)), func(s *ledger.Seat) bool { return !s.Claimed }); len(s) > 0 {
		q.Queue(upsertSeats, account, sliced.Map(s, func(s *ledger.Seat) string { return s.Fingerprint }),
			sliced.Map(s, func(s *ledger.Seat) string { return string(s.Kind) }), sliced.Map(s, func(s *ledger.Seat) string { return s.Source.Label() }),
			sliced.Map(s, func(s *ledger.Seat) int64 { return s.Kinds }), sliced.Map(s, func(s *ledger.Seat) string { return s.RequestID }), at)
	}
	if hosts := slices.Collect(maps.Keys(b.Hosts)); len(hosts) > 0 {
		q.Queue(upsertHosts, account, sliced.Map(hosts, func(h ledger.OfVM) string { return h.Fingerprint }), sliced.Map(hosts, func(h ledger.OfVM) string { return h.Name }),
			sliced.Map(hosts, func(h ledger.OfVM) int64 { return b.Hosts[h] }))
	}
	if b.Metered > 0 {
		q.Queue(upsertMetered, account, license.Day(b.Now), b.Metered)
	}
	if a := slices.Collect(maps.Values(b.Answers)); len(a) > 0 {
		q.Queue(upsertReplays, account, sliced.Map(a, func(a ledger.Answer) string { return a.Key }),
			sliced.Map(a, func(a ledger.Answer) []byte { return a.BodyHash[:] }), sliced.Map(a, func(a ledger.Answer) string { return a.Text }), at)
	}
	return q
}

// lockAccount waits for an account that somebody else writes to.
const lockAccount = "SELECT FROM accounts WHERE id = $1 FOR UPDATE"
