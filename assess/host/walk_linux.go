package host

import (
	"errors"
	"io/fs"
	"path"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// direntBuffer is how many bytes of a folder are listed at once.
const direntBuffer = 32 << 10

// walkFolder lists a folder of this host by a handle on it: the very folder
// that was met, whatever its name leads to by now.
func (r *root) walkFolder(w *walk, worker int, f pendingFolder) error {
	fd, err := r.openFolder(f)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	l := lister{walk: w, worker: worker, f: f, fd: fd, link: procFD(fd) + "/"}
	buf, names := make([]byte, direntBuffer), make([]string, 0, 256)
	for w.ctx.Err() == nil {
		n, err := unix.ReadDirent(fd, buf)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil:
			return err
		case n <= 0:
			return nil
		}
		_, _, names = unix.ParseDirent(buf[:n], -1, names[:0])
		for _, name := range names {
			l.visit(name)
		}
	}
	return nil
}

// errMoved means that a folder is another one than was met before.
var errMoved = errors.New("it was replaced while it was read")

// openFolder opens a folder without following any link.
func (r *root) openFolder(f pendingFolder) (int, error) {
	fd, err := r.openat2(f.name, unix.O_RDONLY|unix.O_DIRECTORY, unix.RESOLVE_NO_SYMLINKS)
	if errors.Is(err, unix.ENOSYS) {
		fd, err = r.openFolderOld(f.name)
	}
	if err != nil {
		return -1, err
	}
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil || uint64(st.Dev) != f.device || st.Ino != f.number {
		_ = unix.Close(fd) // nothing was written through it
		return -1, errors.Join(err, errMoved)
	}
	return fd, nil
}

func (r *root) openFolderOld(name string) (int, error) {
	h, err := r.openInRoot(name)
	if err != nil {
		return -1, err
	}
	defer h.Close()
	return unix.Open(procFD(int(h)), unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
}

// lister visits the files of one open folder.
type lister struct {
	walk   *walk
	worker int
	f      pendingFolder
	fd     int
	link   string // by which the kernel finds the folder
	node   Node
}

func (l *lister) visit(name string) {
	var st unix.Stat_t
	if err := unix.Fstatat(l.fd, name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		if !errors.Is(err, unix.ENOENT) { // it went while it was listed
			l.walk.v.Unread(l.worker, l.f.top, path.Join(l.f.name, name), err)
		}
		return
	}
	n := &l.node
	*n = Node{
		Top: l.f.top, Dir: l.f.name, Name: name, Mode: Mode(st.Mode), Size: st.Size, UID: int(st.Uid), GID: int(st.Gid), Modified: st.Mtim.Sec, Changed: st.Ctim.Nano(),
		Inode: true, Device: uint64(st.Dev), Number: st.Ino, Links: int(st.Nlink), Blocks: st.Blocks, Boundary: uint64(st.Dev) != l.f.device,
	}
	if !l.walk.plain && st.Mode&unix.S_IFMT != unix.S_IFLNK {
		n.Attributes = l.attributes(name)
	}
	if l.walk.v.Visit(l.worker, n) && n.Mode.IsDir() && !n.Boundary {
		l.walk.enter(l.worker, pendingFolder{l.f.top, n.Path(), n.Device, n.Number})
	}
}

// noListAt is set where the kernel can't list attributes by a handle and a name.
var noListAt atomic.Bool

// attributes are those of a file in the folder. Kernels before 6.13 are asked by
// a longer way.
func (l *lister) attributes(name string) Attributes {
	if noListAt.Load() {
		return attributesOf(l.link + name)
	}
	p, err := unix.BytePtrFromString(name)
	if err != nil {
		return 0
	}
	var buf [512]byte
	n, _, errno := unix.Syscall6(unix.SYS_LISTXATTRAT, uintptr(l.fd), uintptr(unsafe.Pointer(p)), unix.AT_SYMLINK_NOFOLLOW, uintptr(unsafe.Pointer(&buf[0])), uintptr(len(buf)), 0)
	if errno == unix.ENOSYS {
		noListAt.Store(true)
		return attributesOf(l.link + name)
	}
	if errno != 0 {
		return attributesFrom(nil, errno)
	}
	return attributesFrom(buf[:n], nil)
}

// attributes are those of a file whose folders are no links; of a link, none.
func (r *root) attributes(name string, mode fs.FileMode) Attributes {
	if mode&fs.ModeSymlink != 0 {
		return 0
	}
	h, err := r.resolve("walk", name)
	if err != nil {
		return 0
	}
	defer h.Close()
	var buf [512]byte
	n, err := unix.Listxattr(procFD(int(h)), buf[:]) // leads to the handle's own file
	return attributesFrom(buf[:max(n, 0)], err)
}

// attributesOf lists the attributes of a file, by their names alone.
func attributesOf(name string) Attributes {
	var buf [512]byte
	n, err := unix.Llistxattr(name, buf[:])
	return attributesFrom(buf[:max(n, 0)], err)
}

// attributesFrom reads a list of names, or why there is none.
func attributesFrom(list []byte, err error) Attributes {
	switch {
	case errors.Is(err, unix.ENOTSUP):
		return AttributesKnown
	case errors.Is(err, unix.ERANGE):
		return AttributesKnown | UserAttributes // so many are somebody's own
	case err != nil:
		return 0
	case len(list) == 0:
		return AttributesKnown
	}
	return ParseAttributes(string(list))
}
