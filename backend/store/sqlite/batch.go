package sqlite

import (
	"errors"

	"svc/backend/api"
	"svc/backend/license"
	"svc/backend/store"
	"svc/backend/store/ledger"
)

// history merges the events that claimed a seat with the others.
const history = `SELECT id, kind, substr(fingerprint, 1, 12), source, target, at FROM events WHERE account_id = ?1 AND listed AND NOT claimed AND at <= ?2
	UNION ALL
	SELECT s.id, e.kind, substr(e.fingerprint, 1, 12), e.source, e.target, s.first_at FROM seats s JOIN events e ON e.id = s.id WHERE s.account_id = ?1 AND s.first_at <= ?2
	ORDER BY 6 DESC, 1 DESC LIMIT ?3 OFFSET ?4`

// recordAll decides entries of one account together: what they have in common is read
// and written once.
func (w *writer) recordAll(entries []*ledger.Entry) error {
	b := ledger.NewBatch(entries)
	account := entries[0].AccountID
	b.Now = w.Now
	if err := errors.Join(w.loadOwner(b, account), w.loadIDs(b)); err != nil {
		return err
	}
	for _, e := range b.Entries {
		if err := errors.Join(w.loadToken(b, e), w.loadCommand(b, e)); err != nil {
			return err
		}
	}
	b.Decide()
	return errors.Join(w.writeEvents(b), w.writeSeats(b), w.writeCounts(b, account), w.writeAnswers(b))
}

// loadOwner reads the account of a batch, and what it holds.
func (w *writer) loadOwner(b *ledger.Batch, account int64) error {
	a, err := ledger.LoadAccount(w.Ctx, w, account)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	h, err := ledger.LoadHoldings(w.Ctx, w, account)
	b.Account, b.Holdings = &a, &h
	return err
}

// loadToken reads whether the token of an entry holds.
func (w *writer) loadToken(b *ledger.Batch, e *ledger.Entry) (err error) {
	if _, known := b.Tokens[e.TokenID]; known || e.TokenID == 0 {
		return nil
	}
	b.Tokens[e.TokenID], err = ledger.One(w.Ctx, w, ledger.Value[bool], "SELECT EXISTS (SELECT 1 FROM tokens WHERE id = ? AND account_id = ? AND disabled_at IS NULL)", e.TokenID, e.AccountID)
	return err
}

// loadIDs takes ids for all events that may come: nobody else writes meanwhile.
func (w *writer) loadIDs(b *ledger.Batch) error {
	last, err := ledger.One(w.Ctx, w, ledger.Value[int64], "SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'events'")
	for range b.Commands() {
		last++
		b.IDs = append(b.IDs, last)
	}
	return err
}

// loadCommand reads what is known of a command's VM, request, scan and key. A part of a
// scan may find the scan's first part, which must not be itself.
func (w *writer) loadCommand(b *ledger.Batch, e *ledger.Entry) (err error) {
	if e.Kind == "" {
		return nil
	}
	const recorded = "SELECT id, claimed, billable, overage FROM events WHERE account_id = ? AND "
	b.Seated[e.Fingerprint], err = ledger.One(w.Ctx, w, ledger.Value[bool], ledger.SelectSeated, e.AccountID, e.Fingerprint)
	err = errors.Join(err, find(w.Tx, b.Recorded, e.RequestID, ledger.ScanRecorded, recorded+"request_id = ?", e.AccountID, e.RequestID))
	if e.ScanID != "" {
		err = errors.Join(err, find(w.Tx, b.Scanned, e.Scan(), ledger.ScanRecorded, recorded+"fingerprint = ? AND scan_id = ?", e.AccountID, e.Fingerprint, e.ScanID))
	}
	if e.Replay != nil {
		err = errors.Join(err, find(w.Tx, b.Kept, e.Replay.Key, ledger.ScanKept, ledger.SelectKept, e.AccountID, e.Replay.Key))
	}
	return err
}

