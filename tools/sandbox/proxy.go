//go:build linux

package sandbox

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"sync"
	"time"
)

// Archives is a proxy that knows nothing but archives of packages: it answers GET
// and HEAD, and joins connections to port 443, of the hosts that allowed names.
func Archives(allowed func(host string) bool, log *slog.Logger) http.Handler {
	transport := &http.Transport{Proxy: http.ProxyFromEnvironment, ResponseHeaderTimeout: time.Minute, MaxIdleConnsPerHost: 8}
	forward := &httputil.ReverseProxy{
		Transport: transport, ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug),
		Rewrite: func(r *httputil.ProxyRequest) { r.Out.Header.Del("Authorization"); r.Out.Header.Del("Cookie") },
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		connect := r.Method == http.MethodConnect
		host, port := r.URL.Hostname(), r.URL.Port()
		switch {
		case !allowed(host), connect && port != "443", !connect && port != "" && port != "80" && !allowed(r.URL.Host):
			log.Debug("a sandbox asked for what is no archive", "host", host)
			http.Error(w, "this is no archive of packages", http.StatusForbidden)
		case connect:
			tunnel(w, r.URL.Host)
		case r.Method != http.MethodGet && r.Method != http.MethodHead || !r.URL.IsAbs() || r.URL.Scheme != "http" || r.ContentLength != 0:
			http.Error(w, "an archive is only read", http.StatusForbidden)
		default:
			forward.ServeHTTP(w, r)
		}
	})
}

// tunnel joins a connection with one to a host, by way of the host's own proxy
// where it has one.
func tunnel(w http.ResponseWriter, host string) {
	far, err := dial(host)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	defer far.Close()
	near, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer near.Close()
	if _, err := io.WriteString(near, "HTTP/1.1 200 OK\r\n\r\n"); err != nil {
		return
	}
	var both sync.WaitGroup
	both.Go(func() { _, _ = io.Copy(far, buffered); far.Close() })
	both.Go(func() { _, _ = io.Copy(near, far); near.Close() })
	both.Wait()
}

// dial connects to a host, through the proxy of this machine where it has one.
func dial(host string) (net.Conn, error) {
	const patience = 30 * time.Second
	by, err := http.ProxyFromEnvironment(&http.Request{URL: &url.URL{Scheme: "https", Host: host}})
	if err != nil {
		return nil, err
	}
	if by == nil {
		return net.DialTimeout("tcp", host, patience)
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	return throughProxy(ctx, by, host)
}

// throughProxy asks a proxy to connect to a host.
func throughProxy(ctx context.Context, by *url.URL, host string) (net.Conn, error) {
	address := by.Host
	if by.Port() == "" {
		address = net.JoinHostPort(by.Hostname(), "80")
	}
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	request := &http.Request{Method: http.MethodConnect, URL: &url.URL{Opaque: host}, Host: host, Header: http.Header{}}
	if u := by.User; u != nil {
		request.SetBasicAuth(u.Username(), password(u))
		request.Header["Proxy-Authorization"] = request.Header["Authorization"]
		request.Header.Del("Authorization")
	}
	if err := request.Write(conn); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	answer, err := http.ReadResponse(bufio.NewReaderSize(conn, 1), request) // nothing of what follows is read
	if err == nil && answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("the proxy says %s", answer.Status)
	}
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return conn, nil
}

func password(u *url.Userinfo) string {
	p, _ := u.Password()
	return p
}
