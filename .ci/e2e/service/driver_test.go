package service_test

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"runtime"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/matryer/is"
	"golang.org/x/sys/unix"
)

// driver is clients that each send one request after the other over a connection
// of their own. One thread does it for all of them, as pgbench's does, and it
// speaks HTTP by hand: what a client costs is taken from the server, as both share
// the machine.
type driver struct {
	poll    int
	conns   map[int32]*conn // by descriptor
	request func(i int, buf []byte) []byte
	sent    int
	out     []byte // the last request
	took    []time.Duration
}

// conn is one client.
type conn struct {
	fd     int
	begun  time.Time
	answer []byte // what has come of it
}

// maxAnswer bounds an answer with its header.
const maxAnswer = 1 << 20

// drive has clients send requests for a time, and gives how long each took,
// sorted.
func drive(b *testing.B, addresses []string, clients int, d time.Duration, request func(int, []byte) []byte) []time.Duration {
	is := is.New(b)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	poll, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	is.NoErr(err)
	defer unix.Close(poll)
	t := &driver{poll: poll, conns: map[int32]*conn{}, request: request}
	defer t.close()
	for i := range clients {
		is.NoErr(t.connect(addresses[i%len(addresses)]))
	}
	is.NoErr(t.run(time.Now().Add(d)))
	is.True(len(t.took) > 0)
	slices.Sort(t.took)
	return t.took
}

func (t *driver) connect(address string) error {
	a, err := net.ResolveTCPAddr("tcp4", address)
	if err != nil {
		return err
	}
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	t.conns[int32(fd)] = &conn{fd: fd, answer: make([]byte, 0, maxAnswer)}
	return errors.Join(
		unix.Connect(fd, &unix.SockaddrInet4{Port: a.Port, Addr: [4]byte(a.IP.To4())}),
		unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1),
		unix.EpollCtl(t.poll, unix.EPOLL_CTL_ADD, fd, &unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(fd)}))
}

func (t *driver) close() {
	for _, c := range t.conns {
		_ = unix.Close(c.fd)
	}
}

// run has every client send until the end, and waits for the answers.
func (t *driver) run(end time.Time) error {
	for _, c := range t.conns {
		if err := t.send(c); err != nil {
			return err
		}
	}
	events := make([]unix.EpollEvent, len(t.conns))
	for running := len(t.conns); running > 0; {
		n, err := unix.EpollWait(t.poll, events, -1)
		if err != nil && !errors.Is(err, unix.EINTR) {
			return err
		}
		for _, e := range events[:max(n, 0)] {
			c := t.conns[e.Fd]
			done, err := c.receive()
			if err != nil {
				return err
			}
			if !done {
				continue
			}
			now := time.Now()
			t.took = append(t.took, now.Sub(c.begun))
			if now.After(end) {
				running--
			} else if err := t.send(c); err != nil {
				return err
			}
		}
	}
	return nil
}

func (t *driver) send(c *conn) error {
	t.out = t.request(t.sent, t.out[:0])
	t.sent++
	c.begun, c.answer = time.Now(), c.answer[:0]
	_, err := unix.Write(c.fd, t.out) // it is blocking, so it writes all
	return err
}

// receive reads what has come, and reports whether it is a whole answer.
func (c *conn) receive() (done bool, err error) {
	n, err := unix.Read(c.fd, c.answer[len(c.answer):cap(c.answer)])
	if err != nil || n == 0 {
		return false, fmt.Errorf("the connection ended: %w", err)
	}
	c.answer = c.answer[:len(c.answer)+n]
	head, body, whole := bytes.Cut(c.answer, []byte("\r\n\r\n"))
	if !whole {
		return false, nil
	}
	if !bytes.HasPrefix(head, []byte("HTTP/1.1 200 ")) {
		return false, fmt.Errorf("answer %q", c.answer)
	}
	_, length, _ := bytes.Cut(head, []byte("\r\nContent-Length: "))
	length, _, _ = bytes.Cut(length, []byte("\r\n"))
	size, err := strconv.Atoi(string(length))
	return len(body) == size, err
}
