//go:build linux

package sandbox

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Command is a program to run in a sandbox, as its root.
type Command struct {
	Words   []string
	Stdin   io.Reader
	Stdout  io.Writer     // nil: what it prints is in the result
	Stderr  io.Writer     // nil: beside stdout
	Time    time.Duration // it may take; 30 s where it is 0
	Network bool          // it knows of the proxy
	Session bool          // it is what a person does there, and may begin sessions (su, sudo)
}

// Result is how a program ended.
type Result struct {
	Status int    // 137 where it took too long
	Text   []byte // the beginning of what it printed, where no Stdout was given
}

// maxText is what is kept of what a program prints, in bytes.
const maxText = 1 << 20

// environment is that of programs in a sandbox.
var environment = []string{"HOME=/root", "LC_ALL=C.UTF-8", "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "TERM=dumb", "DEBIAN_FRONTEND=noninteractive", "container=svc"}

// offline tells systemctl, and Ansible, that no systemd runs: they set what they can in files.
const offline = "SYSTEMD_OFFLINE=1"

// environment is that of programs, which may know of the proxy.
func (s *Sandbox) environment(network bool) []string {
	env := slices.Clone(environment)
	if s.options.Plain {
		env = append(env, offline)
	}
	if network {
		env = append(env, proxied...)
	}
	return env
}

// proxied is the environment of programs that fetch packages.
var proxied = []string{"http_proxy=" + ProxyURL, "https_proxy=" + ProxyURL, "HTTP_PROXY=" + ProxyURL, "HTTPS_PROXY=" + ProxyURL}

// ErrEnded means that the sandbox runs no more.
var ErrEnded = errors.New("the sandbox has ended")

// Run runs a program in the sandbox. An error is one of running it; a program
// that fails has a status.
func (s *Sandbox) Run(ctx context.Context, c Command) (Result, error) {
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(c.Time, 30*time.Second))
	defer cancel()
	select {
	case <-s.done:
		return Result{}, errors.Join(ErrEnded, s.Exceeded())
	default:
	}
	groups := s.groups.entered()
	if c.Session {
		groups = s.within()
	}
	words := []string{stageEnter, strings.Join(groups, ":")}
	for i, n := range namespaces {
		words = append(words, fmt.Sprintf("%s=/proc/self/fd/%d", n[0], 3+i))
	}
	words = append(words, "--setuid=0", "--setgid=0", "--", "/usr/bin/env", "-i")
	cmd := exec.CommandContext(ctx, "/proc/self/exe")
	cmd.Args = slices.Concat(words, s.environment(c.Network), c.Words)
	cmd.Env = []string{"PATH=/usr/sbin:/usr/bin:/sbin:/bin"}
	cmd.ExtraFiles = s.spaces
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Pdeathsig: unix.SIGKILL}
	cmd.Cancel = func() error { return unix.Kill(-cmd.Process.Pid, unix.SIGKILL) }
	cmd.WaitDelay = 2 * time.Second
	var said bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = c.Stdin, c.Stdout, c.Stderr
	if c.Stdout == nil {
		cmd.Stdout = &Beginning{&said, maxText}
	}
	if c.Stderr == nil {
		cmd.Stderr = cmd.Stdout
	}
	runtime.LockOSThread() // the signal comes when the thread that started it ends
	defer runtime.UnlockOSThread()
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil && errors.Is(ctx.Err(), context.DeadlineExceeded):
		return Result{137, said.Bytes()}, nil
	case ctx.Err() != nil:
		return Result{}, ctx.Err()
	case errors.As(err, &exit):
		return Result{max(exit.ExitCode(), 1), said.Bytes()}, nil
	case err != nil && !errors.Is(err, exec.ErrWaitDelay):
		return Result{}, fmt.Errorf("running %s in the sandbox: %w", c.Words[0], err)
	}
	return Result{0, said.Bytes()}, nil
}

// Beginning takes the beginning of what is written to it, in bytes.
type Beginning struct {
	To   *bytes.Buffer
	Most int
}

func (b *Beginning) Write(p []byte) (int, error) {
	b.To.Write(p[:min(len(p), max(0, b.Most-b.To.Len()))])
	return len(p), nil
}

// Booted waits until its systemd has started what it starts, or gives up, and says
// which state it is in: running, degraded, or another where the time was over.
func (s *Sandbox) Booted(ctx context.Context, patience time.Duration) (string, error) {
	state := "starting"
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(300 * time.Millisecond) {
		r, err := s.Run(ctx, Command{Words: []string{"systemctl", "is-system-running"}, Time: 10 * time.Second})
		if err != nil {
			return state, err
		}
		switch said := strings.TrimSpace(string(r.Text)); said {
		case "running", "degraded":
			return said, nil
		case "initializing", "starting", "maintenance", "stopping":
			state = said
		}
	}
	return state, nil
}

// Settle waits until what runs in it has hardly worked for a while, or gives up.
func (s *Sandbox) Settle(ctx context.Context, quiet, patience time.Duration) {
	const look = 250 * time.Millisecond
	tick := time.NewTicker(look)
	defer tick.Stop()
	since, worked := time.Now(), s.worked()
	for end := since.Add(patience); time.Since(since) < quiet && time.Now().Before(end); {
		select {
		case <-ctx.Done():
			return
		case <-s.done:
			return
		case <-tick.C:
		}
		now := s.worked()
		if now-worked > look/10 {
			since = time.Now()
		}
		worked = now
	}
}

// Root is the folder of the sandbox's root, for readers that resolve each path
// inside it.
func (s *Sandbox) Root() string { return fmt.Sprintf("/proc/%d/root", s.pid) }

// enter is the stage that joins a sandbox's groups and becomes nsenter.
func enter(args []string) error {
	for _, group := range strings.FieldsFunc(args[1], func(r rune) bool { return r == ':' }) {
		if err := os.WriteFile(group+"/cgroup.procs", []byte("0"), 0); err != nil {
			return err
		}
	}
	program, err := exec.LookPath("nsenter")
	if err != nil {
		return err
	}
	return unix.Exec(program, append([]string{"nsenter"}, args[2:]...), os.Environ())
}

// Script is a program of a shell that runs its last argument in the sandbox, as one
// that reaches other machines would: what Ansible takes for ssh.
func (s *Sandbox) Script() string {
	var b strings.Builder
	b.WriteString("#!/bin/sh\nfor last; do :; done\n[ \"$last\" != ControlPersist ] || exit 0\n")
	for _, group := range s.within() {
		fmt.Fprintf(&b, "echo $$ >%s/cgroup.procs || exit 255\n", group)
	}
	b.WriteString("exec nsenter")
	for i, n := range namespaces {
		fmt.Fprintf(&b, " %s=/proc/%d/fd/%d", n[0], os.Getpid(), s.spaces[i].Fd())
	}
	b.WriteString(" --setuid=0 --setgid=0 -- /usr/bin/env -i")
	for _, e := range s.environment(true) {
		b.WriteString(" " + e)
	}
	b.WriteString(" /bin/sh -c \"$last\"\n")
	return b.String()
}

// worked is the time that processors gave to what runs in the root.
func (s *Sandbox) worked() time.Duration {
	var µs int64
	_, _ = fmt.Sscanf(text(s.groups.Unified+boxGroup+"/cpu.stat"), "usage_usec %d", &µs)
	return time.Duration(µs) * time.Microsecond
}
