// Package vmdk reads VMware's virtual disks, as VMware's "Virtual Disk Format
// 5.0" describes them: flat, sparse and stream-optimised, in one file or split.
// Changes to another disk (snapshots) are refused.
package vmdk

import (
	"fmt"

	"svc/assess/disk/block"
)

const sector = 512

// Probe reports whether the file is the descriptor of a disk, or has one.
func Probe(file block.Device) bool {
	return block.HasAt(file, 0, sparseMagic) || block.HasAt(file, 0, oldMagic) || block.HasAt(file, 0, descriptorMagic)
}

// Open reads the disk's descriptor. The cache serves the tables and what is
// decompressed; open is for the files that the descriptor names.
func Open(file block.Device, cache *block.Cache, open block.Opener) (block.Device, error) {
	switch {
	case block.HasAt(file, 0, oldMagic):
		return nil, block.Unsupported("it is a sparse disk or a snapshot of ESX's own kind: clone it with vmkfstools -i")
	case block.HasAt(file, 0, sparseMagic):
		return openAlone(file, cache)
	}
	b, err := block.Read(file, 0, int(min(file.Size(), maxDescriptor)))
	if err != nil {
		return nil, err
	}
	d, err := parseDescriptor(string(b))
	if err != nil {
		return nil, err
	}
	return d.open(cache, open)
}

// openAlone opens a disk that is one sparse file with its descriptor inside.
func openAlone(file block.Device, cache *block.Cache) (block.Device, error) {
	s, err := openSparse(file, cache)
	if err != nil {
		return nil, err
	}
	if s.header.DescriptorAt == 0 {
		return nil, block.Unsupported("it is a part of a disk that was split: name the file that lists the parts, which is a small text")
	}
	if s.header.DescriptorAt > maxSectors || s.header.DescriptorLen > maxDescriptor/sector {
		return nil, block.Damaged("a descriptor of %d sectors at %d", s.header.DescriptorLen, s.header.DescriptorAt)
	}
	b, err := block.Read(file, int64(s.header.DescriptorAt)*sector, int(s.header.DescriptorLen)*sector)
	if err != nil {
		return nil, fmt.Errorf("reading its descriptor: %w", err)
	}
	if _, err := parseDescriptor(string(b)); err != nil {
		return nil, err
	}
	return s.device(), nil
}

// open joins the extents to one disk.
func (d *descriptor) open(cache *block.Cache, open block.Opener) (block.Device, error) {
	var whole concatenation
	for _, e := range d.extents {
		part, err := e.open(cache, open)
		if err != nil {
			return nil, fmt.Errorf("opening its extent %s: %w", e.file, err)
		}
		if part.Size() < e.length {
			return nil, block.Damaged("its extent %s has %d bytes, not %d", e.file, part.Size(), e.length)
		}
		whole.add(part, e.length)
	}
	return block.Map(whole.size, whole.locate), block.CheckSize(uint64(whole.size))
}

func (e extent) open(cache *block.Cache, open block.Opener) (block.Device, error) {
	if e.kind == "ZERO" {
		return block.Map(e.length, func(off int64) (block.Run, error) { return block.Zeros(e.length - off), nil }), nil
	}
	file, err := open(e.file, "raw")
	if err != nil {
		return nil, err
	}
	if e.kind != "SPARSE" {
		return block.Section(file, e.at, e.length), nil
	}
	s, err := openSparse(file, cache)
	if err != nil {
		return nil, err
	}
	return s.device(), nil
}

// concatenation is devices one after the other.
type concatenation struct {
	size  int64
	parts []part
}

type part struct {
	block.Device
	from, to int64 // in the whole
}

func (c *concatenation) add(d block.Device, length int64) {
	c.parts = append(c.parts, part{d, c.size, c.size + length})
	c.size += length
}

func (c *concatenation) locate(off int64) (block.Run, error) {
	for _, p := range c.parts {
		if off < p.to {
			return block.Run{From: p, At: off - p.from, Len: p.to - off}, nil
		}
	}
	return block.Run{}, block.Damaged("no extent is there")
}
