//go:build linux

package sandbox

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// controllers are those that bound a sandbox.
var controllers = []string{"memory", "pids", "cpu"}

// mounted gives where a file system of a kind is mounted with an option, or "".
func mounted(kind, option string) string {
	b, _ := os.ReadFile("/proc/self/mounts")
	for line := range strings.Lines(string(b)) {
		f := strings.Fields(line)
		if len(f) > 3 && f[2] == kind && (option == "" || strings.Contains(","+f[3]+",", ","+option+",")) {
			return f[1]
		}
	}
	return ""
}

func unified() string { return mounted("cgroup2", "") }

// parentGroup is the group that those of sandboxes are made in.
func parentGroup() string {
	if ours().user {
		return delegated()
	}
	return unified()
}

// ErrUnbooted says that programs run in a sandbox here, and no systemd does.
var ErrUnbooted = errors.New("no systemd was booted, for the control groups of this session are not yours")

// Boots says why no systemd runs in a sandbox of this process; nil where one does.
func Boots() error {
	if ours().user && delegated() == "" {
		return ErrUnbooted
	}
	return nil
}

// delegated is the control group that this process's user may make others in, or "".
// The process makes room in it: a group with limits for those below it has no
// processes of its own.
var delegated = sync.OnceValue(func() string {
	b, _ := os.ReadFile("/proc/self/cgroup")
	for line := range strings.Lines(string(b)) {
		own, ok := strings.CutPrefix(strings.TrimSpace(line), "0::")
		if !ok || unified() == "" {
			continue
		}
		at := filepath.Join(unified(), own)
		if unix.Access(at, unix.W_OK) != nil || unix.Access(at+"/cgroup.procs", unix.W_OK) != nil {
			continue
		}
		leaf := at + "/svc-" + strconv.Itoa(os.Getpid())
		if os.Mkdir(leaf, 0o755) == nil && os.WriteFile(leaf+"/cgroup.procs", []byte("0"), 0) == nil {
			for _, c := range controllers {
				_ = os.WriteFile(at+"/cgroup.subtree_control", []byte("+"+c), 0) // others' processes may be in it; then it has no limits
			}
		}
		return at
	}
	return ""
})
