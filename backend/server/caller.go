package server

import (
	"crypto/sha256"
	"net/http"
	"sync"

	"svc/backend/api"
	"svc/backend/lazyregexp"
	"svc/backend/store"
)

// caller is who asks, and under which idempotency key.
type caller struct {
	store.Principal
	token   [32]byte // its hash
	replay  *store.Replay
	running *sync.Map // the keys under which somebody is being answered
}

// accountKey is an idempotency key, which is its account's own.
type accountKey struct {
	account int64
	key     string
}

// begin refuses a request whose idempotency key another one has that is being answered;
// end makes room for the next. Between replicas the store decides: there a repeat waits
// for the first.
func (c caller) begin() (end func(), err error) {
	if c.replay == nil {
		return func() {}, nil
	}
	key := accountKey{c.AccountID, c.replay.Key}
	if _, taken := c.running.LoadOrStore(key, nil); taken {
		refused := api.Errorf(api.IdempotencyInFlight, "a request with this Idempotency-Key is being answered; nothing was recorded for this one: repeat it to get that answer")
		refused.RetryAfter = 1
		return nil, refused
	}
	return func() { c.running.Delete(key) }, nil
}

var idempotencyKey = lazyregexp.New(`^[\x21-\x7e]{1,255}$`)

// read decodes the request into the struct that in points to, and checks it.
// The idempotency key counts only where the route replays. A public route takes
// any query: probes of its health add what keeps caches away.
func (c *caller) read(w http.ResponseWriter, r *http.Request, replays bool, in any) error {
	if r.Method == http.MethodPost {
		body, err := readBody(w, r)
		if err != nil {
			return err
		}
		if err := decode(body, in); err != nil {
			return err
		}
		if replays {
			if c.replay, err = replay(r, body); err != nil {
				return err
			}
		}
	}
	if err := readFields(r, in, c.AccountID != 0); err != nil {
		return err
	}
	if checked, ok := in.(interface{ Check() error }); ok {
		return checked.Check()
	}
	return nil
}

// replay is the request's idempotency key; nil without one. The route is part
// of what a repeat must match.
func replay(r *http.Request, body []byte) (*store.Replay, error) {
	keys := r.Header.Values("Idempotency-Key")
	switch {
	case len(keys) == 0:
		return nil, nil
	case len(keys) > 1 || !idempotencyKey.MatchString(keys[0]):
		return nil, malformed("Idempotency-Key must be one of 1 to %d visible ASCII characters", api.MaxKey)
	}
	h := sha256.New()
	h.Write([]byte(r.URL.Path + "\n"))
	h.Write(body)
	return &store.Replay{Key: keys[0], BodyHash: [32]byte(h.Sum(nil))}, nil
}
