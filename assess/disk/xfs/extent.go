package xfs

import (
	"fmt"
	"math"
	"sort"

	"svc/assess/disk/block"
)

// extent maps blocks of a file to the disk.
type extent struct {
	first uint64 // block within the file
	count uint64
	disk  uint64 // block of the file system
	zeros bool   // a hole, or allocated and never written
}

const (
	recordBytes = 16 // of an extent; of a key and pointer together
	maxLevel    = 12 // of a tree; the kernel allows 9, with big counters 11
)

// record decodes the i-th extent record.
func record(records []byte, i int) extent {
	high, low := be.Uint64(records[i*recordBytes:]), be.Uint64(records[i*recordBytes+8:])
	return extent{
		first: high >> 9 & (1<<54 - 1), count: low & (1<<21 - 1),
		disk: high&(1<<9-1)<<43 | low>>21, zeros: high>>63 != 0,
	}
}

// extentAt gives the extent that holds a block of the file's data fork, a hole
// included: from the block on, to the extent's end.
func (v *volume) extentAt(n *node, blk uint64) (extent, error) {
	var e extent
	var err error
	switch n.form {
	case formExtents:
		if n.extents > uint64(len(n.fork)/recordBytes) {
			return e, block.Damaged("inode %d: %d extents don't fit", n.Number, n.extents)
		}
		e = search(n.fork[:n.extents*recordBytes], blk, math.MaxUint64)
	case formTree:
		e, err = v.descend(n, blk)
	default:
		err = block.Damaged("form %d of the data fork", n.form)
	}
	if err != nil {
		return e, fmt.Errorf("inode %d: %w", n.Number, err)
	}
	skip := blk - e.first
	e.first, e.count = blk, e.count-skip
	if !e.zeros {
		e.disk += skip
	}
	return e, nil
}

// search finds the block among sorted extents; below limit and outside of them
// are holes.
func search(records []byte, blk, limit uint64) extent {
	n := len(records) / recordBytes
	next := sort.Search(n, func(i int) bool { return record(records, i).first > blk })
	start := blk
	if next > 0 {
		e := record(records, next-1)
		if blk-e.first < e.count {
			return e
		}
	}
	if next < n {
		limit = record(records, next).first
	}
	return extent{first: start, count: max(limit, start+1) - start, zeros: true}
}

// descend finds a block through the fork's tree. The levels count down, so a
// cycle ends in an error.
func (v *volume) descend(n *node, blk uint64) (extent, error) {
	if len(n.fork) < 4+recordBytes {
		return extent{}, block.Damaged("tree root of %d bytes", len(n.fork))
	}
	level, count := int(be.Uint16(n.fork)), int(be.Uint16(n.fork[2:]))
	if level == 0 || level > maxLevel {
		return extent{}, block.Damaged("tree of %d levels", level)
	}
	limit := uint64(math.MaxUint64)
	body := n.fork[4:]
	for {
		child, upper, err := step(body, count, blk, limit)
		if err != nil {
			return extent{}, err
		}
		level, limit = level-1, upper
		if body, count, err = v.treeBlock(n, child, level); err != nil {
			return extent{}, err
		}
		if level == 0 {
			return search(body[:count*recordBytes], blk, limit), nil
		}
	}
}

// step chooses the child for a block: keys come first, then, after room for as
// many as fit, the pointers. It gives the first block of the next child too.
func step(body []byte, count int, blk, limit uint64) (child, upper uint64, err error) {
	room := len(body) / recordBytes
	if count == 0 || count > room {
		return 0, 0, block.Damaged("tree node with %d of at most %d keys", count, room)
	}
	key := func(i int) uint64 { return be.Uint64(body[8*i:]) }
	next := sort.Search(count, func(i int) bool { return key(i) > blk })
	if next < count {
		limit = key(next)
	}
	return be.Uint64(body[8*(room+max(next-1, 0)):]), limit, nil
}

// treeBlock reads a block of a fork's tree: what follows its header, and how
// many records that holds.
func (v *volume) treeBlock(n *node, number uint64, level int) ([]byte, int, error) {
	at, err := v.place(number, 1)
	if err != nil {
		return nil, 0, err
	}
	b, err := v.read(at)
	if err != nil {
		return nil, 0, err
	}
	magic, header := "BMAP", 24
	if v.v5 {
		magic, header = "BMA3", 72
	}
	count := int(be.Uint16(b[6:]))
	switch {
	case string(b[:4]) != magic, int(be.Uint16(b[4:])) != level, count > (len(b)-header)/recordBytes:
		err = block.Damaged("no tree node of level %d at byte %d", level, at)
	case v.v5 && (!sumMatches(b, 64) || be.Uint64(b[56:]) != n.Number):
		err = block.Damaged("the tree node at byte %d has a wrong checksum or owner", at)
	}
	return b[header:], count, err
}
