package store

import (
	"context"
	"crypto/sha256"
	databasedriver "database/sql/driver"
	"encoding/json"
	"errors"

	driver "modernc.org/sqlite"

	"svc/backend/api"
	"svc/backend/license"
)

// digestBytes is how much of a SHA-256 tells the fingerprints of an account apart: two of
// a million have the same with a chance of 10^-17.
const digestBytes = 12

// init gives SQL the digest by which a seat is found.
func init() {
	driver.MustRegisterDeterministicScalarFunction("fingerprint_digest", 1, func(_ *driver.FunctionContext, args []databasedriver.Value) (databasedriver.Value, error) {
		fingerprint, ok := args[0].(string)
		if !ok {
			return nil, errors.New("a fingerprint is text")
		}
		digest := sha256.Sum256([]byte(fingerprint))
		return digest[:digestBytes], nil
	})
}

const sqliteSeated = "SELECT EXISTS (SELECT 1 FROM seats WHERE account_id = ? AND digest = fingerprint_digest(?))"

// sqliteHistory merges the events that claimed a seat with the others.
const sqliteHistory = `SELECT id, kind, substr(fingerprint, 1, 12), source, target, at FROM events WHERE account_id = ?1 AND listed AND NOT claimed
	UNION ALL
	SELECT s.id, e.kind, substr(e.fingerprint, 1, 12), e.source, e.target, s.first_at FROM seats s JOIN events e ON e.id = s.id WHERE s.account_id = ?1
	ORDER BY 6 DESC, 1 DESC LIMIT ?2 OFFSET ?3`

// write is what waits for the writer: an entry, or else a change.
type write struct {
	*entry
	change func(*tx) error
}

// enqueue has the writer decide an entry.
func (s *sqlite) enqueue(ctx context.Context, e *entry) error {
	return s.writer.do(ctx, write{entry: e})
}

// recordAll decides entries together: what they have in common is read and
// written once. Repeated says that a request of them may have been recorded before.
// Wrote says whether anything was to be written.
func (w *writer) recordAll(entries []*entry, repeated bool) (wrote bool, err error) {
	if len(entries) == 0 {
		return false, nil
	}
	b := newBatch(entries)
	b.now, b.owners = w.now, w.known
	b.findSeat = func(c Command, d license.Decision) error { return w.findSeat(b, c, d) }
	if err := errors.Join(w.loadAccounts(b), w.loadTokens(b), w.loadIDs(b)); err != nil {
		return false, err
	}
	for _, e := range b.commands() {
		if err := w.loadCommand(b, e, repeated); err != nil {
			return false, err
		}
	}
	if err := b.decideAll(); err != nil {
		return false, err
	}
	wrote = len(b.events)+len(b.metered)+len(b.answers) > 0
	return wrote, errors.Join(w.writeEvents(b), w.writeSeats(b), w.writeCounts(b), w.writeAnswers(b))
}

// inList ends a condition on a column that may have any of the ids of a list.
const inList = " IN (SELECT value FROM json_each(?))"

// loadAccounts reads the accounts of a batch that the writer does not know.
func (w *writer) loadAccounts(b *batch) error {
	unknown := filter(distinct(b.entries, (*entry).account), func(id int64) bool { return b.accounts[id] == nil })
	if len(unknown) == 0 {
		return nil
	}
	ids := jsonList(unknown)
	accounts, err := collect(w.ctx, w, scanAccount, "SELECT "+accountColumns+" FROM accounts WHERE id"+inList, ids)
	if err != nil {
		return err
	}
	for _, a := range accounts {
		b.hold(a)
	}
	grants, err := collect(w.ctx, w, scanHolding, "SELECT "+grantColumns+" FROM grants WHERE account_id"+inList+" ORDER BY id", ids)
	for _, g := range grants {
		g.addTo(b.holdings[g.account])
	}
	return err
}

// loadTokens reads which of the tokens of a batch hold that the writer does not know.
func (w *writer) loadTokens(b *batch) error {
	unknown := filter(distinct(b.entries, (*entry).token), func(id int64) bool { return !b.tokens[id] })
	if len(unknown) == 0 {
		return nil
	}
	hold, err := collect(w.ctx, w, value[int64], "SELECT id FROM tokens WHERE disabled_at IS NULL AND id"+inList, jsonList(unknown))
	for _, id := range hold {
		b.tokens[id] = true
	}
	return err
}

// jsonList is the parameter of json_each.
func jsonList(ids []int64) string {
	text, _ := json.Marshal(ids) // numbers always can be
	return string(text)
}

// loadIDs takes ids for all events that may come: nobody else writes meanwhile.
func (w *writer) loadIDs(b *batch) error {
	last, err := one(w.ctx, w, value[int64], "SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'events'")
	for range b.commands() {
		last++
		b.ids = append(b.ids, last)
	}
	return err
}

// loadCommand reads what is known of a command's request, scan and key, and of its VM
// where the command may have been recorded before. A part of a scan may find the scan's
// first part, which must not be itself.
func (w *writer) loadCommand(b *batch, e *entry, repeated bool) (err error) {
	const recorded = "SELECT id, claimed, billable, overage FROM events WHERE account_id = ? AND "
	if repeated || e.ScanID != "" {
		b.seated[e.vm()], err = w.isSeated(e.Command)
		err = errors.Join(err, find(w.tx, b.recorded, e.request(), scanRecorded, recorded+"request_id = ?", e.AccountID, e.RequestID))
	}
	if e.ScanID != "" {
		err = errors.Join(err, find(w.tx, b.scanned, e.scan(), scanRecorded, recorded+"fingerprint = ? AND scan_id = ?", e.AccountID, e.Fingerprint, e.ScanID))
	}
	if e.Replay != nil {
		err = errors.Join(err, find(w.tx, b.kept, e.replay(), scanKept, selectKept, e.AccountID, e.Replay.Key))
	}
	return err
}

