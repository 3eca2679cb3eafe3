// Package joined reads a machine off a disk image: its file systems, as its fstab joins
// them.
package joined

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"
	"syscall"

	"svc/assess/disk/inode"
	"svc/assess/host"
)

// joined is the file systems of a disk image as the machine mounts them. It is
// safe for concurrent use.
type joined struct {
	mounts map[string]mount // by the folder that each stands in; "." is the root

	mu    sync.Mutex
	known map[string]step
}

// mount is a file system, or a folder of it, that stands in a folder.
type mount struct {
	fs      inode.FS
	dir     string // what stands there: "." or a folder
	missing error  // why nothing can be read there
	device  uint64 // a number of its own, as the kernel gives one
}

// step is what stands on the way to a file: a folder, or a symlink.
type step struct{ target string }

// maxKnown bounds what is remembered of the ways to files.
const maxKnown = 4096

// newJoined is one file system alone.
func newJoined(root mount) *joined {
	return &joined{mounts: map[string]mount{".": root}, known: map[string]step{}}
}

// add mounts a file system where the machine does.
func (j *joined) add(at string, m mount) {
	if full, info, err := j.resolve(at, true); err == nil && info.IsDir() {
		at = full
	}
	m.device = uint64(len(j.mounts))
	j.mounts[at] = m
	clear(j.known)
}

// place is a file in its file system.
func (j *joined) place(full string) (m mount, inside string) {
	at := full
	for m, ok := j.mounts[at]; ; m, ok = j.mounts[at] {
		switch {
		case ok && at == ".":
			return m, path.Join(m.dir, full)
		case ok:
			return m, path.Join(m.dir, strings.TrimPrefix(full, at))
		}
		at = path.Dir(at)
	}
}

// lstat describes a file whose folders are no symlinks.
func (j *joined) lstat(full string) (fs.FileInfo, error) {
	m, inside := j.place(full)
	if m.missing != nil {
		return nil, m.missing
	}
	return m.fs.Lstat(inside)
}

// readLink gives the target of a symlink whose folders are none.
func (j *joined) readLink(full string) (string, error) {
	m, inside := j.place(full)
	return m.fs.ReadLink(inside)
}

// As Linux has it.
const (
	maxLinks = 40
	maxPath  = 4096
)

// resolve gives the file that name leads to: its path without symlinks, and its
// description. The last element is followed where that is wanted.
func (j *joined) resolve(name string, follow bool) (full string, info fs.FileInfo, err error) {
	full = "."
	rest := elements(name)
	for links := 0; len(rest) > 0; {
		next := path.Join(full, rest[0])
		if rest = rest[1:]; next == ".." {
			next = "."
		}
		if len(next) > maxPath {
			return "", nil, syscall.ENAMETOOLONG
		}
		var target string
		if len(rest) > 0 {
			target, err = j.pass(next)
		} else if info, err = j.lstat(next); err == nil && follow && info.Mode()&fs.ModeSymlink != 0 {
			target, err = j.readLink(next)
		}
		if err != nil {
			return "", nil, err
		}
		if target == "" {
			full = next
			continue
		}
		if links++; links > maxLinks || len(target) > maxPath {
			return "", nil, syscall.ELOOP
		}
		if strings.HasPrefix(target, "/") {
			full = "."
		}
		if rest, info = append(elements(target), rest...), nil; len(rest) > maxPath {
			return "", nil, syscall.ENAMETOOLONG
		}
	}
	if info == nil { // the name ends at the root, or at the folder where it was
		info, err = j.lstat(full)
	}
	return full, info, err
}

// elements are the parts of a path that lead somewhere.
func elements(name string) []string {
	return slices.DeleteFunc(strings.Split(name, "/"), func(s string) bool { return s == "" || s == "." })
}

// pass gives where a file on the way to another leads: nowhere else where it is
// a folder.
func (j *joined) pass(full string) (target string, err error) {
	j.mu.Lock()
	s, ok := j.known[full]
	j.mu.Unlock()
	if ok {
		return s.target, nil
	}
	info, err := j.lstat(full)
	switch {
	case err != nil:
		return "", err
	case info.Mode()&fs.ModeSymlink != 0:
		if s.target, err = j.readLink(full); err != nil {
			return "", err
		}
	case !info.IsDir():
		return "", syscall.ENOTDIR
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if len(j.known) >= maxKnown {
		clear(j.known)
	}
	j.known[full] = s
	return s.target, nil
}

// find resolves a name that a caller gave.
func (j *joined) find(op, name string, follow bool) (string, fs.FileInfo, error) {
	if !host.Valid(name) {
		return "", nil, &fs.PathError{Op: op, Path: name, Err: fs.ErrInvalid}
	}
	full, info, err := j.resolve(name, follow)
	if err != nil {
		return "", nil, imageError(op, name, err)
	}
	m, _ := j.place(full)
	return full, named(info, path.Base(name), m.device), nil
}

// imageError names a file that is not there as Linux does.
func imageError(op, name string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		err = syscall.ENOENT
	}
	return host.PathError(op, name, err)
}

