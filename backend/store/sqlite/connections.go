package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"

	"svc/backend/store"
	"svc/backend/store/ledger"
)

// sqlRows are rows whose Close can't fail.
type sqlRows struct{ *sql.Rows }

// Close implements rows.
func (r sqlRows) Close() { _ = r.Rows.Close() } // what went wrong, Err says

// readers are connections, each lent to one reader at a time.
type readers struct {
	db    *sql.DB
	free  chan *prepared
	done  chan struct{} // nobody is let in any more
	close func() error  // waits for those who read
	place *place        // is told of damage
}

func newReaders(db *sql.DB, n int, p *place) *readers {
	r := &readers{db: db, free: make(chan *prepared, n), done: make(chan struct{}), place: p}
	r.close = sync.OnceValue(r.end)
	for range n {
		r.free <- &prepared{stmts: map[string]*sql.Stmt{}}
	}
	return r
}

// borrow waits for a connection, and opens it where nobody has used it yet.
func (r *readers) borrow(ctx context.Context) (*prepared, error) {
	select {
	case p := <-r.free:
		if p.conn != nil {
			return p, nil
		}
		conn, err := r.db.Conn(ctx)
		if err != nil {
			r.free <- p
			return nil, fmt.Errorf("reading the store: %w", err)
		}
		p.conn = conn
		return p, nil
	case <-r.done:
		return nil, store.Unavailable("the store is closed")
	case <-ctx.Done():
		return nil, fmt.Errorf("waiting to read the store: %w", ctx.Err())
	}
}

func (r *readers) Query(ctx context.Context, query string, args ...any) (ledger.Rows, error) {
	p, err := r.borrow(ctx)
	if err != nil {
		return nil, err
	}
	found, err := p.Query(ctx, query, args...)
	if err != nil {
		r.place.note(err)
		r.free <- p
		return nil, err
	}
	return lent{found, func() { r.free <- p }, r.place}, nil
}

// lent are rows whose Close gives the connection back.
type lent struct {
	ledger.Rows
	giveBack func()
	place    *place
}

// Err implements rows.
func (l lent) Err() error {
	err := l.Rows.Err()
	l.place.note(err)
	return err
}

// Close implements rows.
func (l lent) Close() {
	l.Rows.Close()
	l.giveBack()
}

// at reads the store as it is at one instant.
func (r *readers) at(ctx context.Context, use func(ledger.Querier) error) error {
	p, err := r.borrow(ctx)
	if err != nil {
		return err
	}
	defer func() { r.free <- p }()
	if _, err := p.Execute(ctx, "BEGIN"); err != nil {
		return fmt.Errorf("reading the store: %w", err)
	}
	defer p.Execute(context.WithoutCancel(ctx), "ROLLBACK") // nothing was written
	err = use(p)
	r.place.note(err)
	return err
}

func (r *readers) end() (err error) {
	close(r.done)
	for range cap(r.free) {
		if p := <-r.free; p.conn != nil {
			err = errors.Join(err, p.close())
		}
	}
	return errors.Join(err, r.db.Close())
}

// prepared prepares each statement once: parsing it would cost more than running
// it. The statements of this package are few; their texts hold no values.
type prepared struct {
	conn  *sql.Conn
	stmts map[string]*sql.Stmt
}

func (p *prepared) stmt(ctx context.Context, query string) (*sql.Stmt, error) {
	if s, ok := p.stmts[query]; ok {
		return s, nil
	}
	s, err := p.conn.PrepareContext(ctx, query)
	if err == nil {
		p.stmts[query] = s
	}
	return s, err
}

func (p *prepared) Query(ctx context.Context, query string, args ...any) (ledger.Rows, error) {
	s, err := p.stmt(ctx, query)
	if err != nil {
		return nil, err
	}
	r, err := s.QueryContext(ctx, args...)
	return sqlRows{r}, err
}

func (p *prepared) Execute(ctx context.Context, query string, args ...any) (int64, error) {
	s, err := p.stmt(ctx, query)
	if err != nil {
		return 0, err
	}
	r, err := s.ExecContext(ctx, args...)
	if err != nil {
		return 0, err
	}
	return r.RowsAffected()
}

// close gives the statements up, too: SQLite keeps a connection that has any, and
// a log that has such a connection.
func (p *prepared) close() (err error) {
	for _, s := range p.stmts {
		err = errors.Join(err, s.Close())
	}
	return errors.Join(err, p.conn.Close())
}
