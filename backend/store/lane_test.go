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
