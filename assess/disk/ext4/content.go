package ext4

import (
	"fmt"
	"slices"
)

// run is a piece of a file: count blocks of it that lie together on the device,
// or are not there and read as zeros.
type run struct {
	start uint64 // block of the device
	count uint64 // blocks, at least 1
	hole  bool
}

// content reads what a file holds. Its size bounds nothing here: that is the
// caller's part.
type content struct {
	f *FS
	n *node
}

// ReadAt reads bytes of the file. It fills p or fails.
func (c content) ReadAt(p []byte, off int64) (int, error) {
	if c.n.flags&flagInline != 0 {
		return c.readInline(p, off)
	}
	for done := 0; done < len(p); {
		n, err := c.readRun(p[done:], uint64(off)+uint64(done))
		if err != nil {
			return done, err
		}
		done += n
	}
	return len(p), nil
}

// readInline reads zeros beyond what the inode holds, as Linux does: a file
// without data may be longer than that.
func (c content) readInline(p []byte, off int64) (int, error) {
	first, second, err := c.n.inline()
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
func (c content) readRun(p []byte, off uint64) (int, error) {
	size := c.f.blockSize
	within := off % size
	want := (within + uint64(len(p)) + size - 1) / size
	r, err := c.f.locate(c.n, off/size, want)
	if err == nil && !r.hole {
		err = c.f.device.check(r.start, min(r.count, want))
	}
	if err != nil {
		return 0, fmt.Errorf("byte %d of inode %d: %w", off, c.n.number, err)
	}
	p = p[:min(uint64(len(p)), r.count*size-within)]
	if r.hole {
		clear(p)
		return len(p), nil
	}
	return c.f.device.ReadAt(p, int64(r.start*size+within))
}

// locate finds the run that a file's block starts. It may be shorter or longer
// than the blocks wanted.
func (f *FS) locate(n *node, block, want uint64) (run, error) {
	if n.flags&flagExtents != 0 {
		return f.locateExtent(n, block)
	}
	return f.locateIndirect(n, block, want)
}
