//go:build linux

package sandbox

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"

	"golang.org/x/sys/unix"
)

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
	cmd.SysProcAttr = asRoot(0)
	return cmd.Run()
}

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
