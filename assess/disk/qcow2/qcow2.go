// Package qcow2 reads disks in QEMU's qcow2 format, versions 2 and 3, as QEMU's
// docs/interop/qcow2.txt describes it.
package qcow2

import (
	"encoding/binary"
	"fmt"

	"svc/assess/disk/block"
)

const magic = "QFI\xfb"

// Probe reports whether the file begins as a qcow2 image does.
func Probe(file block.Device) bool { return block.HasAt(file, 0, magic) }

// header is the fixed part of the file, big-endian. Version 2 ends before
// Incompatible.
type header struct {
	Magic                 [4]byte
	Version               uint32
	BackingAt             uint64
	BackingLen            uint32
	ClusterBits           uint32
	Size                  uint64
	Crypt                 uint32
	L1Entries             uint32
	L1At                  uint64
	RefcountsAt           uint64
	RefcountClusters      uint32
	Snapshots             uint32
	SnapshotsAt           uint64
	Incompatible          uint64
	Compatible, Autoclear uint64
	RefcountOrder         uint32
	Length                uint32
	Compression           uint8
}

const (
	lengthV2 = 72
	lengthV3 = 104 // without what later versions append, first of it the compression
)

// Incompatible features.
const (
	dirty       = 1 << iota // the reference counts are wrong; they aren't read here
	corrupt                 // QEMU found contradictions
	dataFile                // the clusters stand in another file
	compression             // the header names another compression than deflate
	extendedL2              // clusters are allocated in 32nds
	known       = dirty | corrupt | dataFile | compression | extendedL2
)

// Compressions.
const (
	deflated = iota
	zstandard
)

// leaked is how many clusters may be counted beyond the end of the file: a host that
// stopped in the middle of a write leaves a few, of which nothing is missing.
const leaked = 16

// Bounds that QEMU has too.
const (
	maxName      = 1023
	maxL1Entries = 32 << 20 / 8
	maxRefcounts = 8 << 20 // bytes of the table of reference counts
)

// Open reads the image's headers. The cache serves the image's tables and its
// decompressed clusters; open is for its backing file.
func Open(file block.Device, cache *block.Cache, open block.Opener) (block.Device, error) {
	h, err := readHeader(file)
	if err != nil {
		return nil, err
	}
	if err := h.check(); err != nil {
		return nil, err
	}
	d := &disk{header: h, file: file, data: file, tables: block.NewTables(file, cache), cache: cache}
	d.cluster = 1 << h.ClusterBits
	d.grain, d.entry = d.cluster, 8
	if h.Incompatible&extendedL2 != 0 {
		d.grain, d.entry = d.cluster/32, 16
	}
	if covered := uint64(h.L1Entries) * uint64(d.cluster/d.entry) * uint64(d.cluster); covered < h.Size {
		return nil, block.Damaged("its tables are for %d bytes of %d", covered, h.Size)
	}
	if err := d.openOthers(open); err != nil {
		return nil, err
	}
	if end := d.lastCluster(); end >= file.Size()+leaked*d.cluster {
		return nil, block.Damaged("the image was cut short: its last cluster begins at %d, and the file has %d bytes; copy it again", end, file.Size())
	}
	return block.Map(int64(h.Size), d.locate), nil
}

func readHeader(file block.Device) (*header, error) {
	b := make([]byte, lengthV3+8)
	if n, err := file.ReadAt(b, 0); n < lengthV2 {
		return nil, block.Damaged("its header is cut short: %v", err)
	}
	h := &header{}
	if _, err := binary.Decode(b, binary.BigEndian, h); err != nil {
		return nil, err
	}
	if h.Version == 2 {
		h.Incompatible, h.Compression, h.Length = 0, deflated, lengthV2
	}
	if h.Incompatible&compression == 0 {
		h.Compression = deflated
	}
	return h, nil
}

