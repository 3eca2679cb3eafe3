//go:build linux

package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// ProxyURL is where programs of a sandbox ask for what is outside of it.
const ProxyURL = "http://127.0.0.1:3142"

// initStage is the first process of a sandbox: it makes the root its own, and
// becomes its systemd.
func initStage(args []string) error {
	runtime.LockOSThread() // what a thread may not do holds for what it becomes
	var l layout
	if err := json.Unmarshal([]byte(args[1]), &l); err != nil {
		return err
	}
	listener, err := prepare(&l)
	if err != nil {
		_ = say(answer{Error: err.Error()})
		return err
	}
	if err := ready(listener); err != nil {
		return err
	}
	if _, err := line(); err != nil { // until its caller has its namespaces
		return err
	}
	unix.CloseOnExec(wire)
	if l.Plain {
		idle()
	}
	return become()
}

// prepare mounts the root and all that a system needs, and drops what it does not.
func prepare(l *layout) (net.Listener, error) {
	for _, step := range []func(*layout) error{mounts, names, limits, capabilities} {
		if err := step(l); err != nil {
			return nil, err
		}
	}
	if err := errors.Join(loopback(), interfaces(l.Interfaces), keys()); err != nil {
		return nil, err
	}
	if !l.Proxy {
		return nil, nil
	}
	return net.Listen("tcp", strings.TrimPrefix(ProxyURL, "http://"))
}

// ready says so, and sends the listener, which goes on listening in this network.
func ready(listener net.Listener) error {
	b := []byte("{}\n")
	if listener == nil {
		_, err := unix.Write(wire, b)
		return err
	}
	f, err := listener.(*net.TCPListener).File()
	if err != nil {
		return err
	}
	defer f.Close()
	if err := unix.Sendmsg(wire, b, unix.UnixRights(int(f.Fd())), nil, 0); err != nil {
		return err
	}
	return listener.Close()
}

// entry is a file system of a system that boots.
type entry struct {
	kind, at, options string
	flags             uintptr
}

// entries are those of a root, in their order. Devices are those that are nobody's:
// a user namespace can make none.
var entries = []entry{
	{"proc", "proc", "", unix.MS_NOSUID | unix.MS_NOEXEC | unix.MS_NODEV},
	{"sysfs", "sys", "", unix.MS_NOSUID | unix.MS_NOEXEC | unix.MS_NODEV | unix.MS_RDONLY},
	{"tmpfs", "dev", "mode=755,size=4m,nr_inodes=4096", unix.MS_NOSUID},
	{"devpts", "dev/pts", "newinstance,ptmxmode=0666,mode=620,gid=5", unix.MS_NOSUID | unix.MS_NOEXEC},
	{"tmpfs", "dev/shm", "mode=1777,size=256m", unix.MS_NOSUID | unix.MS_NODEV},
	{"mqueue", "dev/mqueue", "", unix.MS_NOSUID | unix.MS_NOEXEC | unix.MS_NODEV},
	{"tmpfs", "run", "mode=755,size=256m", unix.MS_NOSUID | unix.MS_NODEV},
	{"tmpfs", "tmp", "mode=1777,size=512m", unix.MS_NOSUID | unix.MS_NODEV},
	{"cgroup2", "sys/fs/cgroup", "", unix.MS_NOSUID | unix.MS_NOEXEC | unix.MS_NODEV},
}

var (
	devices     = []string{"null", "zero", "full", "random", "urandom", "tty"}
	deviceLinks = [][2]string{{"/proc/self/fd", "fd"}, {"/proc/self/fd/0", "stdin"}, {"/proc/self/fd/1", "stdout"}, {"/proc/self/fd/2", "stderr"}, {"pts/ptmx", "ptmx"}}
)

// mounts makes the root this process's own. Its folders are the machine's, so each
// place is made and opened inside of it, by no link.
func mounts(l *layout) error {
	if err := onto(); err != nil {
		return fmt.Errorf("the root: %w", err)
	}
	dir, err := os.OpenRoot(".")
	if err != nil {
		return err
	}
	defer dir.Close()
	if err := show(dir, l); err != nil {
		return err
	}
	for _, e := range entries {
		at, err := folder(dir, e.at)
		if err != nil {
			return err
		}
		err = unix.Mount(e.kind, at.Name(), e.kind, e.flags, e.options)
		at.Close()
		if err != nil && e.kind != "mqueue" { // which not every kernel has
			return fmt.Errorf("mounting /%s: %w", e.at, err)
		}
	}
	for _, name := range devices {
		if err := bindFile(dir, "/dev/"+name, "dev/"+name); err != nil {
			return err
		}
	}
	for _, link := range deviceLinks {
		if err := dir.Symlink(link[0], "dev/"+link[1]); err != nil {
			return err
		}
	}
	return pivot()
}

