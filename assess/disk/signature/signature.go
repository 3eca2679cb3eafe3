// Package signature tells by a few bytes what stands on a disk, a partition or
// a volume: a file system, or something that has one inside.
package signature

import (
	"bytes"
	"strings"

	"svc/assess/disk/block"
)

// Kind is what stands on a volume, by the name that Linux tools give it.
type Kind string

// The kinds that this version can look into. All others have a name alone.
const (
	Ext   Kind = "ext"
	XFS   Kind = "xfs"
	Btrfs Kind = "btrfs"
	LVM   Kind = "LVM2_member"
)

// Found is what stands on a volume.
type Found struct {
	Kind  Kind
	ID    string // what fstab calls UUID, in lower case; of file systems that have one of 16 bytes
	Label string
}

// mark is where a kind shows itself.
type mark struct {
	kind        Kind
	at          int64 // negative: from the volume's end, as far before it as its multiple of round
	round       int64
	magic       string
	id          int64 // offset of the UUID; 0 where it is not wanted
	label       int64
	labelLength int64
}

// marks are in the order in which they count: what holds file systems before
// the file systems, whose own marks can show through.
var marks = []mark{
	{kind: "LUKS (encrypted)", magic: "LUKS\xba\xbe"},
	{kind: "BitLocker (encrypted)", at: 3, magic: "-FVE-FS-"},
	{kind: "RAID (mdadm, version 1.1)", magic: "\xfc\x4e\x2b\xa9"},
	{kind: "RAID (mdadm, version 1.2)", at: 4096, magic: "\xfc\x4e\x2b\xa9"},
	{kind: "RAID (mdadm, version 1.0)", at: -8192, round: 4096, magic: "\xfc\x4e\x2b\xa9"},
	{kind: "RAID (mdadm, version 0.90)", at: -65536, round: 65536, magic: "\xfc\x4e\x2b\xa9"},
	{kind: LVM, at: 512 + 24, magic: "LVM2 001"},
	{kind: LVM, at: 24, magic: "LVM2 001"},
	{kind: LVM, at: 1024 + 24, magic: "LVM2 001"},
	{kind: LVM, at: 1536 + 24, magic: "LVM2 001"},
	{kind: "bcache", at: 4096 + 24, magic: "\xc6\x85\x73\xf6\x4e\x1a\x45\xca\x82\x65\xf5\x7f\x48\xba\x6d\x81"},
	{kind: Btrfs, at: 65536 + 64, magic: "_BHRfS_M", id: 65536 + 32, label: 65536 + 0x12b, labelLength: 256},
	{kind: XFS, magic: "XFSB", id: 32, label: 108, labelLength: 12},
	{kind: Ext, at: 1024 + 56, magic: "\x53\xef", id: 1024 + 104, label: 1024 + 120, labelLength: 16},
	{kind: "swap", at: 4096 - 10, magic: "SWAPSPACE2"},
	{kind: "swap", at: 8192 - 10, magic: "SWAPSPACE2"},
	{kind: "swap", at: 16384 - 10, magic: "SWAPSPACE2"},
	{kind: "swap", at: 65536 - 10, magic: "SWAPSPACE2"},
	{kind: "f2fs", at: 1024, magic: "\x10\x20\xf5\xf2"},
	{kind: "erofs", at: 1024, magic: "\xe2\xe1\xf5\xe0"},
	{kind: "squashfs", magic: "hsqs"},
	{kind: "iso9660", at: 32769, magic: "CD001"},
	{kind: "reiserfs", at: 65536 + 52, magic: "ReIsEr"},
	{kind: "jfs", at: 32768, magic: "JFS1"},
	{kind: "nilfs2", at: 1024 + 6, magic: "\x34\x34"},
	{kind: "bcachefs", at: 4096 + 24, magic: "\xc6\x85\x73\xf6\x66\xce\x90\xa9\xd9\x6a\x60\xcf\x80\x3d\xf7\xef"},
	{kind: "ZFS", at: 16384, magic: "\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01"},
	{kind: "exfat", at: 3, magic: "EXFAT   "},
	{kind: "ntfs", at: 3, magic: "NTFS    "},
	{kind: "vfat", at: 82, magic: "FAT32   "},
	{kind: "vfat", at: 54, magic: "FAT1"},
}

// Of says what stands on a volume; it is not ok where nothing known does.
func Of(volume block.Device) (Found, bool) {
	for _, m := range marks {
		if !block.HasAt(volume, m.place(volume.Size()), m.magic) {
			continue
		}
		found := Found{Kind: m.kind}
		if m.id != 0 {
			found.ID = uuid(volume, m.id)
			found.Label = text(volume, m.label, m.labelLength)
		}
		return found, true
	}
	return Found{}, false
}

// place is where the mark stands on a volume of a size.
func (m mark) place(size int64) int64 {
	if m.at >= 0 {
		return m.at
	}
	return size/m.round*m.round + m.at
}

func uuid(volume block.Device, at int64) string {
	b, err := block.Read(volume, at, 16)
	if err != nil {
		return ""
	}
	return block.UUID(b)
}

func text(volume block.Device, at, length int64) string {
	b, err := block.Read(volume, at, int(length))
	if err != nil {
		return ""
	}
	b, _, _ = bytes.Cut(b, []byte{0})
	return strings.ToValidUTF8(string(b), "?")
}
