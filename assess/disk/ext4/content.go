package ext4

import (
	"fmt"
	"slices"

	"svc/assess/disk/block"
)

// run is a piece of a file: count blocks of it that lie together on the device,
// or are not there and read as zeros.
type run struct {
	start uint64 // block of the device
	count uint64 // blocks, at least 1
	hole  bool
}

// content is what a file holds as bytes, endless.
type content struct{ *node }

// ReadAt reads bytes of the file. It fills p or fails.
func (c content) ReadAt(p []byte, off int64) (int, error) {
	if c.flags&flagInline != 0 {
		return c.readInline(p, off)
	}
	return block.Fill(p, off, c.readRun)
}

// readInline reads zeros beyond what the inode holds, as Linux does: a file
// without data may be longer than that.
func (c content) readInline(p []byte, off int64) (int, error) {
	first, second, err := c.inline()
	if err != nil {
		return 0, err
	}
	clear(p)
	if whole := slices.Concat(first, second); off < int64(len(whole)) {
		copy(p, whole[off:])
	}
	return len(p), nil
}

// readRun reads up to where the file's blocks no longer lie together.
func (c content) readRun(p []byte, at int64) (int, error) {
	size, off := c.volume.blockSize, uint64(at)
	within := off % size
	want := (within + uint64(len(p)) + size - 1) / size
	r, err := c.volume.locate(c.node, off/size, want)
	if err == nil && !r.hole {
		err = c.volume.device.check(r.start, min(r.count, want))
	}
	if err != nil {
		return 0, fmt.Errorf("byte %d of inode %d: %w", off, c.number, err)
	}
	p = p[:min(uint64(len(p)), r.count*size-within)]
	if r.hole {
		clear(p)
		return len(p), nil
	}
	return c.volume.device.ReadAt(p, int64(r.start*size+within))
}

// locate finds the run that a file's block starts. It may be shorter or longer
// than the blocks wanted.
func (v *volume) locate(n *node, number, want uint64) (run, error) {
	if n.flags&flagExtents != 0 {
		return v.locateExtent(n, number)
	}
	return v.locateIndirect(n, number, want)
}
