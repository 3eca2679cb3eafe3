package postgres

import (
	"context"
	"errors"
	"maps"

	"svc/backend/sliced"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"svc/backend/store"
	"svc/backend/store/lane"
	"svc/backend/store/ledger"
)

const (
	// maxKnown bounds the accounts that a process remembers, and the tokens of each.
	maxKnown = 10_000
	// maxTurns is how many batches one account has a connection for: then others that
	// wait get it.
	maxTurns = 64
)

type (
	entry = ledger.Entry
	task  = lane.Task[*entry]
)

// known is what is remembered of an account that was written last.
type known struct {
	ledger.Owner
	writes int64
	// alone says that nobody else wrote between the last two batches, and shared that
	// somebody did.
	alone, shared bool
}

// recorder decides and records the batches of one account.
type recorder struct {
	*postgres
	account int64
	lane    *lane.Lane[*entry]
	known   *known  // nil where nothing is
	on      *server // that has the account; nil where that is not known, or there is one
}

func newRecorder(p *postgres, account int64) *recorder {
	r := &recorder{postgres: p, account: account}
	r.lane = lane.New(r.commit)
	return r
}

// enter hands an entry to the lane of its account.
func (p *postgres) enter(ctx context.Context, e *entry) error {
	if err := p.lost(); err != nil {
		return err
	}
	return p.recorder(e.AccountID).lane.Do(ctx, e)
}

// recorder is that of an account. Those that have nothing to do are forgotten where
// there are many.
func (p *postgres) recorder(account int64) *recorder {
	p.mu.Lock()
	defer p.mu.Unlock()
	if r := p.recorders[account]; r != nil {
		return r
	}
	if len(p.recorders) >= maxKnown {
		maps.DeleteFunc(p.recorders, func(_ int64, r *recorder) bool { return r.lane.Idle() })
	}
	r := newRecorder(p, account)
	if p.closed {
		r.lane.Close()
	} else {
		p.recorders[account] = r
	}
	return r
}

// turn is a batch with those who wait for it.
type turn struct {
	*ledger.Batch
	remembered *known // when the rest was asked for
	identity   string // of the store, where nothing was remembered
	writes     int64  // of the account before
	tasks      []*task
	committed  bool
	err        error // of a commit that the standby did not confirm
}

func newTurn(tasks []*task) *turn {
	return &turn{Batch: ledger.NewBatch(sliced.Map(tasks, func(t *task) *entry { return t.Work })), tasks: tasks}
}

func (t *turn) answer(err error) {
	for _, task := range t.tasks {
		task.Answer(err)
	}
}

// commit answers a batch, and what has come by then.
func (r *recorder) commit(tasks []*task) {
	if len(tasks) == 1 && !r.spread && !r.pooled {
		done, err := r.claim(tasks[0].Work)
		if done {
			tasks[0].Answer(nil)
			return
		}
		if err != nil {
			r.insist(tasks)
			return
		}
	}
	for _, t := range r.stream(tasks) {
		r.insist(t.tasks)
	}
}

// stream records a batch, then what has come by then, and so on. It gives back the
// turns that failed, of which the first may have been committed.
func (r *recorder) stream(tasks []*task) (failed []*turn) {
	ctx, cancel := context.WithTimeout(context.Background(), quickly)
	defer cancel()
	conn, err := r.lease(ctx)
	if err != nil {
		return []*turn{newTurn(tasks)}
	}
	defer conn.Release() // which closes a connection that is still in a transaction
	defer func() { conn.tell(err) }()
	tasks = append(tasks, r.lane.Take(lane.MaxBatch-len(tasks))...)
	if tasks, err = r.takeTurn(ctx, conn.Conn, tasks); err != nil {
		return []*turn{newTurn(tasks)}
	}
	t := newTurn(tasks)
	if err = r.open(ctx, conn.Conn, t, false); err != nil {
		return []*turn{t}
	}
	var done *turn
	for turns := 0; t != nil; turns++ {
		var next *turn
		if next, err = r.pass(conn.Conn, done, t, turns < maxTurns); err != nil {
			failed, next = sliced.Filter([]*turn{t, next}, func(t *turn) bool { return t != nil && !t.committed }), nil
		}
		done, t = t, next
	}
	if done.committed {
		done.answer(done.err)
	}
	return failed
}

// lease takes a connection for a transaction of the account, after it found out which
// server has that.
func (r *recorder) lease(ctx context.Context) (_ *lease, err error) {
	if r.spread && r.on == nil {
		number, err := ledger.One(ctx, reading{numbered{r.pool}}, ledger.Value[int64], nodeOf, r.account)
		if err != nil {
			return nil, err
		}
		r.on = r.servers.get(number)
	}
	return r.acquire(ctx, r.on)
}

// pass commits a turn and opens the next: what that reads travels with the commit,
// so that a turn takes one round trip. Who waited for the turn before is told when
// the database has something to do again.
func (r *recorder) pass(conn *pgxpool.Conn, before, t *turn, goOn bool) (next *turn, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), quickly)
	defer cancel()
	if err := r.decide(ctx, conn, t); err != nil {
		if before != nil {
			before.answer(before.err)
		}
		return nil, err
	}
	q := writes(t.Batch, r.account)
	q.Queue("COMMIT").Exec(func(pgconn.CommandTag) error { t.committed = true; return nil })
	if goOn && !r.shared() {
		if waiting := r.lane.Take(lane.MaxBatch); len(waiting) > 0 {
			next = newTurn(waiting)
			r.begin(q)
			r.reads(q, next, false)
		}
	}
	results := conn.SendBatch(ctx, q)
	if before != nil {
		before.answer(before.err)
	}
	err = results.Close()
	if t.committed {
		t.err = confirmed(conn)
		r.learn(t)
	}
	if err == nil && next != nil {
		err = r.recall(ctx, conn, next)
	}
	return next, err
}

