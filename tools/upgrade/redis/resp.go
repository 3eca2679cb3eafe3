package redis

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"time"
)

// resp is a connection to a Redis or Valkey server, in RESP 2.
type resp struct {
	net.Conn
	r *bufio.Reader
}

// respError is what a server refuses with.
type respError string

func (e respError) Error() string { return string(e) }

// dialRESP connects to a server, and says the password where there is one. The
// connection ends with the context.
func dialRESP(ctx context.Context, network, address, password string) (*resp, error) {
	var d net.Dialer
	d.Timeout = 5 * time.Second
	c, err := d.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	context.AfterFunc(ctx, func() { c.Close() })
	conn := newRESP(c)
	if password == "" {
		return conn, nil
	}
	if _, err := conn.do("AUTH", password); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return conn, nil
}

func newRESP(c net.Conn) *resp { return &resp{c, bufio.NewReaderSize(c, 64<<10)} }

// do sends a command and gives its answer: a string, an int64, a list ([]any) or
// nil.
func (c *resp) do(args ...string) (any, error) {
	answers, err := c.pipeline([][]string{args})
	if err != nil {
		return nil, err
	}
	if refused, is := answers[0].(respError); is {
		return nil, fmt.Errorf("%s: %w", args[0], refused)
	}
	return answers[0], nil
}

// pipeline sends commands at once and gives their answers; a refusal is a
// respError among them.
func (c *resp) pipeline(commands [][]string) ([]any, error) {
	w := bufio.NewWriterSize(c, 64<<10)
	for _, args := range commands {
		fmt.Fprintf(w, "*%d\r\n", len(args))
		for _, a := range args {
			fmt.Fprintf(w, "$%d\r\n%s\r\n", len(a), a)
		}
	}
	if err := w.Flush(); err != nil {
		return nil, err
	}
	answers := make([]any, 0, len(commands))
	for range commands {
		v, err := readRESP(c.r, 0)
		if err != nil {
			return nil, err
		}
		answers = append(answers, v)
	}
	return answers, nil
}

// Bounds of an answer.
const (
	maxRESPBulk  = 512 << 20 // as long as a server lets a value be
	maxRESPList  = 1 << 20
	maxRESPDepth = 8
	maxRESPLine  = 64 << 10
)

var errRESP = errors.New("the server's answer is no RESP")

// readRESP reads an answer.
func readRESP(r *bufio.Reader, depth int) (any, error) {
	line, err := respLine(r)
	if err != nil {
		return nil, err
	}
	kind, rest := line[0], line[1:]
	switch kind {
	case '+':
		return rest, nil
	case '-':
		return respError(rest), nil
	}
	n, err := strconv.ParseInt(rest, 10, 64)
	switch {
	case err != nil:
		return nil, errRESP
	case kind == ':':
		return n, nil
	case n == -1 && (kind == '$' || kind == '*'):
		return nil, nil
	case kind == '$' && n >= 0 && n <= maxRESPBulk:
		return respBulk(r, n)
	case kind == '*' && n >= 0 && n <= maxRESPList && depth < maxRESPDepth:
		return respList(r, n, depth)
	}
	return nil, errRESP
}

// respLine reads a line that has at least its kind.
func respLine(r *bufio.Reader) (string, error) {
	var line strings.Builder
	for line.Len() < maxRESPLine {
		part, err := r.ReadSlice('\n')
		line.Write(part)
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if err != nil {
			return "", err
		}
		if text, ok := strings.CutSuffix(line.String(), "\r\n"); ok && text != "" {
			return text, nil
		}
		break
	}
	return "", errRESP
}

// respBulk reads a string; memory is taken as it comes.
func respBulk(r *bufio.Reader, n int64) (any, error) {
	var b strings.Builder
	if _, err := io.CopyN(&b, r, n); err != nil {
		return nil, err
	}
	end := make([]byte, 2)
	if _, err := io.ReadFull(r, end); err != nil || string(end) != "\r\n" {
		return nil, errors.Join(errRESP, err)
	}
	return b.String(), nil
}

func respList(r *bufio.Reader, n int64, depth int) (any, error) {
	list := []any{}
	for range n {
		v, err := readRESP(r, depth+1)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	return list, nil
}

// texts are the strings of a list, if it is one.
func texts(answer any) (all []string) {
	list, _ := answer.([]any)
	for _, v := range list {
		s, _ := v.(string)
		all = append(all, s)
	}
	return all
}
