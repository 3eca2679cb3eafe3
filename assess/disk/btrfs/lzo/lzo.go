// Package lzo unpacks what Btrfs packs by LZO.
package lzo

import (
	"encoding/binary"

	"svc/assess/disk/block"
)

var le = binary.LittleEndian

// Unpack unpacks the frame that Btrfs puts around LZO1X: the length of all,
// then for each sector of data its packed length and bytes. A length never
// crosses a sector of the packed bytes.
func Unpack(sector int, p, packed []byte) error {
	if len(packed) < 4 || uint64(le.Uint32(packed)) > uint64(len(packed)) {
		return block.Damaged("lzo: the frame ends early")
	}
	packed = packed[:max(le.Uint32(packed), 4)]
	for at := 4; len(p) > 0; {
		if left := sector - at%sector; left < 4 {
			at += left
		}
		if at+4 > len(packed) {
			return nil
		}
		n := int(le.Uint32(packed[at:]))
		at += 4
		if n > len(packed)-at {
			return block.Damaged("lzo: a segment of %d bytes", n)
		}
		size := min(sector, len(p))
		done, err := unpackLZO1X(p[:size], packed[at:at+n])
		if err != nil {
			return err
		}
		at += n
		if done < size && at < len(packed) {
			return block.Damaged("lzo: a segment is short")
		}
		p = p[size:]
	}
	return nil
}

// lzo1x is the state of unpacking one segment: what is left to read, and what
// was written.
type lzo1x struct {
	in    []byte
	out   []byte
	done  int // bytes of out
	state int // literals copied by the last instruction; 4 after a run of them
	err   error
}

// farthest is the distance of the nearest match that an instruction after a run
// of literals can name.
const farthest = 0x801

// unpackLZO1X unpacks a segment to p, and gives how many bytes it has: the
// format of Documentation/staging/lzo.rst of Linux, without its run-length
// extension, which Btrfs doesn't use.
func unpackLZO1X(p, in []byte) (int, error) {
	z := &lzo1x{in: in, out: p}
	if len(in) > 0 && in[0] > 17 {
		n := int(z.byte()) - 17
		z.literals(n)
		z.state = min(n, 4)
	}
	for z.err == nil && z.step() {
	}
	return z.done, z.err
}

// step does one instruction. It reports false at the end.
func (z *lzo1x) step() bool {
	t := int(z.byte())
	switch {
	case t < 16 && z.state == 0:
		z.literals(z.length(t, 15) + 3)
		z.state = 4
	case t < 16 && z.state == 4:
		z.match(3, farthest+t>>2+int(z.byte())<<2, t&3)
	case t < 16:
		z.match(2, 1+t>>2+int(z.byte())<<2, t&3)
	case t >= 64:
		z.match(t>>5+1, 1+t>>2&7+int(z.byte())<<3, t&3)
	case t >= 32:
		n := z.length(t&31, 31) + 2
		next := z.uint16()
		z.match(n, 1+next>>2, next&3)
	default:
		n := z.length(t&7, 7) + 2
		next := z.uint16()
		distance := t&8<<11 + next>>2
		if distance == 0 {
			return false
		}
		z.match(n, distance+0x4000, next&3)
	}
	return true
}

// length is a number that goes on in the bytes that follow where its bits are 0.
func (z *lzo1x) length(bits, most int) int {
	if bits != 0 {
		return bits
	}
	n := most
	for z.err == nil {
		b := int(z.byte())
		if b != 0 {
			return n + b
		}
		n += 255
	}
	return 0
}

func (z *lzo1x) fail() { z.err = block.Damaged("lzo: the data contradict themselves") }

func (z *lzo1x) byte() byte {
	if len(z.in) == 0 {
		z.fail()
		return 0
	}
	b := z.in[0]
	z.in = z.in[1:]
	return b
}

func (z *lzo1x) uint16() int { return int(z.byte()) | int(z.byte())<<8 }

func (z *lzo1x) literals(n int) {
	if n > len(z.in) || n > len(z.out)-z.done {
		z.fail()
		return
	}
	copy(z.out[z.done:], z.in[:n])
	z.in, z.done = z.in[n:], z.done+n
}

// match repeats n bytes that were written before, then copies a few literals.
func (z *lzo1x) match(n, distance, literals int) {
	if z.err != nil || distance > z.done || n > len(z.out)-z.done {
		z.fail()
		return
	}
	for range n {
		z.out[z.done] = z.out[z.done-distance]
		z.done++
	}
	z.literals(literals)
	z.state = literals
}
