package server

import (
	"bytes"
	"context"
	"net/http"
	"time"
)

// readyTimeout bounds how long a probe waits for the store.
const readyTimeout = 2 * time.Second

// Operations is the handler for the people who run the service: /metrics and
// /ready. It asks for no token, so it is served on a listener of its own.
func (s *Server) Operations() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /metrics", s.measured)
	mux.HandleFunc("GET /ready", s.ready)
	return mux
}

// ready says whether work may be sent here.
func (s *Server) ready(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	if s.leaving.Load() || s.draining.Load() {
		answerReady(w, http.StatusServiceUnavailable, "draining")
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), readyTimeout)
	defer cancel()
	if err := s.cfg.Store.Ready(ctx); err != nil {
		s.cfg.Log.Error("the store is not ready", "cause", err)
		answerReady(w, http.StatusServiceUnavailable, "store")
		return
	}
	answerReady(w, http.StatusOK, "ready")
}

func answerReady(w http.ResponseWriter, status int, state string) {
	w.WriteHeader(status)
	_, _ = w.Write([]byte(`{"status":"` + state + `"}`))
}

// measured answers /metrics.
func (s *Server) measured(w http.ResponseWriter, r *http.Request) {
	var all bytes.Buffer
	s.meters.write(&all)
	s.writeShards(r.Context(), &all)
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	_, _ = helps.WriteString(w, all.String())
}
