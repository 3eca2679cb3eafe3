package ext4

import "fmt"

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
func (v *volume) locateExtent(n *node, block uint64) (run, error) {
	x, err := parseExtents(n.block[:])
	if err == nil && x.depth > maxDepth {
		err = damaged("a depth of %d", x.depth)
	}
	if err != nil {
		return run{}, fmt.Errorf("extents of the inode: %w", err)
	}
	x.to = 1 << 32
	for x.depth > 0 {
		b, err := x.branch(block)
		if err != nil || b.at == 0 {
			return run{count: b.to - block, hole: true}, err
		}
		if x, err = v.extentBlock(n, b, x.depth-1); err != nil {
			return run{}, fmt.Errorf("extents in block %d: %w", b.at, err)
		}
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
func (v *volume) extentBlock(n *node, at branch, depth int) (extentNode, error) {
	b, err := v.metadata(at.at)
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
	tail := (1 + int(le.Uint16(b[4:]))) * entrySize
	if v.readOnly&hasMetaCsum != 0 && crc32c(n.seed, b[:tail]) != le.Uint32(b[tail:]) {
		return extentNode{}, damaged("the checksum is wrong")
	}
	x.from, x.to = at.from, at.to
	return x, nil
}

// branch is the block of a node, and the file's blocks that are below it. At 0
// there is none, and a hole up to to.
type branch struct{ at, from, to uint64 }

// branch finds the entry that leads to a block.
func (x extentNode) branch(block uint64) (branch, error) {
	if len(x.entries) == 0 {
		return branch{}, damaged("an index without entries")
	}
	b := branch{from: x.from, to: x.to}
	for i := 0; i < len(x.entries); i += entrySize {
		e := x.entries[i:]
		first, at := uint64(le.Uint32(e)), uint64(le.Uint32(e[4:]))|uint64(le.Uint16(e[8:]))<<32
		if first < b.from || first >= x.to || i > 0 && first == b.from || at == 0 {
			return branch{}, damaged("the index is out of order at %d", first)
		}
		if block < first {
			b.to = first
			break
		}
		b.at, b.from = at, first
	}
	return b, nil
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
