package server

import (
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"golang.org/x/net/netutil"

	"svc/backend/sliced"
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
	// leaveTime is for how long a server that stops goes on as before, but that each
	// answer is the last of its connection: a client that is at work then learns it
	// before its connection ends under a request.
	leaveTime = 2 * time.Second
	// lastRequests is for how long after that a connection that was accepted last may
	// take to send its request; net/http drops those that it has read by half.
	lastRequests = time.Second
)

// listenOn opens an address, unless the sockets are there already.
func listenOn(address string, inherited []net.Listener) ([]net.Listener, error) {
	if len(inherited) == 0 {
		l, err := net.Listen("tcp", address)
		if err != nil {
			return nil, err
		}
		inherited = []net.Listener{l}
	}
	return sliced.Map(inherited, func(l net.Listener) net.Listener {
		return &closedOnce{Listener: netutil.LimitListener(l, maxConnections)}
	}), nil
}

// closedOnce is a socket that both hangUp and net/http close.
type closedOnce struct {
	net.Listener
	once sync.Once
	err  error
}

func (l *closedOnce) Close() error {
	l.once.Do(func() { l.err = l.Listener.Close() })
	return l.err
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
