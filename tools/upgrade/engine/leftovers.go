package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// EndLeftovers kills what programs of the upgrade survived svc, and waits until
// they are gone: until none is found twice, as one that is just becoming another
// program shows neither environment nor arguments. Servers of clients live on; those
// that were starting have come to their data then.
func (h *Host) EndLeftovers(ctx context.Context) error {
	if err := h.endPrograms(); err != nil {
		return err
	}
	return h.awaitLaunched(ctx)
}

func (h *Host) endPrograms() error {
	none := 0
	for range 100 {
		pids, err := h.leftovers()
		if err != nil {
			return err
		}
		if none++; len(pids) > 0 {
			none = 0
		}
		if none == 2 {
			return nil
		}
		for _, pid := range pids {
			_ = unix.Kill(pid, unix.SIGKILL) // it may be gone by now
		}
		time.Sleep(100 * time.Millisecond)
	}
	return errors.New("programs of the run that was cut short do not end")
}

// leftovers are the processes that have the upgrade's mark in their environment,
// or its name in their arguments.
func (h *Host) leftovers() (pids []int, err error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, fmt.Errorf("looking for programs of the run that was cut short: %w", err)
	}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		if h.marked(filepath.Join("/proc", e.Name())) && !inOrder(e.Name()) {
			pids = append(pids, pid)
		}
	}
	return pids, nil
}

// marked reports whether a process has the upgrade's mark, or its name.
func (h *Host) marked(proc string) bool {
	env, _ := os.ReadFile(filepath.Join(proc, "environ")) // it may have ended
	args, _ := os.ReadFile(filepath.Join(proc, "cmdline"))
	return slices.Contains(strings.Split(string(env), "\x00"), mark+"="+h.ID) || bytes.Contains(args, []byte(h.Private("")))
}

// inOrder reports whether a process is a server that the steps stop in order: it
// may be that of the clients, and SIGKILL would cost it what is in no log.
func inOrder(pid string) bool {
	program, err := os.Readlink(filepath.Join("/proc", pid, "exe"))
	return err == nil && filepath.Base(program) == "postgres"
}