// shared reports whether another process is known to write to the account: then the
// commit of one turn would wait for the lock of the next.
func (r *recorder) shared() bool { return r.known != nil && r.known.shared }

// takeTurn waits for the lock of an account that other processes write to as well,
// and only then takes what has come for it: a batch that was made before would be
// small, and wait as long.
func (r *recorder) takeTurn(ctx context.Context, conn *pgxpool.Conn, tasks []*task) ([]*task, error) {
	if !r.shared() {
		return tasks, nil
	}
	q := &pgx.Batch{}
	r.begin(q)
	q.Queue(lockAccount, r.account)
	if err := conn.SendBatch(ctx, q).Close(); err != nil {
		return tasks, err
	}
	return append(tasks, r.lane.Take(lane.MaxBatch-len(tasks))...), nil
}

// insist answers a batch that may have been recorded. What the database can't take
// as a value is one entry's fault: then each is tried alone.
func (r *recorder) insist(tasks []*task) {
	r.known = nil
	t := newTurn(tasks)
	on := r.on
	r.on = nil // Citus may have moved the account
	err := r.persist(context.Background(), on, func(ctx context.Context, conn *pgxpool.Conn) error {
		t = newTurn(tasks)
		return r.record(ctx, conn, t)
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

// record decides and records a batch in one transaction. The lock makes every
// commit one that a standby has to confirm, so that a batch which only finds what an
// earlier try wrote does not vouch for it too soon.
func (r *recorder) record(ctx context.Context, conn *pgxpool.Conn, t *turn) error {
	if err := r.open(ctx, conn, t, true); err != nil {
		return err
	}
	if err := r.decide(ctx, conn, t); err != nil {
		return err
	}
	q := writes(t.Batch, r.account)
	q.Queue("COMMIT")
	if err := conn.SendBatch(ctx, q).Close(); err != nil {
		return errors.Join(errInDoubt, err)
	}
	if err := confirmed(conn); err != nil {
		return err
	}
	r.learn(t)
	return nil
}

// open locks the account and reads what the decisions of a batch depend on.
func (r *recorder) open(ctx context.Context, conn *pgxpool.Conn, t *turn, again bool) error {
	q := &pgx.Batch{}
	if conn.Conn().PgConn().TxStatus() == idle {
		r.begin(q)
	}
	r.reads(q, t, again)
	if err := conn.SendBatch(ctx, q).Close(); err != nil {
		return err
	}
	return r.recall(ctx, conn, t)
}

// recall completes what a batch read by what was remembered when that was sent, or
// reads it where an operator has changed the account since, or where another store may
// have taken this one's place: accounts stay for ever, and so do their beginnings.
func (r *recorder) recall(ctx context.Context, conn *pgxpool.Conn, t *turn) error {
	k := t.remembered
	switch {
	case k == nil:
		return r.same(t.identity)
	case t.Account != nil && t.Account.Version == k.Account.Version && t.Account.CreatedAt.Equal(k.Account.CreatedAt):
		t.Holdings = k.Holdings
		for _, e := range t.Entries {
			if k.Tokens[e.TokenID] {
				t.Tokens[e.TokenID] = true
			}
		}
		return nil
	}
	q := &pgx.Batch{}
	r.readOwner(q, t, tokensOf(t.Entries))
	if err := conn.SendBatch(ctx, q).Close(); err != nil {
		return err
	}
	return r.same(t.identity)
}

// decide decides a batch, all of which was read.
func (r *recorder) decide(ctx context.Context, conn *pgxpool.Conn, t *turn) (err error) {
	if t.IDs, err = r.ids.take(ctx, conn, len(t.Commands())); err != nil {
		return err
	}
	t.Now = r.o.Now().UTC()
	t.Decide()
	return nil
}

// learn remembers the account of a batch that is committed, and the tokens that held.
func (r *recorder) learn(t *turn) {
	if t.Account == nil || t.err != nil {
		r.known = nil
		return
	}
	k := &known{Owner: ledger.Owner{Account: t.Account, Holdings: t.Holdings, Tokens: map[int64]bool{}}, writes: t.writes}
	if len(t.Events) > 0 {
		k.writes++
	}
	if before := r.known; before != nil {
		k.alone = before.writes == t.writes
		k.shared = !k.alone
		if t.writes < before.writes {
			r.o.Log.Error("the database was set back: an account has less than this service recorded", "account", r.account)
		}
		if before.Account.Version == t.Account.Version && len(before.Tokens) < maxKnown {
			k.Tokens = before.Tokens
		}
	}
	for _, e := range t.Entries {
		if t.Tokens[e.TokenID] {
			k.Tokens[e.TokenID] = true
		}
	}
	r.known = k
}

// tokensOf are the tokens of entries, each once.
func tokensOf(entries []*entry) (tokens []int64) {
	seen := map[int64]bool{0: true}
	for _, e := range entries {
		if !seen[e.TokenID] {
			seen[e.TokenID], tokens = true, append(tokens, e.TokenID)
		}
	}
	return tokens
}

var _ store.Store = (*postgres)(nil)
