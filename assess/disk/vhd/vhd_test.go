package vhd

import (
	"bytes"
	"encoding/binary"
	"errors"
	"strings"
	"testing"

	"github.com/matryer/is"

	"svc/assess/disk/block"
	"svc/assess/disk/block/blocktest"
)

const blockSize = 4096

// encode writes a structure with its checksum.
func encode(v any, size, check int) []byte {
	b := make([]byte, size)
	_, _ = binary.Encode(b, binary.BigEndian, v)
	binary.BigEndian.PutUint32(b[check:], checksum(b, check))
	return b
}

func newFooter(kind uint32, size uint64) footer {
	f := footer{Kind: kind, Size: size, HeaderAt: footerSize}
	copy(f.Cookie[:], cookie)
	return f
}

// newDynamic is a disk of which the second block is there.
func newDynamic(change func(*footer, *header)) []byte {
	f := newFooter(dynamic, 2*blockSize+700)
	h := header{TableAt: footerSize + headerSize, Entries: 3, Block: blockSize}
	copy(h.Cookie[:], "cxsparse")
	change(&f, &h)
	b := append(encode(f, footerSize, 64), encode(h, headerSize, 36)...)
	for _, sector := range []uint32{unused, 4, unused} {
		b = binary.BigEndian.AppendUint32(b, sector)
	}
	b = append(b, make([]byte, 5*512-len(b))...) // the block's bitmap is its last sector
	b = append(b, strings.Repeat("b", blockSize)...)
	return append(b, encode(f, footerSize, 64)...)
}

func same(*footer, *header) {}

func content(b []byte) (string, error) {
	return blocktest.Content(Open(bytes.NewReader(b), block.NewCache(1<<20)))
}

func TestDynamicDisks(t *testing.T) {
	is := is.New(t)
	disk := newDynamic(same)
	got, err := content(disk)
	is.NoErr(err)
	want := strings.Repeat("\x00", blockSize) + strings.Repeat("b", blockSize) + strings.Repeat("\x00", 700)
	is.Equal(got, want)
	disk[len(disk)-100]++ // the footer; its copy is whole
	got, err = content(disk)
	is.NoErr(err)
	is.Equal(got, want)
	disk[100]++
	_, err = content(disk)
	is.True(errors.Is(err, block.ErrDamaged))
}

func TestFixedDisks(t *testing.T) {
	is := is.New(t)
	disk := append([]byte("content"), encode(newFooter(fixed, 7), footerSize, 64)...)
	is.True(Probe(bytes.NewReader(disk)))
	got, err := content(disk)
	is.NoErr(err)
	is.Equal(got, "content")
	_, err = content(disk[3:]) // begins to lack
	is.True(errors.Is(err, block.ErrDamaged))
}

func TestDisksThatAreRefused(t *testing.T) {
	for name, c := range map[string]struct {
		want   error
		says   string
		change func(*footer, *header)
	}{
		"differencing":   {block.ErrUnsupported, "differencing", func(f *footer, _ *header) { f.Kind = differencing }},
		"kind":           {block.ErrDamaged, "kind 9", func(f *footer, _ *header) { f.Kind = 9 }},
		"absurd size":    {block.ErrDamaged, "a disk of", func(f *footer, _ *header) { f.Size = 1 << 60 }},
		"few blocks":     {block.ErrDamaged, "3 blocks", func(f *footer, _ *header) { f.Size = 1 << 40 }},
		"no header":      {block.ErrDamaged, "no header", func(f *footer, _ *header) { f.HeaderAt = 1 << 63 }},
		"block":          {block.ErrDamaged, "blocks of 4095", func(_ *footer, h *header) { h.Block = 4095 }},
		"table":          {block.ErrDamaged, "a table at", func(_ *footer, h *header) { h.TableAt = 1 << 62 }},
		"table far away": {block.ErrDamaged, "beyond the end", func(_ *footer, h *header) { h.TableAt = 1 << 40 }},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			_, err := content(newDynamic(c.change))
			is.True(errors.Is(err, c.want))
			is.True(strings.Contains(err.Error(), c.says))
		})
	}
}

func FuzzOpen(f *testing.F) {
	f.Add(newDynamic(same))
	f.Add(append([]byte("content"), encode(newFooter(fixed, 7), footerSize, 64)...))
	f.Fuzz(func(t *testing.T, b []byte) {
		b = bytes.Clone(b)
		for _, fix := range []struct{ at, size, check int }{{0, footerSize, 64}, {footerSize, headerSize, 36}, {len(b) - footerSize, footerSize, 64}} {
			if fix.at >= 0 && fix.at+fix.size <= len(b) { // or hardly anything would pass
				part := b[fix.at : fix.at+fix.size]
				binary.BigEndian.PutUint32(part[fix.check:], checksum(part, fix.check))
			}
		}
		d, err := Open(bytes.NewReader(b), block.NewCache(1<<20))
		blocktest.Sample(t, d, err)
	})
}
