package host

import (
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"
)

// MaxEntries bounds one folder: more entries than any real one of those read.
const MaxEntries = 100_000

// MadeUp reports whether the kernel makes a file up when it is read.
func MadeUp(name string) bool {
	return strings.HasPrefix(name, "proc/") || strings.HasPrefix(name, "sys/")
}

// readableFiles are those that the kernel makes up and that are read all the same.
// Others, such as /proc/kmsg, a machine's own files may name to have a reader wait
// for ever.
var readableFiles = []string{
	"proc/stat", "proc/modules", "proc/mounts", "proc/sys/kernel/osrelease", "proc/net/*", "proc/1/net/*", "proc/*/mountinfo", "proc/*/comm", "proc/*/cgroup",
	"sys/class/dmi/id/*", "sys/firmware/devicetree/base/*", "sys/fs/selinux/enforce", "sys/module/apparmor/parameters/enabled",
}

// Readable reports whether a file that the kernel makes up is one of those.
func Readable(name string) bool {
	return slices.ContainsFunc(readableFiles, func(pattern string) bool {
		is, _ := path.Match(pattern, name) // of patterns that are sound
		return is
	})
}

// Status is what Linux says of a file, on whichever system this runs.
type Status struct {
	Mode, UID, GID        uint32
	Size                  int64
	Modified, Nanoseconds int64 // since 1970
	Device, Number        uint64
	Links                 int
	Blocks                int64 // of 512 bytes
}

// PathError names the path inside the machine, never that on this host.
func PathError(op, name string, err error) error {
	if inner, ok := errors.AsType[*fs.PathError](err); ok {
		err = inner.Err
	}
	return &fs.PathError{Op: op, Path: name, Err: err}
}

// Entry is a file's description.
type Entry struct {
	Base   string
	Status Status
}

func (e Entry) Name() string       { return e.Base }
func (e Entry) Size() int64        { return e.Status.Size }
func (e Entry) IsDir() bool        { return e.Mode().IsDir() }
func (e Entry) ModTime() time.Time { return time.Unix(e.Status.Modified, e.Status.Nanoseconds) }
func (e Entry) Sys() any           { return Ownership{int(e.Status.UID), int(e.Status.GID)} }

// Inode is not known of a file that was described over ssh: it has no links.
func (e Entry) Inode() (known Inode, ok bool) {
	return Inode{e.Status.Device, e.Status.Number, e.Status.Links, e.Status.Blocks}, e.Status.Links > 0
}

// typeBits are those of a mode that say what a file is.
const typeBits = 0o170000

// types maps the file types of Linux to those of io/fs.
var types = map[uint32]fs.FileMode{
	0o100000: 0, 0o040000: fs.ModeDir, 0o120000: fs.ModeSymlink, 0o010000: fs.ModeNamedPipe,
	0o140000: fs.ModeSocket, 0o060000: fs.ModeDevice, 0o020000: fs.ModeDevice | fs.ModeCharDevice,
}

// special are the bits of a mode beside those of who may do what.
var special = [...]struct {
	bit  uint32
	flag fs.FileMode
}{{0o4000, fs.ModeSetuid}, {0o2000, fs.ModeSetgid}, {0o1000, fs.ModeSticky}}

// Mode is the file's type and permissions.
func (e Entry) Mode() fs.FileMode { return Mode(e.Status.Mode) }

// Mode converts a mode as Linux has it. A type that Linux doesn't have is
// fs.ModeIrregular.
func Mode(unix uint32) fs.FileMode {
	kind, known := types[unix&typeBits]
	if !known {
		kind = fs.ModeIrregular
	}
	mode := fs.FileMode(unix&0o777) | kind
	for _, s := range special {
		if unix&s.bit != 0 {
			mode |= s.flag
		}
	}
	return mode
}
