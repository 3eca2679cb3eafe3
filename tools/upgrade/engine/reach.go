package engine

import (
	"context"
	"sync/atomic"
	"time"
)

// Reach is how far a step has read, and what it waits for, for those who wait.
type Reach struct {
	Tables, AllTables atomic.Int64
	Bytes, AllBytes   atomic.Int64
	waits             atomic.Pointer[wait]
}

// wait is for something that was looked for in vain.
type wait struct {
	since time.Time
	why   error
}

// shortWait is one that nobody has to be told of.
const shortWait = 5 * time.Second

// watched is the key of a context's Reach.
type watched struct{}

// Watched has Await tell in the host's Reach what it waits for.
func (h *Host) Watched(ctx context.Context) context.Context {
	return context.WithValue(ctx, watched{}, &h.Reach)
}

// wait takes in that something was looked for in vain; nil where it is there.
func (r *Reach) wait(why error) {
	if r == nil {
		return
	}
	if why == nil {
		r.waits.Store(nil)
		return
	}
	since := time.Now()
	if before := r.waits.Load(); before != nil {
		since = before.since
	}
	r.waits.Store(&wait{since, why})
}

// Waits says what is waited for; empty where nothing is, or not for long yet.
func (r *Reach) Waits() string {
	w := r.waits.Load()
	if w == nil || time.Since(w.since) < shortWait {
		return ""
	}
	return w.why.Error()
}

// Begin says how much there is to read.
func (r *Reach) Begin(tables, bytes int64) {
	r.Tables.Store(0)
	r.Bytes.Store(0)
	r.AllTables.Store(tables)
	r.AllBytes.Store(bytes)
}
