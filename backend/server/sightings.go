package server

import (
	"sync"
	"time"

	"svc/backend/store"
)

// Bounds of what is remembered of tokens.
const (
	sightingTime = time.Second
	maxSightings = 100_000
)

// sightings are the tokens that were found to hold a moment ago. Who relies on
// one must check the token again with what it does: an operator's change holds at
// once.
type sightings struct {
	mu  sync.Mutex
	all map[[32]byte]sighting
}

type sighting struct {
	store.Principal
	until time.Time
}

func (s *sightings) find(hash [32]byte) (store.Principal, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	found, ok := s.all[hash]
	return found.Principal, ok && time.Now().Before(found.until)
}

func (s *sightings) keep(hash [32]byte, who store.Principal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.all) >= maxSightings || s.all == nil {
		s.all = map[[32]byte]sighting{}
	}
	s.all[hash] = sighting{who, time.Now().Add(sightingTime)}
}
