package server

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
)

// Headers that all answers share.
var (
	noSniff  = []string{"nosniff"}
	noStore  = []string{"no-store"}
	jsonType = []string{"application/json"}
)

// csvType is the media type of a statement's lines.
const csvType = "text/csv; charset=utf-8; header=present"

// exchange is one request and its answer.
type exchange struct {
	http.ResponseWriter
	id      string // X-Request-Id
	method  string
	at      *endpoint // where the mux led; the server's lost one where no route matches
	account int64     // 0 before authentication
	status  int       // 0 before the answer
	cause   error     // of a fault; for the log alone
	said    muxAnswer
}

// WriteHeader remembers the status.
func (x *exchange) WriteHeader(status int) {
	x.status = status
	x.ResponseWriter.WriteHeader(status)
}

// encoded is an answer whose JSON is known.
type encoded []byte

// encode is the JSON of an answer.
func encode(v any) ([]byte, error) {
	if text, ok := v.(encoded); ok {
		return text, nil
	}
	return json.Marshal(v)
}

// counted is how long a body may be for net/http to say its length itself, which it does
// for less; of an answer without a body it can't know.
const counted = 2048

// write encodes an answer.
func (s *Server) write(x *exchange, status int, v any) {
	body, err := encode(v)
	if err != nil {
		x.cause = fmt.Errorf("encoding the answer: %w", err)
		status, body = http.StatusInternalServerError, []byte(`{"error":"the service failed","code":"INTERNAL"}`)
	}
	h := x.Header()
	h["Content-Type"] = jsonType
	if len(body) > counted || x.method == http.MethodHead {
		h["Content-Length"] = []string{strconv.Itoa(len(body))}
	}
	x.WriteHeader(status)
	_, _ = x.Write(body) // where the caller has gone there is nobody to tell
}

// streamed is an answer that is written while it is read.
type streamed struct {
	header map[string]string
	write  func(ctx context.Context, w io.Writer) error
}

// stream writes an answer that is read meanwhile. Its beginning is the caller's
// already where a fault comes: the connection ends without the end of the body, which
// shows that it is not whole.
func (s *Server) stream(x *exchange, r *http.Request, status int, answer streamed) {
	for name, value := range answer.header {
		if value != "" {
			x.Header().Set(name, value)
		}
	}
	x.WriteHeader(status)
	if x.method == http.MethodHead {
		return
	}
	if err := answer.write(r.Context(), patientWriter{x.ResponseWriter, http.NewResponseController(x.ResponseWriter)}); err != nil {
		if r.Context().Err() == nil {
			x.cause = fmt.Errorf("writing the answer: %w", err)
		}
		panic(http.ErrAbortHandler)
	}
}

// patientWriter gives the caller time for each part, rather than for the whole.
type patientWriter struct {
	http.ResponseWriter
	control *http.ResponseController
}

// Write implements io.Writer.
func (w patientWriter) Write(b []byte) (int, error) {
	_ = w.control.SetWriteDeadline(time.Now().Add(writeTimeout)) // in this process there is none
	return w.ResponseWriter.Write(b)
}
