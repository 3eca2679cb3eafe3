// Package btrfs reads a Btrfs file system on one device without mounting it:
// lazily, read-only, and with every checksum of its metadata verified. The
// on-disk form is that of the kernel's btrfs_tree.h. What this package does not
// know is refused by name; damaged structures end in an error.
package btrfs

import (
	"cmp"
	"fmt"
	"io"
	"io/fs"
	"path"

	"svc/assess/disk/block"
	"svc/assess/disk/inode"
)

const cacheSize = 16 << 20 // bytes

// FS is one subvolume of a file system, with those nested in it.
type FS struct {
	*inode.Names[place]
	subtree
}

// subtree knows the files below the top of a subvolume.
type subtree struct {
	*volume
	top place
}

var _ inode.FS = (*FS)(nil)

// place is a file: a subvolume, and an inode of it.
type place struct{ subvolume, inode uint64 }

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
	return block.UUID(f.fsid[:])
}

// Label is the file system's name, often none.
func (f *FS) Label() string { return f.label }

// SubvolumeID begins at the subvolume of a number: fstab's subvolid=. The top
// one is 5; 0 is another name of it.
func (f *FS) SubvolumeID(id uint64) (*FS, error) {
	id = cmp.Or(id, topSubvolume)
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
	at, err := top.Folder(name)
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
	t := subtree{v, place{id, firstInode}}
	return &FS{inode.ByName(t, t.top), t}, nil
}
