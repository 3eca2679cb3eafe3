package store

import (
	"context"
	"errors"
	"runtime"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"svc/backend/license"
)

// maxKnown bounds the accounts that a lane remembers, and the tokens of each.
const maxKnown = 10_000

// lanesHere is how many lanes this process has: each can keep one processor of it
// busy, and one of the database.
func lanesHere() int { return max(1, runtime.GOMAXPROCS(0)/2) }

// known is what a lane remembers of an account that it wrote last.
type known struct {
	Account
	*license.Holdings
	tokens map[int64]bool // that hold
	// alone says that nobody else wrote between the lane's last two batches, and
	// shared that somebody did.
	alone, shared bool
}

// recorder decides and records the batches of one lane.
type recorder struct {
	*postgres
	lane  *lane[*entry]
	known map[int64]*known
}

func newRecorder(p *postgres) *recorder {
	r := &recorder{postgres: p, known: map[int64]*known{}}
	r.lane = newLane(r.commit)
	return r
}

// enqueue hands an entry to the one lane of its account.
func (p *postgres) enqueue(ctx context.Context, e *entry) error {
	return p.recorders[uint64(e.AccountID)%uint64(len(p.recorders))].lane.do(ctx, e)
}

// turn is a batch with those who wait for it.
type turn struct {
	*batch
	tasks     []*task[*entry]
	committed bool
	err       error // of a commit that the standby did not confirm
}

func newTurn(tasks []*task[*entry]) *turn {
	return &turn{batch: newBatch(column(tasks, func(t *task[*entry]) *entry { return t.work })), tasks: tasks}
}

func (t *turn) answer(err error) {
	for _, task := range t.tasks {
		task.result <- err
	}
}

// commit answers a batch, and what has come by then.
func (r *recorder) commit(tasks []*task[*entry]) {
	for _, t := range r.stream(tasks) {
		r.insist(t.tasks)
	}
}

// stream records a batch, then what has come by then, and so on. It gives back the
// turns that failed, of which the first may have been committed.
func (r *recorder) stream(tasks []*task[*entry]) (failed []*turn) {
	ctx, cancel := context.WithTimeout(context.Background(), quickly)
	defer cancel()
	conn, err := r.pool.Acquire(ctx)
	if err != nil {
		return []*turn{newTurn(tasks)}
	}
	defer conn.Release() // which closes a connection that is still in a transaction
	if len(tasks) == 1 {
		if done, err := r.claim(ctx, conn, tasks[0].work); done {
			tasks[0].result <- err
			return nil
		} else if err != nil {
			return []*turn{newTurn(tasks)}
		}
	}
	tasks, err = r.takeTurn(ctx, conn, tasks)
	t := newTurn(tasks)
	if err == nil {
		err = r.open(ctx, conn, t.batch, false)
	}
	if err != nil {
		return []*turn{t}
	}
	var done *turn
	for t != nil {
		next, err := r.pass(conn, done, t)
		if err != nil {
			failed, next = filter([]*turn{t, next}, func(t *turn) bool { return t != nil && !t.committed }), nil
		}
		done, t = t, next
	}
	if done.committed {
		done.answer(done.err)
	}
	return failed
}

// pass commits a turn and opens the next: what that reads travels with the commit,
// so that a turn takes one round trip. Who waited for the turn before is told when
// the database has something to do again.
func (r *recorder) pass(conn *pgxpool.Conn, before, t *turn) (next *turn, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), quickly)
	defer cancel()
	r.decide(t.batch)
	q := t.writes()
	q.Queue("COMMIT").Exec(func(pgconn.CommandTag) error { t.committed = true; return nil })
	if waiting := r.lane.gather(nil, r.unshared); len(waiting) > 0 {
		next = newTurn(waiting)
		begin(q)
		r.reads(q, next.batch, false)
	}
	results := conn.SendBatch(ctx, q)
	if before != nil {
		before.answer(before.err)
	}
	err = results.Close()
	if t.committed {
		r.learn(t.batch)
		t.err = confirmed(conn)
	}
	if err == nil && next != nil {
		err = r.recall(ctx, conn, next.batch)
	}
	return next, err
}

// unshared reports whether no other process is known to write to an account: else
// the commit of one turn would wait for the lock of the next.
func (r *recorder) unshared(e *entry) bool {
	k := r.known[e.AccountID]
	return k == nil || !k.shared
}

