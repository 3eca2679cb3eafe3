package btrfs

import (
	"fmt"
	"io"
	"io/fs"
	"math"

	"svc/assess/disk/block"
)

// The ways in which an extent has data.
const (
	extentInline   = 0
	extentRegular  = 1
	extentPrealloc = 2 // allocated, never written
)

const (
	extentHeader = 21        // before inline data
	maxUnpacked  = 128 << 10 // bytes of a compressed extent
	maxLink      = 4095
)

// extent is a stretch of a file.
type extent struct {
	from, to    uint64 // bytes of the file
	kind        byte
	compression byte
	unpacked    uint64 // bytes, of a compressed extent
	inline      []byte
	logical     uint64 // where the extent lies; 0 is a hole
	length      uint64 // there
	offset      uint64 // of from in the extent, when unpacked
}

// hole reports whether the stretch is zeros.
func (e extent) hole() bool {
	return e.kind == extentPrealloc || e.kind == extentRegular && e.logical == 0
}

// Content is a regular file's data.
func (n *node) Content() (io.ReaderAt, error) {
	if !n.is(0) {
		return nil, fs.ErrInvalid
	}
	return content{n}, nil
}

// content is a file's data as bytes, endless.
type content struct{ *node }

// ReadAt fills p from the extents.
func (c content) ReadAt(p []byte, off int64) (int, error) {
	n, err := block.Fill(p, off, c.readExtent)
	if err != nil {
		err = fmt.Errorf("inode %d of subvolume %d: %w", c.inode, c.subvolume, err)
	}
	return n, err
}

// readExtent fills p as far as one extent reaches.
func (c content) readExtent(p []byte, at int64) (int, error) {
	off := uint64(at)
	e, err := c.at(off)
	if err != nil {
		return 0, err
	}
	p = p[:min(uint64(len(p)), e.to-off)]
	within := e.offset + off - e.from
	switch {
	case e.hole():
		clear(p)
		return len(p), nil
	case e.compression == 0 && e.kind == extentInline:
		return copy(p, e.inline[within:]), nil
	case e.compression == 0:
		return len(p), c.tree.volume.read(p, e.logical+within, c.sums)
	}
	b, err := c.tree.volume.unpack(e, c.sums)
	if err != nil {
		return 0, err
	}
	if within+uint64(len(p)) > uint64(len(b)) {
		return 0, block.Damaged("the extent at %d ends early", e.logical)
	}
	return copy(p, b[within:]), nil
}

// at finds the extent that has a byte of the file: a hole where none does.
func (c content) at(off uint64) (extent, error) {
	k, b, next, err := c.tree.floor(key{c.inode, typeExtentData, off})
	if err != nil {
		return extent{}, err
	}
	if k.object == c.inode && k.kind == typeExtentData {
		e, err := c.tree.volume.decodeExtent(k.offset, b)
		if err != nil || off < e.to {
			return e, err
		}
	}
	hole := extent{from: off, to: math.MaxUint64, kind: extentPrealloc}
	if next.object == c.inode && next.kind == typeExtentData {
		hole.to = next.offset
	}
	return hole, nil
}

func (v *volume) decodeExtent(from uint64, b []byte) (extent, error) {
	if len(b) < extentHeader {
		return extent{}, block.Damaged("extent of %d bytes at %d", len(b), from)
	}
	e := extent{from: from, unpacked: le.Uint64(b[8:]), compression: b[16], kind: b[20]}
	switch {
	case b[17] != 0 || le.Uint16(b[18:]) != 0:
		return e, block.Unsupported("an encrypted extent at %d", from)
	case int(e.compression) >= len(compressions):
		return e, block.Unsupported("compression %d of the extent at %d", e.compression, from)
	case e.compression != 0 && e.unpacked > maxUnpacked, e.kind > extentPrealloc, e.kind != extentInline && len(b) < 53:
		return e, block.Damaged("extent of kind %d at %d", e.kind, from)
	}
	if e.kind == extentInline {
		return e.decodeInline(b[extentHeader:])
	}
	e.logical, e.length, e.offset = le.Uint64(b[21:]), le.Uint64(b[29:]), le.Uint64(b[37:])
	e.to = from + le.Uint64(b[45:])
	size := e.length
	if e.compression != 0 {
		size = e.unpacked
	}
	switch {
	case e.to <= from, !e.hole() && (e.offset > size || e.to-from > size-e.offset),
		e.compression != 0 && e.length > maxUnpacked:
		return e, block.Damaged("extent from %d to %d, of which the disk has %d bytes", from, e.to, size)
	}
	return e, nil
}

func (e extent) decodeInline(b []byte) (extent, error) {
	e.inline = b
	e.to = e.from + uint64(len(b))
	if e.compression != 0 {
		e.to = e.from + e.unpacked
	}
	if e.from != 0 || e.to == 0 {
		return e, block.Damaged("inline extent from %d to %d", e.from, e.to)
	}
	return e, nil
}

// Target is what a symlink says: an inline extent.
func (n *node) Target() (string, error) {
	if n.Size == 0 || n.Size > maxLink {
		return "", block.Damaged("inode %d: symlink of %d bytes", n.inode, n.Size)
	}
	b := make([]byte, n.Size)
	_, err := content{n}.ReadAt(b, 0)
	return string(b), err
}
