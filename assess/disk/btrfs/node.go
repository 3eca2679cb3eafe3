package btrfs

import (
	"errors"
	"fmt"
	"io/fs"
	"time"

	"svc/assess/disk/block"
	"svc/assess/disk/inode"
)

// node is an inode.
type node struct {
	place
	tree     tree
	mode     uint32
	uid, gid uint32
	links    uint32
	size     int64
	blocks   int64 // of 512 bytes
	modified time.Time
	sums     bool // the data have checksums
}

// Node reads an inode.
func (v *volume) Node(at place) (inode.Node, error) { return v.node(at) }

func (v *volume) node(at place) (*node, error) {
	if at.inode == emptyInode {
		return &node{place: at, mode: 0o40755, links: 1, modified: time.Unix(0, 0)}, nil
	}
	t, err := v.tree(at.subvolume)
	if err != nil {
		return nil, err
	}
	b, err := t.get(key{at.inode, typeInode, 0})
	if errors.Is(err, errNone) {
		err = block.Damaged("there is none")
	}
	if err == nil && len(b) < 160 {
		err = block.Damaged("%d bytes", len(b))
	}
	if err != nil {
		return nil, fmt.Errorf("inode %d of subvolume %d: %w", at.inode, at.subvolume, err)
	}
	n := &node{
		place: at, tree: t, mode: le.Uint32(b[52:]), uid: le.Uint32(b[44:]), gid: le.Uint32(b[48:]), links: le.Uint32(b[40:]),
		size: int64(le.Uint64(b[16:])), blocks: v.blocksOf(le.Uint64(b[24:])),
		modified: time.Unix(int64(le.Uint64(b[136:])), int64(le.Uint32(b[144:]))),
		sums:     le.Uint64(b[64:])&flagNoSums == 0,
	}
	if n.size < 0 {
		return nil, block.Damaged("inode %d of subvolume %d has the size %d", at.inode, at.subvolume, n.size)
	}
	return n, nil
}

// blocksOf counts blocks of 512 bytes in whole sectors.
func (v *volume) blocksOf(bytes uint64) int64 {
	sector := uint64(v.sector)
	return int64((bytes/sector + min(bytes%sector, 1)) * (sector / 512))
}

func (n *node) is(kind fs.FileMode) bool { return inode.Mode(n.mode).Type() == kind }

// Info describes the file.
func (n *node) Info(base string) inode.Info {
	return inode.Info{
		Base: base, Bytes: n.size, UnixMode: n.mode, Modified: n.modified,
		Stat: inode.Stat{Ino: n.inode, UID: int(n.uid), GID: int(n.gid), Links: int(n.links), Blocks: n.blocks},
	}
}
