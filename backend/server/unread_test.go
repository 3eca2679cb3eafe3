package server

import (
	"bufio"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/matryer/is"

	"svc/backend/api"
)

// TestUnreadable sends, over a bare connection, what no handler ever sees: the
// refusal has the form of all others.
func TestUnreadable(t *testing.T) {
	s := start(t)
	plain, _ := listen(t, s, ServeConfig{})
	cert, key, pool := certificate(t)
	secure, _ := listen(t, s, ServeConfig{TLSCert: cert, TLSKey: key})
	dials := map[string]func() (net.Conn, error){
		"plain": func() (net.Conn, error) { return net.Dial("tcp", plain) },
		"TLS":   func() (net.Conn, error) { return tls.Dial("tcp", secure, &tls.Config{RootCAs: pool}) },
	}
	const host = "Host: x\r\n"
	for name, c := range map[string]struct {
		request string
		status  int
		says    string
	}{
		"noise":             {"\x16\x03\x01hello\r\n\r\n", 400, "no HTTP request"},
		"control character": {"GET /v1/health HTTP/1.1\r\n" + host + "X-A: a\x01b\r\n\r\n", 400, "no HTTP request"},
		"no host":           {"GET /v1/health HTTP/1.1\r\n\r\n", 400, "no HTTP request"},
		"two hosts":         {"GET /v1/health HTTP/1.1\r\n" + host + host + "\r\n", 400, "no HTTP request"},
		"two lengths":       {"POST /v1/usage HTTP/1.1\r\n" + host + "Content-Length: 1\r\nContent-Length: 2\r\n\r\nab", 400, "no HTTP request"},
		"long headers":      {"GET /v1/health HTTP/1.1\r\n" + host + "X-A: " + strings.Repeat("a", 2*maxHeaderBytes) + "\r\n\r\n", 431, "headers are longer than"},
		"longer headers":    {"GET /v1/health HTTP/1.1\r\n" + host + "X-A: " + strings.Repeat("a", 64*maxHeaderBytes) + "\r\n\r\n", 431, "headers are longer than"},
		"coding":            {"POST /v1/usage HTTP/1.1\r\n" + host + "Transfer-Encoding: gzip\r\n\r\n", 501, "Transfer-Encoding"},
		"version":           {"GET /v1/health HTTP/3.7\r\n" + host + "\r\n", 505, "HTTP/1.1"},
		"expectation":       {"POST /v1/usage HTTP/1.1\r\n" + host + "Content-Length: 2\r\nExpect: a miracle\r\n\r\n{}", 417, "100-continue"},
		"an answer":         {"GET /v1/health HTTP/1.1\r\n" + host + "Connection: close\r\n\r\n", 200, ""},
	} {
		for over, dial := range dials {
			t.Run(name+" over "+over, func(t *testing.T) {
				conn, err := dial()
				is.New(t).NoErr(err)
				defer conn.Close()
				unreadable(t, conn, c.request, c.status, c.says)
			})
		}
	}
	t.Run("plain HTTP to HTTPS", func(t *testing.T) {
		conn, err := net.Dial("tcp", secure)
		is.New(t).NoErr(err)
		defer conn.Close()
		unreadable(t, conn, "GET /v1/health HTTP/1.1\r\n"+host+"\r\n", 400, "https://")
	})
}

// unreadable sends a request as it stands, and checks the refusal.
func unreadable(t *testing.T, conn net.Conn, request string, status int, says string) {
	t.Helper()
	is := is.New(t)
	is.NoErr(conn.SetDeadline(time.Now().Add(2 * readHeaderTimeout)))
	_, err := io.WriteString(conn, request)
	is.NoErr(err)
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	is.NoErr(err)
	is.Equal(response.StatusCode, status)
	is.Equal(response.Header.Get("Content-Type"), "application/json")
	if status == http.StatusOK {
		return
	}
	var e api.Error
	is.NoErr(json.UnmarshalRead(response.Body, &e))
	is.Equal(e.Code, api.MalformedRequest)
	is.True(strings.Contains(e.Message, says))
	is.True(e.RequestID != "" && response.Header.Get("X-Request-Id") == e.RequestID)
}

// TestLongHeaders: a client that would rather speak HTTP/2 reads our refusal of long
// headers too, however long they are, and its next call is answered.
func TestLongHeaders(t *testing.T) {
	is := is.New(t)
	cert, key, pool := certificate(t)
	address, _ := listen(t, start(t), ServeConfig{TLSCert: cert, TLSKey: key})
	web := &http.Client{Transport: &http.Transport{ForceAttemptHTTP2: true, TLSClientConfig: &tls.Config{RootCAs: pool}}}
	defer web.CloseIdleConnections()
	request, err := http.NewRequest(http.MethodGet, "https://"+address+"/v1/health", nil)
	is.NoErr(err)
	for _, length := range []int{2 * maxHeaderBytes, 8, 8 * maxHeaderBytes, 8, 64 * maxHeaderBytes, maxHeaderBytes / 2} {
		request.Header.Set("X-A", strings.Repeat("a", length))
		response, err := web.Do(request)
		is.NoErr(err)
		is.Equal(response.Header.Get("Content-Type"), "application/json")
		if length < maxHeaderBytes {
			is.Equal(response.StatusCode, http.StatusOK)
		} else {
			is.Equal(response.StatusCode, http.StatusRequestHeaderFieldsTooLarge)
			var e api.Error
			is.NoErr(json.UnmarshalRead(response.Body, &e))
			is.True(strings.Contains(e.Message, "headers are longer than"))
			is.Equal(response.Header.Get("X-Request-Id"), e.RequestID)
		}
		response.Body.Close()
	}
}

// TestHandshakesDoNotWait: a client that never ends its handshake keeps no other out.
func TestHandshakesDoNotWait(t *testing.T) {
	is := is.New(t)
	cert, key, pool := certificate(t)
	address, stop := listen(t, start(t), ServeConfig{TLSCert: cert, TLSKey: key})
	for range 20 {
		silent, err := net.Dial("tcp", address)
		is.NoErr(err)
		defer silent.Close()
	}
	began := time.Now()
	web := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}}
	response, err := web.Get("https://" + address + "/v1/health")
	is.NoErr(err)
	response.Body.Close()
	is.Equal(response.StatusCode, 200)
	is.Equal(response.ProtoMajor, 1)
	is.True(time.Since(began) < readHeaderTimeout)
	web.CloseIdleConnections()
	is.NoErr(stop()) // nor the end of the server
}
