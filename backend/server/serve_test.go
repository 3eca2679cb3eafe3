package server

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"svc/backend/api"
	"svc/backend/store"
)

// listen serves s on a socket until the test, or stop, ends it.
func listen(t *testing.T, s *service, c ServeConfig) (address string, stop func() error) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ready, done := make(chan net.Addr, 1), make(chan error, 1)
	c.Listen, c.Ready = "127.0.0.1:0", func(a net.Addr) { ready <- a }
	go func() { done <- s.server.Serve(ctx, c) }()
	stopped := false
	stop = func() error {
		if stopped {
			return nil
		}
		stopped = true
		cancel()
		return <-done
	}
	t.Cleanup(func() { is.New(t).NoErr(stop()) })
	select {
	case a := <-ready:
		return a.String(), stop
	case err := <-done:
		t.Fatal(err)
		return "", nil
	}
}

func TestServeDrains(t *testing.T) {
	is := is.New(t)
	s := start(t)
	token := s.free()
	address, stop := listen(t, s, ServeConfig{})
	is.True(strings.Contains(s.log.String(), `"addr":"`+address+`"`))

	// A request is under way when the end comes: it is answered.
	conn, err := net.Dial("tcp", address)
	is.NoErr(err)
	defer conn.Close()
	fmt.Fprintf(conn, "POST /v1/authorize HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
		token, len(goodUsage), goodUsage[:20])
	time.Sleep(50 * time.Millisecond) // until the handler reads
	ended := make(chan error, 1)
	go func() { ended <- stop() }()
	time.Sleep(50 * time.Millisecond)
	fmt.Fprint(conn, goodUsage[20:])
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	is.NoErr(err)
	is.Equal(response.StatusCode, 200)
	is.NoErr(<-ended)
	_, err = net.Dial("tcp", address)
	is.True(err != nil)
}

// TestTheAsterisk asks for the options of the server as a whole, which Go's server
// would answer by itself, without an id.
func TestTheAsterisk(t *testing.T) {
	is := is.New(t)
	address, _ := listen(t, start(t), ServeConfig{})
	conn, err := net.Dial("tcp", address)
	is.NoErr(err)
	defer conn.Close()
	fmt.Fprint(conn, "OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n")
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	is.NoErr(err)
	is.Equal(response.StatusCode, http.StatusNotFound)
	is.True(response.Header.Get("X-Request-Id") != "")
}

func TestDrainingRefusesNewWork(t *testing.T) {
	is := is.New(t)
	s := start(t)
	token := s.free()
	operations := httptest.NewServer(s.server.Operations())
	defer operations.Close()
	is.Equal(status(t, operations.URL+"/ready"), 200)
	s.server.Drain()
	a := s.call("GET", "/v1/account", token, nil)
	s.refused(a, api.Unavailable)
	is.True(a.header.Get("Retry-After") != "")
	is.Equal(s.call("GET", "/v1/health", "", nil).status, 200) // it still serves
	is.Equal(status(t, operations.URL+"/ready"), 503)
}

func status(t *testing.T, url string) int {
	t.Helper()
	response, err := http.Get(url)
	is.New(t).NoErr(err)
	response.Body.Close()
	return response.StatusCode
}

func TestMetricsAreApart(t *testing.T) {
	is := is.New(t)
	s := start(t)
	token := s.free()
	s.call("GET", "/v1/findings/7", token, nil)
	s.refused(s.call("GET", "/metrics", token, nil), api.NotFound) // not on the service's own listener
	page := measured(t, s)
	for _, line := range []string{
		`svc_requests_total{route="GET /v1/findings/{id}",status="404"} 1`,
		`svc_request_seconds_bucket{route="GET /v1/findings/{id}",le="30"} 1`,
		`svc_request_seconds_bucket{route="GET /v1/findings/{id}",le="+Inf"} 1`,
		`svc_request_seconds_count{route="GET /v1/findings/{id}"} 1`,
		`svc_refusals_total{code="NOT_FOUND"} 2`,
		"svc_requests_running 0",
	} {
		is.True(strings.Contains(page, "\n"+line+"\n")) // the page has it
	}
}

// measured is what the operations listener says of metrics.
func measured(t *testing.T, s *service) string {
	t.Helper()
	is := is.New(t)
	operations := httptest.NewServer(s.server.Operations())
	defer operations.Close()
	response, err := http.Get(operations.URL + "/metrics")
	is.NoErr(err)
	defer response.Body.Close()
	is.Equal(response.Header.Get("Content-Type"), "text/plain; version=0.0.4; charset=utf-8")
	b, err := io.ReadAll(response.Body)
	is.NoErr(err)
	return string(b)
}

