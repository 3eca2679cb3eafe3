//go:build linux

package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// Names that this program is called by in a sandbox's stages.
const (
	stageMount  = "svc-sandbox-mount"
	stageInit   = "svc-sandbox-init"
	stageHold   = "svc-sandbox-hold"
	stageEnter  = "svc-sandbox-enter"
	stageNobody = "svc-sandbox-nobody"
)

// layout is what the stages are told, as JSON.
type layout struct {
	Lower      []string
	Dir        string
	Show       map[string]string
	Name       string
	Interfaces []Interface
	Groups     groups
	Limits     Limits
	Proxy      bool
	Plain      bool
}

func (l *layout) data() string   { return l.Dir + "/data" }
func (l *layout) layers() string { return l.Dir + "/layers" } // mount points of what the root is put together of
func (l *layout) root() string   { return l.Dir + "/root" }   // and of the root; both in the stage's own mounts

// shown are the places of folders of the host, in their order.
func (l *layout) shown() []string { return slices.Sorted(maps.Keys(l.Show)) }

// waiting is where the nth of them waits.
func waiting(n int) string { return fmt.Sprintf("dev/shown-%d", n) }

// wire is the descriptor of the way to the caller, in both stages.
const wire = 3

// answer is what the first process says when its root is ready.
type answer struct {
	PID   int    `json:"pid,omitempty"` // on the host; the mounting stage's word
	Error string `json:"error,omitempty"`
}

func say(a answer) error {
	b, err := json.Marshal(a)
	if err != nil {
		return err
	}
	_, err = unix.Write(wire, append(b, '\n'))
	return err
}

// line reads from the way to the caller, byte by byte: the rest is the next stage's.
func line() ([]byte, error) {
	var b []byte
	one := make([]byte, 1)
	for {
		n, err := unix.Read(wire, one)
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return nil, err
		case n == 0:
			return nil, io.ErrUnexpectedEOF
		case one[0] == '\n':
			return b, nil
		default:
			b = append(b, one[0])
		}
	}
}

// pair is a connection between two processes.
func pair() (ours, theirs *os.File, err error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, err
	}
	return os.NewFile(uintptr(fds[0]), "wire"), os.NewFile(uintptr(fds[1]), "wire"), nil
}

// receive takes both stages' words, and the listener that the first process sends.
func receive(way *net.UnixConn, first *answer, pid *int) (net.Listener, error) {
	var text, rights []byte
	for n := 0; n < 2; {
		b, oob := make([]byte, 4096), make([]byte, unix.CmsgSpace(4))
		got, gotOOB, _, _, err := way.ReadMsgUnix(b, oob)
		if err != nil {
			return nil, err
		}
		if got == 0 {
			return nil, io.ErrUnexpectedEOF
		}
		rights = append(rights, oob[:gotOOB]...)
		text = append(text, b[:got]...)
		n = 0
		for l := range strings.Lines(string(text)) {
			var a answer
			if !strings.HasSuffix(l, "\n") || json.Unmarshal([]byte(l), &a) != nil {
				continue
			}
			n++
			if a.Error != "" {
				first.Error = a.Error
				return nil, nil
			}
			if a.PID != 0 {
				*pid = a.PID
			}
		}
	}
	if len(rights) == 0 {
		return nil, nil
	}
	messages, err := unix.ParseSocketControlMessage(rights)
	if err != nil || len(messages) != 1 {
		return nil, fmt.Errorf("the sandbox sent no listener: %w", err)
	}
	fds, err := unix.ParseUnixRights(&messages[0])
	if err != nil || len(fds) != 1 {
		return nil, fmt.Errorf("the sandbox sent no listener: %w", err)
	}
	f := os.NewFile(uintptr(fds[0]), "listener")
	defer f.Close()
	return net.FileListener(f)
}
