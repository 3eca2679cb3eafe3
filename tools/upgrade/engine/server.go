package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/google/renameio/v2"
	"golang.org/x/sys/unix"
)

// Server is a process that serves a directory.
type Server struct {
	pid  int
	Unit string      // of systemd, that runs it; empty where none does
	Same bool        // its program is the file that is installed, not an older one
	Quit unix.Signal // that stops it in order
}

// ServerOn finds the server that works in a directory, by its name and by where
// it works: such servers make their data's directory their own.
func ServerOn(dir, program string, names []string) (*Server, error) {
	all, err := ServersOn(dir, program, names)
	if len(all) == 0 {
		return nil, err
	}
	return all[0], err
}

// ServersOn finds all of them: two would write over each other's files.
func ServersOn(dir, program string, names []string) (all []*Server, err error) {
	want, err := os.Stat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, fmt.Errorf("looking for the server: %w", err)
	}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		proc := filepath.Join("/proc", e.Name())
		if serves(proc, want, names) && !serves(parentOf(proc), want, names) {
			all = append(all, &Server{pid, unitOf(proc), SameProgram(proc, program), unix.SIGTERM})
		}
	}
	return all, nil
}

func (s *Server) String() string { return fmt.Sprintf("process %d", s.pid) }

// serves reports whether a process has the name of a server, and works in a
// directory.
func serves(proc string, dir os.FileInfo, names []string) bool {
	name, _ := os.ReadFile(filepath.Join(proc, "comm"))
	works, err := os.Stat(filepath.Join(proc, "cwd"))
	return err == nil && os.SameFile(works, dir) && slices.Contains(names, strings.TrimSpace(string(name)))
}

// parentOf is the parent of a process: those that a server has forked are no servers.
func parentOf(proc string) string {
	stat, _ := os.ReadFile(filepath.Join(proc, "stat"))
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if len(fields) < 2 {
		return ""
	}
	return filepath.Join("/proc", fields[1])
}

// SameProgram reports whether a process runs a file as it is now.
func SameProgram(proc, program string) bool {
	runs, err := os.Stat(filepath.Join(proc, "exe"))
	if err != nil {
		return false
	}
	installed, err := os.Stat(program)
	return err == nil && os.SameFile(runs, installed)
}

// SystemdRuns reports whether systemd is this host's service manager.
func SystemdRuns() bool {
	_, err := os.Stat("/run/systemd/system")
	return err == nil
}

// Enabled reports whether systemd starts a unit at a boot.
func Enabled(ctx context.Context, h *Host, unit string) bool {
	if !SystemdRuns() {
		return false
	}
	out, _ := h.Run(ctx, Command{Args: []string{"systemctl", "is-enabled", unit}}) // that it is not, is an error
	return strings.TrimSpace(out) == "enabled"
}

// starting reports whether systemd is just starting a unit. One that is only to be started
// again, after its server failed, is not: while it is held, that never comes.
func starting(ctx context.Context, h *Host, unit string) bool {
	if unit == "" {
		return false
	}
	out, err := h.Run(ctx, Command{Args: []string{"systemctl", "show", "--property=ActiveState,SubState", unit}, Quiet: true})
	return err == nil && strings.Contains(out, "ActiveState=activating\n") && !strings.Contains(out, "SubState=auto-restart")
}

// StopUnit stops a unit of systemd, also one that is just being started; there may be none.
func (h *Host) StopUnit(ctx context.Context, unit string) error {
	if unit == "" {
		return nil
	}
	_, err := h.Run(ctx, Command{Args: []string{"systemctl", "stop", unit}})
	return err
}

// Arrived is the server that a function finds. One that its unit is just starting, as for a
// run that was killed, has come to its data then, or has ended: see awaitLaunched.
func (h *Host) Arrived(ctx context.Context, unit string, find func() (*Server, error)) (s *Server, err error) {
	waited := Await(ctx, func(ctx context.Context) error {
		coming := starting(ctx, h, unit)
		if s, err = find(); s == nil && err == nil && coming {
			return fmt.Errorf("systemd is starting %s, which has not come to its data yet", unit)
		}
		return nil
	})
	return s, errors.Join(err, waited)
}

// unitOf is the unit of systemd that a process belongs to.
func unitOf(proc string) string {
	if !SystemdRuns() {
		return ""
	}
	groups, _ := os.ReadFile(filepath.Join(proc, "cgroup"))
	return unitIn(groups)
}

