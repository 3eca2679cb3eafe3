package rpm

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/adler32"
	"slices"

	"svc/assess/packages/pages"
)

// The layout of Packages.db, as in rpm's lib/backend/ndb/rpmpkg.c: numbers are
// little-endian, slots fill the first pages, headers stand in blocks.
const (
	slotSize     = 16
	slotPage     = 4096
	maxSlotPages = 2048
	blockSize    = 16
	blobHead     = 16
	blobTail     = 12
)

// slot says where a package's header stands.
type slot struct{ index, block, blocks uint32 }

// readNDB reads the headers in the order of their blocks.
func readNDB(d Database, faults *Faults, do func([]byte)) error {
	r := pages.New(d.File, d.Size)
	slots, err := slotsOf(r, faults)
	if err != nil {
		return err
	}
	slices.SortFunc(slots, func(a, b slot) int { return cmp.Or(cmp.Compare(a.block, b.block), cmp.Compare(a.index, b.index)) })
	var buf []byte
	left := d.Size
	for _, s := range slots {
		// Packages do not share blocks, so they are no larger than the file together.
		if left -= int64(s.blocks) * blockSize; left < 0 {
			return errors.New("packages overlap: together they are larger than the file")
		}
		blob, err := s.read(r, &buf)
		if err != nil {
			faults.Add(fmt.Errorf("header %d: %w", s.index, err))
			continue
		}
		do(blob)
	}
	return nil
}

// slotsOf reads the slots that are in use.
func slotsOf(r *pages.Reader, faults *Faults) (slots []slot, err error) {
	head, err := r.Bytes(0, 2*slotSize)
	if err != nil {
		return nil, err
	}
	version, count := binary.LittleEndian.Uint32(head[4:]), binary.LittleEndian.Uint32(head[12:])
	if version != 0 || count == 0 || count > maxSlotPages {
		return nil, fmt.Errorf("the first bytes say version %d with %d pages of slots", version, count)
	}
	for off := int64(2 * slotSize); off < int64(count)*slotPage; off += slotSize {
		b, err := r.Bytes(off, slotSize)
		if err != nil {
			return slots, fmt.Errorf("slots: %w", err)
		}
		s := slot{binary.LittleEndian.Uint32(b[4:]), binary.LittleEndian.Uint32(b[8:]), binary.LittleEndian.Uint32(b[12:])}
		switch {
		case !bytes.HasPrefix(b, []byte("Slot")):
			faults.Add(fmt.Errorf("at %d: not a slot", off))
		case s.index != 0 && s.block != 0:
			slots = append(slots, s)
		}
	}
	return slots, nil
}

// read gives the header that a slot names: between a head and a tail that
// both say how long it is.
func (s slot) read(r *pages.Reader, buf *[]byte) ([]byte, error) {
	size := int64(s.blocks) * blockSize
	if size < blobHead+blobTail || size > maxHeader {
		return nil, fmt.Errorf("%d bytes: too small or too large", size)
	}
	*buf = slices.Grow((*buf)[:0], int(size))[:size]
	b := *buf
	if err := r.ReadAt(b, int64(s.block)*blockSize); err != nil {
		return nil, err
	}
	length, tail := int64(binary.LittleEndian.Uint32(b[12:])), b[size-blobTail:]
	switch {
	case !bytes.HasPrefix(b, []byte("BlbS")) || binary.LittleEndian.Uint32(b[4:]) != s.index:
		return nil, fmt.Errorf("at %d: not the head of this package", int64(s.block)*blockSize)
	case length > size-blobHead-blobTail || int64(binary.LittleEndian.Uint32(tail[4:])) != length || !bytes.HasSuffix(tail, []byte("BlbE")):
		return nil, fmt.Errorf("at %d: head and tail disagree", int64(s.block)*blockSize)
	case binary.LittleEndian.Uint32(tail) != adler32.Checksum(b[:size-blobTail]):
		return nil, fmt.Errorf("at %d: the checksum is not that of the bytes", int64(s.block)*blockSize)
	}
	return b[blobHead:][:length], nil
}
