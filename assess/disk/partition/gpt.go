package partition

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"strings"
	"unicode/utf16"

	"svc/assess/disk/block"
)

// gptHeader is little-endian, as the UEFI specification has it.
type gptHeader struct {
	Signature                  [8]byte
	Revision, Length, Check, _ uint32
	Self, Other                uint64 // sectors of this header and of its copy
	FirstUsable, LastUsable    uint64
	Disk                       [16]byte
	EntriesAt                  uint64
	Count, EntryLength         uint32
	EntriesCheck               uint32
}

const gptMagic = "EFI PART"

// gptEntry describes a partition.
type gptEntry struct {
	Kind, ID    [16]byte
	First, Last uint64 // sectors; the last one belongs to it
	Flags       uint64
	Name        [36]uint16
}

// Bounds of a table; most have room for 128 partitions.
const (
	maxGPT   = 1 << 20 // bytes of entries
	maxParts = 256
)

// readGPT reads the table at the disk's beginning, or its copy at the end.
func readGPT(disk block.Device) ([]Partition, error) {
	for _, sector := range sectors {
		for _, at := range []int64{sector, disk.Size()/sector*sector - sector} {
			if found, err := readGPTAt(disk, at, sector); err == nil {
				return found, nil
			}
		}
	}
	return nil, block.Damaged("neither its GPT nor the copy at its end is whole")
}

func readGPTAt(disk block.Device, at, sector int64) ([]Partition, error) {
	b, err := block.Read(disk, at, 512)
	if err != nil {
		return nil, err
	}
	var h gptHeader
	if _, err := binary.Decode(b, binary.LittleEndian, &h); err != nil {
		return nil, err
	}
	if string(h.Signature[:]) != gptMagic || h.Length < uint32(binary.Size(h)) || h.Length > 512 || !checked(b[:h.Length], h.Check) {
		return nil, block.Damaged("the GPT at %d", at)
	}
	length := uint64(h.Count) * uint64(h.EntryLength)
	if h.EntryLength < 128 || length > maxGPT || h.EntriesAt > block.MaxSize/uint64(sector) {
		return nil, block.Damaged("a GPT of %d entries", h.Count)
	}
	entries, err := block.Read(disk, int64(h.EntriesAt)*sector, int(length))
	if err != nil {
		return nil, err
	}
	if crc32.ChecksumIEEE(entries) != h.EntriesCheck {
		return nil, block.Damaged("the entries of the GPT at %d", at)
	}
	return listGPT(disk, entries, int(h.EntryLength), sector)
}

// checked compares the checksum of a header, which is made with zeros in its place.
func checked(b []byte, want uint32) bool {
	clear(b[16:20])
	return crc32.ChecksumIEEE(b) == want
}

func listGPT(disk block.Device, entries []byte, length int, sector int64) ([]Partition, error) {
	var found []Partition
	for i := 0; (i+1)*length <= len(entries); i++ {
		var e gptEntry
		if _, err := binary.Decode(entries[i*length:], binary.LittleEndian, &e); err != nil {
			return nil, err
		}
		if e.Kind == [16]byte{} {
			continue
		}
		if e.Last < e.First || e.Last > block.MaxSize/uint64(sector) {
			return nil, block.Damaged("partition %d has the sectors %d to %d", i+1, e.First, e.Last)
		}
		if len(found) == maxParts {
			return nil, block.Unsupported("more than %d partitions", maxParts)
		}
		found = append(found, Partition{
			Device: block.Section(disk, int64(e.First)*sector, int64(e.Last-e.First+1)*sector),
			Number: i + 1, ID: guid(e.ID), Label: name(e.Name[:]),
		})
	}
	return found, nil
}

// guid writes a GUID as Linux does; its first three parts are little-endian.
func guid(b [16]byte) string {
	return fmt.Sprintf("%08x-%04x-%04x-%x-%x", binary.LittleEndian.Uint32(b[:]),
		binary.LittleEndian.Uint16(b[4:]), binary.LittleEndian.Uint16(b[6:]), b[8:10], b[10:])
}

func name(units []uint16) string {
	text, _, _ := strings.Cut(string(utf16.Decode(units)), "\x00")
	return text
}
