package btrfs

import (
	"bytes"
	"fmt"
	"io"
	"sync"

	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"

	"svc/assess/disk/block"
	"svc/assess/disk/btrfs/lzo"
)

// compressions are the ways to unpack bytes to p, by number. The end of a
// file's last extent may not be there: p stays zero.
var compressions = []func(v *volume, p, packed []byte) error{nil, unpackZlib, unpackLZO, unpackZstd}

// unpack gives a compressed extent as a whole.
func (v *volume) unpack(e extent, sums bool) ([]byte, error) {
	if e.kind == extentInline {
		return v.decompress(e, e.inline)
	}
	return v.cache.Get(unpacked{v, e.compression, e.length, e.unpacked}, int64(e.logical), func() ([]byte, error) {
		packed := make([]byte, e.length)
		if err := v.read(packed, e.logical, sums); err != nil {
			return nil, err
		}
		return v.decompress(e, packed)
	})
}

// unpacked names unpacked extents in the cache.
type unpacked struct {
	volume      *volume
	compression byte
	length      uint64
	unpacked    uint64
}

func (v *volume) decompress(e extent, packed []byte) ([]byte, error) {
	b := make([]byte, e.unpacked)
	if err := compressions[e.compression](v, b, packed); err != nil {
		return nil, fmt.Errorf("unpacking the extent at %d: %w", e.logical, err)
	}
	return b, nil
}

func unpackZlib(_ *volume, p, packed []byte) error {
	r, err := zlib.NewReader(bytes.NewReader(packed))
	for err == nil && len(p) > 0 {
		var n int
		n, err = r.Read(p)
		p = p[n:]
	}
	if err == nil || err == io.EOF {
		return nil
	}
	return block.Damaged("%v", err)
}

// maxWindow is more than the 128 KiB that Btrfs has.
const maxWindow = 1 << 20

// decoders are kept for the next extent.
var decoders = sync.Pool{New: func() any {
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow),
		zstd.WithDecodeAllCapLimit(true), zstd.WithDecoderLowmem(true))
	if err != nil {
		return err
	}
	return d
}}

func unpackZstd(_ *volume, p, packed []byte) error {
	frame, err := zstdFrame(packed)
	if err != nil {
		return err
	}
	pooled := decoders.Get()
	d, ok := pooled.(*zstd.Decoder)
	if !ok {
		return pooled.(error)
	}
	defer decoders.Put(d)
	if _, err := d.DecodeAll(frame, p[:0:len(p)]); err != nil {
		return block.Damaged("%v", err)
	}
	return nil
}

// zstdFrame cuts off the zeros that fill the sector after the one frame.
func zstdFrame(packed []byte) ([]byte, error) {
	var header zstd.Header
	if err := header.Decode(packed); err != nil {
		return nil, block.Damaged("%v", err)
	}
	at := header.HeaderSize
	for last := false; !last; {
		if at+3 > len(packed) {
			return nil, block.Damaged("the frame ends early")
		}
		bits := int(packed[at]) | int(packed[at+1])<<8 | int(packed[at+2])<<16
		size := bits >> 3
		if bits>>1&3 == 1 { // one byte that is repeated
			size = 1
		}
		last = bits&1 != 0
		at += 3 + size
	}
	if header.HasCheckSum {
		at += 4
	}
	if at > len(packed) {
		return nil, block.Damaged("the frame ends early")
	}
	return packed[:at], nil
}

func unpackLZO(v *volume, p, packed []byte) error { return lzo.Unpack(int(v.sector), p, packed) }
