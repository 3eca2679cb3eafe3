// Package client calls the service: over HTTP, or a handler in this process.
// A refusal comes back as the *api.Error that the server made.
package client

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"

	"svc/backend/api"
)

// Limits of every call.
const (
	maxResponse = 64 << 20 // bytes of an answer
	attempts    = 5        // of a call that may be repeated
	firstWait   = 100 * time.Millisecond
	longestWait = 30 * time.Second // of one call; a service that asks for more is not waited for
	timeout     = 90 * time.Second // of one attempt
	// idleConnections are kept for the next calls: of the machines that are worked on at once.
	idleConnections = 16
)

// Options change how a client calls; the zero value is right for most.
type Options struct {
	// UserAgent names the program; "svc" where empty.
	UserAgent string
	// Transport sends the requests; where nil, one that keeps its connections.
	Transport http.RoundTripper
}

// Client calls one service as one account. It is safe for concurrent use.
type Client struct {
	base      string
	token     string
	userAgent string
	http      *http.Client
	line      chan struct{} // holds one while a call waits for the rate limit
	limited   func(waits bool)
}

// ErrPlainHTTP means that a token would have been readable on its way: nothing was sent.
var ErrPlainHTTP = errors.New("a token is never sent over plain HTTP to another machine")

// New makes a client of the service at baseURL, such as
// https://svc.example.org. The token may be "" for the public endpoints alone;
// over plain HTTP it only goes to this machine.
func New(baseURL, token string, o Options) (*Client, error) {
	base, err := url.Parse(baseURL)
	switch {
	case err != nil || base.Host == "" || base.Scheme != "https" && base.Scheme != "http":
		return nil, errors.New("the service's URL must be like https://svc.example.org")
	case base.User != nil || base.RawQuery != "" || base.Fragment != "":
		return nil, errors.New("the service's URL must hold no user, query or fragment")
	case token != "" && base.Scheme == "http" && !isLoopback(base.Hostname()):
		return nil, fmt.Errorf("%w: use https://%s", ErrPlainHTTP, base.Host)
	}
	return newClient(base.JoinPath("/").String(), token, o)
}

// InProcess makes a client of a handler in this process.
func InProcess(h http.Handler, token string) (*Client, error) {
	return newClient("http://localhost/", token, Options{Transport: inProcess{h}})
}

