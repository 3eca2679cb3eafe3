package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	victoria "github.com/VictoriaMetrics/metrics"

	"svc/backend/api"
	"svc/backend/store"
)

// ServeHTTP answers one request: it finds the route, authenticates, limits,
// decodes and checks, calls the route's function and encodes what that gives.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x := &exchange{ResponseWriter: w, id: requestID(r.Header.Get("X-Request-Id")), method: r.Method, at: s.lost}
	h := w.Header()
	h["X-Request-Id"], h["X-Content-Type-Options"], h["Cache-Control"] = []string{x.id}, noSniff, noStore
	s.meters.running.Inc()
	defer s.finish(x, r, time.Now())
	x.said.exchange = x
	s.mux.ServeHTTP(&x.said, r)
	if x.at == s.lost {
		s.fail(x, unroutable(h, x.said.header.Get("Allow"), r.Method))
	}
}

// muxAnswer is what an endpoint gets to answer with. What the mux says itself, where
// no route matches, is text, or sends the caller elsewhere: its headers are kept
// apart, and no more.
type muxAnswer struct {
	exchange *exchange
	header   http.Header
}

// The methods of http.ResponseWriter.
func (a *muxAnswer) Write(b []byte) (int, error) { return len(b), nil }
func (a *muxAnswer) WriteHeader(int)             {}
func (a *muxAnswer) Header() http.Header {
	if a.header == nil {
		a.header = http.Header{}
	}
	return a.header
}

// endpoint is a route in the mux. What its requests have in common is prepared.
type endpoint struct {
	route
	server  *Server
	pattern string
	log     slog.Handler
	seconds *victoria.PrometheusHistogram
	done    *victoria.Counter // of the route's own status
}

func (s *Server) endpoint(r route) *endpoint {
	pattern := strings.TrimSpace(r.method + " " + r.path)
	return &endpoint{
		route: r, server: s, pattern: pattern,
		log:     s.cfg.Log.Handler().WithAttrs([]slog.Attr{slog.String("route", pattern)}),
		seconds: s.meters.seconds(pattern), done: s.meters.count(requestsTotal, "route", pattern, "status", strconv.Itoa(r.status)),
	}
}

// answered counts the requests that were answered so.
func (e *endpoint) answered(status int) *victoria.Counter {
	if status == e.status {
		return e.done
	}
	return e.server.meters.count(requestsTotal, "route", e.pattern, "status", strconv.Itoa(status))
}

// ServeHTTP answers a request that the mux matched; w is always a *muxAnswer.
func (e *endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x := w.(*muxAnswer).exchange
	x.at = e
	out, err := e.server.answer(x, r, e.route)
	if err != nil {
		e.server.fail(x, err)
		return
	}
	if answer, ok := out.(streamed); ok {
		e.server.stream(x, r, e.status, answer)
		return
	}
	e.server.write(x, e.status, out)
}

func (s *Server) answer(x *exchange, r *http.Request, route route) (any, error) {
	if route.auth == api.Public {
		return route.answer(x.ResponseWriter, r, caller{})
	}
	if s.draining.Load() {
		return nil, unavailable("the service is stopping here: try again")
	}
	hash, err := bearer(r.Header)
	if err != nil {
		return nil, err
	}
	if route.rechecks {
		if who, ok := s.seen.find(hash); ok {
			return s.answerSeen(x, r, route, caller{Principal: who, token: hash})
		}
	}
	who, err := s.authenticate(r.Context(), hash)
	if err != nil {
		return nil, err
	}
	if route.rechecks {
		s.seen.keep(hash, who)
	}
	return s.answerTo(x, r, route, caller{Principal: who, token: hash})
}

// answerSeen answers the owner of a token that held a moment ago; one that no longer
// does comes before what else is wrong, and so does the limit of a plan that is new.
func (s *Server) answerSeen(x *exchange, r *http.Request, route route, who caller) (any, error) {
	out, err := s.answerTo(x, r, route, who)
	if err == nil {
		return out, nil
	}
	now, denied := s.authenticate(r.Context(), who.token)
	switch {
	case denied != nil:
		return nil, denied
	case api.CodeOf(err) == api.RateLimited && now.Plan != who.Plan: // nothing of the body was read
		s.seen.keep(who.token, now)
		return s.answerTo(x, r, route, caller{Principal: now, token: who.token})
	}
	return nil, err
}

// answerTo answers the owner of a token.
func (s *Server) answerTo(x *exchange, r *http.Request, route route, who caller) (any, error) {
	x.account, who.running = who.AccountID, &s.running
	if route.auth == api.Internal && who.Plan != api.PlanInternal {
		return nil, api.Errorf(api.InternalPlanRequired, "only accounts of the plan internal may do this")
	}
	if err := s.limits.take(x.Header(), who.AccountID, who.Plan, s.cfg.Now); err != nil {
		return nil, err
	}
	return route.answer(x.ResponseWriter, r, who)
}

