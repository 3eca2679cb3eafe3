package server

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"golang.org/x/net/netutil"
)

// The limits of every connection.
const (
	readHeaderTimeout = 5 * time.Second
	readTimeout       = 30 * time.Second
	writeTimeout      = 60 * time.Second
	idleTimeout       = 60 * time.Second
	maxHeaderBytes    = 16 << 10
	maxConnections    = 10_000
	drainTimeout      = 30 * time.Second
)

// ServeConfig says where a server listens.
type ServeConfig struct {
	// Listen is the address of the service; port 0 picks one.
	Listen string
	// MetricsListen is the address of the operations handler; none where empty.
	MetricsListen string
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
	listener, err := net.Listen("tcp", c.Listen)
	if err != nil {
		return fmt.Errorf("listening: %w", err)
	}
	defer listener.Close()
	servers := []*http.Server{httpServer(s, s.cfg.Log)}
	servers[0].TLSConfig = certificate
	listeners := []net.Listener{netutil.LimitListener(listener, maxConnections)}
	if c.MetricsListen != "" {
		operations, err := net.Listen("tcp", c.MetricsListen)
		if err != nil {
			return fmt.Errorf("listening for metrics: %w", err)
		}
		defer operations.Close()
		servers = append(servers, httpServer(s.Operations(), s.cfg.Log))
		listeners = append(listeners, operations)
		s.cfg.Log.Info("serving metrics", "addr", operations.Addr().String())
	}
	failed := make(chan error, len(servers))
	for i := range servers {
		go func() { failed <- serve(servers[i], listeners[i]) }()
	}
	s.cfg.Log.Info("serving", "addr", listener.Addr().String(), "tls", certificate != nil)
	if c.Ready != nil {
		c.Ready(listener.Addr())
	}
	select {
	case err := <-failed:
		return errors.Join(fmt.Errorf("serving: %w", err), s.shutdown(servers))
	case <-ctx.Done():
		return s.shutdown(servers)
	}
}

// shutdown refuses new requests, waits for those that run and closes the
// operations handler last, so that it says "draining" to the end.
func (s *Server) shutdown(servers []*http.Server) error {
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

func httpServer(h http.Handler, log *slog.Logger) *http.Server {
	return &http.Server{
		Handler: h,
		// OPTIONS * is answered as any other route that there is not.
		DisableGeneralOptionsHandler: true,
		ReadHeaderTimeout:            readHeaderTimeout,
		ReadTimeout:                  readTimeout,
		WriteTimeout:                 writeTimeout,
		IdleTimeout:                  idleTimeout,
		MaxHeaderBytes:               maxHeaderBytes,
		ErrorLog:                     slog.NewLogLogger(log.Handler(), slog.LevelWarn),
	}
}

// serve answers over TLS, HTTP/2 too, where the server has a certificate.
func serve(h *http.Server, l net.Listener) error {
	if h.TLSConfig == nil {
		return h.Serve(unreadListener{l})
	}
	return h.Serve(listenTLS(l, h.TLSConfig))
}

// certificate is nil for plain HTTP.
func (c ServeConfig) certificate() (*tls.Config, error) {
	if c.TLSCert == "" && c.TLSKey == "" {
		return nil, nil
	}
	pair, err := tls.LoadX509KeyPair(c.TLSCert, c.TLSKey)
	if err != nil {
		return nil, fmt.Errorf("reading the TLS certificate: %w", err)
	}
	return &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}, nil
}
