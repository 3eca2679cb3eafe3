package xfs

import (
	"errors"
	"fmt"
	"io/fs"

	"svc/assess/disk/block"
	"svc/assess/disk/inode"
	"svc/assess/host"
)

// The forms of a fork.
const (
	formLocal   = 1
	formExtents = 2
	formTree    = 3
)

const (
	flagRealtime  = 1 << 0 // di_flags
	flag2BigTime  = 1 << 3 // di_flags2
	flag2NRExt64  = 1 << 4
	epochBigTime  = 1 << 31 // seconds before 1970 that big time counts from
	forkV2        = 100     // where the data fork begins in inodes of version 1, 2
	forkV3        = 176
	maxLinkLength = 1024
)

// node is an inode.
type node struct {
	volume *volume
	host.Status
	realtime bool
	form     byte
	extents  uint64 // how many the data fork has
	fork     []byte // the data fork, or the root of its tree

	attributes       []byte // the fork of extended attributes; empty without
	attributeForm    byte
	attributeExtents uint64
}

// Node reads an inode.
func (v *volume) Node(number uint64) (inode.Node, error) { return v.node(number) }

func (v *volume) node(number uint64) (*node, error) {
	at, err := v.place(number>>v.inoLog, 1)
	if err != nil {
		return nil, fmt.Errorf("inode %d: %w", number, err)
	}
	b, err := v.read(at)
	if err != nil {
		return nil, fmt.Errorf("inode %d: %w", number, err)
	}
	from := int64(number&(1<<v.inoLog-1)) * v.inodeBytes
	n, err := v.decode(number, b[from:from+v.inodeBytes])
	if err != nil {
		return nil, fmt.Errorf("inode %d at byte %d: %w", number, at+from, err)
	}
	return n, nil
}

// read gives a file system block of metadata.
func (v *volume) read(at int64) ([]byte, error) {
	return v.cache.Get(v, at, func() ([]byte, error) { return block.Read(v.device, at, int(v.blockBytes)) })
}

func (v *volume) decode(number uint64, b []byte) (*node, error) {
	version := b[4]
	switch {
	case string(b[:2]) != "IN":
		return nil, block.Damaged("no inode there")
	case v.v5 != (version == 3) || version < 1 || version > 3:
		return nil, block.Damaged("version %d", version)
	case v.v5 && !sumMatches(b, 100):
		return nil, block.Damaged("wrong checksum")
	case be.Uint16(b[2:]) == 0:
		return nil, block.Damaged("is free")
	case v.v5 && be.Uint64(b[152:]) != number:
		return nil, block.Damaged("is inode %d", be.Uint64(b[152:]))
	}
	n := &node{
		volume: v, form: b[5], extents: uint64(be.Uint32(b[76:])), attributeExtents: uint64(be.Uint16(b[80:])),
		realtime: be.Uint16(b[90:])&flagRealtime != 0,
	}
	n.Status = host.Status{
		Number: number, Mode: uint32(be.Uint16(b[2:])), UID: be.Uint32(b[8:]), GID: be.Uint32(b[12:]), Links: int(be.Uint32(b[16:])),
		Size: int64(be.Uint64(b[56:])), Blocks: int64(be.Uint64(b[64:])) * (v.blockBytes / 512),
		Modified: int64(int32(be.Uint32(b[40:]))), Nanoseconds: int64(be.Uint32(b[44:])),
	}
	if version == 1 {
		n.Links = int(be.Uint16(b[6:]))
	}
	if version == 3 {
		n.decodeFlags(b, be.Uint64(b[120:]))
	}
	return n, n.decodeFork(b, version)
}

// decodeFlags reads what di_flags2 gives another form.
func (n *node) decodeFlags(b []byte, flags uint64) {
	if flags&flag2BigTime != 0 {
		t := be.Uint64(b[40:])
		n.Modified, n.Nanoseconds = int64(t/1e9)-epochBigTime, int64(t%1e9)
	}
	if flags&flag2NRExt64 != 0 {
		n.extents, n.attributeExtents = be.Uint64(b[24:]), uint64(be.Uint32(b[76:]))
	}
}

func (n *node) decodeFork(b []byte, version byte) error {
	from, to := forkV2, len(b)
	if version == 3 {
		from = forkV3
	}
	if b[82] != 0 {
		to = from + 8*int(b[82])
	}
	if to > len(b) || n.Size < 0 {
		return block.Damaged("fork to byte %d, size %d", to, n.Size)
	}
	n.fork, n.attributes, n.attributeForm = b[from:to], b[to:], b[83]
	return nil
}

func (n *node) is(kind fs.FileMode) bool { return host.Mode(n.Mode).Type() == kind }

// readable refuses what is no regular file, and files on a real-time device.
func (n *node) readable() error {
	switch {
	case !n.is(0):
		return errors.New("is no regular file")
	case n.realtime:
		return block.Unsupported("lies on the real-time device")
	case n.form != formExtents && n.form != formTree:
		return block.Damaged("inode %d: form %d of a file's data", n.Number, n.form)
	}
	return nil
}

// Info describes the file.
func (n *node) Info() host.Entry { return host.Entry{Status: n.Status} }
