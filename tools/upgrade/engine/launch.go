package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// Launch starts a server that is to outlive svc, where no service manager does,
// and waits until it answers. Where that fails, it has come to its data, or ended.
func (h *Host) Launch(ctx context.Context, c Command, answers func(context.Context) error) error {
	who, err := CredentialOf(c.User)
	if err != nil {
		return err
	}
	log, err := h.Open("log", os.O_WRONLY|os.O_CREATE|os.O_APPEND)
	if err != nil {
		return fmt.Errorf("opening the log: %w", err)
	}
	defer log.Close()
	during, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	cmd := exec.Command(c.Args[0], c.Args[1:]...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = "/", log, log
	cmd.Env = []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C.UTF-8", "HOME=/"} // without the mark: it is no leftover
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Credential: who}
	if err := cmd.Start(); err != nil {
		return err
	}
	go func() { cancel(fmt.Errorf("the server has ended: %w", cmd.Wait())) }()
	if err := Await(during, answers); err != nil {
		return errors.Join(context.Cause(during), err, h.awaitLaunched(context.WithoutCancel(ctx)))
	}
	return nil
}

// awaitLaunched waits for the servers of clients that were started, also by a run that was
// killed, until each works where its data are, or has ended. Until then nothing shows whose
// data a server is about to open: were they exchanged meanwhile, it would open the others.
func (h *Host) awaitLaunched(ctx context.Context) error {
	return Await(ctx, func(context.Context) error {
		entries, err := os.ReadDir("/proc")
		if err != nil {
			return fmt.Errorf("looking for servers that are starting: %w", err)
		}
		for _, e := range entries {
			proc := filepath.Join("/proc", e.Name())
			if pid, err := strconv.Atoi(e.Name()); err == nil && pid != os.Getpid() && coming(proc) && (h.writesLog(proc) || h.marked(proc)) {
				return fmt.Errorf("a server that was started, process %d, has not come to its data yet", pid)
			}
		}
		return nil
	})
}

// coming reports whether a process is where all are that svc starts, or not even a program
// of its own yet: a server's first deed is to go to its data.
func coming(proc string) bool {
	return SameDir(filepath.Join(proc, "cwd"), "/") || SameProgram(proc, "/proc/self/exe")
}

// writesLog reports whether a process has the upgrade's log open to write to it, as what
// Launch starts has from its first moment on, before it has an environment and arguments.
func (h *Host) writesLog(proc string) bool {
	log, err := os.Stat(h.LogFile())
	if err != nil {
		return false
	}
	open, _ := os.ReadDir(filepath.Join(proc, "fd")) // it may have ended
	for _, fd := range open {
		file, err := os.Stat(filepath.Join(proc, "fd", fd.Name()))
		if err == nil && os.SameFile(file, log) && writes(filepath.Join(proc, "fdinfo", fd.Name())) {
			return true
		}
	}
	return false
}

// writes reports whether a file is open to be written to, by what /proc says of it.
func writes(fdinfo string) bool {
	text, _ := os.ReadFile(fdinfo)
	for line := range strings.Lines(string(text)) {
		if octal, found := strings.CutPrefix(line, "flags:"); found {
			flags, err := strconv.ParseUint(strings.TrimSpace(octal), 8, 32)
			return err == nil && flags&unix.O_ACCMODE != unix.O_RDONLY
		}
	}
	return false
}
