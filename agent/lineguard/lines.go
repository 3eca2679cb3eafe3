// Package lineguard lets through the lines of a client that are messages, and answers the
// others itself.
package lineguard

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

const (
	// maxLine bounds one message of the client, in bytes.
	maxLine = 16 << 20
	// Patience is how long the end of input waits for answers that are due: who
	// pipes requests in wants them answered.
	Patience = 30 * time.Second
	// Unread is how long a message waits for a client that does not read; less
	// where the client has ended its input, too.
	Unread, UnreadAtEnd = 2 * time.Minute, 5 * time.Second
)

// listening is the method of a request that is answered when the session ends.
const listening = "subscriptions/listen"

// Guard lets through the lines that are JSON-RPC 2.0 messages and answers
// the others itself. The SDK would end the whole session at the first of them.
type Guard struct {
	in      io.ReadCloser
	lines   *bufio.Reader
	Out     *Writer
	pending []byte
	Over    chan struct{} // closed when all has been read
}

// New guards what a client writes, and writes to it.
func New(in io.ReadCloser, out io.WriteCloser) *Guard {
	return &Guard{in: in, lines: bufio.NewReaderSize(in, 64<<10), Out: newWriter(out), Over: make(chan struct{})}
}

// Read gives the bytes of the next good line.
func (g *Guard) Read(p []byte) (int, error) {
	for len(g.pending) == 0 {
		line, err := g.line()
		if len(bytes.TrimSpace(line)) > 0 {
			g.accept(line)
		}
		if err != nil && len(g.pending) == 0 {
			g.end()
			return 0, g.ended(err)
		}
	}
	n := copy(p, g.pending)
	g.pending = g.pending[n:]
	return n, nil
}

// ended is why there is no more to read: once the session is over, its own closing of the input.
func (g *Guard) ended(err error) error {
	select {
	case <-g.Out.Broken:
		return io.EOF
	default:
		return err
	}
}

// end waits for what is due, once.
func (g *Guard) end() {
	select {
	case <-g.Over:
	default:
		g.Out.settle(Patience)
		close(g.Over)
	}
}

// Close ends the reading.
func (g *Guard) Close() error {
	g.Out.abandon()
	return g.in.Close()
}

// accept keeps a good line for Read and answers a bad one.
func (g *Guard) accept(text []byte) {
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	if !json.Valid(text) {
		g.Out.refuse(jsonrpc.CodeParseError, "this line is no JSON; one message a line is expected")
		return
	}
	message, err := jsonrpc.DecodeMessage(text)
	switch m := message.(type) {
	case *jsonrpc.Response:
		g.Out.answered(m.ID)
	case *jsonrpc.Request:
		if m.IsCall() && !g.Out.expect(m) {
			g.Out.refuse(jsonrpc.CodeInvalidRequest, fmt.Sprintf("the id %s is that of a request that is not answered yet; this one was not looked at", Line(m.ID.Raw())))
			return
		}
	}
	if err == nil {
		g.pending = append(bytes.TrimRight(text, "\r\n"), '\n')
	} else if !isAnswer(text) {
		g.Out.refuse(jsonrpc.CodeInvalidRequest, "this line is no JSON-RPC 2.0 message")
	}
}

// isAnswer reports whether a message that can't be used is an answer: nobody
// answers those.
func isAnswer(line []byte) bool {
	var members map[string]json.RawMessage
	err := json.Unmarshal(line, &members)
	return err == nil && members["method"] == nil && (members["result"] != nil || members["error"] != nil)
}

