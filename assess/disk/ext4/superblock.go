package ext4

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math/bits"
	"slices"
	"strings"

	"svc/assess/disk/block"
)

var le = binary.LittleEndian

// The superblock lies at byte 1024 whatever the block size is, and takes 1024.
const (
	superblockAt   = 1024
	superblockSize = 1024
	magic          = 0xEF53
	maxLogBlock    = 6 // blocks of 64 KiB
	crc32cType     = 1
)

// Incompatible features: who doesn't know one of them would read the file
// system wrongly.
const (
	hasFiletype   = 0x2
	needsRecovery = 0x4
	hasMetaBG     = 0x10
	hasExtents    = 0x40
	has64Bit      = 0x80
	hasMMP        = 0x100
	hasFlexBG     = 0x200
	hasEAInode    = 0x400
	hasCsumSeed   = 0x2000
	hasLargeDir   = 0x4000
	hasInlineData = 0x8000
	hasEncrypt    = 0x10000
	hasCasefold   = 0x20000

	knownFeatures = hasFiletype | needsRecovery | hasMetaBG | hasExtents | has64Bit | hasMMP | hasFlexBG |
		hasEAInode | hasCsumSeed | hasLargeDir | hasInlineData | hasEncrypt | hasCasefold
)

// Features that matter to a reader although it may do without them: the first
// is compatible, the others are to whoever doesn't write.
const (
	hasSparseSuper2 = 0x200

	hasSparseSuper = 0x1
	hasHugeFile    = 0x8
	hasGroupCsum   = 0x10
	hasBigalloc    = 0x200
	hasMetaCsum    = 0x400
)

// refused names the incompatible features that no reader but a special one knows.
var refused = map[uint32]string{0x1: "compression", 0x8: "journal_dev (the journal of another file system)", 0x1000: "dirdata"}

// superblock is the shape of a file system. Blocks count from the device's start.
type superblock struct {
	blockSize      uint64 // bytes
	clusterSize    uint64 // bytes; blockSize but with bigalloc
	blocks         uint64
	inodes         uint32
	firstData      uint32 // the block where group 0 starts
	blocksPerGroup uint32
	inodesPerGroup uint32
	inodeSize      uint32 // bytes
	descSize       uint32 // bytes of a group descriptor
	firstMetaGroup uint32
	backups        [2]uint32 // groups with a superblock, for sparse_super2
	compatible     uint32
	incompatible   uint32
	readOnly       uint32 // features that only a writer has to know
	journal        uint32 // inode number, 0 without
	seed           uint32 // where checksums start
	uuid           [16]byte
	label          string
}

// readSuperblock reads and checks the superblock of a device of size bytes.
func readSuperblock(r io.ReaderAt, size int64) (superblock, error) {
	b, err := block.Read(r, superblockAt, superblockSize)
	if err != nil {
		return superblock{}, fmt.Errorf("reading the superblock: %w", err)
	}
	s, err := parseSuperblock(b)
	if err != nil {
		return superblock{}, err
	}
	if s.blocks > uint64(max(size, 0))/s.blockSize {
		return superblock{}, damaged("the image is cut short: %d blocks of %d bytes do not fit in %d bytes", s.blocks, s.blockSize, size)
	}
	return s, nil
}

func parseSuperblock(b []byte) (superblock, error) {
	if le.Uint16(b[0x38:]) != magic {
		return superblock{}, block.Unsupported("no superblock of ext2, ext3 or ext4")
	}
	s := superblock{
		inodes:         le.Uint32(b),
		blocks:         uint64(le.Uint32(b[4:])),
		firstData:      le.Uint32(b[0x14:]),
		blocksPerGroup: le.Uint32(b[0x20:]),
		inodesPerGroup: le.Uint32(b[0x28:]),
		inodeSize:      128,
		descSize:       32,
		uuid:           [16]byte(b[0x68:]),
		label:          upToNUL(b[0x78:0x88]),
	}
	logBlock := le.Uint32(b[0x18:])
	if logBlock > maxLogBlock {
		return superblock{}, damaged("the superblock has blocks of 2^%d KiB", logBlock)
	}
	s.blockSize = 1024 << logBlock
	s.clusterSize = s.blockSize
	if revision := le.Uint32(b[0x4C:]); revision > 0 {
		s.parseRevision1(b)
	}
	if err := s.checkFeatures(b); err != nil {
		return superblock{}, err
	}
	return s, s.checkShape()
}

