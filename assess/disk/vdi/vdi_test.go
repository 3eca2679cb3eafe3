package vdi

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

// newDisk has three blocks: one discarded, one there, one never written to.
func newDisk(change func(*header)) []byte {
	h := header{Major: 1, Kind: dynamic, TableAt: 512, DataAt: 1024, Size: 2*blockSize + 600, Block: blockSize, Blocks: 3}
	copy(h.Magic[:], magic)
	change(&h)
	b := make([]byte, 1024)
	_, _ = binary.Encode(b[magicAt:], binary.LittleEndian, h)
	for i, entry := range []uint32{unallocated, 1, unallocated + 1} {
		binary.LittleEndian.PutUint32(b[512+4*i:], entry)
	}
	return append(b, strings.Repeat("a", blockSize)+strings.Repeat("b", blockSize)...)
}

func same(*header) {}

func content(b []byte) (string, error) {
	return blocktest.Content(Open(bytes.NewReader(b), block.NewCache(1<<20)))
}

func TestBlocks(t *testing.T) {
	is := is.New(t)
	is.True(Probe(bytes.NewReader(newDisk(same))))
	got, err := content(newDisk(same))
	is.NoErr(err)
	is.Equal(got, strings.Repeat("\x00", blockSize)+strings.Repeat("b", blockSize)+strings.Repeat("\x00", 600))
}

func TestDisksThatAreRefused(t *testing.T) {
	for name, c := range map[string]struct {
		want   error
		says   string
		change func(*header)
	}{
		"version":      {block.ErrUnsupported, "version 2.0", func(h *header) { h.Major = 2 }},
		"snapshot":     {block.ErrUnsupported, "snapshot", func(h *header) { h.Kind = 4 }},
		"child":        {block.ErrUnsupported, "snapshot", func(h *header) { h.Parent[3] = 1 }},
		"block":        {block.ErrDamaged, "blocks of 3", func(h *header) { h.Block = 3 }},
		"extra":        {block.ErrUnsupported, "beside each block", func(h *header) { h.BlockExtra = 512 }},
		"few blocks":   {block.ErrDamaged, "3 blocks", func(h *header) { h.Size = 1 << 30 }},
		"absurd size":  {block.ErrDamaged, "a disk of", func(h *header) { h.Size, h.Blocks = 0, 0 }},
		"table":        {block.ErrDamaged, "a table at 3", func(h *header) { h.TableAt = 3 }},
		"table beyond": {block.ErrDamaged, "beyond the end", func(h *header) { h.TableAt = 1 << 30 }},
		"block beyond": {block.ErrDamaged, "cut short", func(h *header) { h.DataAt = 1 << 30 }},
		"entry":        {block.ErrDamaged, "block 1633771873 of 3", func(h *header) { h.TableAt = 1024 }},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			_, err := content(newDisk(c.change))
			is.True(errors.Is(err, c.want))
			is.True(strings.Contains(err.Error(), c.says))
		})
	}
}

func FuzzOpen(f *testing.F) {
	f.Add(newDisk(same))
	f.Fuzz(func(t *testing.T, b []byte) {
		d, err := Open(bytes.NewReader(b), block.NewCache(1<<20))
		blocktest.Sample(t, d, err)
	})
}
