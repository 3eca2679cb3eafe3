// Package xfs reads an XFS file system, versions 4 and 5, from a block device
// without mounting it: lazily, read-only, and with every checksum of version 5
// verified. The on-disk form is that of "XFS Filesystem Structure"
// (xfs-documentation) and of the kernel's xfs_format.h. What this package does
// not know is refused by name; damaged structures end in an error, never in
// wrong bytes.
package xfs

import (
	"cmp"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"

	"svc/assess/disk/block"
	"svc/assess/disk/inode"
)

// FS is an XFS file system.
type FS struct {
	super
	device  io.ReaderAt
	cache   *block.Cache // blocks by their place on the device; those of folders by dirBlock
	mu      sync.RWMutex
	folders map[string]uint64 // inode numbers of folders by name
}

var _ inode.FS = (*FS)(nil)

const (
	cacheSize  = 8 << 20 // bytes
	maxFolders = 4096    // whose inode numbers are remembered
)

// Probe reports whether the device begins as XFS does.
func Probe(r io.ReaderAt) bool {
	return block.HasAt(r, 0, "XFSB")
}

// Open reads the superblock of a device of size bytes.
func Open(r io.ReaderAt, size int64) (*FS, error) {
	s, err := readSuper(r, size)
	if err != nil {
		return nil, fmt.Errorf("opening xfs: %w", err)
	}
	return &FS{super: s, device: r, cache: block.NewCache(cacheSize), folders: map[string]uint64{}}, nil
}

// UUID is the one that fstab and blkid name.
func (f *FS) UUID() string {
	u := f.uuid
	return fmt.Sprintf("%x-%x-%x-%x-%x", u[:4], u[4:6], u[6:8], u[8:10], u[10:])
}

// Label is the file system's name, often none.
func (f *FS) Label() string { return f.label }

// Lstat describes a file without following it.
func (f *FS) Lstat(name string) (fs.FileInfo, error) {
	n, err := f.find(name)
	if err != nil {
		return nil, &fs.PathError{Op: "lstat", Path: name, Err: err}
	}
	return n.info(path.Base(name)), nil
}

// ReadLink gives the target of a symlink.
func (f *FS) ReadLink(name string) (string, error) {
	n, err := f.find(name)
	if err == nil && !n.is(fs.ModeSymlink) {
		err = fs.ErrInvalid
	}
	target := ""
	if err == nil {
		target, err = f.readLink(n)
	}
	if err != nil {
		return "", &fs.PathError{Op: "readlink", Path: name, Err: err}
	}
	return target, nil
}

// ReadDir lists a folder, sorted by name.
func (f *FS) ReadDir(name string) ([]fs.DirEntry, error) {
	number, err := f.folder(name)
	var entries []entry
	if err == nil {
		entries, err = f.list(number)
	}
	if err != nil {
		return nil, &fs.PathError{Op: "readdir", Path: name, Err: err}
	}
	slices.SortFunc(entries, func(a, b entry) int { return cmp.Compare(a.name, b.name) })
	listed := make([]fs.DirEntry, len(entries))
	for i, e := range entries {
		listed[i] = e
	}
	return listed, nil
}

// Open opens a regular file.
func (f *FS) Open(name string) (fs.File, error) {
	n, err := f.find(name)
	if err == nil {
		err = n.readable()
	}
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return newFile(f, n, path.Base(name)), nil
}

// find reads the inode of a file.
func (f *FS) find(name string) (*node, error) {
	number, err := f.number(name)
	if err != nil {
		return nil, err
	}
	return f.node(number)
}

// number looks a file up.
func (f *FS) number(name string) (uint64, error) {
	if name == "." {
		return f.root, nil
	}
	if !valid(name) {
		return 0, fs.ErrInvalid
	}
	parent, err := f.folder(path.Dir(name))
	if err != nil {
		return 0, err
	}
	return f.lookup(parent, path.Base(name))
}

// valid is fs.ValidPath for names of any bytes.
func valid(name string) bool {
	return name != "" && name[0] != '/' && path.Clean(name) == name && name != ".." && !strings.HasPrefix(name, "../")
}

// folder looks a folder up, and remembers it.
func (f *FS) folder(name string) (uint64, error) {
	f.mu.RLock()
	number, known := f.folders[name]
	f.mu.RUnlock()
	if known {
		return number, nil
	}
	number, err := f.number(name)
	if err == nil {
		err = f.checkFolder(name, number)
	}
	if err != nil {
		return 0, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.folders) >= maxFolders {
		clear(f.folders)
	}
	f.folders[name] = number
	return number, nil
}

// checkFolder refuses what is no folder, and a folder whose parent is another
// than the one it was found in: folders of a sound file system are a tree, and
// a walk of them ends.
func (f *FS) checkFolder(name string, number uint64) error {
	n, err := f.node(number)
	if err != nil {
		return err
	}
	if !n.is(fs.ModeDir) {
		return fs.ErrNotExist
	}
	if name == "." {
		return nil
	}
	parent, err := f.folder(path.Dir(name))
	if err != nil {
		return err
	}
	above, err := f.parent(n)
	if err == nil && above != parent {
		err = block.Damaged("inode %d is listed in folder %d, but its parent is %d", number, parent, above)
	}
	return err
}
