package vmdk

import (
	"strconv"
	"strings"

	"svc/assess/disk/block"
	"svc/backend/lazyregexp"
)

const descriptorMagic = "# Disk DescriptorFile"

// Bounds of what a descriptor may say.
const (
	maxDescriptor = 1 << 20 // bytes
	maxExtents    = 4096
	maxSectors    = block.MaxSize / sector
)

// descriptor is the text that says what a disk consists of.
type descriptor struct{ extents []extent }

// extent is a part of the disk.
type extent struct {
	length int64 // bytes
	kind   string
	file   string
	at     int64 // bytes; of flat extents alone
}

// supported are the kinds of extents that can be read. A file of VMFS is flat.
var supported = map[string]bool{"FLAT": true, "VMFS": true, "SPARSE": true, "ZERO": true}

// Lines of a descriptor: `RW 4192256 SPARSE "disk-s001.vmdk"` and `key=value`.
var (
	extentLine  = lazyregexp.New(`^(RW|RDONLY|NOACCESS) +([0-9]+) +([A-Z0-9]+)(?: +"([^"]*)"(?: +([0-9]+))?)?`)
	settingLine = lazyregexp.New(`^([A-Za-z]+) *= *"?([^"]*)"?$`)
)

const noParent = "ffffffff"

// parseDescriptor reads a descriptor, which NUL bytes may follow.
func parseDescriptor(text string) (*descriptor, error) {
	text, _, _ = strings.Cut(text, "\x00")
	d := &descriptor{}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if m := settingLine.FindStringSubmatch(line); m != nil {
			if err := checkSetting(strings.ToLower(m[1]), m[2]); err != nil {
				return nil, err
			}
			continue
		}
		if m := extentLine.FindStringSubmatch(line); m != nil {
			e, err := parseExtent(m)
			if err != nil {
				return nil, err
			}
			d.extents = append(d.extents, e)
		}
	}
	if len(d.extents) == 0 || len(d.extents) > maxExtents {
		return nil, block.Damaged("its descriptor lists %d extents", len(d.extents))
	}
	return d, nil
}

// checkSetting refuses what changes how the extents are read.
func checkSetting(name, value string) error {
	switch {
	case name == "parentcid" && !strings.EqualFold(value, noParent):
		return block.Unsupported("it is a snapshot, which has the changes to another disk alone: consolidate the snapshots, or clone the disk")
	case name == "encryptionkeys":
		return block.Unsupported("it is encrypted: decrypt it in VMware")
	}
	return nil
}

func parseExtent(m []string) (extent, error) {
	sectors, err := strconv.ParseUint(m[2], 10, 64)
	if err != nil || sectors == 0 || sectors > maxSectors {
		return extent{}, block.Damaged("an extent of %s sectors", m[2])
	}
	if !supported[m[3]] {
		return extent{}, block.Unsupported("an extent of kind %s", m[3])
	}
	at, err := strconv.ParseUint("0"+m[5], 10, 64)
	if err != nil || at > maxSectors {
		return extent{}, block.Damaged("an extent that begins at sector %s", m[5])
	}
	return extent{int64(sectors) * sector, m[3], m[4], int64(at) * sector}, nil
}
