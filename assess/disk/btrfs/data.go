package btrfs

import (
	"bytes"
	"errors"
	"fmt"

	"svc/assess/disk/block"
)

const (
	checksumTree   = 7
	checksumObject = 1<<64 - 10
	flagNoSums     = 1 // of an inode: its data have no checksums
	maxRead        = 256 << 10
)

// read fills p with data from a logical address on: whole sectors into p itself,
// parts of one by way of a copy.
func (v *volume) read(p []byte, logical uint64, sums bool) error {
	sector := uint64(v.sector)
	for len(p) > 0 {
		skip := logical % sector
		if whole := uint64(len(p)) / sector * sector; skip == 0 && whole > 0 {
			n, err := v.readSectors(p[:min(whole, maxRead)], logical, sums)
			if err != nil {
				return err
			}
			p, logical = p[n:], logical+uint64(n)
			continue
		}
		b := make([]byte, sector)
		if _, err := v.readSectors(b, logical-skip, sums); err != nil {
			return err
		}
		n := copy(p, b[skip:])
		p, logical = p[n:], logical+uint64(n)
	}
	return nil
}

// readSectors reads the sectors that lie together, from the first copy that is
// whole, and gives how many bytes they are.
func (v *volume) readSectors(p []byte, logical uint64, sums bool) (int, error) {
	places, n, err := v.spans(logical, len(p))
	if err != nil {
		return 0, err
	}
	if n -= n % int(v.sector); n == 0 {
		return 0, block.Damaged("the sector at %d crosses chunks", logical)
	}
	var failed error
	for _, at := range places {
		err := block.ReadFull(v.disk, p[:n], at)
		if err == nil && sums {
			err = v.checkData(p[:n], logical)
		}
		if err == nil {
			return n, nil
		}
		failed = errors.Join(failed, fmt.Errorf("the data at byte %d: %w", at, err))
	}
	return 0, failed
}

// checkData verifies sectors against the tree of checksums.
func (v *volume) checkData(b []byte, logical uint64) error {
	for len(b) > 0 {
		sums, err := v.dataSums(logical)
		if err != nil {
			return err
		}
		for ; len(sums) >= v.sum.size && len(b) > 0; sums = sums[v.sum.size:] {
			sum := v.sum.of(b[:v.sector])
			if !bytes.Equal(sum[:v.sum.size], sums[:v.sum.size]) {
				return block.Damaged("wrong checksum of the data at the logical address %d", logical)
			}
			b, logical = b[v.sector:], logical+uint64(v.sector)
		}
	}
	return nil
}

// dataSums gives the checksums of the sectors from a logical address on: at
// least one.
func (v *volume) dataSums(logical uint64) ([]byte, error) {
	t, err := v.treeOf(checksumTree)
	if err != nil {
		return nil, err
	}
	k, b, _, err := t.floor(key{checksumObject, typeChecksums, logical})
	if err != nil {
		return nil, err
	}
	if k.object == checksumObject && k.kind == typeChecksums {
		skip := (logical - k.offset) / uint64(v.sector)
		if size := uint64(v.sum.size); skip < uint64(len(b))/size {
			return b[skip*size:], nil
		}
	}
	return nil, block.Damaged("the data at the logical address %d have no checksum", logical)
}
