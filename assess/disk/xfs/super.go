package xfs

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"math/bits"
	"strings"

	"svc/assess/disk/block"
)

var be = binary.BigEndian

// super is what reading needs of the superblock.
type super struct {
	size       int64 // bytes of the device
	blockBytes int64 // bytes of a file system block
	sector     int64
	inodeBytes int64
	dirBytes   int64 // bytes of a directory block
	agBlocks   uint64
	agCount    uint64
	blockCount uint64
	logStart   uint64 // block; 0 is another device
	logBlocks  uint64
	root       uint64
	agLog      uint // bits of a block number within an allocation group
	inoLog     uint // bits of an inode's place within a block
	v5         bool
	ftype      bool // directory entries have the file's type
	uuid       [16]byte
	label      string
}

// Flags of the superblock's versionnum and features2 (version 4).
const (
	versionDirV2    = 0x2000
	versionASCIICI  = 0x4000
	versionMoreBits = 0x8000
	features2FType  = 0x0200
)

// incompatible names the incompatible features of version 5 by bit.
var incompatible = []string{
	"ftype", "spinodes", "meta_uuid", "bigtime", "needsrepair", "nrext64", "exchrange", "parent", "metadir",
	"zoned", "zone_gaps",
}

const (
	incompatFType = 1 << 0
	// incompatKnown are the features that this package reads or that don't
	// touch what it reads: all of the above but needsrepair and zoned ones.
	incompatKnown = 0x1ff &^ (1 << 4)
)

func readSuper(r io.ReaderAt, size int64) (super, error) {
	b, err := block.Read(r, 0, 512)
	if err != nil {
		return super{}, fmt.Errorf("reading the superblock: %w", err)
	}
	if string(b[:4]) != "XFSB" {
		return super{}, block.Damaged("no superblock at the volume's start")
	}
	s := super{
		size: size, blockBytes: int64(be.Uint32(b[4:])), blockCount: be.Uint64(b[8:]), root: be.Uint64(b[56:]),
		logStart: be.Uint64(b[48:]), logBlocks: uint64(be.Uint32(b[96:])),
		agBlocks: uint64(be.Uint32(b[84:])), agCount: uint64(be.Uint32(b[88:])),
		sector: int64(be.Uint16(b[102:])), inodeBytes: int64(be.Uint16(b[104:])),
		label: strings.TrimRight(string(b[108:120]), "\x00"), inoLog: uint(b[123]), agLog: uint(b[124]),
		uuid: [16]byte(b[32:48]), v5: be.Uint16(b[100:])&0xf == 5,
	}
	s.dirBytes = s.blockBytes << min(b[192], 16)
	if err := s.checkVersion(b); err != nil {
		return super{}, err
	}
	if err := s.checkGeometry(); err != nil {
		return super{}, err
	}
	if err := s.checkSum(r); err != nil {
		return super{}, err
	}
	return s, s.checkLog(r)
}

func (s *super) checkVersion(b []byte) error {
	version := be.Uint16(b[100:])
	if v := version & 0xf; v != 4 && v != 5 {
		return block.Unsupported("version %d", v)
	}
	if version&versionDirV2 == 0 {
		return block.Unsupported("directories of version 1")
	}
	if version&versionASCIICI != 0 {
		return block.Unsupported("case-insensitive names (ascii-ci)")
	}
	if b[126] != 0 {
		return block.Damaged("mkfs was interrupted (inprogress is set)")
	}
	if !s.v5 {
		s.ftype = version&versionMoreBits != 0 && be.Uint32(b[200:])&features2FType != 0
		return nil
	}
	incompat := be.Uint32(b[216:])
	s.ftype = incompat&incompatFType != 0
	return block.RefuseFeatures(uint64(incompat&^incompatKnown), incompatible)
}

func (s *super) checkGeometry() error {
	last := s.blockCount - (s.agCount-1)*s.agBlocks // blocks of the last group
	switch {
	case !block.PowerIn(s.blockBytes, 512, 65536), !block.PowerIn(s.sector, 512, 32768), !block.PowerIn(s.inodeBytes, 256, 2048),
		s.inodeBytes > s.blockBytes, s.dirBytes > 65536:
		return block.Damaged("sizes make no sense: block %d, sector %d, inode %d, directory block %d",
			s.blockBytes, s.sector, s.inodeBytes, s.dirBytes)
	case s.agBlocks < 8, s.agCount == 0, s.agLog != uint(bits.Len64(s.agBlocks-1)), last == 0, last > s.agBlocks,
		int64(1)<<s.inoLog != s.blockBytes/s.inodeBytes:
		return block.Damaged("geometry makes no sense: %d blocks in %d groups of %d", s.blockCount, s.agCount, s.agBlocks)
	case s.blockCount > uint64(s.size/s.blockBytes):
		return block.Damaged("the volume is cut short: it has %d bytes, the file system %d blocks of %d", s.size, s.blockCount, s.blockBytes)
	}
	return nil
}

// checkSum verifies the superblock's own checksum, over its sector.
func (s *super) checkSum(r io.ReaderAt) error {
	if !s.v5 {
		return nil
	}
	b, err := block.Read(r, 0, int(s.sector))
	if err != nil {
		return fmt.Errorf("reading the superblock: %w", err)
	}
	if !sumMatches(b, 224) {
		return block.Damaged("the superblock's checksum is wrong")
	}
	return nil
}

// sumMatches verifies a structure's CRC-32C, which lies at an offset in it and
// counts as zero there.
func sumMatches(b []byte, at int) bool {
	sum := crc32.Update(0, block.Castagnoli, b[:at])
	sum = crc32.Update(sum, block.Castagnoli, make([]byte, 4))
	sum = crc32.Update(sum, block.Castagnoli, b[at+4:])
	return sum == binary.LittleEndian.Uint32(b[at:])
}

// place is the byte of a file system block, whose number has its allocation
// group in the upper bits; count blocks of the group must follow.
func (s *super) place(number, count uint64) (int64, error) {
	group, within := number>>s.agLog, number&(1<<s.agLog-1)
	linear := group*s.agBlocks + within
	if group >= s.agCount || within+count > s.agBlocks || linear+count > s.blockCount {
		return 0, block.Damaged("blocks %d+%d lie outside the file system", number, count)
	}
	return int64(linear) * s.blockBytes, nil
}
