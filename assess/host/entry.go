package host

import (
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"
)

// maxEntries bounds one folder: more entries than any real one of those read.
const maxEntries = 100_000

// madeUp reports whether the kernel makes a file up when it is read.
func madeUp(name string) bool {
	return strings.HasPrefix(name, "proc/") || strings.HasPrefix(name, "sys/")
}

// readableFiles are those that the kernel makes up and that are read all the same.
// Others, such as /proc/kmsg, a machine's own files may name to have a reader wait
// for ever.
var readableFiles = []string{
	"proc/stat", "proc/modules", "proc/mounts", "proc/sys/kernel/osrelease", "proc/net/*", "proc/1/net/*", "proc/*/mountinfo", "proc/*/comm", "proc/*/cgroup",
	"sys/class/dmi/id/*", "sys/firmware/devicetree/base/*", "sys/fs/selinux/enforce", "sys/module/apparmor/parameters/enabled",
}

// readable reports whether a file that the kernel makes up is one of those.
func readable(name string) bool {
	return slices.ContainsFunc(readableFiles, func(pattern string) bool {
		is, _ := path.Match(pattern, name) // of patterns that are sound
		return is
	})
}

// status is what Linux says of a file, on whichever system this runs.
type status struct {
	mode, uid, gid        uint32
	size                  int64
	modified, nanoseconds int64 // since 1970
	device, number        uint64
	links                 int
	blocks                int64 // of 512 bytes
}

// pathError names the path inside the machine, never that on this host.
func pathError(op, name string, err error) error {
	var inner *fs.PathError
	if errors.As(err, &inner) {
		err = inner.Err
	}
	return &fs.PathError{Op: op, Path: name, Err: err}
}

// entry is a file's description.
type entry struct {
	name string
	st   status
}

func (e entry) Name() string       { return e.name }
func (e entry) Size() int64        { return e.st.size }
func (e entry) IsDir() bool        { return e.Mode().IsDir() }
func (e entry) ModTime() time.Time { return time.Unix(e.st.modified, e.st.nanoseconds) }
func (e entry) Sys() any           { return Ownership{int(e.st.uid), int(e.st.gid)} }

// inode is not known of a file that was described over ssh: it has no links.
func (e entry) inode() (known inodeFacts, ok bool) {
	return inodeFacts{e.st.device, e.st.number, e.st.links, e.st.blocks}, e.st.links > 0
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

func (e entry) Mode() fs.FileMode {
	mode := fs.FileMode(e.st.mode&0o777) | types[e.st.mode&typeBits]
	for _, s := range special {
		if e.st.mode&s.bit != 0 {
			mode |= s.flag
		}
	}
	return mode
}
