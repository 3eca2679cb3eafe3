package xfs

import (
	"fmt"
	"io"
	"sort"

	"svc/assess/disk/block"
)

// The log is a ring of basic blocks, in records that begin with a header. Each
// block begins with the number of the round through the ring that wrote it.
const (
	basicBlock    = 512
	logMagic      = 0xfeedbabe
	logHeaderSpan = 32 << 10 // bytes of a record that one block of header is for
	maxLogRecord  = 256 << 10
	opUnmount     = 0x20 // the flag of the record that a clean shutdown writes
)

// log is the ring.
type log struct {
	device io.ReaderAt
	at     int64 // the byte where it begins
	blocks int64
}

// checkLog refuses a file system whose log has changes that may not be in it.
func (s *super) checkLog(r io.ReaderAt) error {
	if s.logStart == 0 {
		return block.Unsupported("its log is on another device: whether it was shut down cleanly can't be told")
	}
	at, err := s.place(s.logStart, s.logBlocks)
	if err != nil {
		return fmt.Errorf("the log: %w", err)
	}
	l := log{r, at, int64(s.logBlocks) * (s.blockBytes / basicBlock)}
	clean, err := l.clean()
	if err == nil && !clean {
		err = block.Unsupported("its log has changes that may be nowhere else, as the machine was not shut down cleanly%s", block.MountIt)
	}
	return err
}

// clean reports whether the log is empty, or ends with the record of a clean
// shutdown.
func (l log) clean() (bool, error) {
	head, err := l.head()
	if err != nil || head == 0 {
		return err == nil, err
	}
	for back := int64(1); back <= min(maxLogRecord/basicBlock+8, l.blocks); back++ {
		at := (head - back + l.blocks) % l.blocks
		b, err := l.read(at)
		if err != nil {
			return false, err
		}
		if be.Uint32(b) == logMagic {
			return l.unmounts(b, at, back)
		}
	}
	return false, nil
}

// unmounts reports whether the last record, of a number of blocks, is that of a
// clean shutdown.
func (l log) unmounts(header []byte, at, blocks int64) (bool, error) {
	headers := int64(1)
	if size := int64(be.Uint32(header[320:])); be.Uint32(header[8:])&2 != 0 && size > logHeaderSpan {
		headers = (size + logHeaderSpan - 1) / logHeaderSpan
	}
	length := (int64(be.Uint32(header[12:])) + basicBlock - 1) / basicBlock
	if be.Uint32(header[40:]) != 1 || headers+length != blocks {
		return false, nil
	}
	op, err := l.read((at + headers) % l.blocks)
	return err == nil && op[9]&opUnmount != 0, err
}

// head is the block that is written next: the first one of an older round than
// those before it. It is 0 in a log that was never written to.
func (l log) head() (int64, error) {
	first, err := l.cycle(0)
	if err != nil || first == 0 {
		return 0, err
	}
	last, err := l.cycle(l.blocks - 1)
	if err != nil || last == first {
		return l.blocks, err
	}
	head := sort.Search(int(l.blocks-1), func(i int) bool {
		if err != nil {
			return true
		}
		var c uint32
		c, err = l.cycle(int64(i))
		return c != first
	})
	return int64(head), err
}

// cycle is the round in which a block was written.
func (l log) cycle(number int64) (uint32, error) {
	b, err := l.read(number)
	if err != nil {
		return 0, err
	}
	if be.Uint32(b) == logMagic {
		return be.Uint32(b[4:]), nil
	}
	return be.Uint32(b), nil
}

func (l log) read(number int64) ([]byte, error) {
	b, err := block.Read(l.device, l.at+number*basicBlock, basicBlock)
	if err != nil {
		return nil, fmt.Errorf("the log: %w", err)
	}
	return b, nil
}
