//go:build linux

package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// ErrTooMuch means that a sandbox took more of the disk, of time or of processes than
// it may.
var ErrTooMuch = errors.New("the sandbox took more than it may")

// reserve is what a sandbox leaves of the host's disk, in bytes.
const reserve = 2 << 30

// maxThinned is how often a sandbox may want more processes than it may have.
const maxThinned = 20

// watch ends a sandbox that writes more than it may, or does not stop wanting
// processes. What it wrote is counted only where the disk has lost about as much.
func (s *Sandbox) watch(ctx context.Context) {
	begin := free(s.options.Dir)
	tick := time.NewTicker(500 * time.Millisecond)
	defer tick.Stop()
	crowds, thinned := []*crowd{{below: boxGroup}, {below: runGroup}}, 0
	for {
		select {
		case <-s.done:
			return
		case <-ctx.Done():
			if errors.Is(ctx.Err(), context.DeadlineExceeded) {
				s.exceeded <- fmt.Errorf("%w: %s", ErrTooMuch, s.options.Limits.Time)
			}
			return
		case <-tick.C:
		}
		for _, c := range crowds {
			if !c.grew(s.groups) {
				continue
			}
			if thinned++; thinned > maxThinned || !s.thin(c.below) {
				s.exceeded <- fmt.Errorf("%w: it wanted more than %d processes", ErrTooMuch, s.options.Limits.Processes)
				_ = s.stage.Process.Kill()
				return
			}
		}
		now := free(s.options.Dir)
		if now > reserve && (begin-now < s.options.Limits.Disk || used(s.options.Dir+"/data/upper") < s.options.Limits.Disk) {
			continue
		}
		if now <= reserve {
			s.exceeded <- fmt.Errorf("%w: the disk of %s has less than the %d MiB left that it leaves to others", ErrTooMuch, s.options.Dir, reserve>>20)
		} else {
			s.exceeded <- fmt.Errorf("%w: it wrote over %d MiB", ErrTooMuch, s.options.Limits.Disk>>20)
		}
		_ = s.stage.Process.Kill()
		return
	}
}

// thin ends the group of a sandbox with the most processes, as a kernel that lacks
// memory ends what has most of it. What has little is left alone: the many are dead, and
// wait to be buried, or are everywhere. It is false where they are the first process's.
func (s *Sandbox) thin(below string) bool {
	group, threads, first := s.groups.most(below, s.pid)
	if threads < s.options.Limits.Processes/4 {
		return true
	}
	if first || os.WriteFile(group+"/cgroup.kill", []byte("1"), 0) != nil {
		return false
	}
	if s.options.Thinned != nil {
		s.options.Thinned(filepath.Base(group))
	}
	return true
}

// free is what the disk of a folder has left, in bytes.
func free(dir string) int64 {
	var st unix.Statfs_t
	if unix.Statfs(dir, &st) != nil {
		return 0
	}
	return int64(st.Bavail) * st.Bsize
}

// used is what the files of a folder take of the disk, in bytes.
func used(dir string) (sum int64) {
	_ = filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err != nil {
			return nil
		}
		if info, err := e.Info(); err == nil {
			sum += info.Sys().(*syscall.Stat_t).Blocks * 512
		}
		return nil
	})
	return sum
}

// Claim makes a folder below parent for a sandbox or more, which is this process's
// while the lock is held; those that a killed process left are taken away.
func Claim(parent string) (dir string, release func() error, err error) {
	if err := os.MkdirAll(parent, 0o700); err != nil {
		return "", nil, err
	}
	Sweep(parent)
	dir, err = os.MkdirTemp(parent, "sandbox-*")
	if err != nil {
		return "", nil, err
	}
	lock, err := os.OpenFile(dir+".lock", os.O_CREATE|os.O_RDWR|unix.O_CLOEXEC, 0o600)
	if err == nil {
		err = unix.Flock(int(lock.Fd()), unix.LOCK_EX)
	}
	if err != nil {
		return "", nil, err
	}
	return dir, func() error {
		err := os.RemoveAll(dir)
		return errors.Join(err, os.Remove(lock.Name()), lock.Close())
	}, nil
}

// Sweep takes away what processes left that were killed: folders, and the control
// groups of processes that are no more.
func Sweep(parent string) {
	locks, _ := filepath.Glob(filepath.Join(parent, "sandbox-*.lock"))
	for _, name := range locks {
		lock, err := locked(name)
		if err != nil {
			continue // it is somebody's
		}
		_ = os.RemoveAll(strings.TrimSuffix(name, ".lock"))
		_ = os.Remove(name)
		lock.Close()
	}
	sweepGroups()
}
