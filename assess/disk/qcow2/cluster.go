package qcow2

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"sync"

	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/zstd"

	"svc/assess/disk/block"
)

// disk is an open image.
type disk struct {
	header  *header
	file    block.Device
	data    block.Device // where the clusters stand: the file, or its data file
	backing block.Device // nil where there is none
	tables  *block.Tables
	cache   *block.Cache
	cluster int64 // bytes of a cluster
	grain   int64 // bytes of what is allocated as one: a cluster, or a 32nd of it
	entry   int64 // bytes of an entry of an L2 table
}

// Bits of the entries of both tables.
const (
	offsetMask = 0x00fffffffffffe00
	copied     = 1 << 63
	compressed = 1 << 62
	zeros      = 1
)

// locate says where the bytes from off on lie.
func (d *disk) locate(off int64) (block.Run, error) {
	entry, bitmap, err := d.lookUp(off)
	if err != nil {
		return block.Run{}, err
	}
	if entry&compressed != 0 {
		return d.locateCompressed(entry, off)
	}
	in := off % d.cluster
	left := d.grain - in%d.grain
	state, err := d.state(entry, bitmap, in/d.grain)
	switch {
	case err != nil:
		return block.Run{}, err
	case state == allocated:
		return d.locateHost(int64(entry&offsetMask), in, left)
	case state == zeroed:
		return block.Zeros(left), nil
	}
	return block.Under(d.backing, off, left), nil
}

// lookUp gives the L2 entry of a place, and its bitmap where entries have one.
func (d *disk) lookUp(off int64) (entry, bitmap uint64, err error) {
	perTable := d.cluster / d.entry
	l1 := off / d.cluster / perTable
	l1Entry, err := d.tables.Uint64(int64(d.header.L1At)+l1*8, binary.BigEndian)
	if err != nil {
		return 0, 0, err
	}
	table := int64(l1Entry & offsetMask)
	if table == 0 {
		return 0, 0, nil
	}
	if table%d.cluster != 0 {
		return 0, 0, block.Damaged("a table at %d", table)
	}
	at := table + off/d.cluster%perTable*d.entry
	if entry, err = d.tables.Uint64(at, binary.BigEndian); err != nil || d.entry == 8 {
		return entry, 0, err
	}
	bitmap, err = d.tables.Uint64(at+8, binary.BigEndian)
	return entry, bitmap, err
}

// state is how a cluster, or a part of one, is kept.
type state int

const (
	unallocated state = iota
	zeroed
	allocated
)

// state decides on one grain of a cluster that is not compressed.
func (d *disk) state(entry, bitmap uint64, grain int64) (state, error) {
	there := entry&offsetMask != 0 || d.data != d.file && entry&copied != 0
	if d.entry == 8 {
		switch {
		case d.header.Version > 2 && entry&zeros != 0:
			return zeroed, nil
		case there:
			return allocated, nil
		}
		return unallocated, nil
	}
	alloc, zero := bitmap>>grain&1 != 0, bitmap>>(32+grain)&1 != 0
	switch {
	case alloc && zero, alloc && !there:
		return 0, block.Damaged("an entry %#x with the bitmap %#x", entry, bitmap)
	case zero:
		return zeroed, nil
	case alloc:
		return allocated, nil
	}
	return unallocated, nil
}

// locateHost is a run of a cluster of the file. The last cluster of a file may
// be cut short; what it lacks are zeros.
func (d *disk) locateHost(cluster, in, left int64) (block.Run, error) {
	end := d.data.Size()
	switch {
	case cluster%d.cluster != 0:
		return block.Run{}, block.Damaged("a cluster at %d", cluster)
	case cluster >= end:
		return block.Run{}, block.Damaged("a cluster at %d lies beyond the end of the file", cluster)
	case cluster+in >= end:
		return block.Zeros(left), nil
	}
	return block.Run{From: d.data, At: cluster + in, Len: min(left, end-cluster-in)}, nil
}

// locateCompressed is a run of a decompressed cluster.
func (d *disk) locateCompressed(entry uint64, off int64) (block.Run, error) {
	if d.data != d.file {
		return block.Run{}, block.Damaged("a compressed cluster in a data file")
	}
	offsetBits := 62 - (d.header.ClusterBits - 8)
	at := int64(entry & (1<<offsetBits - 1))
	sectors := int64(entry&(compressed-1)>>offsetBits) + 1
	b, err := d.cache.Get(d, at, func() ([]byte, error) { return d.decompress(at, sectors*512-at%512) })
	if err != nil {
		return block.Run{}, fmt.Errorf("decompressing the cluster at %d: %w", at, err)
	}
	in := off % d.cluster
	return block.Run{From: bytes.NewReader(b), At: in, Len: d.cluster - in}, nil
}

// decompress gives the cluster whose compressed form takes at most length bytes.
func (d *disk) decompress(at, length int64) ([]byte, error) {
	if at >= d.file.Size() {
		return nil, block.Damaged("it lies beyond the end of the file")
	}
	packed := bufio.NewReader(io.NewSectionReader(d.file, at, length))
	plain := make([]byte, d.cluster)
	if err := unpack[d.header.Compression](packed, plain); err != nil {
		return nil, block.Damaged("%v", err)
	}
	return plain, nil
}

// unpack fills plain by a compression. What follows in packed is of other
// clusters.
var unpack = map[uint8]func(packed io.Reader, plain []byte) error{deflated: inflate, zstandard: unzstd}

// Decompressors are large, and made for one cluster they would be most of what
// a disk takes.
var (
	inflaters = sync.Pool{New: func() any { return flate.NewReader(nil) }}
	unzstders = sync.Pool{New: newUnzstder}
)

func inflate(packed io.Reader, plain []byte) error {
	r := inflaters.Get().(io.ReadCloser)
	defer inflaters.Put(r)
	if err := r.(flate.Resetter).Reset(packed, nil); err != nil {
		return err
	}
	_, err := io.ReadFull(r, plain)
	return err
}

// maxWindow is what zstd may look back: no more than the largest cluster helps.
const maxWindow = 2 << 20

func newUnzstder() any {
	r, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
	if err != nil {
		return err
	}
	return r
}

func unzstd(packed io.Reader, plain []byte) error {
	pooled := unzstders.Get()
	defer unzstders.Put(pooled)
	r, ok := pooled.(*zstd.Decoder)
	if !ok {
		return pooled.(error)
	}
	if err := r.Reset(packed); err != nil {
		return err
	}
	_, err := io.ReadFull(r, plain)
	return err
}
