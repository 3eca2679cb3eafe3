package service_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/matryer/is"

	"svc/backend/api"
	"svc/backend/client"
)

func timeout(d time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), d)
}

func cutSQLite(dsn string) (path string, ok bool) { return strings.CutPrefix(dsn, "sqlite:") }

func fingerprint() string {
	b := make([]byte, 32)
	_, _ = rand.Read(b) // it never fails
	return hex.EncodeToString(b)
}

// balancer sends each try of a call to another replica, as any balancer before
// the service does, and keeps count of what it got.
type balancer struct {
	hosts     []string
	next      atomic.Int64
	transport *http.Transport

	mu       sync.Mutex
	statuses map[string]int // by status, or "connection"
	slowest  time.Duration  // of the tries
	success  time.Time      // the last
	gap      time.Duration  // the longest between two successes
}

func newBalancer(hosts []string) *balancer {
	return &balancer{hosts: hosts, transport: &http.Transport{MaxIdleConnsPerHost: 100}, statuses: map[string]int{}}
}

// RoundTrip implements http.RoundTripper.
func (b *balancer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.URL.Host = b.hosts[int(b.next.Add(1))%len(b.hosts)]
	begun := time.Now()
	response, err := b.transport.RoundTrip(r)
	b.count(begun, outcome(response, err), err == nil && response.StatusCode == http.StatusOK)
	return response, err
}

// outcome names what became of a try.
func outcome(r *http.Response, err error) string {
	switch {
	case err != nil:
		return "connection"
	case r.StatusCode == http.StatusServiceUnavailable && r.Header.Get("Retry-After") == "":
		return "503 without Retry-After"
	}
	return fmt.Sprint(r.StatusCode)
}

func (b *balancer) count(begun time.Time, outcome string, success bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	b.statuses[outcome]++
	b.slowest = max(b.slowest, now.Sub(begun))
	if !success {
		return
	}
	if !b.success.IsZero() {
		b.gap = max(b.gap, now.Sub(b.success))
	}
	b.success = now
}

// only checks that no try had another outcome.
func (b *balancer) only(t *testing.T, outcomes ...string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	holds := true
	for o := range b.statuses {
		holds = holds && slices.Contains(outcomes, o)
	}
	check(t, holds, "each try ended as one of %v: %v, the slowest after %v, the longest gap %v", outcomes, b.statuses, b.slowest.Round(time.Millisecond), b.gap.Round(time.Millisecond))
}

func (b *balancer) got(outcome string) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.statuses[outcome]
}

func (b *balancer) slow() time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.slowest
}

// load is clients that call the service until they are told to end. Each
// operation is repeated with its key until it is acknowledged.
type load struct {
	*balancer
	clients []*client.Client
	done    chan struct{}
	wg      sync.WaitGroup

	mu     sync.Mutex
	acked  []operation
	begun  map[string]int // operations by fingerprint
	giveUp []error
}

// operation is one call with its answer.
type operation struct {
	fingerprint    string
	event          int64 // 0 where the answer does not say
	claims, answer bool  // whether it is the first of its VM; what the answer said
}

// The size of a load.
const (
	workers  = 48
	pause    = 2 * time.Millisecond // between a worker's operations
	patience = time.Minute          // for one operation: on a busy machine a worker that stands is noticed late
)

// startLoad begins a load on four accounts, which no limit holds.
func (s *service) startLoad(t testing.TB) *load {
	l := &load{balancer: newBalancer(s.addresses()), done: make(chan struct{}), begun: map[string]int{}}
	t.Cleanup(l.transport.CloseIdleConnections)
	for range 4 {
		_, token := s.account(t, "--unlimited")
		c, err := client.New("http://127.0.0.1", token, client.Options{Transport: l.balancer})
		is.New(t).NoErr(err)
		l.clients = append(l.clients, c)
	}
	for i := range workers {
		l.wg.Go(func() { l.work(l.clients[i%len(l.clients)]) })
	}
	return l
}

// end ends the load, when each operation that has begun has its answer.
func (l *load) end(t *testing.T) {
	close(l.done)
	l.wg.Wait()
	check(t, len(l.giveUp) == 0, "each of %d operations was acknowledged in the end; failed: %v", len(l.acked), l.giveUp)
}

func (l *load) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.acked)
}

// work claims VMs, and comes back to each of them.
func (l *load) work(c *client.Client) {
	for {
		vm := fingerprint()
		for i := range 3 {
			select {
			case <-l.done:
				return
			case <-time.After(pause):
			}
			if err := l.operate(c, vm, i == 0, i == 1); err != nil {
				l.mu.Lock()
				l.giveUp = append(l.giveUp, err)
				l.mu.Unlock()
				return
			}
		}
	}
}

// operate does one operation until it is acknowledged.
func (l *load) operate(c *client.Client, vm string, first, enroll bool) error {
	l.mu.Lock()
	l.begun[vm]++
	l.mu.Unlock()
	ctx, cancel := timeout(patience)
	defer cancel()
	key := client.WithKey(rand.Text())
	for {
		o, err := call(ctx, c, vm, enroll, key)
		if err == nil {
			o.claims = first
			l.mu.Lock()
			l.acked = append(l.acked, o)
			l.mu.Unlock()
			return nil
		}
		if code := api.CodeOf(err); ctx.Err() != nil || code != "" && code != api.Unavailable {
			return err
		}
	}
}

