// Package inode describes files of Linux file systems that are read from a
// disk image: the one form in which ext4, xfs and btrfs tell of them.
package inode

import (
	"io/fs"
	"time"
)

// FS is a file system read from a block device. Names are as in io/fs: no
// leading slash, "." is the root. No symlink is followed, neither in the middle
// of a name (fs.ErrNotExist, as for any other file that is no folder) nor at
// its end: whoever joins file systems to one machine does that. All methods are
// safe for concurrent use.
type FS interface {
	// Lstat describes a file; the Sys of its result is a Stat.
	Lstat(name string) (fs.FileInfo, error)
	// ReadLink gives the target of a symlink as it stands.
	ReadLink(name string) (string, error)
	// ReadDir lists a folder sorted by name, without . and .. entries.
	ReadDir(name string) ([]fs.DirEntry, error)
	// Attributes lists the names of a file's extended attributes, as Linux does.
	Attributes(name string) ([]string, error)
	// Open opens a regular file, and nothing else. The file is an io.ReaderAt too.
	Open(name string) (fs.File, error)
}

// Stat is what Sys of a file's description gives.
type Stat struct {
	Ino      uint64
	UID, GID int
	Links    int
	Blocks   int64 // 512-byte blocks that the file has on the disk; fewer than its size where it is sparse
}

// Info is a file's description.
type Info struct {
	Base     string
	Bytes    int64
	UnixMode uint32 // type and permissions, as st_mode has them
	Modified time.Time
	Stat     Stat
}

// Name is the last element of the file's name.
func (i Info) Name() string { return i.Base }

// Size is the file's length in bytes.
func (i Info) Size() int64 { return i.Bytes }

// Mode is the file's type and permissions.
func (i Info) Mode() fs.FileMode { return Mode(i.UnixMode) }

// ModTime is when the content last changed.
func (i Info) ModTime() time.Time { return i.Modified }

// IsDir reports whether the file is a folder.
func (i Info) IsDir() bool { return i.Mode().IsDir() }

// Sys is the file's Stat.
func (i Info) Sys() any { return i.Stat }

// The file types of st_mode.
const (
	typeMask = 0o170000
	socket   = 0o140000
	symlink  = 0o120000
	regular  = 0o100000
	block    = 0o060000
	dir      = 0o040000
	char     = 0o020000
	fifo     = 0o010000
)

// Mode converts an st_mode. A type that Linux doesn't have is fs.ModeIrregular.
func Mode(unix uint32) fs.FileMode {
	mode := fs.FileMode(unix & 0o777)
	switch unix & typeMask {
	case regular:
	case dir:
		mode |= fs.ModeDir
	case symlink:
		mode |= fs.ModeSymlink
	case fifo:
		mode |= fs.ModeNamedPipe
	case socket:
		mode |= fs.ModeSocket
	case block:
		mode |= fs.ModeDevice
	case char:
		mode |= fs.ModeDevice | fs.ModeCharDevice
	default:
		mode |= fs.ModeIrregular
	}
	if unix&0o4000 != 0 {
		mode |= fs.ModeSetuid
	}
	if unix&0o2000 != 0 {
		mode |= fs.ModeSetgid
	}
	if unix&0o1000 != 0 {
		mode |= fs.ModeSticky
	}
	return mode
}
