package partition

import (
	"encoding/binary"
	"fmt"
	"slices"

	"svc/assess/disk/block"
)

// mbr is a boot sector's table.
type mbr struct {
	disk    uint32 // its signature
	entries [4]entry
}

// entry is one of four in a boot sector, little-endian.
type entry struct {
	Status byte
	_      [3]byte
	Kind   byte
	_      [3]byte
	First  uint32 // sector
	Count  uint32
}

const (
	entriesAt  = 446
	protective = 0xee
	maxLogical = 256 // as Linux has it
)

// extended are the kinds of partitions that hold further ones.
var extended = map[byte]bool{0x05: true, 0x0f: true, 0x85: true}

// readMBR reads the boot sector. The boot sector of a file system ends as one of
// a disk does, but has text where the table would be.
func readMBR(disk block.Device) (*mbr, error) {
	b, err := block.Read(disk, 0, 512)
	if err != nil || b[510] != 0x55 || b[511] != 0xaa {
		return nil, ErrNone
	}
	m := &mbr{disk: binary.LittleEndian.Uint32(b[440:])}
	if _, err := binary.Decode(b[entriesAt:], binary.LittleEndian, &m.entries); err != nil {
		return nil, err
	}
	used := 0
	for _, e := range m.entries {
		if e.Status&0x7f != 0 || e.Kind != 0 && (e.First == 0 || int64(e.First)*512 >= disk.Size()) {
			return nil, ErrNone
		}
		if e.Kind != 0 {
			used++
		}
	}
	if used == 0 {
		return nil, ErrNone
	}
	return m, nil
}

func (m *mbr) protects() bool {
	return slices.ContainsFunc(m.entries[:], func(e entry) bool { return e.Kind == protective })
}

// list gives the partitions, for sectors of a length.
func (m *mbr) list(disk block.Device, sector int64) ([]Partition, error) {
	var found []Partition
	for i, e := range m.entries {
		if e.Kind != 0 && !extended[e.Kind] {
			found = append(found, m.partition(disk, i+1, int64(e.First)*sector, int64(e.Count)*sector))
		}
	}
	number := 5
	for _, e := range m.entries {
		if !extended[e.Kind] {
			continue
		}
		inside, err := m.logical(disk, int64(e.First), sector, number)
		if err != nil {
			return nil, err
		}
		found = append(found, inside...)
		number += len(inside)
	}
	return found, nil
}

func (m *mbr) partition(disk block.Device, number int, at, size int64) Partition {
	return Partition{Device: block.Section(disk, at, size), Number: number, ID: fmt.Sprintf("%08x-%02x", m.disk, number)}
}

// logical follows the chain of boot sectors of an extended partition, each of
// which has a partition and says where the next one stands.
func (m *mbr) logical(disk block.Device, base, sector int64, number int) ([]Partition, error) {
	var found []Partition
	seen := map[int64]bool{}
	for at := base; len(found) < maxLogical; {
		if seen[at] {
			return nil, block.Damaged("its extended partition leads back to sector %d", at)
		}
		seen[at] = true
		var entries [2]entry
		b, err := block.Read(disk, at*sector, 512)
		if err != nil {
			return nil, fmt.Errorf("reading the extended partition at sector %d: %w", at, err)
		}
		if b[510] != 0x55 || b[511] != 0xaa {
			return found, nil
		}
		if _, err := binary.Decode(b[entriesAt:], binary.LittleEndian, &entries); err != nil {
			return nil, err
		}
		if e := entries[0]; e.Kind != 0 && e.Count != 0 {
			found = append(found, m.partition(disk, number+len(found), (at+int64(e.First))*sector, int64(e.Count)*sector))
		}
		if !extended[entries[1].Kind] || entries[1].First == 0 {
			return found, nil
		}
		at = base + int64(entries[1].First)
	}
	return found, nil
}
