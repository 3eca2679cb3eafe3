// Package vhdx reads disks in Hyper-V's VHDX format, fixed and dynamic, as
// [MS-VHDX] describes it. A disk whose log has changes that are not yet in
// their places is refused.
package vhdx

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"

	"svc/assess/disk/block"
)

// Probe reports whether the file begins as a VHDX does.
func Probe(file block.Device) bool { return block.HasAt(file, 0, "vhdxfile") }

// guid is in the byte order of the file.
type guid [16]byte

// id makes the guid that is written so.
func id(a uint32, b, c uint16, rest ...byte) guid {
	var g guid
	binary.LittleEndian.PutUint32(g[:], a)
	binary.LittleEndian.PutUint16(g[4:], b)
	binary.LittleEndian.PutUint16(g[6:], c)
	copy(g[8:], rest)
	return g
}

var (
	tableRegion    = id(0x2dc27766, 0xf623, 0x4200, 0x9d, 0x64, 0x11, 0x5e, 0x9b, 0xfd, 0x4a, 0x08)
	metadataRegion = id(0x8b7ca206, 0x4790, 0x4b9a, 0xb8, 0xfe, 0x57, 0x5f, 0x05, 0x0f, 0x88, 0x6e)

	fileParameters = id(0xcaa16737, 0xfa36, 0x4d43, 0xb3, 0xb6, 0x33, 0xf0, 0xaa, 0x44, 0xe7, 0x6b)
	diskSize       = id(0x2fa54224, 0xcd1b, 0x4876, 0xb2, 0x11, 0x5d, 0xbe, 0xd8, 0x3b, 0xf4, 0xb8)
	sectorSize     = id(0x8141bf1d, 0xa96f, 0x4709, 0xba, 0x47, 0xf2, 0x33, 0xa8, 0xfa, 0xab, 0x5f)
	physicalSector = id(0xcda348c7, 0x445d, 0x4471, 0x9c, 0xc9, 0xe9, 0x88, 0x52, 0x51, 0xc5, 0x56)
	diskID         = id(0xbeca12ab, 0xb2e6, 0x4523, 0x93, 0xef, 0xc3, 0x09, 0xe0, 0x00, 0xc7, 0x46)
)

// known are the regions and items that may be required.
var known = map[guid]bool{
	tableRegion: true, metadataRegion: true,
	fileParameters: true, diskSize: true, sectorSize: true, physicalSector: true, diskID: true,
}

// head is one of the two headers of a file, little-endian.
type head struct {
	Signature            [4]byte
	Check                uint32
	Sequence             uint64
	FileWrite, DataWrite guid
	Log                  guid
	LogVersion, Version  uint16
}

// span is a stretch of the file.
type span struct{ at, length int64 }

// Open reads the disk's headers. The cache serves its table.
func Open(file block.Device, cache *block.Cache) (block.Device, error) {
	h, err := readHead(file)
	if err != nil {
		return nil, err
	}
	switch {
	case h.Version != 1:
		return nil, block.Unsupported("version %d of the format", h.Version)
	case h.Log != guid{}:
		return nil, block.Unsupported("it was not closed cleanly and its log has changes: write them into a copy of it with qemu-img check -r all")
	}
	regions, err := readRegions(file)
	if err != nil {
		return nil, err
	}
	d, size, err := readMetadata(file, regions[metadataRegion])
	if err != nil {
		return nil, err
	}
	d.file, d.tables, d.table = file, block.NewTables(file, cache), regions[tableRegion]
	if last := d.index(size - 1); (last+1)*8 > d.table.length {
		return nil, block.Damaged("a table of %d bytes for a disk of %d", d.table.length, size)
	}
	if err := block.Whole(file, size, d.block, block.Ends(d.locate)); err != nil {
		return nil, err
	}
	return block.Map(size, d.locate), nil
}

// readHead gives the newer of the two headers.
func readHead(file block.Device) (*head, error) {
	var newest *head
	for _, at := range []int64{64 << 10, 128 << 10} {
		b, err := read(file, at, 4096, "head")
		if err != nil {
			continue
		}
		h := &head{}
		if _, err := binary.Decode(b, binary.LittleEndian, h); err != nil {
			return nil, err
		}
		if newest == nil || h.Sequence > newest.Sequence {
			newest = h
		}
	}
	if newest == nil {
		return nil, block.Damaged("neither of its headers is whole")
	}
	return newest, nil
}

// read gives a structure that begins with a signature and a checksum.
func read(file io.ReaderAt, at int64, size int, signature string) ([]byte, error) {
	b, err := block.Read(file, at, size)
	if err != nil {
		return nil, err
	}
	check := binary.LittleEndian.Uint32(b[4:])
	clear(b[4:8])
	if string(b[:4]) != signature || crc32.Checksum(b, block.Castagnoli) != check {
		return nil, block.Damaged("no whole %q at %d", signature, at)
	}
	return b, nil
}

