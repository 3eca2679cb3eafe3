package vmdk

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/klauspost/compress/zlib"
	"github.com/matryer/is"

	"svc/assess/disk/block"
	"svc/assess/disk/block/blocktest"
)

const grain = 8 * sector

// alone is the descriptor of a disk that is one file.
const alone = "# Disk DescriptorFile\nversion=1\nparentCID=ffffffff\ncreateType=\"monolithicSparse\"\nRW 30 SPARSE \"disk.vmdk\"\n"

// newSparse has four grains: one there, one never written to, one of zeros, and
// a short one.
func newSparse(descriptor string, change func(*header)) []byte {
	h := header{Version: 1, Flags: checkNewLines | zeroedGrains, Capacity: 30, Grain: 8, Entries: 3, DirectoryAt: 3}
	copy(h.Magic[:], sparseMagic)
	copy(h.NewLines[:], newLines)
	if descriptor != "" {
		h.DescriptorAt, h.DescriptorLen = 1, 1
	}
	change(&h)
	b := make([]byte, 8*sector)
	_, _ = binary.Encode(b, binary.LittleEndian, h)
	copy(b[sector:], descriptor)
	for i, at := range []uint32{4, 5} {
		binary.LittleEndian.PutUint32(b[3*sector+4*i:], at)
	}
	var a, d []byte
	a, d = bytes.Repeat([]byte("a"), grain), bytes.Repeat([]byte("d"), 6*sector)
	if h.Flags&compressed != 0 {
		a, d = pack(0, a), pack(24, d)
	}
	dAt := uint32(8 + (len(a)+sector-1)/sector)
	for i, at := range []uint32{8, 0, 1} {
		binary.LittleEndian.PutUint32(b[4*sector+4*i:], at)
	}
	binary.LittleEndian.PutUint32(b[5*sector:], dAt)
	b = append(b, a...)
	b = append(b, make([]byte, int(dAt)*sector-len(b))...)
	return append(b, d...)
}

// pack is a grain as stream-optimised disks have it.
func pack(at uint64, plain []byte) []byte {
	var packed bytes.Buffer
	w := zlib.NewWriter(&packed)
	_, _ = w.Write(plain)
	_ = w.Close()
	head := binary.LittleEndian.AppendUint64(nil, at)
	head = binary.LittleEndian.AppendUint32(head, uint32(packed.Len()))
	return append(head, packed.Bytes()...)
}

func same(*header) {}

var sparseContent = strings.Repeat("a", grain) + strings.Repeat("\x00", 2*grain) + strings.Repeat("d", 6*sector)

func noFiles(name, _ string) (block.Device, error) { return nil, errors.New("no file " + name) }

func content(b []byte, files block.Opener) (string, error) {
	return blocktest.Content(Open(bytes.NewReader(b), block.NewCache(1<<20), files))
}

func TestSparseDisks(t *testing.T) {
	is := is.New(t)
	got, err := content(newSparse(alone, same), noFiles)
	is.NoErr(err)
	is.True(got == sparseContent)
}

func TestStreamOptimisedDisks(t *testing.T) {
	is := is.New(t)
	disk := newSparse(alone, func(h *header) {
		h.Flags |= compressed
		h.Compression = 1
	})
	got, err := content(disk, noFiles)
	is.NoErr(err)
	is.True(got == sparseContent)
	// The header that counts may stand at the end.
	head := bytes.Clone(disk[:sector])
	binary.LittleEndian.PutUint64(disk[56:], atEnd)
	got, err = content(append(append(disk, head...), make([]byte, sector)...), noFiles)
	is.NoErr(err)
	is.True(got == sparseContent)
	for i := 8*sector + 12; i < len(disk); i += 7 { // what is compressed has a checksum
		broken := newSparse(alone, func(h *header) {
			h.Flags |= compressed
			h.Compression = 1
		})
		if broken[i] == 0 {
			continue
		}
		broken[i] ^= 0xff
		_, err = content(broken, noFiles)
		is.True(errors.Is(err, block.ErrDamaged))
	}
}

func TestDisksOfSeveralFiles(t *testing.T) {
	is := is.New(t)
	files := map[string]string{
		"s 1.vmdk": string(newSparse("", same)), "flat.vmdk": "skipped!" + strings.Repeat("\x00", sector-8) + strings.Repeat("f", 3*sector),
	}
	open := func(name, format string) (block.Device, error) {
		is.Equal(format, "raw")
		return strings.NewReader(files[name]), nil
	}
	descriptor := "# Disk DescriptorFile\r\nCID=1\r\nparentCID=FFFFFFFF\r\n# Extent description\r\nRW 30 SPARSE \"s 1.vmdk\"\r\nRW 3 FLAT \"flat.vmdk\" 1\r\nRW 2 ZERO\r\nRDONLY 1 VMFS \"flat.vmdk\"\r\n"
	got, err := content([]byte(descriptor), open)
	is.NoErr(err)
	is.True(got == sparseContent+strings.Repeat("f", 3*sector)+strings.Repeat("\x00", 2*sector)+files["flat.vmdk"][:sector])
	_, err = content([]byte(descriptor), noFiles)
	is.True(strings.Contains(err.Error(), "no file s 1.vmdk"))
	files["flat.vmdk"] = files["flat.vmdk"][:2*sector]
	_, err = content([]byte(descriptor), open)
	is.True(errors.Is(err, block.ErrDamaged))
}