// line reads up to and with the next newline; of a line that is too long it
// keeps nothing.
func (g *Guard) line() (line []byte, err error) {
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

func (g *Guard) skip(err error) ([]byte, error) {
	for errors.Is(err, bufio.ErrBufferFull) {
		_, err = g.lines.ReadSlice('\n')
	}
	g.Out.refuse(jsonrpc.CodeInvalidRequest, "this message is longer than 16 MiB")
	return nil, err
}

// Writer keeps the SDK's messages and the guard's own from mixing, knows
// which answers are due, and gives up on a client that does not read.
type Writer struct {
	out     io.WriteCloser
	writing sync.Mutex    // of one message
	ended   chan struct{} // closed when the input has ended
	Broken  chan struct{} // closed when the client does not read any more

	mu      sync.Mutex
	inUse   map[jsonrpc.ID]bool // of the client's requests: true where the end of input waits for the answer
	asked   map[jsonrpc.ID]bool // of the server's own requests, which the client has not answered
	pending int                 // answers that are due or being written
	idle    chan struct{}       // closed when nothing is due; nil where nobody waits
}

func newWriter(out io.WriteCloser) *Writer {
	return &Writer{out: out, ended: make(chan struct{}), Broken: make(chan struct{}), inUse: map[jsonrpc.ID]bool{}, asked: map[jsonrpc.ID]bool{}}
}

// ErrUnread ends the session of a client that does not read.
var ErrUnread = errors.New("the client does not read")

// Write writes one message. The id of a request is free again before its answer
// is out: the client may use it as soon as it has read that.
func (w *Writer) Write(p []byte) (int, error) {
	defer w.leaving(p)()
	written := make(chan error, 1)
	message := bytes.Clone(p) // outlives the call where the client does not read
	go func() {
		w.writing.Lock()
		defer w.writing.Unlock()
		_, err := w.out.Write(message)
		written <- err
	}()
	if err := w.await(written); err != nil {
		return 0, err
	}
	return len(p), nil
}

// await waits for a message to be written, and breaks the session where that
// takes too long.
func (w *Writer) await(written <-chan error) error {
	timer := time.NewTimer(Unread)
	defer timer.Stop()
	ended := w.ended
	for {
		select {
		case err := <-written:
			return err
		case <-w.Broken:
			return ErrUnread
		case <-ended:
			timer.Reset(UnreadAtEnd)
			ended = nil
		case <-timer.C:
			w.abandon()
			return ErrUnread
		}
	}
}

// leaving notes what a message means that is about to be written; what it gives
// is called once it is.
func (w *Writer) leaving(p []byte) (written func()) {
	message, err := jsonrpc.DecodeMessage(p)
	w.mu.Lock()
	defer w.mu.Unlock()
	switch m := message.(type) {
	case *jsonrpc.Request:
		if err == nil && m.IsCall() {
			w.asked[m.ID] = true
			w.wake()
		}
	case *jsonrpc.Response:
		waited := w.inUse[m.ID]
		delete(w.inUse, m.ID)
		if waited {
			return func() { w.settled(1) }
		}
	}
	return func() {}
}

// expect counts a request's answer as due. It is false where the request's id is
// in use.
func (w *Writer) expect(request *jsonrpc.Request) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, used := w.inUse[request.ID]; used {
		return false
	}
	waited := request.Method != listening
	w.inUse[request.ID] = waited
	if waited {
		w.pending++
	}
	return true
}

// answered notes that the client answered the server.
func (w *Writer) answered(id jsonrpc.ID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.asked, id)
}

// settled counts answers that were given.
func (w *Writer) settled(n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.pending -= n
	w.wake()
}

// due reports whether there are answers to wait for. Each question to the client
// holds up one of them, and at the end of input for ever.
func (w *Writer) due() bool { return w.pending > len(w.asked) }

// wake tells who waits that nothing is due.
func (w *Writer) wake() {
	if w.idle != nil && !w.due() {
		close(w.idle)
		w.idle = nil
	}
}

// abandon ends the session: nothing is written any more.
func (w *Writer) abandon() {
	w.mu.Lock()
	defer w.mu.Unlock()
	select {
	case <-w.Broken:
	default:
		close(w.Broken)
	}
}

// settle waits at the end of input until nothing is due any more.
func (w *Writer) settle(most time.Duration) {
	w.mu.Lock()
	select {
	case <-w.ended:
	default:
		close(w.ended)
	}
	if !w.due() {
		w.mu.Unlock()
		return
	}
	idle := make(chan struct{})
	w.idle = idle
	w.mu.Unlock()
	select {
	case <-idle:
	case <-w.Broken:
	case <-time.After(most):
	}
}

// Close closes what is written to.
func (w *Writer) Close() error { return w.out.Close() }

// refuse answers a line whose id is not known, as JSON-RPC prescribes, or is
// another request's.
func (w *Writer) refuse(code int64, message string) {
	b, err := json.Marshal(struct {
		Version string        `json:"jsonrpc"`
		ID      *int          `json:"id"`
		Error   jsonrpc.Error `json:"error"`
	}{"2.0", nil, jsonrpc.Error{Code: code, Message: message}})
	if err != nil {
		return
	}
	// A client that can't be written to is found out by the next answer.
	_, _ = w.Write(append(b, '\n'))
}

// Line is a value as JSON on one line.
func Line(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(v) != nil {
		return `""` // texts and lists of texts always encode
	}
	return strings.TrimSpace(b.String())
}