// The tables of regions and of metadata are alike: a head, then entries.
const (
	tableSize  = 64 << 10
	entrySize  = 32
	maxEntries = 2047
)

// region is an entry of the list of the file's regions.
type region struct {
	ID               guid
	At               uint64
	Length, Required uint32
}

// readRegions gives where the regions of the file lie.
func readRegions(file block.Device) (map[guid]span, error) {
	b, err := read(file, 192<<10, tableSize, "regi")
	if err != nil {
		b, err = read(file, 256<<10, tableSize, "regi")
	}
	if err != nil {
		return nil, err
	}
	regions := map[guid]span{}
	for i := range min(binary.LittleEndian.Uint32(b[8:]), maxEntries) {
		var r region
		if _, err := binary.Decode(b[16+i*entrySize:], binary.LittleEndian, &r); err != nil {
			return nil, err
		}
		switch {
		case r.Required&1 != 0 && !known[r.ID]:
			return nil, block.Unsupported("a region %x that is newer than this version", r.ID)
		case r.At > block.MaxSize || r.At%(1<<20) != 0:
			return nil, block.Damaged("a region at %d", r.At)
		}
		regions[r.ID] = span{int64(r.At), int64(r.Length)}
	}
	for _, g := range []guid{tableRegion, metadataRegion} {
		if regions[g].length == 0 {
			return nil, block.Damaged("the region %x is not there", g)
		}
	}
	return regions, nil
}

// item is an entry of the list of what describes the disk.
type item struct {
	ID                guid
	At, Length, Flags uint32
}

const required = 1 << 2

// readMetadata gives a disk with what the items say, and its size.
func readMetadata(file block.Device, at span) (*disk, int64, error) {
	b, err := block.Read(file, at.at, tableSize)
	if err != nil {
		return nil, 0, fmt.Errorf("reading its metadata: %w", err)
	}
	if string(b[:8]) != "metadata" {
		return nil, 0, block.Damaged("no metadata at %d", at.at)
	}
	values := map[guid]uint64{}
	for i := range min(int(binary.LittleEndian.Uint16(b[10:])), maxEntries) {
		var e item
		if _, err := binary.Decode(b[32+i*entrySize:], binary.LittleEndian, &e); err != nil {
			return nil, 0, err
		}
		switch {
		case known[e.ID]:
			if values[e.ID], err = readItem(file, at.at, e); err != nil {
				return nil, 0, fmt.Errorf("reading its metadata: %w", err)
			}
		case e.Flags&required != 0:
			return nil, 0, block.Unsupported("metadata %x that this version can't read", e.ID)
		}
	}
	return newDisk(values)
}

// readItem gives the first 8 bytes of an item; those that count have no more.
func readItem(file block.Device, at int64, e item) (uint64, error) {
	var value [8]byte
	err := block.ReadFull(file, value[:min(8, e.Length)], at+int64(e.At))
	return binary.LittleEndian.Uint64(value[:]), err
}

const hasParent = 1 << 33

// newDisk makes a disk of its description.
func newDisk(items map[guid]uint64) (*disk, int64, error) {
	size, parameters, sector := items[diskSize], items[fileParameters], items[sectorSize]
	length := int64(uint32(parameters))
	switch {
	case parameters&hasParent != 0:
		return nil, 0, block.Unsupported("it is a differencing disk, which has the changes to another alone: merge it into its parent")
	case length < 1<<20 || length > 256<<20 || length&(length-1) != 0:
		return nil, 0, block.Damaged("blocks of %d bytes", length)
	case sector != 512 && sector != 4096:
		return nil, 0, block.Damaged("sectors of %d bytes", sector)
	}
	if err := block.CheckSize(size); err != nil {
		return nil, 0, err
	}
	return &disk{block: length, chunk: int64(sector) << 23 / length}, int64(size), nil
}

// disk is an open image.
type disk struct {
	file   block.Device
	tables *block.Tables
	table  span
	block  int64 // bytes of a block
	chunk  int64 // blocks between two entries of the table that are of bitmaps
}

// States of blocks that have no content of their own.
const (
	notPresent = 0
	undefined  = 1
	zero       = 2
	unmapped   = 3
	present    = 6
)

// index is that of a place's entry in the table.
func (d *disk) index(off int64) int64 {
	n := off / d.block
	return n + n/d.chunk
}

func (d *disk) locate(off int64) (block.Run, error) {
	entry, err := d.tables.Uint64(d.table.at+d.index(off)*8, binary.LittleEndian)
	if err != nil {
		return block.Run{}, err
	}
	in := off % d.block
	switch entry & 7 {
	case notPresent, undefined, zero, unmapped:
		return block.Zeros(d.block - in), nil
	case present:
		return block.Run{From: d.file, At: int64(entry&^(1<<20-1)&(1<<63-1)) + in, Len: d.block - in}, nil
	}
	return block.Run{}, block.Damaged("a block in state %d", entry&7)
}