func TestDisksThatAreRefused(t *testing.T) {
	list := func(lines ...string) []byte {
		return []byte(strings.Join(append([]string{descriptorMagic, "parentCID=ffffffff"}, lines...), "\n"))
	}
	for name, c := range map[string]struct {
		want error
		says string
		disk []byte
	}{
		"snapshot":     {block.ErrUnsupported, "snapshot", list("parentCID=1234", `RW 1 ZERO`)},
		"old kind":     {block.ErrUnsupported, "ESX", []byte("COWD and more")},
		"kind":         {block.ErrUnsupported, "SESPARSE", list(`RW 1 SESPARSE "x"`)},
		"encrypted":    {block.ErrUnsupported, "encrypted", list(`encryptionKeys = "vmware:key"`, `RW 1 ZERO`)},
		"no extents":   {block.ErrDamaged, "0 extents", list()},
		"many extents": {block.ErrDamaged, "extents", list(strings.Repeat("RW 1 ZERO\n", maxExtents+1))},
		"absurd":       {block.ErrDamaged, "an extent of", list(`RW 99999999999999999999 ZERO`)},
		"absurd sum":   {block.ErrDamaged, "a disk of", list(strings.Repeat(fmt.Sprintf("RW %d ZERO\n", maxSectors), 2))},
		"a part":       {block.ErrUnsupported, "a part of a disk", newSparse("", same)},
		"version":      {block.ErrUnsupported, "version 9", newSparse(alone, func(h *header) { h.Version = 9 })},
		"flags":        {block.ErrUnsupported, "features 0x80", newSparse(alone, func(h *header) { h.Flags |= 0x80 })},
		"as text":      {block.ErrDamaged, "as a text", newSparse(alone, func(h *header) { h.NewLines = [4]byte{'\n', ' ', '\n', '\n'} })},
		"compression":  {block.ErrUnsupported, "compression 3", newSparse(alone, func(h *header) { h.Flags |= compressed; h.Compression = 3 })},
		"grain":        {block.ErrDamaged, "grains of 9", newSparse(alone, func(h *header) { h.Grain = 9 })},
		"entries":      {block.ErrDamaged, "0 entries", newSparse(alone, func(h *header) { h.Entries = 0 })},
		"capacity":     {block.ErrDamaged, "a disk of", newSparse(alone, func(h *header) { h.Capacity = 1 << 60 })},
		"directory":    {block.ErrDamaged, "a directory", newSparse(alone, func(h *header) { h.DirectoryAt = 1 << 60 })},
		"no footer":    {block.ErrDamaged, "at its end", newSparse(alone, func(h *header) { h.DirectoryAt = atEnd })},
		"descriptor":   {block.ErrDamaged, "a descriptor", newSparse(alone, func(h *header) { h.DescriptorLen = 1 << 60 })},
		"cut short":    {block.ErrDamaged, "cut short", newSparse(alone, same)[:9*sector]},
		"bomb":         {block.ErrDamaged, "a grain of", newSparse(alone, func(h *header) { h.Flags |= compressed; h.Compression = 1; h.Grain = 16 })},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			if name == "bomb" { // what is compressed is larger than a grain
				binary.LittleEndian.PutUint64(c.disk[20:], 8)
				copy(c.disk[8*sector:], pack(0, bytes.Repeat([]byte("z"), 100*grain)))
			}
			_, err := content(c.disk, noFiles)
			is.True(errors.Is(err, c.want))
			is.True(strings.Contains(err.Error(), c.says))
		})
	}
}

func FuzzOpen(f *testing.F) {
	f.Add(newSparse(alone, same))
	f.Add(newSparse(alone, func(h *header) { h.Flags |= compressed; h.Compression = 1 }))
	f.Add([]byte("# Disk DescriptorFile\nRW 30 SPARSE \"s\"\nRW 3 FLAT \"f\" 1\nRW 2 ZERO\n"))
	part := newSparse("", same)
	f.Fuzz(func(t *testing.T, b []byte) {
		d, err := Open(bytes.NewReader(b), block.NewCache(1<<20), func(string, string) (block.Device, error) { return bytes.NewReader(part), nil })
		blocktest.Sample(t, d, err)
	})
}
