package btrfs

import (
	"cmp"
	"io"
	"slices"

	"svc/assess/disk/block"
)

// volume is the file system as a whole: logical addresses, and the trees in them.
type volume struct {
	super
	disk   io.ReaderAt
	size   int64
	chunks []chunk // by logical address
	cache  *block.Cache
	trees  trees
}

// chunk maps logical addresses to the device, each byte to one place or to two.
type chunk struct {
	logical, length uint64
	profile         uint64
	copies          []int64 // where they begin on the device
	elsewhere       uint64  // another device that it lies on, if any
}

const (
	maxChunks   = 1 << 18
	profileMask = 0x7f8
	profileDup  = 1 << 5
	profileZero = 1 << 3
)

// profiles names the ways to spread a chunk, by bit from the first of profileMask.
var profiles = []string{"raid0", "raid1", "dup", "raid10", "raid5", "raid6", "raid1c3", "raid1c4"}

func openVolume(r io.ReaderAt, size int64) (*volume, error) {
	s, err := readSuper(r, size)
	if err != nil {
		return nil, err
	}
	v := &volume{super: s, disk: r, size: size, cache: block.NewCache(cacheSize)}
	v.trees.known = map[uint64]tree{}
	if err := v.firstChunks(); err != nil {
		return nil, err
	}
	return v, v.readChunks()
}

// firstChunks maps the chunks that the superblock names.
func (v *volume) firstChunks() error {
	for b := v.super.chunks; len(b) > 0; {
		if len(b) < keySize {
			return block.Damaged("the superblock's chunks end early")
		}
		k := decodeKey(b)
		n, err := v.addChunk(k, b[keySize:])
		if err != nil {
			return err
		}
		b = b[keySize+n:]
	}
	v.sortChunks()
	return nil
}

// readChunks maps all others.
func (v *volume) readChunks() error {
	chunkTree := tree{v, v.chunkRoot, 3}
	var found []key
	var items [][]byte
	err := chunkTree.each(key{firstChunkTree, typeChunk, 0}, key{firstChunkTree, typeChunk, maxOffset}, func(k key, b []byte) error {
		if len(found) == maxChunks {
			return block.Unsupported("more than %d chunks", maxChunks)
		}
		found, items = append(found, k), append(items, b)
		return nil
	})
	if err != nil {
		return err
	}
	v.chunks = nil
	for i, k := range found {
		if _, err := v.addChunk(k, items[i]); err != nil {
			return err
		}
	}
	v.sortChunks()
	return nil
}

func (v *volume) sortChunks() {
	slices.SortFunc(v.chunks, func(a, b chunk) int { return cmp.Compare(a.logical, b.logical) })
}

// addChunk decodes a chunk, and gives how many bytes it takes.
func (v *volume) addChunk(k key, b []byte) (int, error) {
	if len(b) < 48 || k.kind != typeChunk {
		return 0, block.Damaged("chunk of %d bytes at %d", len(b), k.offset)
	}
	stripes := int(le.Uint16(b[44:]))
	n := 48 + 32*stripes
	if stripes == 0 || n > len(b) {
		return 0, block.Damaged("chunk at %d with %d stripes", k.offset, stripes)
	}
	c := chunk{logical: k.offset, length: le.Uint64(b), profile: le.Uint64(b[24:]) & profileMask}
	if c.length == 0 || c.logical+c.length < c.logical {
		return 0, block.Damaged("chunk at %d of %d bytes", c.logical, c.length)
	}
	for stripe := range slices.Chunk(b[48:n], 32) {
		at := le.Uint64(stripe[8:])
		if id := le.Uint64(stripe); id != v.deviceID {
			c.elsewhere = id
			continue
		}
		c.copies = append(c.copies, int64(at))
	}
	v.chunks = append(v.chunks, c)
	return n, nil
}

// spans gives the places on the device, one for each copy, of bytes at a
// logical address, and how many of n lie together.
func (v *volume) spans(logical uint64, n int) ([]int64, int, error) {
	i, found := slices.BinarySearchFunc(v.chunks, logical, func(c chunk, at uint64) int { return cmp.Compare(c.logical, at) })
	if !found {
		i--
	}
	if i < 0 || logical-v.chunks[i].logical >= v.chunks[i].length {
		return nil, 0, block.Damaged("no chunk has the logical address %d", logical)
	}
	c := v.chunks[i]
	if err := c.readable(); err != nil {
		return nil, 0, err
	}
	within := logical - c.logical
	n = int(min(uint64(n), c.length-within))
	places := make([]int64, len(c.copies))
	for i, at := range c.copies {
		places[i] = at + int64(within)
		if at < 0 || places[i] < at || places[i] > v.size-int64(n) {
			return nil, 0, block.Damaged("the logical address %d lies beyond the volume", logical)
		}
	}
	return places, n, nil
}

// readable refuses chunks that don't lie on this one device, each copy in one piece.
func (c chunk) readable() error {
	switch {
	case c.elsewhere != 0 || len(c.copies) == 0:
		return block.Unsupported("the chunk at %d lies on another device, %d", c.logical, c.elsewhere)
	case c.profile == 0 && len(c.copies) == 1, c.profile == profileDup && len(c.copies) == 2,
		c.profile == profileZero && len(c.copies) == 1:
		return nil
	}
	for i, name := range profiles {
		if c.profile == profileZero<<i {
			return block.Unsupported("the chunk at %d is %s, in %d stripes", c.logical, name, len(c.copies))
		}
	}
	return block.Unsupported("the chunk at %d has the profile 0x%x, in %d stripes", c.logical, c.profile, len(c.copies))
}
