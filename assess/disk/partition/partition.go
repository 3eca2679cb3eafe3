// Package partition reads partition tables: MBR with extended partitions, and
// GPT, of disks with sectors of 512 and of 4096 bytes.
package partition

import (
	"errors"
	"slices"

	"svc/assess/disk/block"
	"svc/assess/disk/signature"
)

// Partition is a part of a disk.
type Partition struct {
	block.Device
	// Number is as Linux counts them: 1 to 4 are in an MBR, from 5 on in its
	// extended partitions.
	Number int
	// ID is what fstab calls PARTUUID, in lower case.
	ID string
	// Label is the partition's own name, which only GPT has.
	Label string
}

// ErrNone means that a disk has no partition table.
var ErrNone = errors.New("no partition table")

// sectors are the lengths that a disk's sectors can have, in bytes.
var sectors = []int64{512, 4096}

// Read gives the partitions of a disk, in the order of their numbers. Where an
// MBR protects a GPT, that counts.
func Read(disk block.Device) ([]Partition, error) {
	mbr, err := readMBR(disk)
	switch {
	case err != nil:
		return nil, err
	case mbr.protects():
		return readGPT(disk)
	}
	return mbr.read(disk)
}

// read takes the sectors to be of the length by which something known stands in
// a partition: an MBR doesn't say.
func (m *mbr) read(disk block.Device) ([]Partition, error) {
	for _, sector := range sectors {
		found, err := m.list(disk, sector)
		if err == nil && slices.ContainsFunc(found, isKnown) {
			return found, nil
		}
	}
	return m.list(disk, sectors[0])
}

// isKnown reports whether a partition holds something that is known by its signature.
func isKnown(p Partition) bool {
	_, ok := signature.Of(p)
	return ok
}
