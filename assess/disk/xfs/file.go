package xfs

import (
	"fmt"
	"io"
	"io/fs"

	"svc/assess/disk/block"
	"svc/assess/disk/inode"
)

// file is an open regular file.
type file struct {
	*io.SectionReader
	info inode.Info
}

func newFile(f *FS, n *node, base string) *file {
	return &file{io.NewSectionReader(content{f, n}, 0, n.size), n.info(base)}
}

// Stat describes the file.
func (f *file) Stat() (fs.FileInfo, error) { return f.info, nil }

// Close does nothing: a file holds nothing.
func (f *file) Close() error { return nil }

// content is the data fork of an inode as bytes, endless.
type content struct {
	fs   *FS
	node *node
}

// ReadAt fills p from the extents; holes and unwritten extents are zeros.
func (c content) ReadAt(p []byte, off int64) (int, error) {
	done := 0
	for done < len(p) {
		n, err := c.readExtent(p[done:], off+int64(done))
		if err != nil {
			return done, err
		}
		done += n
	}
	return done, nil
}

// readExtent fills p as far as one extent reaches.
func (c content) readExtent(p []byte, off int64) (int, error) {
	size := c.fs.blockBytes
	e, err := c.fs.extentAt(c.node, uint64(off/size))
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
	at, err := c.fs.place(e.disk, e.count)
	if err != nil {
		return 0, fmt.Errorf("inode %d: %w", c.node.number, err)
	}
	return n, block.ReadFull(c.fs.device, p[:n], at+skip)
}

// readLink gives the target of a symlink: in the inode, or in blocks, of which
// in version 5 each extent has a header.
func (f *FS) readLink(n *node) (string, error) {
	if n.size == 0 || n.size > maxLinkLength {
		return "", block.Damaged("inode %d: symlink of %d bytes", n.number, n.size)
	}
	if n.form == formLocal {
		if n.size > int64(len(n.fork)) {
			return "", block.Damaged("inode %d: symlink of %d bytes in %d", n.number, n.size, len(n.fork))
		}
		return string(n.fork[:n.size]), nil
	}
	target := make([]byte, 0, n.size)
	for blk := uint64(0); int64(len(target)) < n.size; {
		e, err := f.extentAt(n, blk)
		if err != nil {
			return "", err
		}
		if target, err = f.appendLink(target, n, e); err != nil {
			return "", fmt.Errorf("inode %d: symlink: %w", n.number, err)
		}
		blk += e.count
	}
	return string(target[:n.size]), nil
}

const linkHeader = 56

// appendLink adds the part of a symlink that an extent holds.
func (f *FS) appendLink(target []byte, n *node, e extent) ([]byte, error) {
	if e.zeros || e.count > 8 {
		return nil, block.Damaged("hole or absurd extent")
	}
	at, err := f.place(e.disk, e.count)
	if err != nil {
		return nil, err
	}
	b := make([]byte, int64(e.count)*f.blockBytes)
	if err := block.ReadFull(f.device, b, at); err != nil || !f.v5 {
		return append(target, b...), err
	}
	offset, length := int(be.Uint32(b[4:])), int(be.Uint32(b[8:]))
	switch {
	case string(b[:4]) != "XSLM", !sumMatches(b, 12), be.Uint64(b[32:]) != n.number:
		return nil, block.Damaged("no part of it at byte %d", at)
	case offset != len(target), length == 0, length > len(b)-linkHeader:
		return nil, block.Damaged("part of %d bytes at %d", length, offset)
	}
	return append(target, b[linkHeader:linkHeader+length]...), nil
}
