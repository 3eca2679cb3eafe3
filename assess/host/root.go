//go:build linux

package host

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	pathrs "github.com/cyphar/filepath-securejoin/pathrs-lite"
	"golang.org/x/sys/unix"
)

// OpenRoot opens the machine whose root is a folder of this host.
func OpenRoot(dir string) (Host, error) {
	absolute, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("opening root %s: %w", dir, err)
	}
	f, err := os.OpenFile(absolute, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	switch {
	case errors.Is(err, unix.ENOTDIR):
		return nil, fmt.Errorf("opening root: %s is a file, not the folder of a machine's files: a disk image is given as image (--image)", dir)
	case err != nil && strings.HasPrefix(dir, "~"): // a shell that wrote the path out did not see it
		return nil, fmt.Errorf("opening root: %w: ~ is no folder here, give the path in whole", err)
	case err != nil:
		return nil, fmt.Errorf("opening root: %w", err)
	}
	handles, err := os.OpenFile(ownHandles, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("opening root: %w", err), f.Close())
	}
	return &root{dir: absolute, file: f, fd: int(f.Fd()), handles: handles}, nil
}

// ownHandles has a name for each handle of this process.
const ownHandles = "/proc/self/fd"

// root is a folder. It is safe for concurrent use.
type root struct {
	dir     string
	file    *os.File
	fd      int
	handles *os.File // ownHandles, which is a long way to go for each file
}

func (r *root) FS() FS         { return r }
func (r *root) Live() bool     { return r.dir == "/" }
func (r *root) String() string { return r.dir }
func (r *root) Close() error   { return errors.Join(r.file.Close(), r.handles.Close()) }

// resolve gives a handle on what name leads to, without opening that: a pipe
// can't block and a device can't act.
func (r *root) resolve(op, name string) (handle, error) {
	if !Valid(name) {
		return -1, &fs.PathError{Op: op, Path: name, Err: fs.ErrInvalid}
	}
	h, err := r.openInRoot(name)
	if err != nil {
		return -1, PathError(op, name, err)
	}
	return h, nil
}

// handle is a file descriptor that stands for a file without opening it. An
// os.File would cost three system calls more, for each of hundreds of files.
type handle int

func (h handle) Close() { _ = unix.Close(int(h)) } // nothing was written through it

// openInRoot leaves the work to the kernel, which resolves in one step, and
// takes the library where the kernel is older than that.
func (r *root) openInRoot(name string) (handle, error) {
	fd, err := r.openat2(name, unix.O_PATH, unix.RESOLVE_NO_MAGICLINKS)
	if !errors.Is(err, unix.ENOSYS) {
		return handle(fd), err
	}
	f, err := pathrs.OpenatInRoot(r.file, name)
	if err != nil {
		return -1, err
	}
	defer f.Close()
	fd, err = unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	return handle(fd), err
}

// maxRaces is how often a path is resolved anew where something was renamed meanwhile.
const maxRaces = 1000

// openat2 opens name inside the root. The kernel refuses a path with ".." in it, as links
// often have, whenever anything at all is renamed or mounted on the host meanwhile, and
// leaves it to the caller to try again (openat2(2), EAGAIN).
func (r *root) openat2(name string, flags, resolve uint64) (fd int, err error) {
	how := &unix.OpenHow{Flags: flags | unix.O_CLOEXEC, Resolve: resolve | unix.RESOLVE_IN_ROOT}
	for range maxRaces {
		fd, err = unix.Openat2(r.fd, name, how)
		if !errors.Is(err, unix.EAGAIN) && !errors.Is(err, unix.EINTR) {
			break
		}
	}
	return fd, err
}

// reopen opens what a handle stands for: the very same file, whatever the
// machine's folders lead to by now.
func (r *root) reopen(h handle, flags int) (handle, error) {
	fd, err := unix.Openat(int(r.handles.Fd()), strconv.Itoa(int(h)), flags|unix.O_CLOEXEC, 0)
	return handle(fd), err
}

// procFD is a name of what is open, whatever its own name leads to by now.
func procFD(fd int) string { return ownHandles + "/" + strconv.Itoa(fd) }

// Open opens a regular file.
func (r *root) Open(name string) (fs.File, error) {
	h, err := r.resolve("open", name)
	if err != nil {
		return nil, err
	}
	defer h.Close()
	info, err := h.stat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() == 0 && !Readable(name) && h.isKernels() {
		return nil, &fs.PathError{Op: "open", Path: name, Err: ErrNotRegular}
	}
	f, err := r.reopen(h, unix.O_RDONLY|unix.O_NOCTTY)
	if err != nil {
		return nil, PathError("open", name, err)
	}
	return &file{handle: f, info: info, left: info.Size()}, nil
}

// kernelFS are the file systems in which the kernel makes files up that state no
// size. To read one may take for ever, or take from others what it says.
var kernelFS = []int64{
	unix.PROC_SUPER_MAGIC, unix.SYSFS_MAGIC, unix.DEBUGFS_MAGIC, unix.TRACEFS_MAGIC, unix.SECURITYFS_MAGIC, unix.SELINUX_MAGIC, unix.CGROUP_SUPER_MAGIC, unix.CGROUP2_SUPER_MAGIC,
}