// Open opens a regular file.
func (j *joined) Open(name string) (fs.File, error) {
	full, info, err := j.find("open", name, true)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "open", Path: name, Err: host.ErrNotRegular}
	}
	m, inside := j.place(full)
	f, err := m.fs.Open(inside)
	if err != nil {
		return nil, imageError("open", name, err)
	}
	content, ok := f.(io.ReaderAt)
	if !ok {
		return nil, imageError("open", name, errors.ErrUnsupported)
	}
	return inode.NewFile(content, info.(host.Entry)), nil
}

// Stat describes what name leads to.
func (j *joined) Stat(name string) (fs.FileInfo, error) {
	_, info, err := j.find("stat", name, true)
	return info, err
}

// Lstat describes name itself, a symlink too.
func (j *joined) Lstat(name string) (fs.FileInfo, error) {
	_, info, err := j.find("lstat", name, false)
	return info, err
}

// ReadLink reads a symlink.
func (j *joined) ReadLink(name string) (string, error) {
	full, info, err := j.find("readlink", name, false)
	if err != nil {
		return "", err
	}
	if info.Mode()&fs.ModeSymlink == 0 {
		return "", &fs.PathError{Op: "readlink", Path: name, Err: syscall.EINVAL}
	}
	target, err := j.readLink(full)
	if err != nil {
		return "", imageError("readlink", name, err)
	}
	return target, nil
}

// ReadDir lists a folder, sorted by name.
func (j *joined) ReadDir(name string) ([]fs.DirEntry, error) {
	full, info, err := j.find("readdir", name, true)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, &fs.PathError{Op: "readdir", Path: name, Err: syscall.ENOTDIR}
	}
	m, inside := j.place(full)
	listed, err := m.fs.ReadDir(inside)
	if err != nil {
		return nil, imageError("readdir", name, err)
	}
	if len(listed) > host.MaxEntries {
		return nil, &fs.PathError{Op: "readdir", Path: name, Err: host.ErrTooBig}
	}
	entries := make([]fs.DirEntry, len(listed))
	for i, e := range listed {
		entries[i] = joinedEntry{e, j, path.Join(full, e.Name())}
	}
	return entries, nil
}

// joinedEntry is an entry of a folder.
type joinedEntry struct {
	fs.DirEntry
	joined *joined
	full   string
}

func (e joinedEntry) Info() (fs.FileInfo, error) { return e.joined.Lstat(e.full) }

// named is a file's description under the name by which it was asked for.
func named(info fs.FileInfo, name string, device uint64) fs.FileInfo {
	e := info.(host.Entry)
	e.Base, e.Status.Device = name, device
	return e
}

// elsewhere is why a folder can't be read whose file system is not on the image.
type elsewhere struct{ device, why string }

func (e elsewhere) Error() string { return fmt.Sprintf("it is on %s, which %s", e.device, e.why) }

// Is makes it a file that is there but can't be read.
func (e elsewhere) Is(target error) bool { return target == fs.ErrPermission }

// List tells a walk of a folder's files.
func (j *joined) List(dir string, tell func(n *host.Node, err error)) error {
	m, inside := j.place(dir)
	if m.missing != nil {
		return m.missing
	}
	entries, err := m.fs.ReadDir(inside)
	if err != nil {
		return err
	}
	for _, e := range entries {
		n := &host.Node{Dir: dir, Name: e.Name()}
		info, device, err := j.met(m, n.Path(), e)
		if err == nil {
			n.Boundary = device != m.device
			n.Describe(named(info, e.Name(), device))
			n.Attributes = j.Attributes(n.Path())
		}
		tell(n, err)
	}
	return nil
}

// Attributes are those of a file of a disk image whose folders are no links.
func (j *joined) Attributes(full string) host.Attributes {
	m, inside := j.place(full)
	if m.missing != nil {
		return 0
	}
	names, err := m.fs.Attributes(inside)
	if err != nil {
		return 0
	}
	return host.ParseAttributes(strings.Join(names, "\x00"))
}

// met describes an entry of a folder, or what is mounted in its place.
func (j *joined) met(m mount, full string, e fs.DirEntry) (info fs.FileInfo, device uint64, err error) {
	if other, ok := j.mounts[full]; ok {
		info, err = j.lstat(full)
		return info, other.device, err
	}
	info, err = e.Info()
	return info, m.device, err
}
