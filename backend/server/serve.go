package server

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"sync"
)

// ServeConfig says where a server listens.
type ServeConfig struct {
	// Listen is the address of the service; port 0 picks one.
	Listen string
	// MetricsListen is the address of the operations handler; none where empty.
	MetricsListen string
	// Inherited are open sockets of the service, and InheritedMetrics of the operations
	// handler, that whoever started the process keeps: they take the place of the
	// addresses, and what waits in them when this server ends is the next one's.
	Inherited, InheritedMetrics []net.Listener
	// TLSCert and TLSKey are PEM files; plain HTTP where both are empty.
	TLSCert, TLSKey string
	// Ready, where it is not nil, is told the address once the service answers.
	Ready func(addr net.Addr)
}

// Serve answers requests until ctx ends, then finishes those that run and
// returns nil.
func (s *Server) Serve(ctx context.Context, c ServeConfig) error {
	certificate, err := c.certificate()
	if err != nil {
		return err
	}
	service := &endpointServer{Server: httpServer(s.lastWhenLeaving(s), s.cfg.Log), present: newPresence()}
	service.tls, service.ConnState = certificate, service.present.note
	if service.listeners, err = listenOn(c.Listen, c.Inherited); err != nil {
		return fmt.Errorf("listening: %w", err)
	}
	defer service.hangUp()
	servers := []*endpointServer{service}
	if c.MetricsListen != "" || len(c.InheritedMetrics) > 0 {
		operations := &endpointServer{Server: httpServer(s.Operations(), s.cfg.Log)}
		if operations.listeners, err = listenOn(c.MetricsListen, c.InheritedMetrics); err != nil {
			return fmt.Errorf("listening for metrics: %w", err)
		}
		defer operations.hangUp()
		servers = append(servers, operations)
		s.cfg.Log.Info("serving metrics", "addr", operations.addr().String())
	}
	failed := make(chan error, len(servers))
	for _, h := range servers {
		for _, l := range h.listeners {
			h.accepting.Go(func() { report(failed, h.Serve(unreadListener{l, h.tls, h.ErrorLog})) })
		}
	}
	s.cfg.Log.Info("serving", "addr", service.addr().String(), "tls", certificate != nil)
	if c.Ready != nil {
		c.Ready(service.addr())
	}
	select {
	case err := <-failed:
		return errors.Join(fmt.Errorf("serving: %w", err), s.shutdown(servers))
	case <-ctx.Done():
		s.leave(service)
		return s.shutdown(servers)
	}
}

// endpointServer is an HTTP server with its sockets.
type endpointServer struct {
	*http.Server
	tls       *tls.Config // nil for plain HTTP
	listeners []net.Listener
	accepting sync.WaitGroup // a goroutine for each socket
	present   *presence
}

// report sends the first error; later ones follow from it.
func report(failed chan<- error, err error) {
	select {
	case failed <- err:
	default:
	}
}

func (h *endpointServer) addr() net.Addr { return h.listeners[0].Addr() }

// hangUp accepts no more connections. What waits in a socket that somebody else
// keeps stays there.
func (h *endpointServer) hangUp() {
	for _, l := range h.listeners {
		_ = l.Close() // nothing was written to it
	}
}

// leave says that the server is not ready, and lets the connections that are open
// end with their next answer. Then it accepts no more, and answers those that it has.
func (s *Server) leave(service *endpointServer) {
	s.leaving.Store(true)
	service.present.leave()
	service.present.await(leaveTime, beforeLeaving)
	service.hangUp()
	service.accepting.Wait()
	service.present.await(lastRequests, whileLeaving)
}

// lastWhenLeaving ends each connection with its answer while the server leaves.
func (s *Server) lastWhenLeaving(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.leaving.Load() {
			w.Header()["Connection"] = closing
		}
		h.ServeHTTP(w, r)
	})
}

var closing = []string{"close"}

// shutdown refuses new requests, waits for those that run and closes the
// operations handler last, so that it says "draining" to the end.
func (s *Server) shutdown(servers []*endpointServer) error {
	s.Drain()
	ctx, cancel := context.WithTimeout(context.Background(), drainTimeout)
	defer cancel()
	var errs []error
	for _, h := range servers {
		if err := h.Shutdown(ctx); err != nil {
			errs = append(errs, fmt.Errorf("finishing requests: %w", err), h.Close())
		}
	}
	s.cfg.Log.Info("stopped")
	return errors.Join(errs...)
}

// certificate is nil for plain HTTP.
func (c ServeConfig) certificate() (*tls.Config, error) {
	if c.TLSCert == "" && c.TLSKey == "" {
		return nil, nil
	}
	pair, err := tls.LoadX509KeyPair(c.TLSCert, c.TLSKey)
	if err != nil {
		if _, unread := errors.AsType[*fs.PathError](err); unread {
			return nil, fmt.Errorf("reading the TLS certificate: %w", err)
		}
		return nil, fmt.Errorf("%s and %s are no certificate and its own key, both as PEM", c.TLSCert, c.TLSKey)
	}
	return &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"}}, nil
}