// unroutable says why no route matched, with the methods that would.
func unroutable(h http.Header, allow, method string) error {
	if allow == "" {
		return api.Errorf(api.NotFound, "there is no such route; GET /v1/openapi.json lists all")
	}
	h.Set("Allow", allow)
	return api.Errorf(api.MethodNotAllowed, "this route does not take %.20q: it takes %s", method, allow)
}

// fail answers with an error: the one place where errors become statuses.
func (s *Server) fail(x *exchange, err error) {
	refused := asError(err)
	refused.RequestID = x.id
	s.meters.count(refusalsTotal, "code", string(refused.Code)).Inc()
	h := x.Header()
	if refused.RetryAfter > 0 {
		h.Set("Retry-After", strconv.Itoa(refused.RetryAfter))
	}
	switch {
	case refused.Code == api.Unauthenticated:
		h.Set("WWW-Authenticate", "Bearer")
	case refused.Status() >= http.StatusInternalServerError && !errors.Is(err, context.Canceled): // the caller has gone
		x.cause = err
	}
	s.write(x, refused.Status(), refused)
}

// asError is the error that the caller sees: a copy, as some are shared.
func asError(err error) *api.Error {
	var refused *api.Error
	switch {
	case errors.As(err, &refused):
		shown := *refused
		return &shown
	case errors.Is(err, store.ErrTokenDisabled):
		return unauthenticated()
	case errors.Is(err, store.ErrNotFound):
		return api.Errorf(api.NotFound, "there is nothing with this id")
	case errors.Is(err, store.ErrNoStagedRelease):
		return api.Errorf(api.NoStagedRelease, "this channel has no staged release; nothing was changed: stage one first")
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return unavailable("the request ended before it was answered: try again")
	}
	return api.Errorf(api.Internal500, "the service failed: try again later, and report the request id if it stays")
}

func unavailable(message string) *api.Error {
	e := api.Errorf(api.Unavailable, "%s", message)
	e.RetryAfter = 1
	return e
}

// finish answers for a panic, then counts and logs the request. Neither the
// token nor the body nor a whole fingerprint is ever logged.
func (s *Server) finish(x *exchange, r *http.Request, start time.Time) {
	s.meters.running.Dec()
	p := recover()
	if p == http.ErrAbortHandler {
		defer panic(p) // the connection ends, once that is noted
	} else if p != nil {
		err := fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		if x.status == 0 {
			s.fail(x, err)
		}
		x.cause = err
	}
	end := time.Now()
	x.at.answered(x.status).Inc()
	x.at.seconds.Update(end.Sub(start).Seconds())
	level := slog.LevelInfo
	if x.cause != nil {
		level = slog.LevelError
	}
	if x.at.log.Enabled(r.Context(), level) {
		_ = x.at.log.Handle(r.Context(), x.record(level, end, end.Sub(start))) // as of any log, there is nobody to tell
	}
}

// record is the log's line of an exchange. It is made here and not by a
// slog.Logger, which would look for the line of code and read the clock once more.
// A record has room for five attributes; its route is the endpoint's.
func (x *exchange) record(level slog.Level, end time.Time, took time.Duration) slog.Record {
	line := slog.NewRecord(end, level, "request", 0)
	line.AddAttrs(
		slog.String("method", x.method), slog.Int("status", x.status),
		slog.Int64("account", x.account), slog.Duration("took", took), slog.String("request_id", x.id),
	)
	if x.cause != nil {
		line.AddAttrs(slog.String("cause", x.cause.Error()))
	}
	return line
}

// authenticate finds who asks. The store bounds how long that takes.
func (s *Server) authenticate(ctx context.Context, hash [32]byte) (store.Principal, error) {
	who, err := s.cfg.Store.Authenticate(ctx, hash)
	if errors.Is(err, store.ErrNotFound) {
		return store.Principal{}, unauthenticated()
	}
	return who, err
}

// bearer is the hash of a request's token.
func bearer(h http.Header) (hash [32]byte, err error) {
	sent := h["Authorization"]
	if len(sent) != 1 {
		return hash, unauthenticated()
	}
	scheme, token, _ := strings.Cut(sent[0], " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return hash, unauthenticated()
	}
	token = strings.TrimLeft(token, " ")
	if api.CheckToken(token) != nil {
		return hash, unauthenticated()
	}
	return api.TokenHash(token), nil
}

// unauthenticated is the same for a token that is missing, malformed, unknown
// and disabled.
func unauthenticated() *api.Error {
	return api.Errorf(api.Unauthenticated, "a valid API token is needed: send Authorization: Bearer svc_…")
}
