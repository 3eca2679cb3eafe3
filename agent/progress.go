package agent

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"svc/backend/visible"
)

const (
	heartbeat = 4 * time.Second        // between reports, at most: clients give up on who is silent
	breath    = 200 * time.Millisecond // between reports, at least
)

// progress reports to a client that asked for it, often enough that it does not
// give up and no oftener than it can read. What it counts are its reports, since
// a client wants numbers that only rise, and steps count anew each.
type progress struct {
	send func(n float64, message string)
	mu   sync.Mutex
	n    float64
	what string
	last time.Time
}

// newProgress starts to report for the call of a request; nil where the client
// does not want that. It ends with ctx.
func newProgress(ctx context.Context, req *mcp.CallToolRequest) *progress {
	token := req.Params.GetProgressToken()
	if token == nil {
		return nil
	}
	p := &progress{what: "working", send: func(n float64, message string) {
		// A client that stopped listening is no reason to stop the work.
		_ = req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: token, Message: message, Progress: n})
	}}
	go p.beat(ctx)
	return p
}

// beat repeats the last report while nothing new comes.
func (p *progress) beat(ctx context.Context) {
	tick := time.NewTicker(heartbeat)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			p.mu.Lock()
			p.now()
			p.mu.Unlock()
		case <-ctx.Done():
			return
		}
	}
}

// report says how far a step is; a total below zero is one that nobody knows.
func (p *progress) report(what string, done, total int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.what = fmt.Sprintf("%s: %d of %d", what, done, total)
	if total < 0 {
		p.what = fmt.Sprintf("%s: %d", what, done)
	}
	if time.Since(p.last) >= breath {
		p.now()
	}
}

// now sends what was last reported; the caller holds the lock.
func (p *progress) now() {
	p.n++
	p.last = time.Now()
	p.send(p.n, visible.Text(p.what))
}
