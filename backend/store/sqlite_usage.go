package store

import (
	"context"
	"encoding/json"
	"errors"

	"svc/backend/api"
	"svc/backend/license"
)

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
func (t *tx) recordAll(entries []*entry, repeated bool) error {
	if len(entries) == 0 {
		return nil
	}
	b := newBatch(entries)
	b.now = t.now
	if err := errors.Join(t.loadAccounts(b), t.loadIDs(b)); err != nil {
		return err
	}
	for _, e := range b.commands() {
		if err := t.loadCommand(b, e, repeated); err != nil {
			return err
		}
	}
	b.decideAll()
	return errors.Join(t.writeEvents(b), t.writeSeats(b), t.writeCounts(b), t.writeAnswers(b))
}

// loadAccounts reads the accounts of a batch, and the tokens that hold.
func (t *tx) loadAccounts(b *batch) error {
	const list = " IN (SELECT value FROM json_each(?))"
	ids := jsonList(distinct(b.entries, (*entry).account))
	accounts, err := collect(t.ctx, t, scanAccount, "SELECT "+accountColumns+" FROM accounts WHERE id"+list, ids)
	if err != nil {
		return err
	}
	for _, a := range accounts {
		b.hold(a)
	}
	grants, err := collect(t.ctx, t, scanHolding, "SELECT "+grantColumns+" FROM grants WHERE account_id"+list+" ORDER BY id", ids)
	if err != nil {
		return err
	}
	for _, g := range grants {
		g.addTo(b.holdings[g.account])
	}
	tokens, err := collect(t.ctx, t, value[int64], "SELECT id FROM tokens WHERE disabled_at IS NULL AND id"+list,
		jsonList(distinct(b.entries, (*entry).token)))
	for _, id := range tokens {
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
func (t *tx) loadIDs(b *batch) error {
	last, err := one(t.ctx, t, value[int64], "SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'events'")
	for range b.commands() {
		last++
		b.ids = append(b.ids, last)
	}
	return err
}

// loadCommand reads what is known of a command's VM, request, scan and key. A
// part of a scan may find the scan's first part, which must not be itself.
func (t *tx) loadCommand(b *batch, e *entry, repeated bool) error {
	const recorded = "SELECT id, claimed, billable, overage FROM events WHERE account_id = ? AND "
	seated, err := isSeated(t.ctx, t, e.AccountID, e.Fingerprint)
	if b.seated[e.vm()] = seated; err != nil {
		return err
	}
	if repeated || e.ScanID != "" {
		err = find(t, b.recorded, e.request(), scanRecorded, recorded+"request_id = ?", e.AccountID, e.RequestID)
	}
	if e.ScanID != "" {
		err = errors.Join(err, find(t, b.scanned, e.scan(), scanRecorded, recorded+"fingerprint = ? AND scan_id = ?", e.AccountID, e.Fingerprint, e.ScanID))
	}
	if e.Replay != nil {
		err = errors.Join(err, find(t, b.kept, e.replay(), scanKept, selectKept, e.AccountID, e.Replay.Key))
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

func (t *tx) writeEvents(b *batch) error {
	for _, e := range b.events {
		_, err := t.exec(`INSERT INTO events
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

// writeSeats claims seats, or notes that their VMs were seen. A new seat gets the
// kinds that the VM ran before it had one, the free ones. The literals are those
// of the index that finds them.
func (t *tx) writeSeats(b *batch) (err error) {
	at := instant(b.now)
	for _, s := range b.seats {
		if s.claimed {
			_, err = t.exec(`INSERT INTO seats (account_id, fingerprint, kind, source, kinds, first_at, last_seen_at, claimed_by)
				VALUES (?1, ?2, ?3, ?4, ?5 | (SELECT coalesce(max(kind = 'preflight') * ?6 | max(kind = 'readiness') * ?7, 0) FROM events
					WHERE account_id = ?1 AND fingerprint = ?2 AND kind IN ('preflight', 'readiness')), ?8, ?8, ?9)`,
				s.AccountID, s.Fingerprint, s.Kind, s.Source.Label(), s.kinds, kindBit(api.Preflight), kindBit(api.Readiness), at, s.RequestID)
		} else {
			_, err = t.exec("UPDATE seats SET kinds = kinds | ?, last_seen_at = max(last_seen_at, ?) WHERE account_id = ? AND fingerprint = ?",
				s.kinds, at, s.AccountID, s.Fingerprint)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// writeCounts counts seats, hosts that report under one fingerprint, and metered
// requests.
func (t *tx) writeCounts(b *batch) error {
	for id, n := range b.claims {
		if _, err := t.exec("UPDATE accounts SET billable_vms = billable_vms + ? WHERE id = ?", n, id); err != nil {
			return err
		}
	}
	for h, n := range b.hosts {
		_, err := t.exec(`INSERT INTO hosts (account_id, fingerprint, host_hint, events) VALUES (?, ?, ?, ?)
			ON CONFLICT DO UPDATE SET events = events + excluded.events`, h.account, h.name, h.other, n)
		if err != nil {
			return err
		}
	}
	for id, n := range b.metered {
		_, err := t.exec(`INSERT INTO metered (account_id, day, requests) VALUES (?, ?, ?)
			ON CONFLICT DO UPDATE SET requests = requests + excluded.requests`, id, license.Day(b.now), n)
		if err != nil {
			return err
		}
	}
	return nil
}

func (t *tx) writeAnswers(b *batch) error {
	for _, a := range b.answers {
		if err := t.keep(a); err != nil {
			return err
		}
	}
	return nil
}
