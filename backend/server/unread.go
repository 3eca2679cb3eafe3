package server

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"sync"

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

// unreadListener gives out connections of plain HTTP whose own answers are ours.
type unreadListener struct{ net.Listener }

func (l unreadListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return unreadConn{c}, nil
}

// tlsListener does the same over TLS. A connection whose handshake failed net/http
// wants to see itself, to say what came instead, so that the handshake comes before
// it is asked to serve.
//
// HTTP/2 is not offered. Its server in net/http answers long headers with a page, or
// ends the connection, and has no hook for either; over HTTP/1.1 every refusal is ours.
// What is lost is little: calls are few and short, each client keeps its connections,
// and a proxy that speaks HTTP/2 to the world speaks HTTP/1.1 to what is behind it.
type tlsListener struct {
	net.Listener
	config *tls.Config
	ready  chan net.Conn
	failed chan error
	closed chan struct{}
	close  sync.Once
	// handshakes are those that run: a socket that accepts no more still has them.
	handshakes sync.WaitGroup
}

func listenTLS(l net.Listener, config *tls.Config) *tlsListener {
	config.NextProtos = []string{"http/1.1"}
	t := &tlsListener{Listener: unreadListener{l}, config: config, ready: make(chan net.Conn), failed: make(chan error), closed: make(chan struct{})}
	go t.accept()
	return t
}

func (l *tlsListener) accept() {
	for {
		c, err := l.Listener.Accept()
		if err == nil {
			l.handshakes.Go(func() { l.handshake(tls.Server(c, l.config)) })
			continue
		}
		if errors.Is(err, net.ErrClosed) {
			l.handshakes.Wait()
		}
		select {
		case l.failed <- err: // net/http waits, and asks again, where it makes sense
		case <-l.closed:
			return
		}
	}
}

// handshake hands the connection on, also where it failed: net/http then meets
// the same error again, logs it and closes the connection.
func (l *tlsListener) handshake(t *tls.Conn) {
	ctx, cancel := context.WithTimeout(context.Background(), readHeaderTimeout)
	defer cancel()
	var c net.Conn = t
	if err := t.HandshakeContext(ctx); err == nil {
		c = tlsConn{unreadConn{t}, t}
	}
	select {
	case l.ready <- c:
	case <-l.closed:
		t.Close()
	}
}

func (l *tlsListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.ready:
		return c, nil
	case err := <-l.failed:
		return nil, err
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *tlsListener) Close() error {
	l.close.Do(func() { close(l.closed) })
	return l.Listener.Close()
}

// tlsConn is a connection over TLS whose own answers are ours.
type tlsConn struct {
	unreadConn
	tls *tls.Conn
}

// ConnectionState tells net/http that this is TLS.
func (c tlsConn) ConnectionState() tls.ConnectionState { return c.tls.ConnectionState() }

// CloseWrite ends what is sent, and leaves the client time to read it.
func (c tlsConn) CloseWrite() error { return c.tls.CloseWrite() }
