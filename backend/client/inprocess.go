package client

import (
	"bytes"
	"cmp"
	"io"
	"net/http"
)

// inProcess sends requests to a handler in this process: no socket, the same
// bytes.
type inProcess struct{ handler http.Handler }

// RoundTrip serves the request and gives what was written.
func (t inProcess) RoundTrip(r *http.Request) (*http.Response, error) {
	served := r.Clone(r.Context())
	served.RequestURI, served.RemoteAddr = r.URL.RequestURI(), "in-process"
	if served.Body == nil {
		served.Body = http.NoBody
	}
	w := &recorder{header: http.Header{}}
	if err := t.serve(w, served); err != nil {
		return nil, err
	}
	w.WriteHeader(http.StatusOK) // unless the handler did
	return &http.Response{
		StatusCode: w.status, Status: http.StatusText(w.status), Request: r,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: w.header, Body: io.NopCloser(&w.body), ContentLength: int64(w.body.Len()),
	}, nil
}

// serve has the handler answer; one that ends in the midst of it has not.
func (t inProcess) serve(w http.ResponseWriter, r *http.Request) (err error) {
	defer func() {
		if p := recover(); p == http.ErrAbortHandler {
			err = io.ErrUnexpectedEOF
		} else if p != nil {
			panic(p)
		}
	}()
	t.handler.ServeHTTP(w, r)
	return r.Context().Err()
}

// recorder keeps a response.
type recorder struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (w *recorder) Header() http.Header { return w.header }

func (w *recorder) WriteHeader(status int) {
	w.status = cmp.Or(w.status, status)
}

func (w *recorder) Write(b []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	return w.body.Write(b)
}