// parseRevision1 reads what the first ext2 did not have.
func (s *superblock) parseRevision1(b []byte) {
	s.inodeSize = uint32(le.Uint16(b[0x58:]))
	s.compatible = le.Uint32(b[0x5C:])
	s.incompatible = le.Uint32(b[0x60:])
	s.readOnly = le.Uint32(b[0x64:])
	s.journal = le.Uint32(b[0xE0:])
	s.firstMetaGroup = le.Uint32(b[0x104:])
	s.backups = [2]uint32{le.Uint32(b[0x24C:]), le.Uint32(b[0x250:])}
	if s.incompatible&has64Bit != 0 {
		s.descSize = uint32(le.Uint16(b[0xFE:]))
		s.blocks |= uint64(le.Uint32(b[0x150:])) << 32
	}
	if s.readOnly&hasBigalloc != 0 {
		s.clusterSize = 1024 << (le.Uint32(b[0x1C:]) & 31)
	}
	s.seed = crc32c(^uint32(0), s.uuid[:])
	if s.incompatible&hasCsumSeed != 0 {
		s.seed = le.Uint32(b[0x270:])
	}
}

// checkFeatures refuses what this package can't read, by name where it has one.
func (s *superblock) checkFeatures(b []byte) error {
	var unknown []string
	for rest := s.incompatible &^ knownFeatures; rest != 0; rest &= rest - 1 {
		bit := uint32(1) << bits.TrailingZeros32(rest)
		name := refused[bit]
		if name == "" {
			name = fmt.Sprintf("incompatible feature %#x", bit)
		}
		unknown = append(unknown, name)
	}
	if unknown != nil {
		return block.Unsupported("it uses %s", strings.Join(unknown, ", "))
	}
	if s.readOnly&hasMetaCsum == 0 {
		return nil
	}
	if kind := b[0x175]; kind != crc32cType {
		return block.Unsupported("checksums of the kind %d", kind)
	}
	if crc32c(^uint32(0), b[:0x3FC]) != le.Uint32(b[0x3FC:]) {
		return damaged("the superblock's checksum is wrong")
	}
	return nil
}

// checkShape refuses a shape that mke2fs doesn't make, so that no later sum
// overflows and no division is by zero.
func (s *superblock) checkShape() error {
	ok := []bool{
		s.blocks > uint64(s.firstData) && s.blocks <= (1<<62)/s.blockSize,
		s.firstData <= 1,
		s.blocksPerGroup > 0,
		s.inodesPerGroup > 0 && uint64(s.inodesPerGroup) <= 8*s.blockSize,
		s.inodeSize >= 128 && uint64(s.inodeSize) <= s.blockSize && bits.OnesCount32(s.inodeSize) == 1,
		s.incompatible&has64Bit == 0 || s.descSize >= 64 && s.descSize <= 1024 && bits.OnesCount32(s.descSize) == 1,
		s.inodes >= rootInode,
	}
	if slices.Contains(ok, false) {
		return damaged("the superblock has an impossible shape (%+v)", *s)
	}
	if uint64(s.inodes) > s.groups()*uint64(s.inodesPerGroup) {
		return damaged("the superblock counts %d inodes, more than its %d groups hold", s.inodes, s.groups())
	}
	return nil
}

func upToNUL(b []byte) string {
	before, _, _ := bytes.Cut(b, []byte{0})
	return string(before)
}
