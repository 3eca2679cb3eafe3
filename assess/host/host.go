// Package host gives a machine that is to be read as one read-only file
// system, whichever way it is reached. A machine is hostile input: every path
// is resolved inside its root, symlinks too; every read is bounded; nothing of
// it is ever run.
package host

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
)

// Host is a machine that can be read.
type Host interface {
	// FS is the machine's file system. Paths have no leading slash.
	FS() FS
	// Live reports whether the machine is running while it is read.
	Live() bool
	// String says where the machine is, for messages.
	String() string
	Close() error
}

// Lost is why the machine can't be read any more, such as a connection that
// broke: what was read since then says nothing. It is nil while it can.
func Lost(h Host) error {
	if l, ok := h.(interface{ Lost() error }); ok {
		return l.Lost()
	}
	return nil
}

// Expected says what is wanted of files that are expected to be read.
type Expected int

// What may be expected: contents of files, lists of folders, targets of links.
const (
	Files Expected = iota
	Folders
	Links
)

// Expect says which files are about to be read, to a file system to which the
// way is long.
func Expect(fsys FS, what Expected, names []string) {
	if e, ok := fsys.(interface{ Expect(Expected, []string) }); ok {
		e.Expect(what, names)
	}
}

// FS is a read-only file system. Names are as in io/fs, but of any bytes. Open and ReadDir follow symlinks inside the
// root; a link that would leave it ends at the root, as in a chroot.
type FS interface {
	fs.StatFS
	fs.ReadDirFS
	fs.ReadLinkFS
}

// ErrNotRegular means that something else than a regular file stands where a
// file is expected: a device, a pipe, a socket or a folder, or what the kernel
// makes up where its name does not say so. It was not opened.
var ErrNotRegular = errors.New("not a regular file")

// ErrTooBig means that a file is larger than what is sensible in its place.
var ErrTooBig = errors.New("larger than expected")

// Valid is fs.ValidPath, but that a name may be of any bytes, as it may in Linux.
func Valid(name string) bool { return fs.ValidPath(strings.ToValidUTF8(name, "?")) }

// ReadFile reads a regular file of at most limit bytes.
func ReadFile(fsys FS, name string, limit int64) ([]byte, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var b bytes.Buffer
	if info, err := f.Stat(); err == nil {
		b.Grow(int(min(max(info.Size(), 0), limit)) + bytes.MinRead) // what it states may be wrong
	}
	if _, err := b.ReadFrom(io.LimitReader(f, limit+1)); err != nil {
		return nil, err
	}
	if int64(b.Len()) > limit {
		return nil, &fs.PathError{Op: "read", Path: name, Err: fmt.Errorf("%w: over %d bytes", ErrTooBig, limit)}
	}
	return b.Bytes(), nil
}

// Owner is the numeric owner and group of a file, where the file system has them.
func Owner(info fs.FileInfo) (uid, gid int, ok bool) {
	o, ok := info.Sys().(Ownership)
	return o.UID, o.GID, ok
}

// Ownership is what Sys of this package's file infos gives.
type Ownership struct{ UID, GID int }

// owners are those of files that this process sees as another's, by their devices and
// numbers.
var owners = map[[2]uint64]Ownership{}

// KnowOwner has a file of a folder be of an owner: who reads it as root of a user
// namespace sees it as nobody's. It is called before any file is read.
func KnowOwner(device, number uint64, of Ownership) { owners[[2]uint64{device, number}] = of }
