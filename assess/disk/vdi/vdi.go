// Package vdi reads disks in VirtualBox's VDI format, dynamic and of fixed size.
package vdi

import (
	"encoding/binary"

	"svc/assess/disk/block"
)

const (
	magic   = "\x7f\x10\xda\xbe"
	magicAt = 64
)

// Probe reports whether the file begins as a VDI does.
func Probe(file block.Device) bool { return block.HasAt(file, magicAt, magic) }

// header is the part of the file that counts, from the magic on, little-endian.
type header struct {
	Magic                 [4]byte
	Minor, Major          uint16
	Length, Kind, Flags   uint32
	Comment               [256]byte
	TableAt, DataAt       uint32
	Geometry              [4]uint32
	_                     uint32
	Size                  uint64
	Block, BlockExtra     uint32
	Blocks, Allocated     uint32
	ID, Snapshot          [16]byte
	Parent, ParentVersion [16]byte
}

// Kinds of disks.
const (
	dynamic = 1
	static  = 2
)

// Open reads the disk's header. The cache serves its table.
func Open(file block.Device, cache *block.Cache) (block.Device, error) {
	h := &header{}
	b, err := block.Read(file, magicAt, binary.Size(h))
	if err != nil {
		return nil, err
	}
	if _, err := binary.Decode(b, binary.LittleEndian, h); err != nil {
		return nil, err
	}
	if err := h.check(); err != nil {
		return nil, err
	}
	d := &disk{header: h, file: file, tables: block.NewTables(file, cache), block: int64(h.Block)}
	if err := block.Whole(file, int64(h.Size), d.block, d.locate); err != nil {
		return nil, err
	}
	return block.Map(int64(h.Size), d.locate), nil
}

func (h *header) check() error {
	switch {
	case string(h.Magic[:]) != magic:
		return block.Damaged("no VDI header")
	case h.Major != 1:
		return block.Unsupported("version %d.%d of the format", h.Major, h.Minor)
	case h.Kind != dynamic && h.Kind != static || h.Parent != [16]byte{}:
		return block.Unsupported("it is a snapshot, which has the changes to another disk alone: clone it with VBoxManage clonemedium")
	case h.Block < 4096 || h.Block > 256<<20 || h.Block&(h.Block-1) != 0:
		return block.Damaged("blocks of %d bytes", h.Block)
	case h.BlockExtra != 0:
		return block.Unsupported("%d bytes beside each block", h.BlockExtra)
	case h.TableAt%4 != 0:
		return block.Damaged("a table at %d", h.TableAt)
	case uint64(h.Blocks)*uint64(h.Block) < h.Size:
		return block.Damaged("%d blocks of %d bytes for a disk of %d", h.Blocks, h.Block, h.Size)
	}
	return block.CheckSize(h.Size)
}

// disk is an open image.
type disk struct {
	header *header
	file   block.Device
	tables *block.Tables
	block  int64 // bytes of a block
}

// From here on a table's entry is no place: never written to, or discarded.
const unallocated = 0xfffffffe

func (d *disk) locate(off int64) (block.Run, error) {
	entry, err := d.tables.Uint32(int64(d.header.TableAt)+off/d.block*4, binary.LittleEndian)
	if err != nil {
		return block.Run{}, err
	}
	in := off % d.block
	switch {
	case entry >= unallocated:
		return block.Zeros(d.block - in), nil
	case entry >= d.header.Blocks:
		return block.Run{}, block.Damaged("block %d of %d", entry, d.header.Blocks)
	}
	return block.Run{From: d.file, At: int64(d.header.DataAt) + int64(entry)*d.block + in, Len: d.block - in}, nil
}
