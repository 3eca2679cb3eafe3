package btrfs

import (
	"errors"
	"fmt"
	"io/fs"

	"svc/assess/disk/block"
	"svc/assess/disk/inode"
	"svc/assess/host"
)

// node is an inode.
type node struct {
	place
	tree tree
	host.Status
	sums bool // the data have checksums
}

// Node reads an inode.
func (v *volume) Node(at place) (inode.Node, error) { return v.node(at) }

func (v *volume) node(at place) (*node, error) {
	if at.inode == emptyInode {
		return &node{place: at, Status: host.Status{Number: emptyInode, Mode: 0o40755, Links: 1}}, nil
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
	n := &node{place: at, tree: t, sums: le.Uint64(b[64:])&flagNoSums == 0}
	n.Status = host.Status{
		Number: at.inode, Mode: le.Uint32(b[52:]), UID: le.Uint32(b[44:]), GID: le.Uint32(b[48:]), Links: int(le.Uint32(b[40:])),
		Size: int64(le.Uint64(b[16:])), Blocks: v.blocksOf(le.Uint64(b[24:])),
		Modified: int64(le.Uint64(b[136:])), Nanoseconds: int64(le.Uint32(b[144:])),
	}
	if n.Size < 0 {
		return nil, block.Damaged("inode %d of subvolume %d has the size %d", at.inode, at.subvolume, n.Size)
	}
	return n, nil
}

// blocksOf counts blocks of 512 bytes in whole sectors.
func (v *volume) blocksOf(bytes uint64) int64 {
	sector := uint64(v.sector)
	return int64((bytes/sector + min(bytes%sector, 1)) * (sector / 512))
}

func (n *node) is(kind fs.FileMode) bool { return host.Mode(n.Mode).Type() == kind }

// Info describes the file.
func (n *node) Info() host.Entry { return host.Entry{Status: n.Status} }
