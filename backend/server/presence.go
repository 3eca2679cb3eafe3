package server

import (
	"net"
	"net/http"
	"sync"
	"time"
)

// presence knows the open connections of a server: those from before it began to
// leave, and those that came since.
type presence struct {
	mu    sync.Mutex
	now   era
	conns [2]map[net.Conn]struct{}
}

type era int

const (
	beforeLeaving era = iota
	whileLeaving
)

func newPresence() *presence {
	return &presence{conns: [2]map[net.Conn]struct{}{{}, {}}}
}

// note is told of each connection what becomes of it.
func (p *presence) note(c net.Conn, state http.ConnState) {
	if state != http.StateNew && state != http.StateClosed {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if state == http.StateNew {
		p.conns[p.now][c] = struct{}{}
		return
	}
	for _, conns := range p.conns {
		delete(conns, c)
	}
}

// leave begins the second era.
func (p *presence) leave() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.now = whileLeaving
}

// await waits until the connections of an era have ended, and no longer than d.
func (p *presence) await(d time.Duration, of era) {
	for end := time.Now().Add(d); time.Now().Before(end) && p.count(of) > 0; time.Sleep(time.Millisecond) {
	}
}

func (p *presence) count(of era) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.conns[of])
}
