package ext4

import (
	"errors"
	"fmt"
	"io/fs"
	"time"

	"svc/assess/disk/inode"
)

// The file types of a mode.
const (
	typeMask    = 0xF000
	typeFolder  = 0x4000
	typeRegular = 0x8000
	typeSymlink = 0xA000
)

// Flags of an inode.
const (
	flagEncrypted = 0x800
	flagIndex     = 0x1000 // a folder with a hash tree
	flagHugeFile  = 0x40000
	flagExtents   = 0x80000
	flagInline    = 0x10000000
	flagCasefold  = 0x40000000
)

// The fields of an inode beyond the first 128 bytes, and what they take.
const (
	oldInode    = 128
	checksumLow = 0x7C
	checksumHi  = 0x82
	mtimeExtra  = 0x88
	xattrMagic  = 0xEA020000
)

// maxTarget is the longest target of a symlink, PATH_MAX of Linux.
const maxTarget = 4096

// ErrEncrypted means that the machine had encrypted a file's content or a
// folder's names by itself (fscrypt): they can't be read without its key.
var ErrEncrypted = errors.New("encrypted by its file system, which has the key elsewhere")

var (
	errNotFolder  = errors.New("not a folder")
	errNotRegular = errors.New("not a regular file")
)

// node is an inode.
type node struct {
	number   uint32
	mode     uint16
	flags    uint32
	uid, gid uint32
	links    uint16
	size     int64 // bytes
	sectors  uint64
	xattrs   uint64 // the block of extended attributes, 0 without
	modified time.Time
	seed     uint32   // where checksums of this inode's blocks start
	block    [60]byte // the start of the extents or the block map, or content
	beyond   []byte   // the extended attributes inside the inode
}

// node reads an inode.
func (f *FS) node(number uint32) (*node, error) {
	raw, err := f.rawNode(number)
	if err != nil {
		return nil, fmt.Errorf("reading inode %d: %w", number, err)
	}
	n := f.parseNode(number, raw)
	if f.readOnly&hasMetaCsum != 0 && !n.checksumOK(raw) {
		return nil, damaged("the checksum of inode %d is wrong", number)
	}
	if n.links == 0 || n.mode == 0 {
		return nil, damaged("inode %d is named but deleted", number)
	}
	if n.size < 0 || uint64(n.size) > f.blockSize<<32 {
		return nil, damaged("inode %d has an impossible size of %d", number, uint64(n.size))
	}
	return n, nil
}

func (f *FS) rawNode(number uint32) ([]byte, error) {
	if number == 0 || number > f.inodes {
		return nil, damaged("the file system has %d inodes", f.inodes)
	}
	group, index := (number-1)/f.inodesPerGroup, (number-1)%f.inodesPerGroup
	table, err := f.inodeTable(group)
	if err != nil {
		return nil, err
	}
	at := uint64(index) * uint64(f.inodeSize)
	b, err := f.metadata(table + at/f.blockSize)
	if err != nil {
		return nil, err
	}
	return b[at%f.blockSize:][:f.inodeSize], nil
}

// metadata gives a block by way of the cache. It must not be changed.
func (f *FS) metadata(block uint64) ([]byte, error) {
	if b, ok := f.kept.get(block); ok {
		return b, nil
	}
	if err := f.device.check(block, 1); err != nil {
		return nil, err
	}
	b, err := f.device.read(block)
	if err == nil {
		f.kept.put(block, b, len(b))
	}
	return b, err
}

