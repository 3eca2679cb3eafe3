package server

import (
	"context"
	"sync"
	"time"
)

// workTimeout is how long a request waits for a store that does not answer. The
// store itself tries a write for 12 seconds, and knows better what became of it.
const workTimeout = 14 * time.Second

// patience is a request's context that ends after a time. Its clock starts when
// somebody asks for its end: most answers wait for nothing, and a timer costs as
// much as the whole of some.
type patience struct {
	request context.Context
	start   sync.Once
	timed   context.Context
	cancel  context.CancelFunc
}

func (p *patience) begun() context.Context {
	p.start.Do(func() { p.timed, p.cancel = context.WithTimeout(p.request, workTimeout) })
	return p.timed
}

// end releases the timer, if there is one.
func (p *patience) end() {
	p.start.Do(func() { p.timed, p.cancel = p.request, func() {} })
	p.cancel()
}

// The methods of context.Context.
func (p *patience) Deadline() (time.Time, bool) { return p.begun().Deadline() }
func (p *patience) Done() <-chan struct{}       { return p.begun().Done() }
func (p *patience) Err() error                  { return p.begun().Err() }
func (p *patience) Value(key any) any           { return p.begun().Value(key) }
