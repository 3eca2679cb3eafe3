package ext4

import "fmt"

// locateIndirect finds a block in the map of ext2 and ext3: the numbers of
// twelve blocks, then of a block of numbers, one of those, and one of those.
func (v *volume) locateIndirect(n *node, block, want uint64) (run, error) {
	const direct, levels = 12, 3
	if block < direct {
		return runOf(n.block[4*block:4*direct], want), nil
	}
	block -= direct
	perBlock, span := v.blockSize/4, uint64(1)
	for level := range levels {
		if block < span*perBlock {
			return v.locateBelow(le.Uint32(n.block[4*(direct+level):]), span, block, want)
		}
		block -= span * perBlock
		span *= perBlock
	}
	return run{}, damaged("the block map has no place for it")
}

// locateBelow finds a block by way of the numbers in a block, each of which
// stands for span blocks.
func (v *volume) locateBelow(at uint32, span, block, want uint64) (run, error) {
	perBlock := v.blockSize / 4
	for {
		if at == 0 {
			return run{count: span*perBlock - block, hole: true}, nil
		}
		numbers, err := v.metadata(uint64(at))
		if err != nil {
			return run{}, fmt.Errorf("block map: %w", err)
		}
		if span == 1 {
			return runOf(numbers[4*block:], want), nil
		}
		at, block, span = le.Uint32(numbers[4*(block/span):]), block%span, span/perBlock
	}
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