// isKernels reports whether the file is of one of those.
func (h handle) isKernels() bool {
	var st unix.Statfs_t
	return unix.Fstatfs(int(h), &st) == nil && slices.Contains(kernelFS, int64(st.Type))
}

// file is an open file. One that states a size ends there: another read would
// only say so.
type file struct {
	handle
	info fs.FileInfo
	left int64 // bytes of the size it states that were not read yet
}

func (f *file) Stat() (fs.FileInfo, error) { return f.info, nil }

func (f *file) Close() error { return unix.Close(int(f.handle)) }

func (f *file) Read(p []byte) (int, error) {
	stated := f.info.Size() > 0
	switch {
	case len(p) == 0:
		return 0, nil
	case stated && f.left == 0:
		return 0, io.EOF
	case stated:
		p = p[:min(int64(len(p)), f.left)]
	}
	n, err := f.again("read", func() (int, error) { return unix.Read(int(f.handle), p) })
	f.left -= int64(n)
	return n, err
}

// ReadAt reads at a place, as far as the file goes by now.
func (f *file) ReadAt(p []byte, off int64) (n int, err error) {
	for n < len(p) && err == nil {
		var m int
		m, err = f.again("read", func() (int, error) { return unix.Pread(int(f.handle), p[n:], off+int64(n)) })
		n += m
	}
	return n, err
}

// again repeats a read that a signal interrupted; nothing read is the end.
func (f *file) again(op string, read func() (int, error)) (int, error) {
	for {
		n, err := read()
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return 0, PathError(op, f.info.Name(), err)
		case n == 0:
			return 0, io.EOF
		default:
			return n, nil
		}
	}
}

// Stat describes what name leads to.
func (r *root) Stat(name string) (fs.FileInfo, error) {
	h, err := r.resolve("stat", name)
	if err != nil {
		return nil, err
	}
	defer h.Close()
	return h.stat(name)
}

func (h handle) stat(name string) (fs.FileInfo, error) {
	var st unix.Stat_t
	if err := unix.Fstat(int(h), &st); err != nil {
		return nil, PathError("stat", name, err)
	}
	return Entry{path.Base(name), statusOf(&st)}, nil
}

// parent gives a handle on the folder that name stands in. The whole name is
// checked: a last element of .. would lead out of it.
func (r *root) parent(op, name string) (handle, error) {
	if !Valid(name) {
		return -1, &fs.PathError{Op: op, Path: name, Err: fs.ErrInvalid}
	}
	h, err := r.resolve(op, path.Dir(name))
	if err != nil {
		return -1, PathError(op, name, err)
	}
	return h, nil
}

// Lstat describes name itself, a symlink too.
func (r *root) Lstat(name string) (fs.FileInfo, error) {
	parent, err := r.parent("lstat", name)
	if err != nil {
		return nil, err
	}
	defer parent.Close()
	base := path.Base(name)
	var st unix.Stat_t
	if err := unix.Fstatat(int(parent), base, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return nil, PathError("lstat", name, err)
	}
	return Entry{base, statusOf(&st)}, nil
}

// ReadLink reads a symlink.
func (r *root) ReadLink(name string) (string, error) {
	parent, err := r.parent("readlink", name)
	if err != nil {
		return "", err
	}
	defer parent.Close()
	buf := make([]byte, unix.PathMax)
	n, err := unix.Readlinkat(int(parent), path.Base(name), buf)
	if err != nil {
		return "", PathError("readlink", name, err)
	}
	return string(buf[:n]), nil
}

// ReadDir lists a folder, sorted by name.
func (r *root) ReadDir(name string) ([]fs.DirEntry, error) {
	h, err := r.resolve("readdir", name)
	if err != nil {
		return nil, err
	}
	defer h.Close()
	d, err := r.reopen(h, unix.O_RDONLY|unix.O_DIRECTORY)
	if err != nil {
		return nil, PathError("readdir", name, err)
	}
	f := os.NewFile(uintptr(d), procFD(int(d)))
	defer f.Close()
	listed, err := f.ReadDir(MaxEntries + 1)
	switch {
	case err != nil && !errors.Is(err, io.EOF):
		return nil, PathError("readdir", name, err)
	case len(listed) > MaxEntries:
		return nil, PathError("readdir", name, ErrTooBig)
	}
	slices.SortFunc(listed, func(a, b fs.DirEntry) int { return cmp.Compare(a.Name(), b.Name()) })
	for i, e := range listed {
		listed[i] = dirEntry{e, r, name}
	}
	return listed, nil
}

// dirEntry is an entry of a folder, whose files are described as those of the root.
type dirEntry struct {
	fs.DirEntry
	root   *root
	folder string
}

func (e dirEntry) Info() (fs.FileInfo, error) { return e.root.Lstat(path.Join(e.folder, e.Name())) }

// statusOf takes what the kernel of this host says.
func statusOf(st *unix.Stat_t) Status {
	s := Status{
		Mode: st.Mode, UID: st.Uid, GID: st.Gid, Size: st.Size, Modified: st.Mtim.Sec, Nanoseconds: int64(st.Mtim.Nsec),
		Device: uint64(st.Dev), Number: st.Ino, Links: int(st.Nlink), Blocks: st.Blocks,
	}
	if o, known := owners[[2]uint64{s.Device, s.Number}]; known {
		s.UID, s.GID = uint32(o.UID), uint32(o.GID)
	}
	return s
}
