package ext4

import (
	"fmt"
	"io"

	"svc/assess/disk/block"
)

// damaged is what contradicts itself.
func damaged(format string, args ...any) error { return block.Damaged(format, args...) }

// device is a block device, with the journal's newer blocks laid over it.
type device struct {
	r         io.ReaderAt
	blockSize uint64
	blocks    uint64
	overlay   overlay
}

// ReadAt reads bytes of the device. It fills p or fails.
func (d *device) ReadAt(p []byte, off int64) (int, error) { return block.Fill(p, off, d.readRun) }

func (d *device) readPlain(p []byte, off int64) (int, error) {
	if err := block.ReadFull(d.r, p, off); err != nil {
		return 0, fmt.Errorf("reading %d bytes at byte %d of the device: %w", len(p), off, err)
	}
	return len(p), nil
}

// readRun reads one block of the overlay, or all plain blocks before the next
// such one.
func (d *device) readRun(p []byte, at int64) (int, error) {
	block, within := uint64(at)/d.blockSize, uint64(at)%d.blockSize
	if entry, ok := d.overlay.blocks[block]; ok {
		b, err := d.overlay.read(d, entry)
		if err != nil {
			return 0, fmt.Errorf("reading block %d from the journal: %w", block, err)
		}
		return copy(p, b[within:]), nil
	}
	end := d.blockSize - within
	for block++; end < uint64(len(p)); block++ {
		if _, ok := d.overlay.blocks[block]; ok {
			break
		}
		end += d.blockSize
	}
	return d.readPlain(p[:min(end, uint64(len(p)))], at)
}

// read gives one block.
func (d *device) read(block uint64) ([]byte, error) {
	b := make([]byte, d.blockSize)
	_, err := d.ReadAt(b, int64(block*d.blockSize))
	return b, err
}

// check refuses blocks that lie outside the file system.
func (d *device) check(start, count uint64) error {
	if start >= d.blocks || count > d.blocks-start {
		return damaged("%d blocks from block %d on are not within its %d", count, start, d.blocks)
	}
	return nil
}
