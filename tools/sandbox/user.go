//go:build linux

package sandbox

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// ids are those of this machine that a sandbox's users have.
type ids struct {
	first, count int
	// user: this program is root of a user namespace alone, as a user makes one who is
	// no root of the machine. No file system is mounted for him with other ids, so that
	// what a sandbox reads and writes has on the disk the ids that its users have here.
	user bool
}

// ours are the ids that this process may give away.
var ours = sync.OnceValue(func() ids {
	b, _ := os.ReadFile("/proc/self/uid_map")
	return idsOf(string(b))
})

// idsOf are the ids to give away where ids are mapped as a uid_map says: what is
// nobody's where they are all there, else the longest row of those that are not
// root's own.
func idsOf(text string) ids {
	const all = 1<<32 - 1
	found := ids{user: true}
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		if len(f) != 3 {
			continue
		}
		first, _ := strconv.Atoi(f[0])
		count, _ := strconv.Atoi(f[2])
		if count == all {
			return ids{first: First, count: Count}
		}
		if first == 0 {
			first, count = 1, count-1
		}
		if count > found.count {
			found.first, found.count = first, count
		}
	}
	return found
}

// enough is how many ids a system's own users take.
const enough = 65_000

// mapped are the ids of a sandbox.
func (i ids) mapped() []syscall.SysProcIDMap {
	return []syscall.SysProcIDMap{{ContainerID: 0, HostID: i.first, Size: i.count}}
}

// give makes what this process made the sandbox's root's, where ids are not mapped
// as it is mounted.
func (i ids) give(names ...string) error {
	if !i.user {
		return nil
	}
	var err error
	for _, name := range names {
		err = errors.Join(err, os.Lchown(name, i.first, i.first))
	}
	return err
}

// Give makes a file that this process made a sandbox's root's.
func Give(name string) error { return ours().give(name) }

// AsNobody is a command that root of a sandbox's users runs with this machine's own
// files and network; it has a folder of its own at the place at, by no path of this
// machine's.
func AsNobody(ctx context.Context, dir, at string, words ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "/proc/self/exe")
	cmd.Args = append([]string{stageNobody, dir, at}, words...)
	return cmd
}

// ownPlaces mounts a folder in its place, and memory where other mounts of this
// machine may be below, with which the kernel lets nobody mount a place once more.
const ownPlaces = `mount --no-canonicalize --bind . "$1" && cd / && shift && { [ ! -d /dev/shm ] || mount -t tmpfs tmpfs /dev/shm; } && exec "$@"`

// nobody is the stage that goes to the folder, and runs the command.
func nobody(args []string) error {
	if err := unix.Chdir(args[1]); err != nil {
		return err
	}
	cmd := exec.Command("sh", append([]string{"-c", ownPlaces, "sh", args[2]}, args[3:]...)...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID,
		UidMappings: ours().mapped(), GidMappings: ours().mapped(), GidMappingsEnableSetgroups: true,
		Credential: &syscall.Credential{Uid: 0, Gid: 0}, // in the new namespace
		Pdeathsig:  unix.SIGKILL, Setsid: true,
	}
	return cmd.Run()
}

// OnDisk is the id that a file has on the disk which is to have id in a sandbox;
// false where no sandbox has such an id.
func OnDisk(id int) (int, bool) {
	if i := ours(); i.user {
		return i.first + id, id < i.count
	}
	return id, true
}

// User reports whether sandboxes are those of a user who is no root of this machine.
func User() bool { return ours().user }

// AsRootOfItsOwn has this program called anew, as root of a user namespace, where
// who called it is no root. It comes back where he is, or where that can't be done. The
// owners of the files below root, where that is not empty, go with it.
func AsRootOfItsOwn(root string) error {
	if os.Geteuid() == 0 {
		return takeKept()
	}
	own := []string{"unshare", "--user", "--map-root-user", "--map-auto", "--"}
	for _, program := range []string{"unshare", "newuidmap", "newgidmap"} {
		if _, err := exec.LookPath(program); err != nil {
			return fmt.Errorf("%w: without root it takes %s (of util-linux and uidmap), which is missing; nothing was done: install it, or call this by sudo", ErrNoSandbox, program)
		}
	}
	if b, err := exec.Command(own[0], append(slices.Clone(own[1:]), "true")...).CombinedOutput(); err != nil {
		return fmt.Errorf("%w: without root it takes a user namespace with %d ids of one's own, and unshare says %q; nothing was done: see that /etc/subuid and /etc/subgid have such a row for you (usermod --add-subuids 100000-165535 --add-subgids 100000-165535 NAME) and that the kernel lets users make namespaces, or call this by sudo", ErrNoSandbox, enough, bytes.TrimSpace(b))
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	unshare, err := exec.LookPath(own[0])
	if err != nil {
		return err
	}
	owners, tells, err := keep(root)
	if err != nil {
		return fmt.Errorf("noting the owners of files: %w", err)
	}
	defer runtime.KeepAlive(owners) // it is inherited open
	return unix.Exec(unshare, slices.Concat(own, []string{self}, os.Args[1:]), append(os.Environ(), tells...))
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

// limitEach bounds processes alone, where no group bounds them together: how much
// each may take, and how many this user may have in the sandbox.
func limitEach(l Limits) error {
	for what, most := range map[int]uint64{unix.RLIMIT_DATA: uint64(l.Memory), unix.RLIMIT_NPROC: uint64(l.Processes)} {
		var now unix.Rlimit
		if err := unix.Getrlimit(what, &now); err != nil {
			return err
		}
		most = min(most, now.Max)
		if err := unix.Setrlimit(what, &unix.Rlimit{Cur: most, Max: most}); err != nil {
			return fmt.Errorf("limiting processes: %w", err)
		}
	}
	return nil
}