// find keeps the row of a query, where there is one.
func find[K comparable, V any](t *tx, all map[K]V, k K, scan func(row) (V, error), query string, args ...any) error {
	v, err := one(t.ctx, t, scan, query, args...)
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	all[k] = v
	return err
}

func (w *writer) writeEvents(b *batch) error {
	for _, e := range b.events {
		_, err := w.exec(`INSERT INTO events
			(id, account_id, request_id, kind, fingerprint, source, target, scan_id, claimed, billable, overage, listed, host_hint, at)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
			e.id, e.AccountID, e.RequestID, e.Kind, e.Fingerprint, e.Source.Label(), label(e.Target), null(e.ScanID),
			e.decision.Claim, e.decision.Billable, e.decision.Overage, license.Listed(e.Kind, e.decision.Claim), null(e.HostHint), instant(b.now))
		if err != nil {
			return err
		}
	}
	return nil
}

// findSeat finds out whether a command's VM has a seat. For a command that claims one
// it takes it: to look first would cost as much again.
func (w *writer) findSeat(b *batch, c Command, d license.Decision) (err error) {
	_, known := b.seated[c.vm()]
	switch {
	case d.Claim:
		return w.takeSeat(b, c, d.Pool) // also where it is known that there is none
	case known:
		return nil
	}
	b.seated[c.vm()], err = w.isSeated(c)
	return err
}

func (w *writer) isSeated(c Command) (bool, error) {
	return one(w.ctx, w, value[bool], sqliteSeated, c.AccountID, c.Fingerprint)
}

// takeSeat takes a seat for a command unless its VM has one. The seat gets the kinds
// that the VM ran before it had one, the free ones. Each is looked for by its name and by
// the condition of the index that finds it: by a list alone, SQLite makes a table of
// that for every seat.
func (w *writer) takeSeat(b *batch, c Command, pool license.Pool) error {
	taken, err := w.exec(`INSERT INTO seats (account_id, fingerprint, digest, kind, source, kinds, first_at, last_seen_at, claimed_by, id, pool)
		VALUES (?1, ?2, fingerprint_digest(?2), ?3, ?4, ?5
			| ?6 * EXISTS (SELECT 1 FROM events WHERE account_id = ?1 AND fingerprint = ?2 AND kind = 'preflight' AND kind IN ('preflight', 'readiness'))
			| ?7 * EXISTS (SELECT 1 FROM events WHERE account_id = ?1 AND fingerprint = ?2 AND kind = 'readiness' AND kind IN ('preflight', 'readiness')), ?8, ?8, ?9, ?10, ?11)
		ON CONFLICT (account_id, digest) DO NOTHING`,
		c.AccountID, c.Fingerprint, c.Kind, c.Source.Label(), b.claimedKinds(c), kindBit(api.Preflight), kindBit(api.Readiness), instant(b.now), c.RequestID, b.ids[0], string(pool))
	b.seated[c.vm()] = taken == 0
	return err
}

// claimedKinds are those that a seat is claimed with.
func (b *batch) claimedKinds(c Command) int64 { return b.free[c.vm()] | kindBit(c.Kind) }

// writeSeats notes that VMs with a seat were seen, and what they ran: a seat that was
// taken says that itself, unless its VM ran something else since.
func (w *writer) writeSeats(b *batch) error {
	at := instant(b.now)
	for _, s := range b.seats {
		if s.claimed && s.kinds == b.claimedKinds(s.Command) {
			continue
		}
		_, err := w.exec("UPDATE seats SET kinds = kinds | ?, last_seen_at = max(last_seen_at, ?) WHERE account_id = ? AND digest = fingerprint_digest(?)",
			s.kinds, at, s.AccountID, s.Fingerprint)
		if err != nil {
			return err
		}
	}
	return nil
}

// writeCounts counts seats, hosts that report under one fingerprint, and metered
// requests.
func (w *writer) writeCounts(b *batch) error {
	for id, n := range b.claims {
		if _, err := w.exec("UPDATE accounts SET billable_vms = billable_vms + ? WHERE id = ?", n, id); err != nil {
			return err
		}
	}
	for h, n := range b.hosts {
		_, err := w.exec(`INSERT INTO hosts (account_id, fingerprint, host_hint, events) VALUES (?, ?, ?, ?)
			ON CONFLICT DO UPDATE SET events = events + excluded.events`, h.account, h.name, h.other, n)
		if err != nil {
			return err
		}
	}
	for id, n := range b.metered {
		_, err := w.exec(`INSERT INTO metered (account_id, day, requests) VALUES (?, ?, ?)
			ON CONFLICT DO UPDATE SET requests = requests + excluded.requests`, id, license.Day(b.now), n)
		if err != nil {
			return err
		}
	}
	return nil
}

func (w *writer) writeAnswers(b *batch) error {
	for _, a := range b.answers {
		if err := w.keep(a); err != nil {
			return err
		}
	}
	return nil
}
