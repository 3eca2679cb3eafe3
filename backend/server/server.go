// Package server is the HTTP side of the service: every route of package api,
// behind one handler. It knows HTTP statuses and nothing of SQL.
package server

import (
	"cmp"
	"crypto/ed25519"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"svc/backend/advisory"
	"svc/backend/api"
	"svc/backend/index"
	"svc/backend/store"
)

// Config is what a server needs.
type Config struct {
	Store store.Store
	Index *index.Index
	// Feeds are the advisories; none where nil.
	Feeds *advisory.Feeds
	// Key signs attestations; there must be one.
	Key ed25519.PrivateKey
	// Rates are the requests a minute by plan; DefaultRates where nil.
	Rates map[api.Plan]int
	// Now is the time; time.Now where nil.
	Now func() time.Time
	// Log gets a line for each request; nothing is logged where nil.
	Log *slog.Logger
	// Version and Commit of the program.
	Version, Commit string
}

// Server is the service's http.Handler.
type Server struct {
	cfg      Config
	mux      *http.ServeMux
	limits   *limiter
	seen     sightings
	running  sync.Map // keys under which somebody is being answered, accountKey
	meters   *meters
	lost     *endpoint   // has the requests that no route matches
	leaving  atomic.Bool // connections end, and nobody should be sent here
	draining atomic.Bool // requests are refused
	document func() ([]byte, error)
}

// New makes a server.
func New(c Config) *Server {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Rates == nil {
		c.Rates = DefaultRates
	}
	c.Log, c.Feeds = cmp.Or(c.Log, slog.New(slog.DiscardHandler)), cmp.Or(c.Feeds, new(advisory.Feeds))
	s := &Server{cfg: c, mux: http.NewServeMux(), limits: newLimiter(c.Rates), meters: newMeters()}
	s.lost = s.endpoint(route{status: http.StatusNotFound})
	s.document = sync.OnceValues(func() ([]byte, error) { return document(s.routes()) })
	for _, r := range s.routes() {
		e := s.endpoint(r)
		s.mux.Handle(e.pattern, e)
	}
	return s
}

// Drain makes the server refuse new work and say that it is not ready.
func (s *Server) Drain() { s.draining.Store(true) }
