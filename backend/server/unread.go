package server

import (
	"bytes"
	"crypto/tls"
	"errors"
	"fmt"
	"log"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"

	"github.com/go-json-experiment/json"

	"svc/backend/api"
)

// What net/http answers by itself, before any handler: to what it can't read as
// a request. It writes plain text, in one piece, right to the connection; a
// handler's answer has a Date before all other headers that such an answer has.
var (
	unreadHeaders = []byte("\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n")
	notHTTPS      = []byte("HTTP/1.0 400 Bad Request\r\n\r\n")
	unexpected    = []byte("HTTP/1.1 417 Expectation Failed\r\n")
)

// unreadMessages say what was wrong with a request that could not be read.
var unreadMessages = map[int]string{
	http.StatusExpectationFailed:           "the service knows no Expect but 100-continue; nothing was changed: send the request without it",
	http.StatusRequestHeaderFieldsTooLarge: fmt.Sprintf("the request's headers are longer than %d bytes; nothing was changed: send fewer or shorter ones", maxHeaderBytes),
	http.StatusNotImplemented:              "the service knows no Transfer-Encoding but chunked; nothing was changed: send the body with its length",
	http.StatusHTTPVersionNotSupported:     "the service speaks HTTP/1.1; nothing was changed",
}

// unreadConn has net/http's own answers say what all other refusals say.
type unreadConn struct{ net.Conn }

func (c unreadConn) Write(p []byte) (int, error) {
	if refusal := refusalFor(p); refusal != nil {
		if _, err := c.Conn.Write(refusal); err != nil {
			return 0, err
		}
		return len(p), nil
	}
	return c.Conn.Write(p)
}

// refusalFor is our form of an answer that net/http gave by itself, or nil.
func refusalFor(p []byte) []byte {
	line, _, ended := bytes.Cut(p[:min(len(p), 256)], []byte("\r\n"))
	own := bytes.HasPrefix(p, notHTTPS) || bytes.HasPrefix(p, unexpected) ||
		ended && bytes.HasPrefix(line, []byte("HTTP/1.1 ")) && bytes.HasPrefix(p[len(line):], unreadHeaders)
	if !own || len(line) < len("HTTP/1.1 400") {
		return nil
	}
	status, err := strconv.Atoi(string(line[len("HTTP/1.1 "):len("HTTP/1.1 400")]))
	if err != nil {
		return nil
	}
	e := unread(status)
	if bytes.HasPrefix(p, notHTTPS) {
		e.Message = "this is a request in plain HTTP, and the service speaks HTTPS here; nothing was changed: begin its address with https://"
	}
	body, err := json.Marshal(e)
	if err != nil {
		return nil
	}
	return fmt.Appendf(nil, "HTTP/1.1 %d %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\nX-Request-Id: %s\r\nCache-Control: no-store\r\nConnection: close\r\n\r\n%s",
		status, http.StatusText(status), len(body), e.RequestID, body)
}

// unread is the refusal of a request that no route can answer, under an id of its own.
func unread(status int) *api.Error {
	e := api.Errorf(api.MalformedRequest, "this is no HTTP request that can be read; nothing was changed: check its first line and its headers")
	e.RequestID = newID(rand.Uint64())
	if message := unreadMessages[status]; message != "" {
		e.Message = message
	}
	return e
}

// unreadListener gives out connections whose own answers are ours: over TLS where the
// server has a certificate.
//
// HTTP/2 is not offered. Its server in net/http answers long headers with a page, or
// ends the connection, and has no hook for either; over HTTP/1.1 every refusal is ours.
// What is lost is little: calls are few and short, each client keeps its connections,
// and a proxy that speaks HTTP/2 to the world speaks HTTP/1.1 to what is behind it.
type unreadListener struct {
	net.Listener
	config *tls.Config // nil for plain HTTP
	log    *log.Logger
}

func (l unreadListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	if l.config == nil {
		return unreadConn{c}, nil
	}
	t := tls.Server(c, l.config)
	return tlsConn{unreadConn{t}, t, l.log}, nil
}

// tlsConn is a connection over TLS whose own answers are ours. It shakes hands as the
// first is read of it, which net/http does apart for each, and in the time for headers.
type tlsConn struct {
	unreadConn
	tls *tls.Conn
	log *log.Logger
}

// Read says where the handshake failed what net/http would, and whoever speaks plain
// HTTP is told so.
func (c tlsConn) Read(p []byte) (int, error) {
	err := c.tls.Handshake()
	if err == nil {
		return c.tls.Read(p)
	}
	c.log.Printf("http: TLS handshake error from %s: %v", c.RemoteAddr(), err)
	if plain, ok := errors.AsType[tls.RecordHeaderError](err); ok && plain.Conn != nil && plain.RecordHeader[0] >= 'A' && plain.RecordHeader[0] <= 'Z' {
		_, _ = unreadConn{plain.Conn}.Write(notHTTPS) // there is nobody else to tell
	}
	return 0, err
}

// ConnectionState tells net/http that this is TLS.
func (c tlsConn) ConnectionState() tls.ConnectionState { return c.tls.ConnectionState() }

// CloseWrite ends what is sent, and leaves the client time to read it.
func (c tlsConn) CloseWrite() error { return c.tls.CloseWrite() }