func call(ctx context.Context, c *client.Client, vm string, enroll bool, key client.Option) (operation, error) {
	source := api.OS{Distro: "centos", Version: "7"}
	if enroll {
		out, err := client.Call(ctx, c, api.Enroll, api.EnrollRequest{Fingerprint: vm, Source: source}, key)
		return operation{fingerprint: vm, answer: !out.AlreadyLicensed}, err
	}
	out, err := client.Call(ctx, c, api.Usage, api.UsageRequest{
		Kind: api.Migration, Fingerprint: vm, Source: source, Target: &api.OS{Distro: "debian", Version: "12"},
	}, key)
	return operation{fingerprint: vm, event: out.EventID, answer: out.SeatClaimed}, err
}

// losses counts what was acknowledged and is not in the store, and what is
// there twice.
func (l *load) losses(t *testing.T, s *service) (lost, doubled int) {
	seats := map[string]bool{}
	for _, r := range s.query(t, "SELECT fingerprint, kind FROM seats") {
		seats[r[0]] = true
	}
	events, perVM := map[string]bool{}, map[string]int{}
	for _, r := range s.query(t, "SELECT id, fingerprint FROM events") {
		events[r[0]+" "+r[1]] = true
		perVM[r[1]]++
	}
	claims := map[string]int{}
	for _, r := range s.query(t, "SELECT id, fingerprint FROM events WHERE claimed") {
		claims[r[1]]++
	}
	for _, o := range l.acked {
		if !seats[o.fingerprint] || o.event != 0 && !events[fmt.Sprint(o.event, " ", o.fingerprint)] {
			lost++
		}
	}
	for vm, n := range perVM {
		if n > l.begun[vm] || claims[vm] != 1 {
			doubled++
		}
	}
	for vm, n := range l.ackedPerVM() {
		lost += max(0, n-perVM[vm])
	}
	return lost, doubled
}

func (l *load) ackedPerVM() map[string]int {
	n := map[string]int{}
	for _, o := range l.acked {
		n[o.fingerprint]++
	}
	return n
}

// audit checks that the store holds what was acknowledged, and that once.
func (l *load) audit(t *testing.T, s *service) {
	lost, doubled := l.losses(t, s)
	vms := len(slices.Collect(maps.Keys(l.ackedPerVM())))
	check(t, lost == 0 && doubled == 0, "%d operations on %d VMs acknowledged: %d lost, %d doubled", len(l.acked), vms, lost, doubled)
	wrong := slices.DeleteFunc(slices.Clone(l.acked), func(o operation) bool { return o.claims == o.answer })
	check(t, len(wrong) == 0, "each first operation on a VM was told of its seat, and no other: %d wrong", len(wrong))
	s.consistent(t)
}

// slowRequest is an enroll of which the server has half.
type slowRequest struct {
	vm     string
	body   *halves
	answer chan error
}

// halves is a body whose second half waits.
type halves struct {
	parts [2]*bytes.Reader
	sent  chan struct{} // closed when the first half was read
	send  chan struct{}
	once  sync.Once
}

// Read implements io.Reader.
func (h *halves) Read(p []byte) (int, error) {
	if h.parts[0].Len() > 0 {
		return h.parts[0].Read(p)
	}
	h.once.Do(func() { close(h.sent) })
	<-h.send
	return h.parts[1].Read(p)
}

// startSlow sends the first half of an enroll to an address.
func (l *load) startSlow(t *testing.T, address, token string) *slowRequest {
	vm := fingerprint()
	l.mu.Lock()
	l.begun[vm]++
	l.mu.Unlock()
	text := []byte(`{"vm_fingerprint":"` + vm + `","source":{"distro":"centos","version":"7"}}`)
	body := &halves{
		parts: [2]*bytes.Reader{bytes.NewReader(text[:20]), bytes.NewReader(text[20:])},
		sent:  make(chan struct{}), send: make(chan struct{}),
	}
	r, err := http.NewRequest(http.MethodPost, "http://"+address+"/v1/enroll", body)
	is.New(t).NoErr(err)
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Content-Type", "application/json")
	s := &slowRequest{vm, body, make(chan error, 1)}
	go func() { s.answer <- roundTrip(r) }()
	<-body.sent
	return s
}

// roundTrip sends a request over a connection of its own, once.
func roundTrip(r *http.Request) error {
	response, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(r)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("status %s", response.Status)
	}
	return nil
}

// finish sends the rest of a request and waits for its answer.
func (l *load) finish(s *slowRequest) error {
	close(s.body.send)
	err := <-s.answer
	if err == nil {
		l.mu.Lock()
		l.acked = append(l.acked, operation{fingerprint: s.vm, claims: true, answer: true})
		l.mu.Unlock()
	}
	return err
}
