package postgres

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// standing is how long a server that did not answer is left alone before one
// transaction tries it again.
const standing = time.Second

// silences are so many transactions without an answer that a server stands.
const silences = 4

// errStands says that the server which has an account does not answer.
var errStands = errors.New("the server of this account does not answer")

// servers are those that have the accounts of a store that is spread. None may take
// all connections: where one stands, the accounts of the others go on.
type servers struct {
	most int // connections that wait for one
	mu   sync.Mutex
	all  map[int64]*server
}

// server is one of them, by Citus's number.
type server struct {
	free chan struct{} // full where it has all connections that it may

	mu     sync.Mutex
	until  time.Time // left alone till then
	silent int       // transactions without an answer, one after the other
}

func (s *servers) get(number int64) *server {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all == nil {
		s.all = map[int64]*server{}
	}
	if s.all[number] == nil {
		s.all[number] = &server{free: make(chan struct{}, s.most)}
	}
	return s.all[number]
}

// enter waits for a connection's place. While a server stands, one at a time tries it.
func (s *server) enter(ctx context.Context) error {
	if !s.mayTry() {
		return errStands
	}
	select {
	case s.free <- struct{}{}:
		return nil
	case <-ctx.Done():
		return errors.Join(errStands, ctx.Err())
	}
}

func (s *server) mayTry() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.until.IsZero() {
		return true
	}
	if time.Now().Before(s.until) {
		return false
	}
	s.until = time.Now().Add(standing)
	return true
}

// note remembers how a transaction on the server ended. Who waits for a lock may get no
// answer either, so several in turn have to.
func (s *server) note(e ending) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch s.silent++; {
	case e == answered:
		s.silent, s.until = 0, time.Time{}
	case e == unreachable || s.silent >= silences:
		s.until = time.Now().Add(standing)
	}
}

// ending is how a transaction ended.
type ending int

const (
	answered ending = iota
	silent
	unreachable
)

// lease is a connection for a transaction on a server.
type lease struct {
	*pgxpool.Conn
	on *server
}

// tell says how a transaction ended.
func (l *lease) tell(err error) {
	switch {
	case l.on == nil:
	case remote(err):
		l.on.note(unreachable)
	case errors.Is(err, context.DeadlineExceeded):
		l.on.note(silent)
	default:
		l.on.note(answered)
	}
}

// Release gives the connection back.
func (l *lease) Release() {
	l.Conn.Release()
	if l.on != nil {
		<-l.on.free
	}
}

// nodeOf is the number of the server that has an account.
const nodeOf = `SELECT groupid FROM pg_dist_placement WHERE shardid = get_shard_id_for_distribution_column('accounts', $1::bigint) LIMIT 1`
