// Package btrfs reads a Btrfs file system on one device without mounting it:
// lazily, read-only, and with every checksum of its metadata verified. The
// on-disk form is that of the kernel's btrfs_tree.h. What this package does not
// know is refused by name; damaged structures end in an error.
package btrfs

import (
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"
	"sync"

	"svc/assess/disk/block"
	"svc/assess/disk/inode"
)

const (
	cacheSize  = 16 << 20 // bytes
	maxFolders = 4096     // that are remembered by name
)

// FS is one subvolume of a file system, with those nested in it.
type FS struct {
	*volume
	top     place
	mu      sync.RWMutex
	folders map[string]place
}

var _ inode.FS = (*FS)(nil)

// place is a file: a subvolume, and an inode of it.
type place struct{ subvolume, inode uint64 }

// Probe reports whether the device has a superblock of Btrfs.
func Probe(r io.ReaderAt) bool { return block.HasAt(r, superAt[0]+64, magic) }

// Open reads the file system of a device of size bytes, and begins at its
// default subvolume.
func Open(r io.ReaderAt, size int64) (*FS, error) {
	v, err := openVolume(r, size)
	if err != nil {
		return nil, fmt.Errorf("opening btrfs: %w", err)
	}
	id, err := v.defaultSubvolume()
	if err != nil {
		return nil, fmt.Errorf("opening btrfs: %w", err)
	}
	return v.subvolume(id)
}

// UUID is the one that fstab and blkid name.
func (f *FS) UUID() string {
	u := f.fsid
	return fmt.Sprintf("%x-%x-%x-%x-%x", u[:4], u[4:6], u[6:8], u[8:10], u[10:])
}

// Label is the file system's name, often none.
func (f *FS) Label() string { return f.label }

// SubvolumeID begins at the subvolume of a number: fstab's subvolid=. The top
// one is 5; 0 is another name of it.
func (f *FS) SubvolumeID(id uint64) (*FS, error) {
	if id == 0 {
		id = topSubvolume
	}
	return f.subvolume(id)
}

// Subvolume begins at the subvolume of a path below the top one, whichever f
// begins at: fstab's subvol=.
func (f *FS) Subvolume(name string) (*FS, error) {
	top, err := f.subvolume(topSubvolume)
	if err != nil {
		return nil, err
	}
	name = path.Clean("/" + name)[1:]
	if name == "" {
		return top, nil
	}
	at, err := top.folder(name)
	if err == nil && at.inode != firstInode {
		err = fmt.Errorf("is no subvolume: %w", fs.ErrInvalid)
	}
	if err != nil {
		return nil, &fs.PathError{Op: "subvolume", Path: name, Err: err}
	}
	return f.subvolume(at.subvolume)
}

func (v *volume) subvolume(id uint64) (*FS, error) {
	if _, err := v.tree(id); err != nil {
		return nil, fmt.Errorf("opening subvolume %d of btrfs: %w", id, err)
	}
	return &FS{volume: v, top: place{id, firstInode}, folders: map[string]place{}}, nil
}

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
	at, err := f.folder(name)
	var entries []fs.DirEntry
	if err == nil {
		entries, err = f.list(at)
	}
	if err != nil {
		return nil, &fs.PathError{Op: "readdir", Path: name, Err: err}
	}
	return entries, nil
}

// Open opens a regular file.
func (f *FS) Open(name string) (fs.File, error) {
	n, err := f.find(name)
	if err == nil && !n.is(0) {
		err = fs.ErrInvalid
	}
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return &file{io.NewSectionReader(content{f.volume, n}, 0, n.size), n.info(path.Base(name))}, nil
}

// find reads the inode of a file.
func (f *FS) find(name string) (*node, error) {
	at, err := f.locate(name)
	if err != nil {
		return nil, err
	}
	return f.node(at)
}

// locate looks a file up.
func (f *FS) locate(name string) (place, error) {
	if name == "." {
		return f.top, nil
	}
	if !valid(name) {
		return place{}, fs.ErrInvalid
	}
	parent, err := f.folder(path.Dir(name))
	if err != nil {
		return place{}, err
	}
	return f.lookup(parent, path.Base(name))
}

// valid is fs.ValidPath for names of any bytes.
func valid(name string) bool {
	return name != "" && name[0] != '/' && path.Clean(name) == name && name != ".." && !strings.HasPrefix(name, "../")
}

// folder looks a folder up, and remembers it.
func (f *FS) folder(name string) (place, error) {
	f.mu.RLock()
	at, known := f.folders[name]
	f.mu.RUnlock()
	if known {
		return at, nil
	}
	at, err := f.locate(name)
	if err == nil {
		err = f.checkFolder(name, at)
	}
	if err != nil {
		return place{}, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.folders) >= maxFolders {
		clear(f.folders)
	}
	f.folders[name] = at
	return at, nil
}

// checkFolder refuses what is no folder, and a folder whose parent is another
// than the one it was found in: folders of a sound file system are a tree, and
// a walk of them ends.
func (f *FS) checkFolder(name string, at place) error {
	n, err := f.node(at)
	if err != nil {
		return err
	}
	if !n.is(fs.ModeDir) {
		return fs.ErrNotExist
	}
	if name == "." {
		return nil
	}
	if at == f.top {
		return block.Damaged("subvolume %d lies within itself", at.subvolume)
	}
	parent, err := f.folder(path.Dir(name))
	if err != nil || at.subvolume != parent.subvolume || at.inode == emptyInode {
		return err // lookup has checked where a subvolume lies
	}
	above, err := f.parent(at)
	if err == nil && above != parent.inode {
		err = block.Damaged("inode %d is listed in folder %d, but its parent is %d", at.inode, parent.inode, above)
	}
	return err
}