// takeTurn waits for the lock of an account that other processes write to as well,
// and only then takes what has come for it: a batch that was made before would be
// small, and wait as long.
func (r *recorder) takeTurn(ctx context.Context, conn *pgxpool.Conn, tasks []*task[*entry]) ([]*task[*entry], error) {
	id := tasks[0].work.AccountID
	same := func(e *entry) bool { return e.AccountID == id }
	if r.unshared(tasks[0].work) || slices.ContainsFunc(tasks, func(t *task[*entry]) bool { return !same(t.work) }) {
		return tasks, nil
	}
	q := &pgx.Batch{}
	begin(q)
	q.Queue(lockAccount, id)
	if err := conn.SendBatch(ctx, q).Close(); err != nil {
		return tasks, err
	}
	return r.lane.gather(tasks, same), nil
}

// insist answers a batch that may have been recorded. What the database can't take
// as a value is one entry's fault: then each is tried alone.
func (r *recorder) insist(tasks []*task[*entry]) {
	t := newTurn(tasks)
	err := r.persist(context.Background(), func(ctx context.Context, conn *pgxpool.Conn) error {
		t = newTurn(tasks)
		return r.record(ctx, conn, t.batch)
	})
	fault := class(sqlState(err))
	if len(tasks) > 1 && (fault == "22" || fault == "23") {
		for i := range tasks {
			r.insist(tasks[i : i+1])
		}
		return
	}
	if err != nil {
		r.o.Log.Error("recording", "commands", len(tasks), "error", err)
	}
	t.answer(err)
}

// record decides and records a batch in one transaction. The locks make every
// commit one that a standby has to confirm, so that a batch which only finds what an
// earlier try wrote does not vouch for it too soon.
func (r *recorder) record(ctx context.Context, conn *pgxpool.Conn, b *batch) error {
	if err := r.open(ctx, conn, b, true); err != nil {
		return err
	}
	r.decide(b)
	q := b.writes()
	q.Queue("COMMIT")
	if err := conn.SendBatch(ctx, q).Close(); err != nil {
		return errors.Join(errInDoubt, err)
	}
	r.learn(b)
	return confirmed(conn)
}

// open locks the accounts of a batch and reads what its decisions depend on.
func (r *recorder) open(ctx context.Context, conn *pgxpool.Conn, b *batch, repeated bool) error {
	q := &pgx.Batch{}
	if conn.Conn().PgConn().TxStatus() == idle {
		begin(q)
	}
	r.reads(q, b, repeated)
	if err := conn.SendBatch(ctx, q).Close(); err != nil {
		return err
	}
	return r.recall(ctx, conn, b)
}

// recall completes what a batch read by what the lane remembered when that was
// sent, or reads it where an operator has changed the account since.
func (r *recorder) recall(ctx context.Context, conn *pgxpool.Conn, b *batch) error {
	var changed []*entry
	for _, e := range b.entries {
		a, k := b.accounts[e.AccountID], b.remembered[e.AccountID]
		switch {
		case k == nil || a == nil:
		case k.Version != a.Version:
			changed = append(changed, e)
		default:
			b.holdings[e.AccountID] = k.Holdings
			if k.tokens[e.TokenID] {
				b.tokens[e.TokenID] = true
			}
		}
	}
	if len(changed) == 0 {
		return nil
	}
	q := &pgx.Batch{}
	b.readOwners(q, distinct(changed, (*entry).account), distinct(changed, (*entry).token))
	return conn.SendBatch(ctx, q).Close()
}

func (r *recorder) decide(b *batch) {
	b.now = r.o.Now().UTC()
	_ = b.decideAll() // all was read: nothing can fail
}

// learn remembers the accounts of a batch that is committed, and the tokens that
// held.
func (r *recorder) learn(b *batch) {
	if len(r.known) > maxKnown {
		clear(r.known)
	}
	for id, a := range b.accounts {
		k := &known{Account: *a, Holdings: b.holdings[id], tokens: map[int64]bool{}}
		if before := r.known[id]; before != nil {
			k.alone = before.Used == a.Used-int(b.claims[id])
			k.shared = !k.alone
			if before.Version == a.Version && len(before.tokens) < maxKnown {
				k.tokens = before.tokens
			}
		}
		r.known[id] = k
	}
	for _, e := range b.entries {
		if k := r.known[e.AccountID]; k != nil && b.tokens[e.TokenID] {
			k.tokens[e.TokenID] = true
		}
	}
}
