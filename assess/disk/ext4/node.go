package ext4

import (
	"errors"
	"fmt"
	"io"
	"io/fs"

	"svc/assess/disk/inode"
	"svc/assess/host"
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
	volume *volume
	number uint32
	host.Status
	flags  uint32
	xattrs uint64   // the block of extended attributes, 0 without
	seed   uint32   // where checksums of this inode's blocks start
	block  [60]byte // the start of the extents or the block map, or content
	beyond []byte   // the extended attributes inside the inode
}

// Node reads an inode, and refuses one of another type than its place has.
func (v *volume) Node(at place) (inode.Node, error) {
	n, err := v.node(at.inode)
	if err == nil && at.kind != 0 && !n.is(at.kind) {
		err = damaged("the folder has type %#x for inode %d, which is %#x", at.kind, n.number, n.Mode&typeMask)
	}
	return n, err
}

// node reads an inode.
func (v *volume) node(number uint32) (*node, error) {
	raw, err := v.rawNode(number)
	if err != nil {
		return nil, fmt.Errorf("reading inode %d: %w", number, err)
	}
	n := v.parseNode(number, raw)
	if v.readOnly&hasMetaCsum != 0 && !n.checksumOK(raw) {
		return nil, damaged("the checksum of inode %d is wrong", number)
	}
	if n.Links == 0 || n.Mode == 0 {
		return nil, damaged("inode %d is named but deleted", number)
	}
	if n.Size < 0 || uint64(n.Size) > v.blockSize<<32 {
		return nil, damaged("inode %d has an impossible size of %d", number, uint64(n.Size))
	}
	return n, nil
}

func (v *volume) rawNode(number uint32) ([]byte, error) {
	if number == 0 || number > v.inodes {
		return nil, damaged("the file system has %d inodes", v.inodes)
	}
	group, index := (number-1)/v.inodesPerGroup, (number-1)%v.inodesPerGroup
	table, err := v.inodeTable(group)
	if err != nil {
		return nil, err
	}
	at := uint64(index) * uint64(v.inodeSize)
	b, err := v.metadata(table + at/v.blockSize)
	if err != nil {
		return nil, err
	}
	return b[at%v.blockSize:][:v.inodeSize], nil
}

// metadata gives a block by way of the cache. It must not be changed.
func (v *volume) metadata(number uint64) ([]byte, error) {
	return v.cache.Get(v, int64(number), func() ([]byte, error) {
		if err := v.device.check(number, 1); err != nil {
			return nil, err
		}
		return v.device.read(number)
	})
}

func (v *volume) parseNode(number uint32, b []byte) *node {
	n := &node{
		volume: v,
		number: number,
		Status: host.Status{
			Number: uint64(number),
			Mode:   uint32(le.Uint16(b)),
			UID:    uint32(le.Uint16(b[2:])) | uint32(le.Uint16(b[0x78:]))<<16,
			GID:    uint32(le.Uint16(b[0x18:])) | uint32(le.Uint16(b[0x7A:]))<<16,
			Links:  int(le.Uint16(b[0x1A:])),
			Size:   int64(le.Uint32(b[4:])),
			Blocks: int64(le.Uint32(b[0x1C:])),
		},
		flags:  le.Uint32(b[0x20:]),
		xattrs: uint64(le.Uint32(b[0x68:])) | uint64(le.Uint16(b[0x76:]))<<32,
		seed:   crc32c(crc32cOf(v.seed, number), b[0x64:0x68]),
		block:  [60]byte(b[0x28:]),
	}
	if n.is(typeRegular) || n.is(typeFolder) && v.incompatible&hasLargeDir != 0 {
		n.Size |= int64(le.Uint32(b[0x6C:])) << 32
	}
	if v.readOnly&hasHugeFile != 0 {
		n.Blocks |= int64(le.Uint16(b[0x74:])) << 32
	}
	if n.flags&flagHugeFile != 0 {
		n.Blocks *= int64(v.blockSize / 512)
	}
	if n.is(typeRegular) && n.flags&flagInline != 0 {
		n.Blocks += (n.Size + 511) / 512 // as Linux tells it, so that the file doesn't look sparse
	}
	extra := extraEnd(b)
	n.Modified, n.Nanoseconds = modified(b[:extra])
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
func modified(b []byte) (seconds, nanoseconds int64) {
	seconds = int64(int32(le.Uint32(b[0x10:])))
	if len(b) < mtimeExtra+4 {
		return seconds, 0
	}
	extra := le.Uint32(b[mtimeExtra:])
	return seconds + int64(extra&3)<<32, int64(extra >> 2)
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

func (n *node) is(kind uint16) bool { return n.Mode&typeMask == uint32(kind) }

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

// Info describes the file.
func (n *node) Info() host.Entry { return host.Entry{Status: n.Status} }

// Content is a regular file's data.
func (n *node) Content() (io.ReaderAt, error) { return content{n}, n.readable(typeRegular) }

// Target reads a symlink.
func (n *node) Target() (string, error) {
	if err := n.readable(typeSymlink); err != nil {
		return "", err
	}
	if n.Size == 0 || n.Size > maxTarget {
		return "", damaged("the symlink of inode %d has %d bytes", n.number, n.Size)
	}
	b := make([]byte, n.Size)
	if n.isFast() {
		copy(b, n.block[:])
	} else if _, err := (content{n}).ReadAt(b, 0); err != nil {
		return "", err
	}
	return upToNUL(b), nil
}

// isFast reports whether a symlink's target stands in its inode. Linux tells by
// the file having no blocks but those of its extended attributes; attributes in
// inodes of their own (ea_inode) count among them too, whatever they take.
func (n *node) isFast() bool {
	if n.Size >= int64(len(n.block)) || n.flags&(flagInline|flagExtents) != 0 {
		return false
	}
	return n.Blocks == 0 || n.xattrs != 0 && n.Blocks == int64(n.volume.clusterSize/512) || n.volume.incompatible&hasEAInode != 0
}
