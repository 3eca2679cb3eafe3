package store

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
)

// Limits of a lane.
const (
	maxBatch = 256  // writes that share one commit
	maxQueue = 4096 // writes that wait
)

// lane hands whatever waits to one goroutine, which answers it all with one
// commit: so a synchronisation of the disk costs each write little, and nobody
// waits for a lock that a neighbour holds.
type lane[T any] struct {
	queue chan *task[T]
	left  *task[T]      // taken from the queue for the next batch
	done  chan struct{} // nothing more is let in
	ended chan struct{} // nothing more is answered
	once  sync.Once
	// answers are those that commit leaves to others.
	answers sync.WaitGroup
}

// task is one write that waits for its commit.
type task[T any] struct {
	ctx    context.Context
	work   T
	result chan error
}

// newLane starts a lane. Commit answers every task of a batch, or has them answered
// while it does the next one.
func newLane[T any](commit func([]*task[T])) *lane[T] {
	l := &lane[T]{queue: make(chan *task[T], maxQueue), done: make(chan struct{}), ended: make(chan struct{})}
	go l.run(commit)
	return l
}

// do queues a write and waits for its commit. A write that has begun is finished
// even where the caller is gone.
func (l *lane[T]) do(ctx context.Context, work T) error {
	w := &task[T]{ctx, work, make(chan error, 1)}
	select {
	case <-l.done:
		return unavailable("the store is closed")
	case l.queue <- w:
	default:
		return unavailable("too many requests are waiting")
	}
	select {
	case err := <-w.result:
		return err
	case <-ctx.Done():
		return fmt.Errorf("waiting for the store: %w", ctx.Err())
	case <-l.ended:
		return l.last(w)
	}
}

// last is the answer of a lane that has ended: the batch that it ended with may
// have had the write.
func (l *lane[T]) last(w *task[T]) error {
	select {
	case err := <-w.result:
		return err
	default:
		return unavailable("the store is closed")
	}
}

func (l *lane[T]) run(commit func([]*task[T])) {
	defer close(l.ended)
	defer l.answers.Wait()
	for first := l.next(); first != nil; first = l.next() {
		if batch := l.gather([]*task[T]{first}, func(T) bool { return true }); len(batch) > 0 {
			commit(batch)
		}
	}
}

// next waits for a task; nil where nothing more is to be done.
func (l *lane[T]) next() (first *task[T]) {
	if l.closed() {
		return nil
	}
	if first, l.left = l.left, nil; first != nil {
		return first
	}
	select {
	case <-l.done:
		return nil
	case first = <-l.queue:
		return first
	}
}

// gather adds to a batch what else waits, up to the first that is not wanted, and
// drops what nobody waits for any more. Who is about to queue a write goes first:
// a lane that is woken runs before them.
func (l *lane[T]) gather(batch []*task[T], wanted func(T) bool) []*task[T] {
	runtime.Gosched()
	for len(batch) < maxBatch && len(l.queue) > 0 && l.left == nil {
		if w := <-l.queue; wanted(w.work) { // nobody else takes from the queue
			batch = append(batch, w)
		} else {
			l.left = w
		}
	}
	return slices.DeleteFunc(batch, func(w *task[T]) bool { return w.ctx.Err() != nil })
}

// more waits for tasks to add to a batch, or for a turn.
func (l *lane[T]) more(turn chan<- struct{}) (some []*task[T], ours bool) {
	select {
	case turn <- struct{}{}:
		return nil, true
	case first := <-l.queue:
		return l.gather([]*task[T]{first}, func(T) bool { return true }), false
	}
}

// close lets nothing more in, and waits for the batch that has begun.
func (l *lane[T]) close() {
	l.once.Do(func() { close(l.done) })
	<-l.ended
}

// closed reports whether nothing more is let in.
func (l *lane[T]) closed() bool {
	select {
	case <-l.done:
		return true
	default:
		return false
	}
}
