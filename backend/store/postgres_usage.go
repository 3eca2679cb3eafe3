package store

import (
	"github.com/jackc/pgx/v5"

	"svc/backend/api"
	"svc/backend/license"
)

const postgresSeated = "SELECT EXISTS (SELECT 1 FROM seats WHERE account_id = ? AND fingerprint = ?)"

const postgresHistory = `SELECT id, kind, substr(fingerprint, 1, 12), source, target, at FROM events
	WHERE account_id = ? AND listed ORDER BY at DESC, id DESC LIMIT ? OFFSET ?`

// The lookups name rows one by one: a join might read a whole table where the
// planner has not seen it grow. For the same reason sequential scans are off in
// these transactions; and as there is but one good plan, it is made once. What sets
// that has no parameters, so that its own plan is made once too.
const (
	planByIndex  = "SELECT set_config('enable_seqscan', 'off', true), set_config('plan_cache_mode', 'force_generic_plan', true)"
	takeIDs      = "SELECT array_agg(nextval('events_id_seq')) FROM generate_series(1, $1)"
	lockAccounts = "SELECT " + accountColumns + " FROM accounts WHERE id = ANY($1) ORDER BY id FOR UPDATE"
	findTokens   = "SELECT id FROM tokens WHERE id = ANY($1) AND disabled_at IS NULL"
	findGrants   = "SELECT " + grantColumns + " FROM grants WHERE account_id = ANY($1) ORDER BY id"
	findSeats    = `SELECT q.n FROM unnest($1::bigint[], $2::text[]) WITH ORDINALITY q (account_id, fingerprint, n) CROSS JOIN LATERAL
		(SELECT FROM seats s WHERE s.account_id = q.account_id AND s.fingerprint = q.fingerprint LIMIT 1) s`
	findEvents = `SELECT q.n, e.* FROM unnest($1::bigint[], $2::text[]) WITH ORDINALITY q (account_id, request_id, n) CROSS JOIN LATERAL
		(SELECT id, claimed, billable, overage FROM events e WHERE e.account_id = q.account_id AND e.request_id = q.request_id LIMIT 1) e`
	findScans = `SELECT q.n, e.* FROM unnest($1::bigint[], $2::text[], $3::text[]) WITH ORDINALITY q (account_id, fingerprint, scan_id, n) CROSS JOIN LATERAL
		(SELECT id, claimed, billable, overage FROM events e WHERE e.account_id = q.account_id AND e.fingerprint = q.fingerprint AND e.scan_id = q.scan_id LIMIT 1) e`
	findReplays = `SELECT q.n, r.* FROM unnest($1::bigint[], $2::text[]) WITH ORDINALITY q (account_id, key, n) CROSS JOIN LATERAL
		(SELECT body_hash, answer, at FROM replays r WHERE r.account_id = q.account_id AND r.key = q.key LIMIT 1) r`
)

// idle is the state of a session outside of transactions.
const idle = 'I'

// begin opens a batch's transaction.
func begin(q *pgx.Batch) {
	q.Queue("BEGIN")
	q.Queue(planByIndex)
}

