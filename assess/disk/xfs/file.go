package xfs

import (
	"fmt"
	"io"

	"svc/assess/disk/block"
)

// Content is a regular file's data.
func (n *node) Content() (io.ReaderAt, error) { return content{n}, n.readable() }

// content is the data fork of an inode as bytes, endless.
type content struct{ *node }

// ReadAt fills p from the extents; holes and unwritten extents are zeros.
func (c content) ReadAt(p []byte, off int64) (int, error) { return block.Fill(p, off, c.readExtent) }

// readExtent fills p as far as one extent reaches.
func (c content) readExtent(p []byte, off int64) (int, error) {
	size := c.volume.blockBytes
	e, err := c.volume.extentAt(c.node, uint64(off/size))
	if err != nil {
		return 0, err
	}
	skip := off % size
	n := len(p)
	if e.count <= uint64(n)/uint64(size)+1 {
		n = int(min(int64(n), int64(e.count)*size-skip))
	}
	if e.zeros {
		clear(p[:n])
		return n, nil
	}
	at, err := c.volume.place(e.disk, e.count)
	if err != nil {
		return 0, fmt.Errorf("inode %d: %w", c.Number, err)
	}
	return n, block.ReadFull(c.volume.device, p[:n], at+skip)
}

// Target gives the target of a symlink: in the inode, or in blocks, of which
// in version 5 each extent has a header.
func (n *node) Target() (string, error) {
	if n.Size == 0 || n.Size > maxLinkLength {
		return "", block.Damaged("inode %d: symlink of %d bytes", n.Number, n.Size)
	}
	if n.form == formLocal {
		if n.Size > int64(len(n.fork)) {
			return "", block.Damaged("inode %d: symlink of %d bytes in %d", n.Number, n.Size, len(n.fork))
		}
		return string(n.fork[:n.Size]), nil
	}
	target := make([]byte, 0, n.Size)
	for blk := uint64(0); int64(len(target)) < n.Size; {
		e, err := n.volume.extentAt(n, blk)
		if err != nil {
			return "", err
		}
		if target, err = n.appendLink(target, e); err != nil {
			return "", fmt.Errorf("inode %d: symlink: %w", n.Number, err)
		}
		blk += e.count
	}
	return string(target[:n.Size]), nil
}

const linkHeader = 56

// appendLink adds the part of a symlink that an extent holds.
func (n *node) appendLink(target []byte, e extent) ([]byte, error) {
	if e.zeros || e.count > 8 {
		return nil, block.Damaged("hole or absurd extent")
	}
	v := n.volume
	at, err := v.place(e.disk, e.count)
	if err != nil {
		return nil, err
	}
	b := make([]byte, int64(e.count)*v.blockBytes)
	if err := block.ReadFull(v.device, b, at); err != nil || !v.v5 {
		return append(target, b...), err
	}
	offset, length := int(be.Uint32(b[4:])), int(be.Uint32(b[8:]))
	switch {
	case string(b[:4]) != "XSLM", !sumMatches(b, 12), be.Uint64(b[32:]) != n.Number:
		return nil, block.Damaged("no part of it at byte %d", at)
	case offset != len(target), length == 0, length > len(b)-linkHeader:
		return nil, block.Damaged("part of %d bytes at %d", length, offset)
	}
	return append(target, b[linkHeader:linkHeader+length]...), nil
}
