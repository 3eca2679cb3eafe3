package agent

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"sync"
	"time"
)

const (
	// maxLine bounds one message of the client, in bytes.
	maxLine = 16 << 20
	// patience is how long the end of input waits for answers that are due: who
	// pipes requests in wants them answered.
	patience = 30 * time.Second
)

// lineGuard lets through the lines that are JSON-RPC 2.0 messages and answers
// the others itself. The SDK would end the whole session at the first of them.
type lineGuard struct {
	in      io.ReadCloser
	lines   *bufio.Reader
	out     *lineWriter
	pending []byte
}

func newLineGuard(in io.ReadCloser, out io.WriteCloser) *lineGuard {
	return &lineGuard{in: in, lines: bufio.NewReaderSize(in, 64<<10), out: &lineWriter{out: out}}
}

// Read gives the bytes of the next good line.
func (g *lineGuard) Read(p []byte) (int, error) {
	for len(g.pending) == 0 {
		line, err := g.line()
		if len(bytes.TrimSpace(line)) > 0 {
			g.accept(line)
		}
		if err != nil && len(g.pending) == 0 {
			g.out.settle(patience)
			return 0, err
		}
	}
	n := copy(p, g.pending)
	g.pending = g.pending[n:]
	return n, nil
}

// Close ends the reading.
func (g *lineGuard) Close() error {
	g.out.abandon()
	return g.in.Close()
}

// accept keeps a good line for Read and answers a bad one.
func (g *lineGuard) accept(line []byte) {
	line = bytes.TrimPrefix(line, []byte("\ufeff"))
	var head struct {
		Version string          `json:"jsonrpc"`
		Method  *string         `json:"method"`
		ID      json.RawMessage `json:"id"`
		Result  json.RawMessage `json:"result"`
		Error   json.RawMessage `json:"error"`
	}
	err := json.Unmarshal(line, &head)
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &syntax):
		g.out.refuse(-32700, "this line is no JSON; one message a line is expected")
	case err != nil || head.Version != "2.0" || head.Method == nil && head.Result == nil && head.Error == nil:
		g.out.refuse(-32600, "this line is no JSON-RPC 2.0 message")
	default:
		if head.Method != nil && isID(head.ID) {
			g.out.expect(1)
		}
		g.pending = append(bytes.TrimRight(line, "\r\n"), '\n')
	}
}

// line reads up to and with the next newline; of a line that is too long it
// keeps nothing.
func (g *lineGuard) line() (line []byte, err error) {
	for {
		part, err := g.lines.ReadSlice('\n')
		if len(line)+len(part) > maxLine {
			return g.skip(err)
		}
		line = append(line, part...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

func (g *lineGuard) skip(err error) ([]byte, error) {
	for errors.Is(err, bufio.ErrBufferFull) {
		_, err = g.lines.ReadSlice('\n')
	}
	g.out.refuse(-32600, "this message is longer than 16 MiB")
	return nil, err
}

// isID reports whether a message's id is one: it is a request's or an answer's.
func isID(id json.RawMessage) bool { return len(id) > 0 && string(id) != "null" }

// lineWriter keeps the SDK's messages and the guard's own from mixing, and
// knows how many answers are due.
type lineWriter struct {
	mu   sync.Mutex
	out  io.WriteCloser
	due  int
	idle chan struct{} // closed when nothing is due; nil where nobody waits
}

// Write writes one message.
func (w *lineWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	n, err := w.out.Write(p)
	w.mu.Unlock()
	var head struct {
		Method *string         `json:"method"`
		ID     json.RawMessage `json:"id"`
	}
	if json.Unmarshal(p, &head) == nil && head.Method == nil && isID(head.ID) {
		w.expect(-1)
	}
	return n, err
}

// expect counts answers that are due, or, below zero, that were given.
func (w *lineWriter) expect(n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.due = max(0, w.due+n)
	if w.due == 0 {
		w.wake()
	}
}

func (w *lineWriter) wake() {
	if w.idle != nil {
		close(w.idle)
		w.idle = nil
	}
}

// abandon ends the waiting for answers.
func (w *lineWriter) abandon() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.due = 0
	w.wake()
}

// settle waits until nothing is due any more.
func (w *lineWriter) settle(most time.Duration) {
	w.mu.Lock()
	if w.due == 0 {
		w.mu.Unlock()
		return
	}
	idle := make(chan struct{})
	w.idle = idle
	w.mu.Unlock()
	select {
	case <-idle:
	case <-time.After(most):
	}
}

func (w *lineWriter) Close() error { return w.out.Close() }

// refuse answers a line whose id is not known, as JSON-RPC prescribes.
func (w *lineWriter) refuse(code int, message string) {
	type fault struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	}
	b, err := json.Marshal(struct {
		Version string `json:"jsonrpc"`
		ID      *int   `json:"id"`
		Error   fault  `json:"error"`
	}{"2.0", nil, fault{code, message}})
	if err != nil {
		return
	}
	// A client that can't be written to is found out by the next answer.
	_, _ = w.Write(append(b, '\n'))
}
