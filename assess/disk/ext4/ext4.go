// Package ext4 reads ext2, ext3 and ext4 file systems from a block device,
// read-only and lazily: only what is asked for is read. The format is that of
// Documentation/filesystems/ext4 in the Linux source; whatever this package does
// not know for certain it refuses, and what contradicts itself or its
// checksums is an error, as the device may have been made to deceive.
//
// A journal that was not written back, because the machine did not shut down
// cleanly, is read as if it had been; the device is never written to.
package ext4

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"

	"svc/assess/disk/block"
	"svc/assess/disk/inode"
)

const rootInode = 2

// What is kept of one file system, in bytes.
const (
	keptBlocks  = 8 << 20
	keptFolders = 16 << 20
)

// FS is an open file system. It is safe for concurrent use.
type FS struct {
	superblock
	device  device
	kept    *cache[uint64, []byte]  // blocks of metadata, by number
	folders *cache[uint32, *folder] // by inode number
}

var _ inode.FS = (*FS)(nil)

// Open reads what it needs of a device of size bytes to find files later. The
// device must not change while the file system is in use.
func Open(r io.ReaderAt, size int64) (*FS, error) {
	f, err := open(r, size)
	if err != nil {
		return nil, fmt.Errorf("opening ext4: %w", err)
	}
	return f, nil
}

func open(r io.ReaderAt, size int64) (*FS, error) {
	s, err := readSuperblock(r, size)
	if err != nil {
		return nil, err
	}
	f := newFS(s, device{r: r, blockSize: s.blockSize, blocks: s.blocks})
	if s.incompatible&needsRecovery != 0 {
		if f, err = f.recovered(size); err != nil {
			return nil, err
		}
	}
	_, err = f.folder(rootInode, rootInode)
	return f, err
}

func newFS(s superblock, d device) *FS {
	return &FS{
		superblock: s,
		device:     d,
		kept:       newCache[uint64, []byte](keptBlocks),
		folders:    newCache[uint32, *folder](keptFolders),
	}
}

// UUID is the file system's identity as /etc/fstab and blkid write it.
func (f *FS) UUID() string {
	return block.UUID(f.uuid[:])
}

// Label is the name that mke2fs -L gave the file system, often none.
func (f *FS) Label() string { return f.label }

// Lstat describes a file.
func (f *FS) Lstat(name string) (fs.FileInfo, error) {
	n, err := f.resolve(name)
	if err != nil {
		return nil, &fs.PathError{Op: "lstat", Path: name, Err: err}
	}
	return n.info(path.Base(name)), nil
}

// ReadLink gives the target of a symlink as it stands.
func (f *FS) ReadLink(name string) (string, error) {
	n, err := f.resolve(name)
	if err != nil {
		return "", &fs.PathError{Op: "readlink", Path: name, Err: err}
	}
	target, err := f.target(n)
	if err != nil {
		return "", &fs.PathError{Op: "readlink", Path: name, Err: err}
	}
	return target, nil
}

// ReadDir lists a folder, sorted by name.
func (f *FS) ReadDir(name string) ([]fs.DirEntry, error) {
	entries, err := f.list(name)
	if err != nil {
		return nil, &fs.PathError{Op: "readdir", Path: name, Err: err}
	}
	return entries, nil
}

// Open opens a regular file. What it gives is an io.ReaderAt and an io.Seeker too.
func (f *FS) Open(name string) (fs.File, error) {
	n, err := f.resolve(name)
	if err == nil {
		err = n.readable(typeRegular)
	}
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return file{io.NewSectionReader(content{f, n}, 0, n.size), n.info(path.Base(name))}, nil
}

// file is an open file. There is nothing to close.
type file struct {
	*io.SectionReader
	about inode.Info
}

func (f file) Stat() (fs.FileInfo, error) { return f.about, nil }
func (f file) Close() error               { return nil }

// resolve reads the inode of a name.
func (f *FS) resolve(name string) (*node, error) {
	e, _, err := f.walk(name)
	if err != nil {
		return nil, err
	}
	return f.entryNode(e)
}

// walk finds what a name stands for, and the folder that it stands in. Unlike
// fs.ValidPath it takes names that are no UTF-8, as Linux does.
func (f *FS) walk(name string) (e entry, parent uint32, err error) {
	e, parent = entry{inode: rootInode, kind: typeFolder}, rootInode
	if name == "." {
		return e, parent, nil
	}
	for more := true; more; {
		var element string
		element, name, more = strings.Cut(name, "/")
		next, err := f.find(e.inode, parent, element)
		if errors.Is(err, errNotFolder) {
			err = fs.ErrNotExist
		}
		if err != nil {
			return entry{}, 0, err
		}
		e, parent = next, e.inode
	}
	return e, parent, nil
}