func (f *FS) parseNode(number uint32, b []byte) *node {
	n := &node{
		number:  number,
		mode:    le.Uint16(b),
		uid:     uint32(le.Uint16(b[2:])) | uint32(le.Uint16(b[0x78:]))<<16,
		gid:     uint32(le.Uint16(b[0x18:])) | uint32(le.Uint16(b[0x7A:]))<<16,
		links:   le.Uint16(b[0x1A:]),
		flags:   le.Uint32(b[0x20:]),
		size:    int64(le.Uint32(b[4:])),
		sectors: uint64(le.Uint32(b[0x1C:])),
		xattrs:  uint64(le.Uint32(b[0x68:])) | uint64(le.Uint16(b[0x76:]))<<32,
		seed:    crc32c(crc32cOf(f.seed, number), b[0x64:0x68]),
		block:   [60]byte(b[0x28:]),
	}
	if n.is(typeRegular) || n.is(typeFolder) && f.incompatible&hasLargeDir != 0 {
		n.size |= int64(le.Uint32(b[0x6C:])) << 32
	}
	if f.readOnly&hasHugeFile != 0 {
		n.sectors |= uint64(le.Uint16(b[0x74:])) << 32
	}
	if n.flags&flagHugeFile != 0 {
		n.sectors *= f.blockSize / 512
	}
	if n.is(typeRegular) && n.flags&flagInline != 0 {
		n.sectors += (uint64(n.size) + 511) / 512 // as Linux tells it, so that the file doesn't look sparse
	}
	extra := extraEnd(b)
	n.modified = modified(b[:extra])
	n.beyond = b[extra:]
	return n
}

// extraEnd is where the fixed fields of an inode end.
func extraEnd(b []byte) int {
	if len(b) == oldInode {
		return oldInode
	}
	return min(oldInode+int(le.Uint16(b[oldInode:])), len(b))
}

// modified reads the time of change: seconds since 1970 in 32 bits, and two
// more bits and the nanoseconds where the inode has room for them.
func modified(b []byte) time.Time {
	seconds := int64(int32(le.Uint32(b[0x10:])))
	if len(b) < mtimeExtra+4 {
		return time.Unix(seconds, 0)
	}
	extra := le.Uint32(b[mtimeExtra:])
	return time.Unix(seconds+int64(extra&3)<<32, int64(extra>>2))
}

// checksumOK checks the two halves of an inode's checksum, or the one that fits.
func (n *node) checksumOK(b []byte) bool {
	want := uint32(le.Uint16(b[checksumLow:]))
	if extraEnd(b) < checksumHi+2 {
		return crc32cBut(n.seed, b, checksumLow, 2)&0xFFFF == want
	}
	want |= uint32(le.Uint16(b[checksumHi:])) << 16
	return crc32cBut(crc32cBut(n.seed, b[:checksumHi], checksumLow, 2), b[checksumHi:], 0, 2) == want
}

func (n *node) is(kind uint16) bool { return n.mode&typeMask == kind }

// readable refuses what is not of a kind, or has its content encrypted.
func (n *node) readable(kind uint16) error {
	wrong := map[uint16]error{typeFolder: errNotFolder, typeRegular: errNotRegular, typeSymlink: fs.ErrInvalid}
	if !n.is(kind) {
		return wrong[kind]
	}
	if n.flags&flagEncrypted != 0 {
		return ErrEncrypted
	}
	return nil
}

func (n *node) info(name string) inode.Info {
	return inode.Info{
		Base: name, Bytes: n.size, UnixMode: uint32(n.mode), Modified: n.modified,
		Stat: inode.Stat{Ino: uint64(n.number), UID: int(n.uid), GID: int(n.gid), Links: int(n.links), Blocks: int64(n.sectors)},
	}
}

// target reads a symlink.
func (f *FS) target(n *node) (string, error) {
	if err := n.readable(typeSymlink); err != nil {
		return "", err
	}
	if n.size == 0 || n.size > maxTarget {
		return "", damaged("the symlink of inode %d has %d bytes", n.number, n.size)
	}
	b := make([]byte, n.size)
	if f.isFast(n) {
		copy(b, n.block[:])
	} else if _, err := (content{f, n}).ReadAt(b, 0); err != nil {
		return "", err
	}
	return upToNUL(b), nil
}

// isFast reports whether a symlink's target stands in its inode. Linux tells by
// the file having no blocks but those of its extended attributes; attributes in
// inodes of their own (ea_inode) count among them too, whatever they take.
func (f *FS) isFast(n *node) bool {
	if n.size >= int64(len(n.block)) || n.flags&(flagInline|flagExtents) != 0 {
		return false
	}
	return n.sectors == 0 || n.xattrs != 0 && n.sectors == f.clusterSize/512 || f.incompatible&hasEAInode != 0
}
