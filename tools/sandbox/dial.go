//go:build linux

package sandbox

import (
	"context"
	"errors"
	"fmt"
	"net"
	"runtime"

	"golang.org/x/sys/unix"
)

// network is which of the namespaces the network is.
const network = 4

// Dial connects to an address of the sandbox's own network: a loopback address with
// its port, for there is no other.
func (s *Sandbox) Dial(ctx context.Context, _, address string) (net.Conn, error) {
	select {
	case <-s.done:
		return nil, errors.Join(ErrEnded, s.Exceeded())
	default:
	}
	type dialled struct {
		conn net.Conn
		err  error
	}
	out := make(chan dialled, 1)
	go func() {
		// The thread is never unlocked: it ends with this function, in its network.
		runtime.LockOSThread()
		if err := unix.Setns(int(s.spaces[network].Fd()), unix.CLONE_NEWNET); err != nil {
			out <- dialled{nil, fmt.Errorf("entering the sandbox's network: %w", err)}
			return
		}
		conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", address) // a literal address is dialled by this very thread
		out <- dialled{conn, err}
	}()
	d := <-out
	return d.conn, d.err
}
