package lvm

import (
	"encoding/binary"
	"hash/crc32"

	"svc/assess/disk/block"
)

// The label stands in one of the first four sectors, little-endian.
const (
	labelMagic = "LABELONE"
	labelKind  = "LVM2 001"
	areaMagic  = " LVM2 x[5A%r0N*>"
)

const maxText = 4 << 20 // bytes of metadata

// area is a stretch of a physical volume.
type area struct{ At, Length uint64 }

// areaHeader stands before metadata, which goes round in its area.
type areaHeader struct {
	Check    uint32
	Magic    [16]byte
	Version  uint32
	At, Size uint64
	Texts    [4]struct {
		At, Length   uint64 // from the area's beginning
		Check, Flags uint32
	}
}

const areaHeaderSize = 512

// checksum is LVM's: CRC-32 that begins with a number of its own, and that is
// not inverted.
func checksum(b []byte) uint32 { return ^crc32.Update(^uint32(0xf597a6cf), crc32.IEEETable, b) }

// readPhysical reads a physical volume's label and its metadata.
func readPhysical(device block.Device) (physical, error) {
	for at := int64(0); at < 4*sector; at += sector {
		b, err := block.Read(device, at, sector)
		if err != nil {
			return physical{}, err
		}
		if string(b[:8]) == labelMagic && string(b[24:32]) == labelKind && binary.LittleEndian.Uint32(b[16:]) == checksum(b[20:]) {
			return parseLabel(device, b)
		}
	}
	return physical{}, block.Damaged("its label is not whole")
}

// parseLabel reads the label's sector: the id, then the areas of data and the
// areas of metadata, each list up to an area of nothing.
func parseLabel(device block.Device, b []byte) (physical, error) {
	at := int(binary.LittleEndian.Uint32(b[20:]))
	if at < 32 || at > sector-40 {
		return physical{}, block.Damaged("its header is at %d", at)
	}
	p := physical{id: string(b[at : at+32]), device: device}
	_, rest := areas(b[at+40:])
	texts, _ := areas(rest)
	var err error
	for _, a := range texts {
		if p.text, err = readText(device, a); err == nil && p.text != "" {
			break
		}
	}
	return p, err
}

// areas reads a list of areas, and gives what follows it.
func areas(b []byte) (list []area, rest []byte) {
	for ; len(b) >= 16; b = b[16:] {
		a := area{binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:])}
		if a.At == 0 {
			return list, b[16:]
		}
		list = append(list, a)
	}
	return list, nil
}

// readText reads the metadata of an area, or nothing where it is unused.
func readText(device block.Device, a area) (string, error) {
	if a.At > block.MaxSize {
		return "", block.Damaged("its metadata is at %d", a.At)
	}
	b, err := block.Read(device, int64(a.At), areaHeaderSize)
	if err != nil {
		return "", err
	}
	var h areaHeader
	if _, err := binary.Decode(b, binary.LittleEndian, &h); err != nil {
		return "", err
	}
	if string(h.Magic[:]) != areaMagic || h.Check != checksum(b[4:]) || h.Version != 1 {
		return "", block.Damaged("the header of its metadata is not whole")
	}
	t := h.Texts[0]
	const ignored = 1
	if t.At == 0 || t.Flags&ignored != 0 {
		return "", nil
	}
	if t.At < areaHeaderSize || h.Size > block.MaxSize || t.At >= h.Size || t.Length > maxText || t.Length > h.Size-areaHeaderSize {
		return "", block.Damaged("metadata of %d bytes at %d", t.Length, t.At)
	}
	text := make([]byte, t.Length)
	first := min(t.Length, h.Size-t.At)
	if err := block.ReadFull(device, text[:first], int64(a.At+t.At)); err != nil {
		return "", err
	}
	if err := block.ReadFull(device, text[first:], int64(a.At)+areaHeaderSize); err != nil {
		return "", err
	}
	if checksum(text) != t.Check {
		return "", block.Damaged("its metadata is not whole")
	}
	return string(text), nil
}
