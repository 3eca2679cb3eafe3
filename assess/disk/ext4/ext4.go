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
	"fmt"
	"io"

	"svc/assess/disk/block"
	"svc/assess/disk/inode"
)

const rootInode = 2

var root = place{rootInode, typeFolder}

const cacheSize = 24 << 20 // bytes

// FS is an open file system. It is safe for concurrent use.
type FS struct {
	*inode.Names[place]
	*volume
}

// volume knows the files by their places.
type volume struct {
	superblock
	device device
	cache  *block.Cache // blocks of metadata by number; content of folders by folderOf
}

// place is a file: its inode, and its type as a folder tells it.
type place struct {
	inode uint32
	kind  uint16 // as in a mode; 0 where the file system doesn't say
}

var _ inode.FS = (*FS)(nil)

// Open reads what it needs of a device of size bytes to find files later. The
// device must not change while the file system is in use.
func Open(r io.ReaderAt, size int64) (*FS, error) {
	v, err := open(r, size)
	if err != nil {
		return nil, fmt.Errorf("opening ext4: %w", err)
	}
	return &FS{inode.ByName(v, root), v}, nil
}

func open(r io.ReaderAt, size int64) (*volume, error) {
	s, err := readSuperblock(r, size)
	if err != nil {
		return nil, err
	}
	v := newVolume(s, device{r: r, blockSize: s.blockSize, blocks: s.blocks})
	if s.incompatible&needsRecovery != 0 {
		if v, err = v.recovered(size); err != nil {
			return nil, err
		}
	}
	return v, v.Within(root, root)
}

func newVolume(s superblock, d device) *volume {
	return &volume{superblock: s, device: d, cache: block.NewCache(cacheSize)}
}

// UUID is the file system's identity as /etc/fstab and blkid write it.
func (f *FS) UUID() string {
	return block.UUID(f.uuid[:])
}

// Label is the name that mke2fs -L gave the file system, often none.
func (f *FS) Label() string { return f.label }
