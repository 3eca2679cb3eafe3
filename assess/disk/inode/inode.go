// Package inode describes files of Linux file systems that are read from a
// disk image: the one form in which ext4, xfs and btrfs tell of them.
package inode

import "io/fs"

// FS is a file system read from a block device. Names are as in io/fs: no
// leading slash, "." is the root. No symlink is followed, neither in the middle
// of a name (fs.ErrNotExist, as for any other file that is no folder) nor at
// its end: whoever joins file systems to one machine does that. All methods are
// safe for concurrent use.
type FS interface {
	// Lstat describes a file; its result is a host.Entry.
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
