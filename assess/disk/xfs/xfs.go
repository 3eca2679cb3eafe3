// Package xfs reads an XFS file system, versions 4 and 5, from a block device
// without mounting it: lazily, read-only, and with every checksum of version 5
// verified. The on-disk form is that of "XFS Filesystem Structure"
// (xfs-documentation) and of the kernel's xfs_format.h. What this package does
// not know is refused by name; damaged structures end in an error, never in
// wrong bytes.
package xfs

import (
	"fmt"
	"io"

	"svc/assess/disk/block"
	"svc/assess/disk/inode"
)

// FS is an XFS file system.
type FS struct {
	*inode.Names[uint64]
	*volume
}

// volume knows the files by their inodes' numbers.
type volume struct {
	super
	device io.ReaderAt
	cache  *block.Cache // blocks by their place on the device; those of folders by dirBlock
}

var _ inode.FS = (*FS)(nil)

const cacheSize = 8 << 20 // bytes

// Open reads the superblock of a device of size bytes.
func Open(r io.ReaderAt, size int64) (*FS, error) {
	s, err := readSuper(r, size)
	if err != nil {
		return nil, fmt.Errorf("opening xfs: %w", err)
	}
	v := &volume{super: s, device: r, cache: block.NewCache(cacheSize)}
	return &FS{inode.ByName(v, v.root), v}, nil
}

// UUID is the one that fstab and blkid name.
func (f *FS) UUID() string {
	return block.UUID(f.uuid[:])
}

// Label is the file system's name, often none.
func (f *FS) Label() string { return f.label }
