package sqlite

import (
	"context"
	"errors"
	"time"

	codes "modernc.org/sqlite/lib"

	"svc/backend/store"
	"svc/backend/store/lane"
	"svc/backend/store/ledger"
)

// write is what waits for the writer: an entry, or else a change.
type write struct {
	*ledger.Entry
	change func(*ledger.Tx) error
}

// writer writes in one transaction after another.
type writer struct {
	*ledger.Tx
	clock func() time.Time
	// from is when the commits began that follow each other without a gap; ended is
	// when the last one did.
	from, ended time.Time
}

// Other processes ask again and again for the file's one lock, which a busy writer lets
// go for an instant only: after a turn it leaves them a gap that is longer than the
// pause between two of their tries.
const (
	turn    = 50 * time.Millisecond
	gap     = 3 * time.Millisecond
	between = time.Millisecond
)

// begin takes the lock, for which it waits as long as any write may.
func (w *writer) begin() error {
	now := time.Now()
	switch {
	case now.Sub(w.ended) > gap:
		w.from = now
	case now.Sub(w.from) > turn:
		time.Sleep(gap)
		w.from = time.Now()
	}
	for end := now.Add(busyWait); ; time.Sleep(between) {
		_, err := w.Exec("BEGIN IMMEDIATE")
		if code(err)&0xff != codes.SQLITE_BUSY || time.Now().After(end) {
			return err
		}
	}
}

func (s *sqlite) newWriter() *writer {
	return &writer{Tx: &ledger.Tx{Executor: s.conn, Ctx: context.Background()}, clock: s.o.Now}
}

// commit does the writes of a batch in one transaction, and answers each.
func (s *sqlite) commit(w *writer, batch []*lane.Task[write]) {
	if err := s.place.lost(); err != nil {
		s.answer(batch, nil, err, "the store is not where it was, or damaged")
		return
	}
	refusals, err := w.commit(batch)
	s.place.note(err)
	s.answer(batch, refusals, err, "the store can't be written to")
}

// answer gives each write its refusal, or where an error concerns all what is said of
// that.
func (s *sqlite) answer(batch []*lane.Task[write], refusals []error, err error, said string) {
	if err != nil {
		s.o.Log.Error("committing", "error", err)
	}
	for i, task := range batch {
		if err != nil {
			task.Answer(store.Unavailable(said))
		} else {
			task.Answer(refusals[i])
		}
	}
}

// commit does the writes of a batch in one transaction, and gives each one's refusal. An
// error loses them all.
func (w *writer) commit(batch []*lane.Task[write]) (refusals []error, err error) {
	if err := w.begin(); err != nil {
		return nil, err
	}
	defer func() {
		w.ended = time.Now()
		if err != nil {
			_, undo := w.Exec("ROLLBACK")
			err = errors.Join(err, undo)
		}
	}()
	if refusals, err = w.do(batch); err != nil {
		return nil, err
	}
	_, err = w.Exec("COMMIT")
	return refusals, err
}

// do does the writes of a transaction: the entries of each account, and then the
// changes. Entries refuse before anything of theirs is written; each change has a
// savepoint of its own, so that what it refuses does not touch the others.
func (w *writer) do(batch []*lane.Task[write]) ([]error, error) {
	w.Now = w.clock().UTC() // while nobody else writes: the day may have ended before
	for _, entries := range byAccount(batch) {
		if err := w.recordAll(entries); err != nil {
			return nil, err
		}
	}
	refusals := make([]error, len(batch))
	for i, task := range batch {
		if task.Work.change == nil {
			continue
		}
		var err error
		if refusals[i], err = w.attempt(task.Work.change); err != nil {
			return nil, err
		}
	}
	return refusals, nil
}

// byAccount are the entries of each account, in their order.
func byAccount(batch []*lane.Task[write]) (all [][]*ledger.Entry) {
	at := map[int64]int{}
	for _, task := range batch {
		e := task.Work.Entry
		if e == nil {
			continue
		}
		i, ok := at[e.AccountID]
		if !ok {
			i, all = len(all), append(all, nil)
			at[e.AccountID] = i
		}
		all[i] = append(all[i], e)
	}
	return all
}

// attempt does one write in a savepoint. A refusal is the write's own; failed
// means that the transaction is lost.
func (w *writer) attempt(do func(*ledger.Tx) error) (refusal, failed error) {
	if _, err := w.Exec("SAVEPOINT one"); err != nil {
		return nil, err
	}
	refusal = do(w.Tx)
	if refusal != nil {
		if _, err := w.Exec("ROLLBACK TO one"); err != nil {
			return nil, err
		}
	}
	_, failed = w.Exec("RELEASE one")
	return refusal, failed
}
