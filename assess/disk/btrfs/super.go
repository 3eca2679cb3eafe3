package btrfs

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"svc/assess/disk/block"
)

var le = binary.LittleEndian

const (
	magic     = "_BHRfS_M"
	superSize = 4096
)

// superAt is where the superblock and its copies lie.
var superAt = []int64{64 << 10, 64 << 20, 256 << 30}

// super is what reading needs of the superblock.
type super struct {
	fsid       [16]byte
	metadataID [16]byte // that blocks of trees carry
	deviceID   uint64
	label      string
	generation uint64
	root       pointer // of the tree of trees
	chunkRoot  pointer
	rootDir    uint64
	sector     int64
	nodeSize   int
	sum        checksum
	chunks     []byte // the first chunks, which have the chunk tree
}

// incompatible names the incompatible features by bit.
var incompatible = []string{
	"mixed_backref", "default_subvol", "mixed_groups", "compress_lzo", "compress_zstd", "big_metadata", "extended_iref",
	"raid56", "skinny_metadata", "no_holes", "metadata_uuid", "raid1c34", "zoned", "extent_tree_v2", "raid_stripe_tree",
	"", "simple_quota", "remap_tree",
}

const (
	incompatMetadataUUID = 1 << 10
	// incompatKnown are the features that this package reads, or that don't
	// touch what it reads. The profiles of raid56 and raid1c34 are refused
	// where a block lies in one.
	incompatKnown = 1<<12 - 1 | 1<<16
	// flagsRefused are superblock flags of dumps without data, and of
	// conversions that were not finished.
	flagsRefused = 1<<33 | 1<<34 | 1<<35 | 1<<36 | 1<<38 | 1<<39 | 1<<40
)

// readSuper reads the superblock, or the first copy that is whole.
func readSuper(r io.ReaderAt, size int64) (super, error) {
	var failed error
	for _, at := range superAt {
		if at+superSize > size {
			break
		}
		b, err := block.Read(r, at, superSize)
		if err == nil {
			err = checkSuper(b, at)
		}
		if err == nil {
			return decodeSuper(b, size)
		}
		failed = errors.Join(failed, fmt.Errorf("superblock at byte %d: %w", at, err))
	}
	if failed == nil {
		failed = block.Damaged("a volume of %d bytes", size)
	}
	return super{}, failed
}

func checkSuper(b []byte, at int64) error {
	if string(b[64:72]) != magic {
		return block.Damaged("there is none")
	}
	sum, err := checksumOf(le.Uint16(b[196:]))
	if err != nil {
		return err
	}
	if !sum.matches(b) {
		return block.Damaged("wrong checksum")
	}
	if own := int64(le.Uint64(b[48:])); own != at {
		return block.Damaged("it belongs at byte %d", own)
	}
	return nil
}

func decodeSuper(b []byte, size int64) (super, error) {
	label, _, _ := bytes.Cut(b[299:299+256], []byte{0})
	s := super{
		fsid: [16]byte(b[32:48]), metadataID: [16]byte(b[32:48]), deviceID: le.Uint64(b[201:]),
		label: string(label), generation: le.Uint64(b[72:]), rootDir: le.Uint64(b[128:]),
		root:      pointer{le.Uint64(b[80:]), le.Uint64(b[72:]), int(b[198])},
		chunkRoot: pointer{le.Uint64(b[88:]), le.Uint64(b[164:]), int(b[199])},
		sector:    int64(le.Uint32(b[144:])), nodeSize: int(le.Uint32(b[148:])),
	}
	s.sum, _ = checksumOf(le.Uint16(b[196:]))
	features := le.Uint64(b[188:])
	if features&incompatMetadataUUID != 0 {
		s.metadataID = [16]byte(b[571:587])
	}
	chunks := le.Uint32(b[160:])
	if chunks > 2048 {
		return super{}, block.Damaged("%d bytes of chunks in the superblock", chunks)
	}
	s.chunks = b[811 : 811+chunks]
	if err := block.RefuseFeatures(features&^incompatKnown, incompatible); err != nil {
		return super{}, err
	}
	if le.Uint64(b[96:]) != 0 {
		return super{}, block.Unsupported("its log tree has changes that are not in its other trees, as the machine was not shut down cleanly%s", block.MountIt)
	}
	return s, s.check(size, int64(le.Uint64(b[209:])), le.Uint64(b[136:]), le.Uint64(b[56:]))
}

func (s *super) check(size, deviceSize int64, devices, flags uint64) error {
	switch {
	case flags&flagsRefused != 0:
		return block.Unsupported("a dump without data, or a conversion that was not finished (flags 0x%x)", flags)
	case devices != 1:
		return block.Unsupported("a file system on %d devices: one of them alone can't be read", devices)
	case !block.PowerIn(s.sector, 4096, 65536), !block.PowerIn(int64(s.nodeSize), 4096, 65536):
		return block.Damaged("sectors of %d bytes, nodes of %d", s.sector, s.nodeSize)
	case deviceSize < 0 || deviceSize > size:
		return block.Damaged("the volume is cut short: it has %d bytes, the file system %d", size, deviceSize)
	}
	return nil
}
