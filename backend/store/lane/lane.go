// Package lane has what waits done together, one batch after the other: so a
// synchronisation of the disk, or a question to a server, is one for many.
package lane

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"

	"svc/backend/store"
)

// Limits of a lane.
const (
	MaxBatch = 256  // tasks that are done together
	maxQueue = 4096 // tasks that wait
)

// Lane has what waits done together, one batch after the other: so a synchronisation
// of the disk costs each task little, and nobody waits for a lock that a neighbour
// holds. A lane that has nothing to do costs nothing but its memory.
type Lane[T any] struct {
	commit func([]*Task[T])
	ended  *sync.Cond

	mu      sync.Mutex
	waiting []*Task[T]
	running bool
	closed  bool
}

// Task is a piece of work that waits for its answer.
type Task[T any] struct {
	Work   T
	ctx    context.Context
	result chan error
}

// NewTask is a task that somebody waits for while the context lasts.
func NewTask[T any](ctx context.Context, work T) *Task[T] {
	return &Task[T]{work, ctx, make(chan error, 1)}
}

// Answer ends a task, once.
func (t *Task[T]) Answer(err error) { t.result <- err }

// Wait waits for the answer. A task that has begun is finished even where the caller
// is gone.
func (t *Task[T]) Wait() error {
	select {
	case err := <-t.result:
		return err
	case <-t.ctx.Done():
		return fmt.Errorf("waiting for the store: %w", t.ctx.Err())
	}
}

// New makes a lane. Commit answers every task of a batch, and what it took of the
// lane meanwhile.
func New[T any](commit func([]*Task[T])) *Lane[T] {
	l := &Lane[T]{commit: commit}
	l.ended = sync.NewCond(&l.mu)
	return l
}

// Do queues work and waits for its answer.
func (l *Lane[T]) Do(ctx context.Context, work T) error {
	t := NewTask(ctx, work)
	if err := l.add(t); err != nil {
		return err
	}
	return t.Wait()
}

func (l *Lane[T]) add(t *Task[T]) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.closed:
		return errClosed()
	case len(l.waiting) >= maxQueue:
		return store.Unavailable("too many requests are waiting")
	}
	l.waiting = append(l.waiting, t)
	if !l.running {
		l.running = true
		go l.run()
	}
	return nil
}

func errClosed() error { return store.Unavailable("the store is closed") }

// run does what waits until nothing does.
func (l *Lane[T]) run() {
	for {
		if batch := l.Take(MaxBatch); len(batch) > 0 {
			l.commit(batch)
		} else if l.rest() {
			return
		}
	}
}

// rest ends the running of a lane that has nothing to do.
func (l *Lane[T]) rest() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.waiting) > 0 {
		return false
	}
	l.running = false
	l.ended.Broadcast()
	return true
}

// Take takes some of what waits, and drops what nobody waits for any more. Who is about
// to queue a task goes first: who is woken runs before them.
func (l *Lane[T]) Take(most int) (batch []*Task[T]) {
	runtime.Gosched()
	l.mu.Lock()
	defer l.mu.Unlock()
	n := min(most, len(l.waiting))
	batch, l.waiting = l.waiting[:n:n], l.waiting[n:]
	return slices.DeleteFunc(batch, func(t *Task[T]) bool { return t.ctx.Err() != nil })
}

// Idle reports whether nothing waits and nothing is done.
func (l *Lane[T]) Idle() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return !l.running
}

// Close lets nothing more in, and waits for the batch that has begun.
func (l *Lane[T]) Close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	for _, t := range l.waiting {
		t.Answer(errClosed())
	}
	l.waiting = nil
	for l.running {
		l.ended.Wait()
	}
}

// Closed reports whether nothing more is let in.
func (l *Lane[T]) Closed() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.closed
}
