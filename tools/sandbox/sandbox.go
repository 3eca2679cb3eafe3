//go:build linux

// Package sandbox boots a root apart from the machine that it is on: in namespaces
// of its own, its users mapped to ids that nobody has, without devices, with no
// network but a proxy, and with limits. What runs in it is hostile. Its files are
// folders that are only read, with a folder above them that takes what is written.
//
// A sandbox is three processes of this program: its caller, a stage that mounts
// (it has a mount namespace of its own), and the first process of the sandbox,
// which becomes the root's own systemd. Each dies with the one before it; what is
// then left, folders and control groups, is taken away at the next start.
package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Options say what a sandbox is of.
type Options struct {
	Lower []string // folders of its root, the uppermost first; they are only read
	Dir   string   // its own: what it writes is in data/upper; on a disk, not on an overlay
	// Show are folders of the host that it may read, by their place in it.
	Show map[string]string
	Name string // host name
	// Interfaces it has beside the loopback; they lead nowhere.
	Interfaces []Interface
	Limits     Limits
	// Proxy answers what it asks of http://127.0.0.1:3142; nil: it has no network.
	Proxy http.Handler
	// Thinned is told the name of a control group, which the machine chose, whose processes
	// were ended: the sandbox wanted more than it may have, and the group had the most.
	Thinned func(group string)
	// Yields lets others have the processors first, another sandbox as well.
	Yields bool
	// Plain boots nothing: an idle process is the first one.
	Plain bool
}

// Sandbox is a root that runs.
type Sandbox struct {
	options  Options
	stage    *exec.Cmd
	done     chan struct{} // closed when the stage has ended
	stop     context.CancelFunc
	spaces   []*os.File // its namespaces: user, mount, uts, ipc, net, pid, cgroup
	groups   groups
	pid      int // of the first process, on the host
	server   *http.Server
	exceeded chan error // why the watch ended it
}

func (s *Sandbox) console() string { return s.options.Dir + "/console" }

// Written is the folder of what a sandbox in dir wrote; it may be a Lower of others.
func Written(dir string) string { return dir + "/data/upper" }

// ErrNoSandbox says that nothing can be apart on this machine.
var ErrNoSandbox = errors.New("no root can be booted apart on this machine")

// Available says what this machine lacks for a sandbox; nil where it has all.
func Available() error {
	if os.Geteuid() != 0 {
		return fmt.Errorf("%w: it takes root, of this machine or of a user namespace; nothing was done: call it by sudo", ErrNoSandbox)
	}
	if i := ours(); i.count < enough {
		return fmt.Errorf("%w: a system's users take %d ids, and this user namespace has %d to give; nothing was done: call it outside of the namespace, or by sudo", ErrNoSandbox, enough, i.count)
	}
	if _, err := exec.LookPath("nsenter"); err != nil {
		return fmt.Errorf("%w: nsenter of util-linux is missing; nothing was done: install it", ErrNoSandbox)
	}
	if unified() == "" && !ours().user {
		return fmt.Errorf("%w: no control groups of the second version are mounted; nothing was done", ErrNoSandbox)
	}
	return nil
}

// Start starts a sandbox: its first process is there when it comes back, not its
// services. It ends with ctx, with Close, and with this program.
func Start(ctx context.Context, o Options) (*Sandbox, error) {
	o.Limits = o.Limits.orDefault()
	ctx, stop := context.WithTimeout(ctx, o.Limits.Time)
	s := &Sandbox{options: o, done: make(chan struct{}), stop: stop, exceeded: make(chan error, 1)}
	if err := s.start(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	go s.watch(ctx)
	return s, nil
}

func (s *Sandbox) start(ctx context.Context) (err error) {
	l := layout{Lower: s.options.Lower, Dir: s.options.Dir, Show: s.options.Show, Name: s.options.Name, Interfaces: s.options.Interfaces, Limits: s.options.Limits, Proxy: s.options.Proxy != nil, Plain: s.options.Plain}
	for _, dir := range []string{l.data() + "/upper", l.data() + "/work", l.layers(), l.root()} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	if err := ours().give(Written(s.options.Dir), l.data()+"/work"); err != nil {
		return err
	}
	if s.groups, err = makeGroups(s.options.Limits, s.options.Yields); err != nil {
		return err
	}
	l.Groups = s.groups
	ours, theirs, err := pair()
	if err != nil {
		return err
	}
	defer ours.Close()
	s.stage = exec.Command("/proc/self/exe")
	s.stage.Args = []string{stageMount}
	s.stage.Env = []string{}
	s.stage.ExtraFiles = []*os.File{theirs}
	console, err := os.Create(s.console())
	if err != nil {
		return errors.Join(err, theirs.Close())
	}
	s.stage.Stdout, s.stage.Stderr = console, console
	s.stage.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWNS, Pdeathsig: unix.SIGKILL, Setsid: true}
	started := make(chan error)
	go func() {
		runtime.LockOSThread() // the signal comes when the thread that started it ends
		err := s.stage.Start()
		started <- err
		if err == nil {
			_ = s.stage.Wait()
		}
		close(s.done)
		runtime.UnlockOSThread()
	}()
	err = <-started
	console.Close()
	theirs.Close()
	if err != nil {
		return fmt.Errorf("starting a sandbox: %w", err)
	}
	context.AfterFunc(ctx, func() { _ = s.stage.Process.Kill() })
	return s.meet(ours, l)
}

