package vmdk

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"

	"github.com/klauspost/compress/zlib"

	"svc/assess/disk/block"
)

const (
	sparseMagic = "KDMV"
	oldMagic    = "COWD"
)

// header stands at the beginning of a sparse file, little-endian; places and
// lengths are in sectors.
type header struct {
	Magic                       [4]byte
	Version, Flags              uint32
	Capacity, Grain             uint64
	DescriptorAt, DescriptorLen uint64
	Entries                     uint32 // of a grain table
	SpareDirectoryAt            uint64
	DirectoryAt                 uint64
	Overhead                    uint64
	Unclean                     uint8
	NewLines                    [4]byte
	Compression                 uint16
}

// Flags.
const (
	checkNewLines = 1 << 0
	zeroedGrains  = 1 << 2 // the entry 1 stands for a grain of zeros
	compressed    = 1 << 16
	known         = checkNewLines | 1<<1 | zeroedGrains | compressed | 1<<17
)

// newLines are in the header so that a transfer as text shows.
const newLines = "\n \r\n"

// atEnd as the directory's place says that the last header counts, which was
// written when all was.
const atEnd = 1<<64 - 1

// sparse is a file whose grains are allocated as they are written.
type sparse struct {
	header *header
	file   block.Device
	tables *block.Tables
	cache  *block.Cache
	grain  int64 // bytes
}

func openSparse(file block.Device, cache *block.Cache) (*sparse, error) {
	h, err := readHeader(file, 0)
	if err != nil {
		return nil, err
	}
	if h.DirectoryAt == atEnd {
		descriptorAt, descriptorLen := h.DescriptorAt, h.DescriptorLen
		if h, err = readHeader(file, file.Size()-2*sector); err != nil {
			return nil, fmt.Errorf("reading the header at its end: %w", err)
		}
		h.DescriptorAt, h.DescriptorLen = descriptorAt, descriptorLen
	}
	if h.DirectoryAt > maxSectors {
		return nil, block.Damaged("a directory at sector %d", h.DirectoryAt)
	}
	s := &sparse{h, file, block.NewTables(file, cache), cache, int64(h.Grain) * sector}
	if h.Flags&compressed != 0 {
		return s, nil // its last header, which was written when all was, is there
	}
	return s, block.Whole(file, int64(h.Capacity)*sector, s.grain, s.locate)
}

func readHeader(file block.Device, at int64) (*header, error) {
	if !block.HasAt(file, at, sparseMagic) {
		return nil, block.Damaged("no header of a sparse extent at %d", at)
	}
	h := &header{}
	b, err := block.Read(file, at, binary.Size(h))
	if err != nil {
		return nil, err
	}
	if _, err := binary.Decode(b, binary.LittleEndian, h); err != nil {
		return nil, err
	}
	switch {
	case h.Version < 1 || h.Version > 3:
		return nil, block.Unsupported("version %d of the format", h.Version)
	case h.Flags&^known != 0:
		return nil, block.Unsupported("features %#x that are newer than this version", h.Flags&^known)
	case h.Flags&checkNewLines != 0 && string(h.NewLines[:]) != newLines:
		return nil, block.Damaged("it was transferred as a text: copy it again")
	case h.Flags&compressed != 0 && h.Compression != 1:
		return nil, block.Unsupported("compression %d", h.Compression)
	case h.Grain < 8 || h.Grain > 8192 || h.Grain&(h.Grain-1) != 0:
		return nil, block.Damaged("grains of %d sectors", h.Grain)
	case h.Entries == 0 || h.Entries > 64<<10:
		return nil, block.Damaged("grain tables of %d entries", h.Entries)
	case h.Capacity == 0 || h.Capacity > maxSectors:
		return nil, block.Damaged("a disk of %d sectors", h.Capacity)
	}
	return h, nil
}

func (s *sparse) device() block.Device { return block.Map(int64(s.header.Capacity)*sector, s.locate) }

func (s *sparse) locate(off int64) (block.Run, error) {
	in := off % s.grain
	left := s.grain - in
	at, err := s.grainAt(off / s.grain)
	switch {
	case err != nil:
		return block.Run{}, err
	case at == 0, at == 1 && s.header.Flags&zeroedGrains != 0:
		return block.Zeros(left), nil
	case s.header.Flags&compressed == 0:
		return block.Run{From: s.file, At: at*sector + in, Len: left}, nil
	}
	b, err := s.cache.Get(s, at, func() ([]byte, error) { return s.decompress(at * sector) })
	if err != nil {
		return block.Run{}, fmt.Errorf("decompressing the grain at %d: %w", at*sector, err)
	}
	return block.Run{From: bytes.NewReader(b), At: in, Len: left}, nil
}

// grainAt gives the sector of a grain, as its table has it.
func (s *sparse) grainAt(grain int64) (int64, error) {
	perTable := int64(s.header.Entries)
	table, err := s.tables.Uint32(int64(s.header.DirectoryAt)*sector+grain/perTable*4, binary.LittleEndian)
	if err != nil || table == 0 {
		return 0, err
	}
	entry, err := s.tables.Uint32(int64(table)*sector+grain%perTable*4, binary.LittleEndian)
	return int64(entry), err
}

// decompress gives the grain at a place of the file. Its head is the place on
// the disk (8 bytes) and the length that it takes.
func (s *sparse) decompress(at int64) ([]byte, error) {
	var head [12]byte
	if err := block.ReadFull(s.file, head[:], at); err != nil {
		return nil, err
	}
	length := int64(binary.LittleEndian.Uint32(head[8:]))
	if length > 2*s.grain {
		return nil, block.Damaged("a grain of %d bytes takes %d", s.grain, length)
	}
	packed, err := block.Read(s.file, at+int64(len(head)), int(length))
	if err != nil {
		return nil, err
	}
	r, err := zlib.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, block.Damaged("%v", err)
	}
	plain := bytes.NewBuffer(make([]byte, 0, s.grain+bytes.MinRead))
	if _, err := plain.ReadFrom(io.LimitReader(r, s.grain+1)); err != nil || int64(plain.Len()) > s.grain {
		return nil, block.Damaged("a grain of %d bytes and more, %v", plain.Len(), err)
	}
	return plain.Bytes()[:s.grain:s.grain], nil // the disk's last grain may be shorter; the rest are zeros
}