// onto makes the folder that it is in a mount of its own, and goes there.
func onto() error {
	tree, err := unix.OpenTree(unix.AT_FDCWD, ".", unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_RECURSIVE)
	if err != nil {
		return err
	}
	defer unix.Close(tree)
	if err := unix.MoveMount(tree, "", unix.AT_FDCWD, ".", unix.MOVE_MOUNT_F_EMPTY_PATH); err != nil {
		return err
	}
	return unix.Fchdir(tree)
}

// show binds what waits in the folder of devices to its places.
func show(dir *os.Root, l *layout) error {
	for n, place := range l.shown() {
		at, err := folder(dir, strings.TrimPrefix(place, "/"))
		if err != nil {
			return err
		}
		err = unix.Mount(waiting(n), at.Name(), "", unix.MS_BIND, "")
		at.Close()
		if err != nil {
			return fmt.Errorf("showing %s: %w", place, err)
		}
	}
	return nil
}

// opened is a place inside a root, named by its descriptor.
type opened struct{ *os.File }

func (o opened) Name() string { return fmt.Sprintf("/proc/self/fd/%d", o.Fd()) }

// folder opens a folder of a root, made where it lacks. A link in its place, as a
// machine may have put there, is taken away: it is the copy's, not the machine's.
func folder(dir *os.Root, name string) (opened, error) {
	for _, part := range parents(name) {
		info, err := dir.Lstat(part)
		if err == nil && !info.IsDir() {
			err = dir.RemoveAll(part)
			info = nil
		}
		if info == nil {
			err = dir.Mkdir(part, 0o755)
		}
		if err != nil {
			return opened{}, err
		}
	}
	f, err := dir.OpenFile(name, unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
	return opened{f}, err
}

// parents are a path's folders from the top, and itself.
func parents(name string) (all []string) {
	for p := filepath.Clean(name); p != "."; p = filepath.Dir(p) {
		all = append([]string{p}, all...)
	}
	return all
}

// bindFile shows a file of the host in the root, in a folder that was just mounted.
func bindFile(dir *os.Root, from, to string) error {
	f, err := dir.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_RDONLY, 0o666)
	if err != nil {
		return fmt.Errorf("making /%s: %w", to, err)
	}
	defer f.Close()
	if err := unix.Mount(from, opened{f}.Name(), "", unix.MS_BIND, ""); err != nil {
		return fmt.Errorf("%s: %w", from, err)
	}
	return nil
}

// pivot makes the folder that it is in the root, and lets go of the one before.
func pivot() error {
	if err := unix.PivotRoot(".", "."); err != nil {
		return fmt.Errorf("changing the root: %w", err)
	}
	if err := unix.Unmount(".", unix.MNT_DETACH); err != nil {
		return fmt.Errorf("letting go of the host's root: %w", err)
	}
	return unix.Chdir("/")
}

func names(l *layout) error {
	return unix.Sethostname([]byte(l.Name))
}

// limits of each process, beside those of its groups.
func limits(*layout) error {
	return limitProcesses(map[int]uint64{unix.RLIMIT_FSIZE: 16 << 30, unix.RLIMIT_CORE: 0, unix.RLIMIT_NOFILE: 1 << 16, unix.RLIMIT_MEMLOCK: 64 << 20})
}

// without are capabilities that no root in a sandbox has: they are of its own user
// namespace alone, and this takes away what the kernel might get wrong.
var without = []uintptr{
	unix.CAP_SYS_MODULE, unix.CAP_SYS_RAWIO, unix.CAP_SYSLOG, unix.CAP_MAC_ADMIN, unix.CAP_MAC_OVERRIDE,
	unix.CAP_BPF, unix.CAP_PERFMON, unix.CAP_MKNOD, unix.CAP_SYS_PACCT, unix.CAP_WAKE_ALARM, unix.CAP_BLOCK_SUSPEND, unix.CAP_CHECKPOINT_RESTORE,
}

func capabilities(*layout) error {
	for _, c := range without {
		if err := unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0); err != nil {
			return fmt.Errorf("dropping a capability: %w", err)
		}
	}
	return nil
}

// loopback is the one network that each sandbox has.
func loopback() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	request, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	request.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	return unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, request)
}

// inits are where a systemd lies.
var inits = []string{"/lib/systemd/systemd", "/usr/lib/systemd/systemd"}

// waitless are units that wait for what no sandbox has.
var waitless = []string{"systemd.mask=systemd-networkd-wait-online.service", "systemd.mask=NetworkManager-wait-online.service", "systemd.mask=ifupdown-wait-online.service"}

// become turns this process into the root's systemd.
func become() error {
	// Journals and consoles are the sandbox's own; its environment says that it is none.
	env := []string{"container=svc", "PATH=/usr/sbin:/usr/bin:/sbin:/bin"}
	var err error
	for _, name := range inits {
		err = unix.Exec(name, append([]string{name, "--system"}, waitless...), env)
	}
	return fmt.Errorf("the root has no systemd: %w", err)
}

// idle waits for ever, and buries the dead.
func idle() {
	for {
		if _, err := unix.Wait4(-1, nil, 0, nil); err != nil {
			time.Sleep(20 * time.Millisecond)
		}
	}
}
