package vhdx

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"strings"
	"testing"

	"github.com/matryer/is"

	"svc/assess/disk/block"
	"svc/assess/disk/block/blocktest"
)

// Where the parts of the disks that are made here stand.
const (
	metadataAt = 1 << 20
	tableAt    = 2 << 20
	blockAt    = 3 << 20
	blockSize  = 1 << 20
	size       = 3<<20 - 512
)

// image is a disk in the making: one block zeroed, one there, one never written to.
type image struct {
	heads   [2]head
	regions []region
	values  map[guid]uint64
	items   []item
	table   []uint64
}

func newImage() *image {
	return &image{
		heads: [2]head{{Sequence: 7, Version: 9}, {Sequence: 8, Version: 1}}, // the older one doesn't count
		regions: []region{
			{ID: tableRegion, At: tableAt, Length: 1 << 20, Required: 1},
			{ID: metadataRegion, At: metadataAt, Length: 1 << 20, Required: 1},
		},
		values: map[guid]uint64{fileParameters: blockSize, diskSize: size, sectorSize: 512},
		table:  []uint64{zero, blockAt | present, notPresent},
	}
}

func seal(b []byte, signature string) {
	copy(b, signature)
	clear(b[4:8])
	binary.LittleEndian.PutUint32(b[4:], crc32.Checksum(b, block.Castagnoli))
}

func (m *image) bytes() []byte {
	b := make([]byte, blockAt+blockSize)
	copy(b, "vhdxfile")
	for i, h := range m.heads {
		part := b[(i+1)<<16:][:4096]
		_, _ = binary.Encode(part, binary.LittleEndian, h)
		seal(part, "head")
	}
	part := b[192<<10:][:tableSize]
	binary.LittleEndian.PutUint32(part[8:], uint32(len(m.regions)))
	_, _ = binary.Encode(part[16:], binary.LittleEndian, m.regions)
	seal(part, "regi")
	items := m.items
	at := uint32(tableSize)
	for id, value := range m.values {
		items = append(items, item{ID: id, At: at, Length: 8, Flags: required})
		binary.LittleEndian.PutUint64(b[metadataAt+at:], value)
		at += 8
	}
	copy(b[metadataAt:], "metadata")
	binary.LittleEndian.PutUint16(b[metadataAt+10:], uint16(len(items)))
	for i, e := range items {
		_, _ = binary.Encode(b[metadataAt+32+i*entrySize:], binary.LittleEndian, e)
	}
	for i, e := range m.table {
		binary.LittleEndian.PutUint64(b[tableAt+8*i:], e)
	}
	copy(b[blockAt:], strings.Repeat("b", blockSize))
	return b
}

func content(b []byte) ([]byte, error) {
	all, err := blocktest.Content(Open(bytes.NewReader(b), block.NewCache(1<<20)))
	return []byte(all), err
}

func TestBlocks(t *testing.T) {
	is := is.New(t)
	want := make([]byte, size)
	copy(want[blockSize:], bytes.Repeat([]byte("b"), blockSize))
	disk := newImage().bytes()
	is.True(Probe(bytes.NewReader(disk)))
	got, err := content(disk)
	is.NoErr(err)
	is.True(bytes.Equal(got, want))
	copy(disk[256<<10:], disk[192<<10:256<<10]) // the copy of the table of regions
	disk[192<<10+20]++
	got, err = content(disk)
	is.NoErr(err)
	is.True(bytes.Equal(got, want))
}

func TestTableWithBitmaps(t *testing.T) {
	is := is.New(t)
	d := &disk{block: 32 << 20, chunk: 128}
	is.Equal(d.index(127*d.block), int64(127))
	is.Equal(d.index(128*d.block), int64(129)) // the one before is of a bitmap
}

func TestDisksThatAreRefused(t *testing.T) {
	for name, c := range map[string]struct {
		want   error
		says   string
		change func(*image)
	}{
		"log":            {block.ErrUnsupported, "its log has changes", func(m *image) { m.heads[1].Log[0] = 1 }},
		"version":        {block.ErrUnsupported, "version 2", func(m *image) { m.heads[1].Version = 2 }},
		"differencing":   {block.ErrUnsupported, "differencing", func(m *image) { m.values[fileParameters] |= hasParent }},
		"new region":     {block.ErrUnsupported, "a region", func(m *image) { m.regions = append(m.regions, region{ID: guid{1}, Required: 1}) }},
		"no table":       {block.ErrDamaged, "is not there", func(m *image) { m.regions = m.regions[1:] }},
		"far region":     {block.ErrDamaged, "a region at", func(m *image) { m.regions[0].At = 1 << 63 }},
		"new metadata":   {block.ErrUnsupported, "metadata", func(m *image) { m.items = []item{{ID: guid{1}, Flags: required}} }},
		"odd blocks":     {block.ErrDamaged, "blocks of", func(m *image) { m.values[fileParameters] = 3 << 20 }},
		"odd sectors":    {block.ErrDamaged, "sectors of", func(m *image) { m.values[sectorSize] = 7 }},
		"absurd size":    {block.ErrDamaged, "a disk of", func(m *image) { m.values[diskSize] = 1 << 60 }},
		"small table":    {block.ErrDamaged, "a table of", func(m *image) { m.values[diskSize] = 1 << 40 }},
		"bad state":      {block.ErrDamaged, "a block in state 5", func(m *image) { m.table[0] = 5 }},
		"partly present": {block.ErrDamaged, "a block in state 7", func(m *image) { m.table[0] = 7 }},
		"block beyond":   {block.ErrDamaged, "cut short", func(m *image) { m.table[0] = 1<<40 | present }},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			m := newImage()
			c.change(m)
			_, err := content(m.bytes())
			is.True(errors.Is(err, c.want))
			is.True(strings.Contains(err.Error(), c.says))
		})
	}
	is := is.New(t)
	disk := newImage().bytes()
	disk[64<<10+50]++
	disk[128<<10+50]++
	_, err := content(disk)
	is.True(errors.Is(err, block.ErrDamaged))
}

func FuzzOpen(f *testing.F) {
	whole := newImage().bytes()
	f.Add(whole[128<<10:][:100], whole[192<<10:][:100], whole[metadataAt:][:200], whole[metadataAt+tableSize:][:24], whole[tableAt:][:64])
	f.Fuzz(func(t *testing.T, head, regions, items, values, table []byte) {
		b := make([]byte, blockAt)
		copy(b[64<<10:][:4096], head)
		seal(b[64<<10:][:4096], "head")
		copy(b[192<<10:][:tableSize], regions)
		seal(b[192<<10:][:tableSize], "regi")
		copy(b[metadataAt:], items)
		copy(b[metadataAt:], "metadata")
		copy(b[metadataAt+tableSize:], values)
		copy(b[tableAt:], table)
		d, err := Open(bytes.NewReader(b), block.NewCache(1<<20))
		blocktest.Sample(t, d, err)
	})
}
