package sqlite

import (
	"encoding/binary"
	"maps"

	"svc/assess/packages/pages"
)

// The layout of a write-ahead log: a header, then frames of a header and a page.
const (
	logHeader   = 32
	frameHeader = 24
	logMagic    = 0x377f0682 // the lowest bit says the byte order of checksums
)

// log is a write-ahead log: the newest committed copy of the pages in it.
type log struct {
	file     *pages.Reader
	pageSize int
	at       map[uint32]int64
}

// openLog reads the frames up to the last commit whose checksum holds, as SQLite
// does: what follows was never finished, or is of an earlier round.
func openLog(file *pages.Reader, pageSize int) (*log, error) {
	l := &log{file: file, pageSize: pageSize, at: map[uint32]int64{}}
	if file.Size() < logHeader {
		return l, nil // made, and never written
	}
	head, err := file.Bytes(0, logHeader)
	if err != nil {
		return nil, err
	}
	sum := newChecksum(head)
	if sum == nil || !sum.matches(head[:24], head[24:]) || int(binary.BigEndian.Uint32(head[8:])) != pageSize {
		return l, nil
	}
	salt := [8]byte(head[16:24])
	return l, l.frames(sum, salt)
}

// frames collects where the pages of whole transactions stand.
func (l *log) frames(sum *checksum, salt [8]byte) error {
	pending := map[uint32]int64{}
	size := frameHeader + l.pageSize
	for off := int64(logHeader); off+int64(size) <= l.file.Size(); off += int64(size) {
		frame, err := l.file.Bytes(off, size)
		if err != nil {
			return err
		}
		sum.add(frame[:8])
		if [8]byte(frame[8:16]) != salt || !sum.matches(frame[frameHeader:], frame[16:]) {
			return nil
		}
		pending[binary.BigEndian.Uint32(frame)] = off + frameHeader
		if binary.BigEndian.Uint32(frame[4:]) == 0 {
			continue
		}
		maps.Copy(l.at, pending)
		clear(pending)
	}
	return nil
}

// page is the log's copy of a page, if it has one.
func (l *log) page(n uint32) ([]byte, bool, error) {
	if l == nil {
		return nil, false, nil
	}
	at, ok := l.at[n]
	if !ok {
		return nil, false, nil
	}
	p, err := l.file.Bytes(at, l.pageSize)
	return p, true, err
}

// checksum is the running sum over a log.
type checksum struct {
	order  binary.ByteOrder
	s0, s1 uint32
}

// newChecksum is the sum that a log's header calls for, or nil where that is no
// log's.
func newChecksum(head []byte) *checksum {
	switch binary.BigEndian.Uint32(head) {
	case logMagic:
		return &checksum{order: binary.LittleEndian}
	case logMagic | 1:
		return &checksum{order: binary.BigEndian}
	}
	return nil
}

func (c *checksum) add(b []byte) {
	for ; len(b) >= 8; b = b[8:] {
		c.s0 += c.order.Uint32(b) + c.s1
		c.s1 += c.order.Uint32(b[4:]) + c.s0
	}
}

// matches adds bytes, and reports whether the sum is now the one that was written.
func (c *checksum) matches(b, written []byte) bool {
	c.add(b)
	return c.s0 == binary.BigEndian.Uint32(written) && c.s1 == binary.BigEndian.Uint32(written[4:])
}