func TestEachMetricOfSvcSaysWhatItIs(t *testing.T) {
	is := is.New(t)
	s := start(t)
	s.server.meters.count(seatsClaimed, "pool", "included").Inc()
	var shards strings.Builder
	sizes([]store.Shard{{ID: 7, Server: 2, Bytes: 8192}}).WritePrometheus(&shards)
	s.call("GET", "/v1/nowhere", "", nil)
	page := measured(t, s) + helps.Replace(shards.String())
	for name, kind := range map[string]string{
		requestsTotal: "counter", requestSeconds: "histogram", running: "gauge", refusalsTotal: "counter", seatsClaimed: "counter", shardBytes: "gauge",
		"go_goroutines": "gauge", "go_gc_duration_seconds": "summary", "go_sched_gomaxprocs_threads": "gauge", "process_resident_memory_bytes": "gauge", "process_open_fds": "gauge",
	} {
		is.Equal(strings.Count(page, "# TYPE "+name+" "+kind+"\n"), 1) // one line of its type
		if strings.HasPrefix(name, "svc_") {
			is.Equal(strings.Count(page, "# HELP "+name+" "), 1) // it is told
		}
	}
	is.True(strings.Contains(page, "\nsvc_store_shard_bytes{shard=\"7\",server=\"2\"} 8192\n"))
}

func TestNotReadyWithoutAStore(t *testing.T) {
	is := is.New(t)
	s := start(t)
	operations := httptest.NewServer(s.server.Operations())
	defer operations.Close()
	is.NoErr(s.closeStore())
	is.Equal(status(t, operations.URL+"/ready"), 503)
}

func TestServeWithTLS(t *testing.T) {
	is := is.New(t)
	s := start(t)
	cert, key, pool := certificate(t)
	address, _ := listen(t, s, ServeConfig{TLSCert: cert, TLSKey: key, MetricsListen: "127.0.0.1:0"})
	web := &http.Client{Transport: &http.Transport{ForceAttemptHTTP2: true, TLSClientConfig: &tls.Config{RootCAs: pool}}}
	response, err := web.Get("https://" + address + "/v1/health")
	is.NoErr(err)
	response.Body.Close()
	is.Equal(response.StatusCode, 200)
	is.Equal(response.Proto, "HTTP/1.1") // nothing else is offered, also to who asks for it
	web.CloseIdleConnections()
}

// certificate makes one for this machine, as files.
func certificate(t *testing.T) (certFile, keyFile string, pool *x509.CertPool) {
	t.Helper()
	is := is.New(t)
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	is.NoErr(err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	is.NoErr(err)
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	is.NoErr(err)
	certPEM := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	certFile, keyFile = filepath.Join(t.TempDir(), "cert.pem"), filepath.Join(t.TempDir(), "key.pem")
	is.NoErr(os.WriteFile(certFile, certPEM, 0o600))
	is.NoErr(os.WriteFile(keyFile, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER}), 0o600))
	pool = x509.NewCertPool()
	pool.AppendCertsFromPEM(certPEM)
	return certFile, keyFile, pool
}

func TestServeRefuses(t *testing.T) {
	is := is.New(t)
	s := start(t)
	is.True(s.server.Serve(t.Context(), ServeConfig{Listen: "256.0.0.1:x"}) != nil)
	is.True(s.server.Serve(t.Context(), ServeConfig{Listen: "127.0.0.1:0", TLSCert: "none", TLSKey: "none"}) != nil)
	is.True(s.server.Serve(t.Context(), ServeConfig{Listen: "127.0.0.1:0", MetricsListen: "256.0.0.1:x"}) != nil)
}

// TestLargeHeaders: what a connection sends before a request is bounded.
func TestLargeHeaders(t *testing.T) {
	is := is.New(t)
	s := start(t)
	address, _ := listen(t, s, ServeConfig{})
	r, err := http.NewRequest("GET", "http://"+address+"/v1/health", nil)
	is.NoErr(err)
	r.Header.Set("X-Large", strings.Repeat("a", 64<<10))
	response, err := http.DefaultTransport.RoundTrip(r)
	is.NoErr(err)
	response.Body.Close()
	is.Equal(response.StatusCode, http.StatusRequestHeaderFieldsTooLarge)
}

// TestSlowHeaders: a connection that never finishes its headers is closed.
func TestSlowHeaders(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for a timeout")
	}
	is := is.New(t)
	s := start(t)
	address, _ := listen(t, s, ServeConfig{})
	conn, err := net.Dial("tcp", address)
	is.NoErr(err)
	defer conn.Close()
	_, err = conn.Write([]byte("GET /v1/health HTTP/1.1\r\nHost: x\r\n"))
	is.NoErr(err)
	is.NoErr(conn.SetReadDeadline(time.Now().Add(2 * readHeaderTimeout)))
	_, err = io.Copy(io.Discard, conn)
	is.NoErr(err) // closed by the server, before our own deadline
}
