// Package vhd reads disks in the VHD format of Virtual PC, Hyper-V before 2012
// and Azure, fixed and dynamic, as Microsoft's specification of 2006 has it.
package vhd

import (
	"encoding/binary"
	"io"

	"svc/assess/disk/block"
)

const (
	cookie     = "conectix"
	footerSize = 512
	headerSize = 1024
)

// Probe reports whether the file is a VHD: dynamic ones begin with a copy of
// the footer, fixed ones have it at the end alone.
func Probe(file block.Device) bool {
	return block.HasAt(file, 0, cookie) || block.HasAt(file, file.Size()-footerSize, cookie)
}

// Kinds of disks.
const (
	fixed        = 2
	dynamic      = 3
	differencing = 4
)

// footer is the format's description of the disk, big-endian.
type footer struct {
	Cookie                [8]byte
	Features, Version     uint32
	HeaderAt              uint64
	Time                  uint32
	Creator               [4]byte
	CreatorVersion        uint32
	CreatorHost           [4]byte
	OriginalSize, Size    uint64
	Geometry, Kind, Check uint32
}

// header is what dynamic disks have beside the footer.
type header struct {
	Cookie           [8]byte
	Next             uint64
	TableAt          uint64
	Version, Entries uint32
	Block, Check     uint32
}

// checksum is the complement of the sum of all bytes but those at the check.
func checksum(b []byte, at int) uint32 {
	var sum uint32
	for i, c := range b {
		if i < at || i >= at+4 {
			sum += uint32(c)
		}
	}
	return ^sum
}

// Open reads the disk's footer and header. The cache serves its table.
func Open(file block.Device, cache *block.Cache) (block.Device, error) {
	f, err := readFooter(file)
	if err != nil {
		return nil, err
	}
	if err := block.CheckSize(f.Size); err != nil {
		return nil, err
	}
	switch f.Kind {
	case fixed:
		return openFixed(file, f)
	case dynamic:
		return openDynamic(file, cache, f)
	case differencing:
		return nil, block.Unsupported("it is a differencing disk, which has the changes to another alone: merge it into its parent")
	}
	return nil, block.Damaged("a disk of kind %d", f.Kind)
}

// readFooter reads the footer, or its copy at the beginning of the file.
func readFooter(file block.Device) (*footer, error) {
	failed := block.Damaged("no footer")
	for _, at := range []int64{file.Size() - footerSize, 0} {
		if !block.HasAt(file, at, cookie) {
			continue
		}
		f := &footer{}
		if failed = decode(file, at, footerSize, 64, f); failed == nil {
			return f, nil
		}
	}
	return nil, failed
}

// decode reads a structure whose checksum stands at an offset in it.
func decode(r io.ReaderAt, at int64, size, check int, to any) error {
	b, err := block.Read(r, at, size)
	if err != nil {
		return err
	}
	if binary.BigEndian.Uint32(b[check:]) != checksum(b, check) {
		return block.Damaged("the checksum of its description at %d is wrong", at)
	}
	_, err = binary.Decode(b, binary.BigEndian, to)
	return err
}

func openFixed(file block.Device, f *footer) (block.Device, error) {
	if int64(f.Size) > file.Size()-footerSize {
		return nil, block.Damaged("a file of %d bytes for a disk of %d", file.Size(), f.Size)
	}
	return block.Section(file, 0, int64(f.Size)), nil
}

// disk is an open dynamic disk.
type disk struct {
	file   block.Device
	tables *block.Tables
	table  int64
	block  int64 // bytes of a block
	bitmap int64 // bytes of the bitmap before each block, which says what was written to it
}

func openDynamic(file block.Device, cache *block.Cache, f *footer) (block.Device, error) {
	h := &header{}
	if f.HeaderAt > block.MaxSize || !block.HasAt(file, int64(f.HeaderAt), "cxsparse") {
		return nil, block.Damaged("no header at %d", f.HeaderAt)
	}
	if err := decode(file, int64(f.HeaderAt), headerSize, 36, h); err != nil {
		return nil, err
	}
	switch {
	case h.Block < 512 || h.Block > 256<<20 || h.Block&(h.Block-1) != 0:
		return nil, block.Damaged("blocks of %d bytes", h.Block)
	case uint64(h.Entries)*uint64(h.Block) < f.Size:
		return nil, block.Damaged("%d blocks of %d bytes for a disk of %d", h.Entries, h.Block, f.Size)
	case h.TableAt%4 != 0 || h.TableAt > block.MaxSize:
		return nil, block.Damaged("a table at %d", h.TableAt)
	}
	d := &disk{file: file, tables: block.NewTables(file, cache), table: int64(h.TableAt), block: int64(h.Block)}
	d.bitmap = (d.block/512/8 + 511) &^ 511
	if err := block.Whole(file, int64(f.Size), d.block, block.Ends(d.locate)); err != nil {
		return nil, err
	}
	return block.Map(int64(f.Size), d.locate), nil
}

// unused marks a block that was never written to.
const unused = 0xffffffff

func (d *disk) locate(off int64) (block.Run, error) {
	sector, err := d.tables.Uint32(d.table+off/d.block*4, binary.BigEndian)
	if err != nil {
		return block.Run{}, err
	}
	in := off % d.block
	if sector == unused {
		return block.Zeros(d.block - in), nil
	}
	return block.Run{From: d.file, At: int64(sector)*512 + d.bitmap + in, Len: d.block - in}, nil
}