// reads locks the accounts, and then, in statements that see what was committed
// before the lock was had, reads all that the decisions depend on and the lane does
// not remember.
func (r *recorder) reads(q *pgx.Batch, b *batch, repeated bool) {
	ids, commands := distinct(b.entries, (*entry).account), b.commands()
	each(q, scanAccount, b.hold, lockAccounts, ids)
	strange := filter(ids, func(id int64) bool {
		b.remembered[id] = r.known[id]
		return r.known[id] == nil
	})
	b.readOwners(q, strange, distinct(filter(commands, func(e *entry) bool {
		k := b.remembered[e.AccountID]
		return k == nil || !k.tokens[e.TokenID]
	}), (*entry).token))
	if len(commands) == 0 {
		return
	}
	each(q, value[[]int64], func(ids []int64) { b.ids = ids }, takeIDs, len(commands))
	ids = column(commands, (*entry).account)
	fingerprints := func(e *entry) string { return e.Fingerprint }
	each(q, value[int], func(n int) { b.seated[commands[n-1].vm()] = true }, findSeats, ids, column(commands, fingerprints))
	// A part of a scan may find the scan's first part, which must not be itself.
	if again := filter(commands, func(e *entry) bool { return repeated || e.ScanID != "" }); len(again) > 0 {
		each(q, nth(scanRecorded), func(f found[Outcome]) { b.recorded[again[f.n-1].request()] = f.it },
			findEvents, column(again, (*entry).account), column(again, func(e *entry) string { return e.RequestID }))
	}
	if scans := filter(commands, func(e *entry) bool { return e.ScanID != "" }); len(scans) > 0 {
		each(q, nth(scanRecorded), func(f found[Outcome]) { b.scanned[scans[f.n-1].scan()] = f.it },
			findScans, column(scans, (*entry).account), column(scans, fingerprints), column(scans, func(e *entry) string { return e.ScanID }))
	}
	if replays := filter(commands, func(e *entry) bool { return e.Replay != nil }); len(replays) > 0 {
		each(q, nth(scanKept), func(f found[kept]) { b.kept[replays[f.n-1].replay()] = f.it },
			findReplays, column(replays, (*entry).account), column(replays, func(e *entry) string { return e.Replay.Key }))
	}
}

// readOwners reads the grants of accounts, and which tokens hold.
func (b *batch) readOwners(q *pgx.Batch, accounts, tokens []int64) {
	if len(accounts) > 0 {
		each(q, scanHolding, func(h holding) { h.addTo(b.holdings[h.account]) }, findGrants, accounts)
	}
	if len(tokens) > 0 {
		each(q, value[int64], func(id int64) { b.tokens[id] = true }, findTokens, tokens)
	}
}

// found is a thing that a lookup found, with the number of the lookup from 1.
type found[T any] struct {
	n  int
	it T
}

// nth scans a thing after the number of its lookup.
func nth[T any](scan func(row) (T, error)) func(row) (found[T], error) {
	return func(r row) (f found[T], err error) {
		f.it, err = scan(after{r, &f.n})
		return f, err
	}
}

// after is a row whose first column goes elsewhere.
type after struct {
	row
	first any
}

// Scan implements row.
func (a after) Scan(dest ...any) error { return a.row.Scan(append([]any{a.first}, dest...)...) }