// unitIn finds the unit in what /proc says of a process's groups. A session of a
// person is none.
func unitIn(groups []byte) string {
	for line := range bytes.Lines(groups) {
		_, group, _ := strings.Cut(strings.TrimSpace(string(line)), "/")
		if name := path.Base(group); strings.HasPrefix(group, "system.slice/") && strings.HasSuffix(name, ".service") {
			return name
		}
	}
	return ""
}

// Stop ends a server in its own way and waits until it is gone.
func (s *Server) Stop(ctx context.Context, h *Host) error {
	if s.Unit != "" {
		if err := h.StopUnit(ctx, s.Unit); err != nil {
			return err
		}
	} else if err := unix.Kill(s.pid, s.Quit); err != nil && !errors.Is(err, unix.ESRCH) {
		return fmt.Errorf("stopping the server: %w", err)
	}
	return Await(ctx, s.Ended)
}

// Ended reports whether a server is gone: a process that has ended works nowhere,
// though nobody has waited for it.
func (s *Server) Ended(context.Context) error {
	if _, err := os.Readlink(fmt.Sprintf("/proc/%d/cwd", s.pid)); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return fmt.Errorf("the server, %s, does not stop", s)
}

// holdFile keeps a unit of systemd from being started while it is there: a boot
// after a power cut would else have the new server on the old data.
func holdFile(unit string) string {
	return filepath.Join("/etc/systemd/system", unit+".d", "svc-db-upgrade.conf")
}

// Hold keeps a unit from being started until it is released; there may be none.
func (h *Host) Hold(ctx context.Context, unit string) error {
	if unit == "" {
		return nil
	}
	name := holdFile(unit)
	text := fmt.Sprintf("# svc db upgrade has begun: go on or back with --backup-dir %s --resume or --roll-back\n[Unit]\nAssertPathExists=!%s\n", h.Backup, name)
	err := os.MkdirAll(filepath.Dir(name), 0o755)
	if err == nil {
		err = renameio.WriteFile(name, []byte(text), 0o644, renameio.WithTempDir(filepath.Dir(name)))
	}
	if err != nil {
		return fmt.Errorf("keeping %s from being started: %w", unit, err)
	}
	return h.Reload(ctx)
}

// Release lets a unit be started again.
func (h *Host) Release(ctx context.Context, unit string) error {
	if unit == "" {
		return nil
	}
	if err := RemoveFile(holdFile(unit)); err != nil {
		return fmt.Errorf("letting %s be started: %w", unit, err)
	}
	_ = os.Remove(filepath.Dir(holdFile(unit))) // where nothing else is in it
	return h.Reload(ctx)
}

// Reload has systemd, where it runs, read its units again.
func (h *Host) Reload(ctx context.Context) error {
	if !SystemdRuns() {
		return nil
	}
	_, err := h.Run(ctx, Command{Args: []string{"systemctl", "daemon-reload"}})
	return err
}

// MountPoint reports whether a directory is where a file system is mounted.
func MountPoint(dir string) (bool, error) {
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return false, fmt.Errorf("reading what is mounted: %w", err)
	}
	return mountedAt(mounts, dir), nil
}

// mountedAt looks for a directory among the places of a mountinfo.
func mountedAt(mounts []byte, dir string) bool {
	escaped := strings.NewReplacer(" ", `\040`, "\t", `\011`, "\n", `\012`, `\`, `\134`).Replace(dir)
	for line := range bytes.Lines(mounts) {
		if fields := bytes.Fields(line); len(fields) > 4 && string(fields[4]) == escaped {
			return true
		}
	}
	return false
}

// Relabel gives a directory the labels of SELinux that its place has by the
// policy, where there is one: programs of root make files with other ones.
func (h *Host) Relabel(ctx context.Context, dir string) error {
	if _, err := os.Stat("/sys/fs/selinux/enforce"); err != nil {
		return nil
	}
	_, err := h.Run(ctx, Command{Args: []string{"restorecon", "-R", dir}})
	return err
}

// SameDir reports whether two names lead to the same directory. Where a process
// works is compared so: by name, that of a container may be called the same.
func SameDir(a, b string) bool {
	one, err := os.Stat(a)
	other, otherErr := os.Stat(b)
	return err == nil && otherErr == nil && os.SameFile(one, other)
}
