package service

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/matryer/is"
)

// sink counts the writes that reach it.
type sink struct {
	mu     sync.Mutex
	buf    bytes.Buffer
	writes int
}

func (s *sink) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.writes++
	return s.buf.Write(p)
}

func (s *sink) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.buf.String()
}

func (s *sink) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.writes
}

// TestLineBuffer writes from many goroutines: no line is lost, torn or kept.
func TestLineBuffer(t *testing.T) {
	is := is.New(t)
	out := &sink{}
	b := &lineBuffer{w: out}
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range 1000 {
				fmt.Fprintf(b, "%d-%d %s\n", g, i, strings.Repeat("x", 50))
			}
		})
	}
	wg.Wait()
	is.NoErr(b.Close())
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	is.Equal(len(lines), 8000)
	seen := map[string]bool{}
	for _, l := range lines {
		is.True(strings.HasSuffix(l, " "+strings.Repeat("x", 50)))
		seen[l] = true
	}
	is.Equal(len(seen), 8000)
	is.True(out.count() < 1000) // that is what it is for

	for range 2 { // a line alone is written too, the first and the next
		before := len(out.String())
		fmt.Fprintln(b, "alone")
		for deadline := time.Now().Add(5 * time.Second); len(out.String()) == before; time.Sleep(time.Millisecond) {
			is.True(time.Now().Before(deadline))
		}
	}
}
