package lane

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
	l := New(func(batch []*Task[int]) {
		if batch[0].Work == 0 {
			begun <- true
			<-end
		}
		is.True(len(batch) <= MaxBatch)
		for _, w := range batch {
			done = append(done, w.Work)
			w.Answer(nil)
		}
	})
	var wg sync.WaitGroup
	wg.Go(func() { is.NoErr(l.Do(t.Context(), 0)) })
	<-begun
	gone, leave := context.WithCancel(t.Context())
	for i := 1; i <= maxQueue; i++ {
		wg.Go(func() {
			if i%2 == 0 {
				is.True(l.Do(gone, i) != nil)
			} else {
				is.NoErr(l.Do(t.Context(), i))
			}
		})
	}
	for l.length() < maxQueue {
		time.Sleep(time.Millisecond)
	}
	is.Equal(api.CodeOf(l.Do(t.Context(), -1)), api.Unavailable) // no more may wait
	leave()
	end <- true
	wg.Wait()
	l.Close()
	l.Close()
	is.True(l.Idle())
	is.Equal(api.CodeOf(l.Do(t.Context(), -1)), api.Unavailable)
	is.Equal(len(done), 1+maxQueue/2) // what nobody waited for was not begun
	is.True(!slices.ContainsFunc(done, func(i int) bool { return i%2 == 0 && i > 0 }))
}

func (l *Lane[T]) length() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.waiting)
}

// TestLaneClosesWhileItRuns closes a lane that has a batch and one waiting task: the
// batch is finished, and the task is told.
func TestLaneClosesWhileItRuns(t *testing.T) {
	is := is.New(t)
	begun, end := make(chan bool), make(chan bool)
	l := New(func(batch []*Task[int]) {
		begun <- true
		<-end
		for _, w := range batch {
			w.Answer(nil)
		}
	})
	var wg sync.WaitGroup
	wg.Go(func() { is.NoErr(l.Do(t.Context(), 0)) })
	<-begun
	wg.Go(func() { is.Equal(api.CodeOf(l.Do(t.Context(), 1)), api.Unavailable) })
	for l.length() < 1 {
		time.Sleep(time.Millisecond)
	}
	closed := make(chan bool)
	go func() {
		l.Close()
		close(closed)
	}()
	for !l.Closed() || l.length() > 0 {
		time.Sleep(time.Millisecond)
	}
	is.True(!l.Idle())
	end <- true
	<-closed
	wg.Wait()
}
