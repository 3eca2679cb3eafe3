package server

import (
	"crypto/sha256"
	"net/http"

	"svc/backend/api"
	"svc/backend/api/lazyregexp"
	"svc/backend/store"
)

// caller is who asks, and under which idempotency key.
type caller struct {
	store.Principal
	token  [32]byte // its hash
	replay *store.Replay
}

var idempotencyKey = lazyregexp.New(`^[\x21-\x7e]{1,255}$`)

// read decodes the request into the struct that in points to, and checks it.
// The idempotency key counts only where the route replays.
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
	if err := readFields(r, in); err != nil {
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