func newClient(base, token string, o Options) (*Client, error) {
	if token != "" {
		if err := api.CheckToken(token); err != nil {
			return nil, err
		}
	}
	o.UserAgent = cmp.Or(o.UserAgent, "svc")
	return &Client{base: base, token: token, userAgent: o.UserAgent, line: make(chan struct{}, 1), limited: func(bool) {}, http: &http.Client{
		Transport: cmp.Or[http.RoundTripper](o.Transport, keeping()), Timeout: timeout,
		// A redirect would carry the token to where nobody sent it.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}, nil
}

// keeping is the transport of all clients: the service speaks HTTP/1.1, in which each
// call that runs has a connection of its own, and Go keeps two of them.
var keeping = sync.OnceValue(func() *http.Transport {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.MaxIdleConnsPerHost = idleConnections
	return t
})

// OnLimit has a function called whenever a call begins to wait for the rate limit, and
// when it goes on. It must be set before the first call.
func (c *Client) OnLimit(limited func(waits bool)) { c.limited = limited }

// Address is the service's URL; "" where it is in this process.
func (c *Client) Address() string {
	if _, here := c.http.Transport.(inProcess); here {
		return ""
	}
	return strings.TrimSuffix(c.base, "/")
}

func isLoopback(host string) bool {
	addr, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && addr.IsLoopback()
}

// Option changes one call.
type Option func(*call)

// WithKey sets the Idempotency-Key of a call that records something: a repeat
// with the same key and body records nothing more. Without it each call gets a
// key of its own, which its retries share.
func WithKey(key string) Option { return func(c *call) { c.key = key } }

// call is one request, however often it is tried.
type call struct {
	method, path string
	body         []byte // nil without one
	key          string
	status       int // of success
}

// Call calls an endpoint. It tries again after a connection error and where
// the service says that a repeat may succeed.
func Call[In, Out any](ctx context.Context, c *Client, e api.Endpoint[In, Out], in In, opts ...Option) (Out, error) {
	var out Out
	path, err := address(e.Path, in)
	if err != nil {
		return out, err
	}
	request := call{method: e.Method, path: path, status: max(e.Status, http.StatusOK)}
	if e.Replay {
		request.key = rand.Text()
	}
	for _, o := range opts {
		o(&request)
	}
	if e.Method == http.MethodPost {
		if request.body, err = json.Marshal(in); err != nil {
			return out, fmt.Errorf("encoding the request: %w", err)
		}
	}
	answer, err := c.inTurn(ctx, request)
	if err != nil {
		return out, err
	}
	if err := json.Unmarshal(answer, &out); err != nil {
		return out, fmt.Errorf("reading the answer of %s %s: %w", e.Method, e.Path, err)
	}
	return out, nil
}

// inTurn makes a call when the rate limit lets it: that is no failure, and a fleet asks
// for more than a small plan has in a minute. While one call waits, all of the client
// wait for it, one after the other: else they would take what it waits for.
func (c *Client) inTurn(ctx context.Context, request call) ([]byte, error) {
	mine := false
	enter := func() error {
		select {
		case c.line <- struct{}{}:
			mine = true
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	defer func() {
		if mine {
			<-c.line
		}
	}()
	if len(c.line) > 0 {
		if err := enter(); err != nil {
			return nil, err
		}
	}
	for waited := time.Duration(0); ; {
		answer, err := c.retry(ctx, request)
		after, limited := slower(err)
		if waited += after; !limited || waited > longestWait || !mine && enter() != nil {
			return answer, err
		}
		if !c.pause(ctx, after) {
			return nil, err
		}
	}
}

// pause waits for the rate limit, and reports whether ctx did not end meanwhile.
func (c *Client) pause(ctx context.Context, after time.Duration) bool {
	c.limited(true)
	defer c.limited(false)
	select {
	case <-time.After(after):
		return true
	case <-ctx.Done():
		return false
	}
}

// slower says whether the rate limit refused a call, and how long to wait for it.
func slower(err error) (after time.Duration, limited bool) {
	var refused *api.Error
	if !errors.As(err, &refused) || refused.Code != api.RateLimited {
		return 0, false
	}
	return time.Duration(max(1, refused.RetryAfter)) * time.Second, true
}

// retry tries a call until it succeeds, is refused for good, or ctx ends.
func (c *Client) retry(ctx context.Context, request call) ([]byte, error) {
	wait := firstWait
	for attempt := 1; ; attempt++ {
		answer, err := c.try(ctx, request)
		after, again := repeats(err)
		if !again || attempt == attempts || after > longestWait || ctx.Err() != nil {
			return answer, err
		}
		select {
		case <-time.After(max(wait, after)):
			wait *= 2
		case <-ctx.Done():
			return nil, err
		}
	}
}

// repeats says whether a repeat may succeed, and after how long.
func repeats(err error) (time.Duration, bool) {
	var refused *api.Error
	var lost *connectionError
	switch {
	case errors.As(err, &lost):
		return 0, true
	case errors.As(err, &refused):
		switch refused.Code {
		case api.Unavailable, api.IdempotencyInFlight:
			return time.Duration(refused.RetryAfter) * time.Second, true
		}
	}
	return 0, false
}

// connectionError means that no whole answer came.
type connectionError struct{ err error }

func (e *connectionError) Error() string { return "calling the service: " + e.err.Error() }
func (e *connectionError) Unwrap() error { return e.err }

// try sends a call once and gives the body of a success.
func (c *Client) try(ctx context.Context, request call) ([]byte, error) {
	r, err := c.request(ctx, request)
	if err != nil {
		return nil, err
	}
	response, err := c.http.Do(r)
	if err != nil {
		return nil, &connectionError{err}
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxResponse+1))
	switch {
	case err != nil:
		return nil, &connectionError{err}
	case len(body) > maxResponse:
		return nil, fmt.Errorf("the service's answer has more than %d bytes", maxResponse)
	case response.StatusCode != request.status:
		return nil, refusal(response, body)
	}
	return body, nil
}

func (c *Client) request(ctx context.Context, request call) (*http.Request, error) {
	r, err := http.NewRequestWithContext(ctx, request.method, c.base+request.path[1:], bytes.NewReader(request.body))
	if err != nil {
		return nil, fmt.Errorf("making the request: %w", err)
	}
	r.Header.Set("Accept", "application/json")
	r.Header.Set("User-Agent", c.userAgent)
	if c.token != "" {
		r.Header.Set("Authorization", "Bearer "+c.token)
	}
	if request.body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	if request.key != "" {
		r.Header.Set("Idempotency-Key", request.key)
	}
	return r, nil
}

// refusal is the server's own error, or what can be said of another's.
func refusal(response *http.Response, body []byte) error {
	refused := new(api.Error)
	if err := json.Unmarshal(body, refused); err != nil || refused.Code == "" {
		refused = &api.Error{Code: foreign[response.StatusCode], Message: "something before the service answered " + response.Status}
		if refused.Code == "" {
			return errors.New(refused.Message)
		}
	}
	refused.RequestID = cmp.Or(refused.RequestID, response.Header.Get("X-Request-Id"))
	// An absent or foreign Retry-After is no time to wait.
	refused.RetryAfter, _ = strconv.Atoi(response.Header.Get("Retry-After"))
	return refused
}

// foreign are the statuses of proxies that mean what one of our codes means.
var foreign = map[int]api.Code{
	http.StatusTooManyRequests:    api.RateLimited,
	http.StatusBadGateway:         api.Unavailable,
	http.StatusServiceUnavailable: api.Unavailable,
	http.StatusGatewayTimeout:     api.Unavailable,
}