// each queues a query and what to do with each of its rows.
func each[T any](q *pgx.Batch, scan func(row) (T, error), use func(T), query string, args ...any) {
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

// Events, the seats that they claim and the count of these are one statement, as all
// of a batch's statements cost as much as its rows. A new seat gets the kinds that
// the VM ran before it had one, the free ones, here those of earlier batches; the
// literals are those of the index that finds them. Every write of a row that may be
// there is an upsert: its plan is always the unique index.
const (
	insertEvents = `WITH q AS (
			SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::boolean[], $10::boolean[], $11::boolean[], $12::boolean[], $13::text[], $14::bigint[], $20::text[])
			q (id, account_id, request_id, kind, fingerprint, source, target, scan_id, claimed, billable, overage, listed, host_hint, kinds, pool)
		), event AS (
			INSERT INTO events (id, account_id, request_id, kind, fingerprint, source, target, scan_id, claimed, billable, overage, listed, host_hint, at)
			SELECT id, account_id, request_id, kind, fingerprint, source, nullif(target, ''), nullif(scan_id, ''), claimed, billable, overage, listed, nullif(host_hint, ''), $15 FROM q
		), seat AS (
			INSERT INTO seats (account_id, fingerprint, kind, source, kinds, first_at, last_seen_at, claimed_by, pool)
			SELECT account_id, fingerprint, kind, source,
				kinds | (SELECT coalesce(bit_or(CASE e.kind WHEN 'preflight' THEN $16::bigint ELSE $17::bigint END), 0) FROM events e
					WHERE e.account_id = q.account_id AND e.fingerprint = q.fingerprint AND e.kind IN ('preflight', 'readiness')),
				$15, $15, request_id, pool
			FROM q WHERE claimed
		) UPDATE accounts a SET billable_vms = a.billable_vms + c.n
		FROM unnest($18::bigint[], $19::bigint[]) c (id, n) WHERE a.id = c.id AND a.id = ANY($18)`
	upsertSeats = `INSERT INTO seats (account_id, fingerprint, kind, source, kinds, first_at, last_seen_at, claimed_by)
		SELECT account_id, fingerprint, kind, source, kinds, $7, $7, claimed_by
		FROM unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::text[])
		q (account_id, fingerprint, kind, source, kinds, claimed_by)
		ON CONFLICT (account_id, fingerprint) DO UPDATE SET kinds = seats.kinds | excluded.kinds, last_seen_at = greatest(seats.last_seen_at, excluded.last_seen_at)`
	upsertHosts = `INSERT INTO hosts (account_id, fingerprint, host_hint, events) SELECT * FROM unnest($1::bigint[], $2::text[], $3::text[], $4::bigint[])
		ON CONFLICT (account_id, fingerprint, host_hint) DO UPDATE SET events = hosts.events + excluded.events`
	upsertMetered = `INSERT INTO metered (account_id, day, requests) SELECT account_id, $3, n FROM unnest($1::bigint[], $2::bigint[]) q (account_id, n)
		ON CONFLICT (account_id, day) DO UPDATE SET requests = metered.requests + excluded.requests`
	upsertReplays = `INSERT INTO replays (account_id, key, body_hash, answer, at)
		SELECT account_id, key, body_hash, answer, $5 FROM unnest($1::bigint[], $2::text[], $3::bytea[], $4::text[]) q (account_id, key, body_hash, answer)
		ON CONFLICT (account_id, key) DO UPDATE SET body_hash = excluded.body_hash, answer = excluded.answer, at = excluded.at`
)

// writes writes what was decided.
func (b *batch) writes() *pgx.Batch {
	q := &pgx.Batch{}
	at := instant(b.now)
	if e := b.events; len(e) > 0 {
		ids, counts := split(b.claims)
		q.Queue(insertEvents, column(e, func(e event) int64 { return e.id }), column(e, func(e event) int64 { return e.AccountID }),
			column(e, func(e event) string { return e.RequestID }), column(e, func(e event) string { return string(e.Kind) }),
			column(e, func(e event) string { return e.Fingerprint }), column(e, func(e event) string { return e.Source.Label() }),
			column(e, func(e event) string { return label(e.Target).String }), column(e, func(e event) string { return e.ScanID }),
			column(e, func(e event) bool { return e.decision.Claim }), column(e, func(e event) bool { return e.decision.Billable }),
			column(e, func(e event) bool { return e.decision.Overage }), column(e, func(e event) bool { return license.Listed(e.Kind, e.decision.Claim) }),
			column(e, func(e event) string { return e.HostHint }), column(e, b.kinds), at,
			kindBit(api.Preflight), kindBit(api.Readiness), ids, counts, column(e, func(e event) string { return string(e.decision.Pool) }))
	}
	if s := filter(values(b.seats), func(s *seat) bool { return !s.claimed }); len(s) > 0 {
		q.Queue(upsertSeats, column(s, func(s *seat) int64 { return s.AccountID }), column(s, func(s *seat) string { return s.Fingerprint }),
			column(s, func(s *seat) string { return string(s.Kind) }), column(s, func(s *seat) string { return s.Source.Label() }),
			column(s, func(s *seat) int64 { return s.kinds }), column(s, func(s *seat) string { return s.RequestID }), at)
	}
	if len(b.hosts) > 0 {
		hosts, counts := split(b.hosts)
		q.Queue(upsertHosts, column(hosts, func(h pair) int64 { return h.account }), column(hosts, func(h pair) string { return h.name }),
			column(hosts, func(h pair) string { return h.other }), counts)
	}
	if len(b.metered) > 0 {
		ids, counts := split(b.metered)
		q.Queue(upsertMetered, ids, counts, license.Day(b.now))
	}
	if a := values(b.answers); len(a) > 0 {
		q.Queue(upsertReplays, column(a, func(a answer) int64 { return a.account }), column(a, func(a answer) string { return a.Key }),
			column(a, func(a answer) []byte { return a.BodyHash[:] }), column(a, func(a answer) string { return a.text }), at)
	}
	return q
}

// kinds are those of the seat that an event claims.
func (b *batch) kinds(e event) int64 {
	if !e.decision.Claim {
		return 0
	}
	return b.seats[e.vm()].kinds
}