// meet tells the stages what to do, and takes the network and the namespaces.
func (s *Sandbox) meet(c *os.File, l layout) error {
	conn, err := net.FileConn(c)
	if err != nil {
		return err
	}
	defer conn.Close()
	way := conn.(*net.UnixConn)
	_ = way.SetDeadline(time.Now().Add(time.Minute))
	if err := json.NewEncoder(way).Encode(l); err != nil {
		return s.ended(err)
	}
	var first answer
	listener, err := receive(way, &first, &s.pid)
	if err != nil {
		return s.ended(err)
	}
	if first.Error != "" {
		return fmt.Errorf("%w: %s", ErrNoSandbox, first.Error)
	}
	if err := s.pin(); err != nil {
		return s.ended(err)
	}
	if listener != nil {
		s.server = &http.Server{Handler: s.options.Proxy, ReadHeaderTimeout: 20 * time.Second, MaxHeaderBytes: 64 << 10}
		go func() { _ = s.server.Serve(listener) }()
	}
	_, err = way.Write([]byte("go\n"))
	return err
}

// namespaces of a process, as nsenter calls them and as proc does.
var namespaces = [][2]string{{"--user", "user"}, {"--mount", "mnt"}, {"--uts", "uts"}, {"--ipc", "ipc"}, {"--net", "net"}, {"--pid", "pid"}, {"--cgroup", "cgroup"}}

// pin holds the namespaces, so that what enters them can never enter the host's.
func (s *Sandbox) pin() error {
	for _, n := range namespaces {
		f, err := os.Open(filepath.Join("/proc", strconv.Itoa(s.pid), "ns", n[1]))
		if err != nil {
			return err
		}
		s.spaces = append(s.spaces, f)
		theirs, err := f.Stat()
		if err != nil {
			return err
		}
		if ours, err := os.Stat("/proc/self/ns/" + n[1]); err != nil || os.SameFile(ours, theirs) {
			return fmt.Errorf("the sandbox has the host's %s namespace", n[1])
		}
	}
	return nil
}

// ended joins an error with what the stages printed.
func (s *Sandbox) ended(err error) error {
	return fmt.Errorf("%w: %w: %s", ErrNoSandbox, err, s.Console())
}

// Console is the end of what the first process printed, as text of a machine.
func (s *Sandbox) Console() string {
	b, _ := os.ReadFile(s.console())
	return string(b[max(0, len(b)-4096):])
}

// Done is closed when nothing of it runs any more.
func (s *Sandbox) Done() <-chan struct{} { return s.done }

// Exceeded is why the sandbox was ended before its time; nil where it was not.
func (s *Sandbox) Exceeded() error {
	select {
	case err := <-s.exceeded:
		s.exceeded <- err
		return err
	default:
		return nil
	}
}

// Halt shuts its systemd down as a power key would, and ends what is left after the
// patience, or when nothing has worked for quiet: a server that can't save refuses to
// end, and is waited for no longer.
func (s *Sandbox) Halt(ctx context.Context, quiet, patience time.Duration) error {
	if !s.options.Plain {
		select {
		case <-s.done:
		default:
			_ = unix.Kill(s.pid, powerOff)
			s.Settle(ctx, quiet, patience)
		}
	}
	return s.Close()
}

// Close ends it at once, and takes away what it had of the host; what it wrote
// stays.
func (s *Sandbox) Close() error {
	if s.stage != nil && s.stage.Process != nil {
		_ = s.stage.Process.Kill()
		<-s.done
	}
	s.stop()
	if s.server != nil {
		_ = s.server.Close()
	}
	for _, f := range s.spaces {
		f.Close()
	}
	s.spaces = nil
	return s.groups.remove()
}

// powerOff is SIGRTMIN+4 as the C library counts, which systemd(1) takes for it.
const powerOff = unix.Signal(38)
