//go:build linux

package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// Stage is what a main does first: where this program was called as a stage of a
// sandbox, it is that, and does not come back.
func Stage() {
	stage := map[string]func([]string) error{stageMount: mountStage, stageInit: initStage, stageHold: holdStage, stageEnter: enter, stageNobody: nobody}[os.Args[0]]
	if stage == nil {
		return
	}
	if err := stage(os.Args); err != nil {
		fmt.Fprintln(os.Stderr, "svc:", err)
		os.Exit(125)
	}
	os.Exit(0)
}

// mountStage puts the root together, where nobody else sees its mounts, and starts
// the first process.
func mountStage([]string) error {
	b, err := line()
	if err != nil {
		return err
	}
	var l layout
	if err := json.Unmarshal(b, &l); err != nil {
		return err
	}
	cmd := exec.Command("/proc/self/exe")
	cmd.Args = []string{stageInit, string(b)}
	cmd.Env = []string{}
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.ExtraFiles = []*os.File{os.NewFile(wire, "wire")}
	cmd.SysProcAttr = asRoot(unix.CLONE_NEWNET | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC | unix.CLONE_NEWCGROUP)
	if err := startIn(&l, cmd); err != nil {
		return errors.Join(err, say(answer{Error: err.Error()}))
	}
	if err := say(answer{PID: cmd.Process.Pid}); err != nil {
		return err
	}
	return cmd.Wait()
}

// startIn starts the first process where the root is put together, within its limits.
func startIn(l *layout, first *exec.Cmd) error {
	if err := put(l); err != nil {
		return err
	}
	if err := l.Groups.join(); err != nil {
		return err
	}
	if ours().user {
		if err := limitEach(l.Limits); err != nil {
			return err
		}
	}
	if err := unix.Chdir(l.root()); err != nil { // by a path, the next stage may not reach it
		return err
	}
	if err := first.Start(); err != nil {
		return fmt.Errorf("user namespaces: %w", err)
	}
	return nil
}

// asRoot starts a process as root of a sandbox's users, in namespaces of its own.
func asRoot(namespaces uintptr) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{
		Cloneflags:  unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID | namespaces,
		UidMappings: ours().mapped(), GidMappings: ours().mapped(), GidMappingsEnableSetgroups: true,
		Credential: &syscall.Credential{Uid: 0, Gid: 0}, // in the new namespace
		Pdeathsig:  unix.SIGKILL, Setsid: true,
	}
}

// put mounts the root's folders with their ids mapped, as one, at l.Merged.
func put(l *layout) error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("making mounts private: %w", err)
	}
	if ours().user {
		return join(l, unmapped)
	}
	hold := exec.Command("/proc/self/exe")
	hold.Args, hold.Env = []string{stageHold}, []string{}
	hold.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWUSER, UidMappings: ours().mapped(), GidMappings: ours().mapped(), Pdeathsig: unix.SIGKILL}
	open, err := hold.StdinPipe()
	if err != nil {
		return err
	}
	if err := hold.Start(); err != nil {
		return fmt.Errorf("user namespaces: %w", err)
	}
	defer func() { open.Close(); _ = hold.Wait() }()
	users, err := os.Open(fmt.Sprintf("/proc/%d/ns/user", hold.Process.Pid))
	if err != nil {
		return err
	}
	defer users.Close()
	return join(l, int(users.Fd()))
}

// unmapped stands for the namespace by which ids are mapped where none are.
const unmapped = -1

// join mounts the root's folders as one.
func join(l *layout, users int) error {
	places, err := layers(l, users)
	if err != nil {
		return err
	}
	data := places[len(places)-1]
	options := fmt.Sprintf("lowerdir=%s,upperdir=%s/upper,workdir=%s/work,xino=off,index=off", strings.Join(places[:len(places)-1], ":"), data, data)
	if users == unmapped {
		options += ",userxattr" // who is no root of the machine sets no others, and redirects nothing
	} else {
		options += ",redirect_dir=off,metacopy=off"
	}
	if err := asMapped(func() error { return unix.Mount("svc", l.root(), "overlay", unix.MS_NODEV, options) }); err != nil {
		return fmt.Errorf("mounting an overlay, which with mapped ids takes Linux 5.19: %w", err)
	}
	return shown(l, users)
}