func (h *header) check() error {
	switch {
	case string(h.Magic[:]) != magic:
		return block.Damaged("no qcow2 header")
	case h.Version != 2 && h.Version != 3:
		return block.Unsupported("version %d of the format", h.Version)
	case h.Incompatible&^known != 0:
		return block.Unsupported("features %#x that are newer than this version", h.Incompatible&^known)
	case h.Incompatible&corrupt != 0:
		return block.Damaged("QEMU marked it as corrupt: repair a copy of it with qemu-img check -r all")
	case h.Crypt != 0:
		return block.Unsupported("it is encrypted with %s: decrypt it with qemu-img convert", cipher(h.Crypt))
	case h.ClusterBits < 9 || h.ClusterBits > 21 || h.Incompatible&extendedL2 != 0 && h.ClusterBits < 14:
		return block.Damaged("clusters of 2^%d bytes", h.ClusterBits)
	case h.Compression > zstandard:
		return block.Unsupported("compression %d", h.Compression)
	case h.Version == 3 && (h.Length < lengthV3 || h.Length > 1<<h.ClusterBits):
		return block.Damaged("a header of %d bytes", h.Length)
	case h.L1At%8 != 0 || h.L1At > block.MaxSize || h.L1Entries > maxL1Entries:
		return block.Damaged("a table of %d entries at %d", h.L1Entries, h.L1At)
	case h.BackingAt > 1<<h.ClusterBits || h.BackingAt != 0 && (h.BackingLen == 0 || h.BackingLen > maxName):
		return block.Damaged("a backing file's name of %d bytes at %d", h.BackingLen, h.BackingAt)
	}
	return block.CheckSize(h.Size)
}

func cipher(method uint32) string {
	switch method {
	case 1:
		return "AES"
	case 2:
		return "LUKS"
	}
	return fmt.Sprintf("method %d", method)
}

// lastCluster is where the last cluster that is in use begins, by the reference
// counts, of which only the last are read: -1 where they don't tell. An image whose
// file ends before it was cut short.
func (d *disk) lastCluster() int64 {
	const countBytes = 2 // of all images but those made otherwise on purpose
	h := d.header
	if h.Incompatible&dirty != 0 || h.Version > 2 && h.RefcountOrder != 4 || h.RefcountsAt > block.MaxSize || int64(h.RefcountClusters)*d.cluster > maxRefcounts {
		return -1
	}
	perBlock := d.cluster / countBytes
	for i := int64(h.RefcountClusters)*d.cluster/8 - 1; i >= 0; i-- {
		at, err := d.tables.Uint64(int64(h.RefcountsAt)+i*8, binary.BigEndian)
		switch {
		case err != nil:
			return -1
		case at == 0:
			continue
		case int64(at) >= d.file.Size():
			return int64(at)
		}
		counts := make([]byte, d.cluster)
		if _, err := d.file.ReadAt(counts, int64(at)); err != nil {
			return -1
		}
		for c := perBlock - 1; c >= 0; c-- {
			if counts[c*countBytes] != 0 || counts[c*countBytes+1] != 0 {
				return (i*perBlock + c) * d.cluster
			}
		}
	}
	return -1
}

// openOthers opens the backing file and the data file where the image has them.
func (d *disk) openOthers(open block.Opener) error {
	names, err := d.readExtensions()
	if err != nil {
		return err
	}
	if d.header.Incompatible&dataFile != 0 {
		if d.data, err = open(names[dataFileName], "raw"); err != nil {
			return fmt.Errorf("opening its data file: %w", err)
		}
	}
	if d.header.BackingAt == 0 {
		return nil
	}
	name, err := block.Read(d.file, int64(d.header.BackingAt), int(d.header.BackingLen))
	if err != nil {
		return fmt.Errorf("reading its backing file's name: %w", err)
	}
	if d.backing, err = open(string(name), names[backingFormat]); err != nil {
		return fmt.Errorf("opening its backing file: %w", err)
	}
	return nil
}

// Header extensions whose content is a name.
const (
	backingFormat = 0xe2792aca
	dataFileName  = 0x44415441
)

// readExtensions gives the names that follow the header.
func (d *disk) readExtensions() (map[uint32]string, error) {
	names := map[uint32]string{}
	for at := int64(d.header.Length); at+8 <= d.cluster; {
		b, err := block.Read(d.file, at, 8)
		if err != nil {
			return nil, fmt.Errorf("reading its header: %w", err)
		}
		kind, length := binary.BigEndian.Uint32(b), int64(binary.BigEndian.Uint32(b[4:]))
		if kind == 0 {
			return names, nil
		}
		at += 8
		if length > d.cluster-at {
			return nil, block.Damaged("a header extension of %d bytes", length)
		}
		if kind == backingFormat || kind == dataFileName {
			if b, err = block.Read(d.file, at, int(min(length, maxName))); err != nil {
				return nil, fmt.Errorf("reading its header: %w", err)
			}
			names[kind] = string(b)
		}
		at += (length + 7) &^ 7
	}
	return names, nil
}
