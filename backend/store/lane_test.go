package store

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/matryer/is"

	"svc/backend/api"
)

// TestLane fills a lane whose first batch does not end.
func TestLane(t *testing.T) {
	is := is.New(t)
	begun, end := make(chan bool), make(chan bool)
	var done []int
	l := newLane(func(batch []*task[int]) {
		if batch[0].work == 0 {
			begun <- true
			<-end
		}
		is.True(len(batch) <= maxBatch)
		for _, w := range batch {
			done = append(done, w.work)
			w.result <- nil
		}
	})
	var wg sync.WaitGroup
	wg.Go(func() { is.NoErr(l.do(t.Context(), 0)) })
	<-begun
	gone, leave := context.WithCancel(t.Context())
	for i := 1; i <= maxQueue; i++ {
		wg.Go(func() {
			if i%2 == 0 {
				is.True(l.do(gone, i) != nil)
			} else {
				is.NoErr(l.do(t.Context(), i))
			}
		})
	}
	for len(l.queue) < maxQueue {
		time.Sleep(time.Millisecond)
	}
	is.Equal(api.CodeOf(l.do(t.Context(), -1)), api.Unavailable) // no more may wait
	leave()
	end <- true
	wg.Wait()
	l.close()
	l.close()
	is.Equal(api.CodeOf(l.do(t.Context(), -1)), api.Unavailable)
	is.Equal(len(done), 1+maxQueue/2) // what nobody waited for was not begun
	is.True(!slices.ContainsFunc(done, func(i int) bool { return i%2 == 0 && i > 0 }))
}

// TestLaneLeaves has a batch take more once it has begun: up to what it does not
// want, which is the next batch's first.
func TestLaneLeaves(t *testing.T) {
	is := is.New(t)
	begun, end := make(chan bool), make(chan bool)
	var batches [][]int
	var l *lane[int]
	l = newLane(func(batch []*task[int]) {
		if batch[0].work == 0 {
			begun <- true
			<-end
			batch = l.gather(batch, func(n int) bool { return n%2 == 0 })
		}
		batches = append(batches, column(batch, func(w *task[int]) int { return w.work }))
		for _, w := range batch {
			w.result <- nil
		}
	})
	var wg sync.WaitGroup
	wg.Go(func() { is.NoErr(l.do(t.Context(), 0)) })
	<-begun
	for i, n := range []int{2, 1, 4} {
		wg.Go(func() { is.NoErr(l.do(t.Context(), n)) })
		for len(l.queue) <= i {
			time.Sleep(time.Millisecond)
		}
	}
	end <- true
	wg.Wait()
	l.close()
	is.Equal(batches, [][]int{{0, 2}, {1, 4}})
}