// asMapped does something as the sandbox's root is on the host, with all of this
// process's rights: an overlay writes as who mounted it, and who has no id where
// ids are mapped can make no file.
func asMapped(do func() error) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	const noFixup = 1 << 2 // SECBIT_NO_SETUID_FIXUP
	if err := unix.Prctl(unix.PR_SET_SECUREBITS, noFixup, 0, 0, 0); err != nil {
		return err
	}
	err := errors.Join(unix.Setfsgid(ours().first), unix.Setfsuid(ours().first), do(), unix.Setfsuid(0), unix.Setfsgid(0))
	// Who becomes another is no longer told of its parent's end: it is asked for anew.
	return errors.Join(err, unix.Prctl(unix.PR_SET_SECUREBITS, 0, 0, 0, 0), unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0))
}

// layers mounts the folders of a root with mapped ids; the last is of what it writes.
func layers(l *layout, users int) (places []string, err error) {
	if err := unix.Mount("svc", l.layers(), "tmpfs", 0, "mode=700"); err != nil {
		return nil, err
	}
	for n, dir := range append(slices.Clone(l.Lower), l.data()) {
		place := fmt.Sprintf("%s/%d", l.layers(), n)
		if err := os.Mkdir(place, 0o700); err != nil {
			return nil, err
		}
		if err := mapMount(dir, place, users, 0); err != nil {
			return nil, err
		}
		places = append(places, place)
	}
	return places, nil
}

// mapMount mounts a folder once more, its ids mapped.
func mapMount(dir, place string, users int, attributes uint64) error {
	tree, err := unix.OpenTree(unix.AT_FDCWD, dir, unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC)
	if err != nil {
		return fmt.Errorf("%s: %w", dir, err)
	}
	defer unix.Close(tree)
	attr := unix.MountAttr{Attr_set: attributes}
	if users != unmapped {
		attr.Attr_set, attr.Userns_fd = attributes|unix.MOUNT_ATTR_IDMAP, uint64(users)
	}
	if err := unix.MountSetattr(tree, "", unix.AT_EMPTY_PATH, &attr); err != nil {
		return fmt.Errorf("the file system of %s can't be mounted with other ids: %w", dir, err)
	}
	if err := unix.MoveMount(tree, "", unix.AT_FDCWD, place, unix.MOVE_MOUNT_F_EMPTY_PATH); err != nil {
		return fmt.Errorf("%s: %w", dir, err)
	}
	return nil
}

// shown mounts what a sandbox may read of the host in the root's folder of devices,
// whence the first process takes it to its place, before it has devices there.
func shown(l *layout, users int) error {
	dir, err := os.OpenRoot(l.root())
	if err != nil {
		return err
	}
	defer dir.Close()
	var at opened
	err = asMapped(func() (err error) { at, err = folder(dir, "dev"); return err }) // it may have to be made
	if err != nil {
		return err
	}
	defer at.Close()
	if err := unix.Mount("svc", at.Name(), "tmpfs", 0, "mode=755"); err != nil {
		return err
	}
	for n, place := range l.shown() {
		at := filepath.Join(l.root(), waiting(n)) // it was just mounted: there is no link
		if err := os.Mkdir(at, 0o755); err != nil {
			return err
		}
		if err := mapMount(l.Show[place], at, users, unix.MOUNT_ATTR_RDONLY|unix.MOUNT_ATTR_NODEV|unix.MOUNT_ATTR_NOEXEC|unix.MOUNT_ATTR_NOSUID); err != nil {
			return err
		}
	}
	return nil
}

// holdStage keeps a user namespace until its input ends.
func holdStage([]string) error {
	_, err := io.Copy(io.Discard, os.Stdin)
	return err
}