// find keeps the row of a query, where there is one.
func find[K comparable, V any](t *ledger.Tx, all map[K]V, k K, scan func(ledger.Row) (V, error), query string, args ...any) error {
	v, err := ledger.One(t.Ctx, t, scan, query, args...)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	all[k] = v
	return err
}

func (w *writer) writeEvents(b *ledger.Batch) error {
	for _, e := range b.Events {
		_, err := w.Exec(`INSERT INTO events
			(id, account_id, request_id, kind, fingerprint, source, target, scan_id, claimed, billable, overage, listed, host_hint, at)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
			e.ID, e.AccountID, e.RequestID, e.Kind, e.Fingerprint, e.Source.Label(), ledger.Label(e.Target), ledger.Null(e.ScanID),
			e.Decision.Claim, e.Decision.Billable, e.Decision.Overage, license.Listed(e.Kind, e.Decision.Claim), ledger.Null(e.HostHint), ledger.Instant(b.Now))
		if err != nil {
			return err
		}
	}
	return nil
}

// writeSeats writes the seats that were claimed, and of the others that their VMs were
// seen, and what they ran.
func (w *writer) writeSeats(b *ledger.Batch) error {
	at := ledger.Instant(b.Now)
	for _, s := range b.Seats {
		if s.Claimed {
			if err := w.claimSeat(s, at); err != nil {
				return err
			}
			continue
		}
		_, err := w.Exec("UPDATE seats SET kinds = kinds | ?, last_seen_at = max(last_seen_at, ?) WHERE account_id = ? AND fingerprint = ?",
			s.Kinds, at, s.AccountID, s.Fingerprint)
		if err != nil {
			return err
		}
	}
	return nil
}

// claimSeat writes a seat. It gets the kinds that the VM ran before it had one, the free
// ones. Each is looked for by its name and by the condition of the index that finds it: by
// a list alone, SQLite makes a table of that for every seat.
func (w *writer) claimSeat(s *ledger.Seat, at int64) error {
	_, err := w.Exec(`INSERT INTO seats (account_id, fingerprint, kind, source, kinds, first_at, last_seen_at, claimed_by, id, pool)
		VALUES (?1, ?2, ?3, ?4, ?5
			| ?6 * EXISTS (SELECT 1 FROM events WHERE account_id = ?1 AND fingerprint = ?2 AND kind = 'preflight' AND kind IN ('preflight', 'readiness'))
			| ?7 * EXISTS (SELECT 1 FROM events WHERE account_id = ?1 AND fingerprint = ?2 AND kind = 'readiness' AND kind IN ('preflight', 'readiness')), ?8, ?8, ?9, ?10, ?11)`,
		s.AccountID, s.Fingerprint, s.Kind, s.Source.Label(), s.Kinds, ledger.KindBit(api.Preflight), ledger.KindBit(api.Readiness), at, s.RequestID, s.ID, string(s.Decision.Pool))
	return err
}

// writeCounts counts seats, hosts that report under one fingerprint, and metered
// requests.
func (w *writer) writeCounts(b *ledger.Batch, account int64) error {
	if b.Claims > 0 {
		if _, err := w.Exec("UPDATE accounts SET billable_vms = billable_vms + ? WHERE id = ?", b.Claims, account); err != nil {
			return err
		}
	}
	for h, n := range b.Hosts {
		_, err := w.Exec(`INSERT INTO hosts (account_id, fingerprint, host_hint, events) VALUES (?, ?, ?, ?)
			ON CONFLICT DO UPDATE SET events = events + excluded.events`, account, h.Fingerprint, h.Name, n)
		if err != nil {
			return err
		}
	}
	if b.Metered == 0 {
		return nil
	}
	_, err := w.Exec(`INSERT INTO metered (account_id, day, requests) VALUES (?, ?, ?)
		ON CONFLICT DO UPDATE SET requests = requests + excluded.requests`, account, license.Day(b.Now), b.Metered)
	return err
}

func (w *writer) writeAnswers(b *ledger.Batch) error {
	for _, a := range b.Answers {
		if err := w.Keep(a); err != nil {
			return err
		}
	}
	return nil
}
