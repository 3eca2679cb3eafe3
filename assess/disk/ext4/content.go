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
	r, err := c.f.locate(c.n, off/size, (within+uint64(len(p))+size-1)/size)
	if err != nil {
		return 0, fmt.Errorf("byte %d of inode %d: %w", off, c.n.number, err)
	}
	p = p[:min(uint64(len(p)), r.count*size-within)]
	if r.hole {
		clear(p)
		return len(p), nil
	}
	if err := c.f.device.check(r.start, (within+uint64(len(p))+size-1)/size); err != nil {
		return 0, fmt.Errorf("byte %d of inode %d: %w", off, c.n.number, err)
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

// locateIndirect finds a block in the map of ext2 and ext3: the numbers of
// twelve blocks, then of a block of numbers, one of those, and one of those.
func (f *FS) locateIndirect(n *node, block, want uint64) (run, error) {
	const direct = 12
	numbers := n.block[:4*direct]
	if block >= direct {
		block -= direct
		perBlock, span := f.blockSize/4, uint64(1)
		level := 0
		for ; block >= span*perBlock; level++ {
			block -= span * perBlock
			span *= perBlock
			if level == 2 {
				return run{}, damaged("the block map has no place for it")
			}
		}
		at := le.Uint32(n.block[4*(direct+level):])
		for ; ; span /= perBlock {
			if at == 0 {
				return run{count: span*perBlock - block, hole: true}, nil
			}
			b, err := f.metadata(uint64(at))
			if err != nil {
				return run{}, fmt.Errorf("block map: %w", err)
			}
			if span == 1 {
				numbers = b
				break
			}
			at, block = le.Uint32(b[4*(block/span):]), block%span
		}
	}
	return runOf(numbers[4*block:], want), nil
}

// runOf is what the first of some block numbers starts, of at most want blocks.
func runOf(numbers []byte, want uint64) run {
	start := uint64(le.Uint32(numbers))
	r := run{start: start, count: 1, hole: start == 0}
	for ; r.count < want && 4*r.count < uint64(len(numbers)); r.count++ {
		next := uint64(le.Uint32(numbers[4*r.count:]))
		if r.hole && next != 0 || !r.hole && next != start+r.count {
			break
		}
	}
	return r
}

// The nodes of a tree of extents: a header and up to as many entries of 12
// bytes as fit, then in blocks of their own a checksum.
const (
	extentMagic = 0xF30A
	entrySize   = 12
	maxDepth    = 5
	initialized = 32768 // longer extents are allocated, not written: zeros
)

// extentNode is a node of the tree, with the file's blocks that it is for.
type extentNode struct {
	entries  []byte // of 12 bytes each
	depth    int    // 0 is a leaf
	from, to uint64
}

// locateExtent finds a block in the tree of extents. Each level's depth is one
// less than that above, so that no cycle is possible.
func (f *FS) locateExtent(n *node, block uint64) (run, error) {
	x, err := parseExtents(n.block[:])
	if err == nil && x.depth > maxDepth {
		err = damaged("a depth of %d", x.depth)
	}
	x.to = 1 << 32
	for err == nil && x.depth > 0 {
		at, from, to, found, err := x.child(block)
		if err != nil || !found {
			return run{count: to - block, hole: true}, err
		}
		child, err := f.extentBlock(n, at, x.depth-1)
		if err != nil {
			return run{}, fmt.Errorf("extents in block %d: %w", at, err)
		}
		child.from, child.to = from, to
		x = child
	}
	if err != nil {
		return run{}, fmt.Errorf("extents of the inode: %w", err)
	}
	return x.leaf(block)
}

// parseExtents checks the header of a node.
func parseExtents(b []byte) (extentNode, error) {
	count, room := uint64(le.Uint16(b[2:])), uint64(le.Uint16(b[4:]))
	if le.Uint16(b) != extentMagic || count > room || (room+1)*entrySize > uint64(len(b)) {
		return extentNode{}, damaged("this is no node of a tree of extents")
	}
	return extentNode{entries: b[entrySize:][:count*entrySize], depth: int(le.Uint16(b[6:]))}, nil
}

// extentBlock reads a node that stands in a block.
func (f *FS) extentBlock(n *node, block uint64, depth int) (extentNode, error) {
	b, err := f.metadata(block)
	if err != nil {
		return extentNode{}, err
	}
	x, err := parseExtents(b)
	if err != nil {
		return extentNode{}, err
	}
	if x.depth != depth {
		return extentNode{}, damaged("a depth of %d where %d is expected", x.depth, depth)
	}
	if tail := (1 + int(le.Uint16(b[4:]))) * entrySize; f.readOnly&hasMetaCsum != 0 && crc32c(n.seed, b[:tail]) != le.Uint32(b[tail:]) {
		return extentNode{}, damaged("the checksum is wrong")
	}
	return x, nil
}

// child finds the entry that leads to a block, the blocks that are below it,
// and where a hole ends if there is none.
func (x extentNode) child(block uint64) (at, from, to uint64, found bool, err error) {
	if len(x.entries) == 0 {
		return 0, 0, 0, false, damaged("an index without entries")
	}
	last := x.from
	for i := 0; i < len(x.entries); i += entrySize {
		e := x.entries[i:]
		first := uint64(le.Uint32(e))
		if first < last || first >= x.to || i > 0 && first == last {
			return 0, 0, 0, false, damaged("the index is out of order at %d", first)
		}
		if block < first {
			return at, from, first, found, nil
		}
		at, from, found, last = uint64(le.Uint32(e[4:]))|uint64(le.Uint16(e[8:]))<<32, first, true, first
	}
	return at, from, x.to, found, nil
}

// leaf finds the extent that a block is in.
func (x extentNode) leaf(block uint64) (run, error) {
	last := x.from
	for ; len(x.entries) > 0; x.entries = x.entries[entrySize:] {
		first, count := uint64(le.Uint32(x.entries)), uint64(le.Uint16(x.entries[4:]))
		unwritten := count > initialized
		if unwritten {
			count -= initialized
		}
		if count == 0 || first < last || first+count > x.to {
			return run{}, damaged("an extent of %d blocks at %d is out of order", count, first)
		}
		if block < first {
			return run{count: first - block, hole: true}, nil
		}
		if last = first + count; block < last {
			start := uint64(le.Uint32(x.entries[8:])) | uint64(le.Uint16(x.entries[6:]))<<32
			return run{start + block - first, last - block, unwritten}, nil
		}
	}
	return run{count: x.to - block, hole: true}, nil
}
