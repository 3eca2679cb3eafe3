// Package block has what the readers of disk images share: a disk that is read
// where it lies, in pieces, through caches of bounded size.
package block

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math/bits"
	"strings"
)

// Device is a disk or a part of one. ReadAt is safe for concurrent use.
type Device interface {
	io.ReaderAt
	// Size is the length in bytes.
	Size() int64
}

// Opener opens another file that an image names, as a disk in a format that is
// named as QEMU does; empty where it is to be found out.
type Opener func(name, format string) (Device, error)

// ErrDamaged means that an image contradicts itself or was cut short.
var ErrDamaged = errors.New("damaged")

// ErrUnsupported means that an image uses what this version can't read.
var ErrUnsupported = errors.New("not supported")

// Damaged is an ErrDamaged that says what is wrong.
func Damaged(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrDamaged, fmt.Sprintf(format, args...))
}

// UUID is the text of 16 bytes that identify a volume, as fstab and blkid write it.
func UUID(b []byte) string {
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// maxLooks bounds how many blocks of a disk Whole looks for.
const maxLooks = 1 << 18

// Whole refuses an image whose file ends before a block of it begins: it was cut short.
// The blocks of a disk are looked up one after the other, as locate has them.
func Whole(file Device, size, step int64, locate func(off int64) (Run, error)) error {
	for n := int64(0); n < maxLooks && n*step < size; n++ {
		run, err := locate(n * step)
		if err != nil {
			return err
		}
		if run.From == io.ReaderAt(file) && run.At >= file.Size() {
			return Damaged("the image was cut short: what it tells of goes on at %d, and the file has %d bytes; copy it again", run.At, file.Size())
		}
	}
	return nil
}

// Ends has the last bytes looked up, for Whole, of a disk whose blocks are whole in the file.
func Ends(locate func(off int64) (Run, error)) func(off int64) (Run, error) {
	return func(off int64) (Run, error) {
		run, err := locate(off)
		run.At += max(run.Len-1, 0)
		return run, err
	}
}

// Unsupported is an ErrUnsupported that says what can't be read.
func Unsupported(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrUnsupported, fmt.Sprintf(format, args...))
}

// MaxSize bounds the length of a disk that an image may claim, in bytes: more
// than any format's own limit for real disks.
const MaxSize = 1 << 50

// CheckSize is ErrDamaged for a length that no disk has.
func CheckSize(size uint64) error {
	if size == 0 || size > MaxSize {
		return Damaged("a disk of %d bytes", size)
	}
	return nil
}

// Castagnoli is the table of CRC-32C.
var Castagnoli = crc32.MakeTable(crc32.Castagnoli)

// MountIt is what makes a file system's log superfluous.
const MountIt = ": let Linux mount it once, or mount it and give its folder as root"

// PowerIn reports whether a length is a power of two from low to high.
func PowerIn(n, low, high int64) bool { return n >= low && n <= high && n&(n-1) == 0 }

// RefuseFeatures names the incompatible features of a file system that can't be
// read, by their bits.
func RefuseFeatures(features uint64, byBit []string) error {
	var names []string
	for ; features != 0; features &= features - 1 {
		bit := bits.TrailingZeros64(features)
		name := fmt.Sprintf("0x%x", uint64(1)<<bit)
		if bit < len(byBit) && byBit[bit] != "" {
			name = byBit[bit]
		}
		names = append(names, name)
	}
	if names == nil {
		return nil
	}
	return Unsupported("incompatible features %s", strings.Join(names, ", "))
}

// Run is a stretch of a disk that lies in one piece.
type Run struct {
	From io.ReaderAt // nil where the stretch reads as zeros
	At   int64       // where it begins in From
	Len  int64       // bytes, at least 1
}

// Zeros is a run of n zero bytes.
func Zeros(n int64) Run { return Run{Len: n} }

// Under is the run at off of the disk that lies under another and may be
// shorter, or not be there: n bytes of the upper disk are wanted.
func Under(parent Device, off, n int64) Run {
	if parent == nil || off >= parent.Size() {
		return Zeros(n)
	}
	return Run{parent, off, min(n, parent.Size()-off)}
}

// Mapped is a disk that lies in pieces.
type Mapped struct {
	size   int64
	locate func(off int64) (Run, error)
}

// Map makes a disk of size bytes; locate says where the bytes from off on lie,
// and is safe for concurrent use.
func Map(size int64, locate func(off int64) (Run, error)) *Mapped { return &Mapped{size, locate} }

// Size is the length in bytes.
func (m *Mapped) Size() int64 { return m.size }

// ReadAt is as io.ReaderAt has it.
func (m *Mapped) ReadAt(p []byte, off int64) (int, error) {
	if off < 0 {
		return 0, fmt.Errorf("reading at %d: negative offset", off)
	}
	if off >= m.size {
		return 0, io.EOF
	}
	whole := len(p)
	p = p[:min(int64(whole), m.size-off)]
	n, err := Fill(p, off, m.readRun)
	if err == nil && n < whole {
		err = io.EOF
	}
	return n, err
}

// Fill fills p from off on, with as much at a time as next has in one piece.
func Fill(p []byte, off int64, next func(p []byte, off int64) (int, error)) (done int, err error) {
	for done < len(p) && err == nil {
		var n int
		n, err = next(p[done:], off+int64(done))
		done += n
	}
	return done, err
}

// readRun reads as much of p as lies in one piece.
func (m *Mapped) readRun(p []byte, off int64) (int, error) {
	run, err := m.locate(off)
	if err != nil {
		return 0, fmt.Errorf("reading at %d: %w", off, err)
	}
	p = p[:min(int64(len(p)), run.Len)]
	if run.From == nil {
		clear(p)
		return len(p), nil
	}
	return len(p), ReadFull(run.From, p, run.At)
}

// ReadFull fills p from off on; where the bytes end before that it is ErrDamaged.
func ReadFull(r io.ReaderAt, p []byte, off int64) error {
	n, err := r.ReadAt(p, off)
	switch {
	case n == len(p):
		return nil
	case errors.Is(err, io.EOF):
		return Damaged("it ends at %d, before %d", off+int64(n), off+int64(len(p)))
	}
	return err
}

// Read gives n bytes from off on. The caller bounds n.
func Read(r io.ReaderAt, off int64, n int) ([]byte, error) {
	p := make([]byte, n)
	return p, ReadFull(r, p, off)
}

// HasAt reports whether magic stands at off.
func HasAt(r io.ReaderAt, off int64, magic string) bool {
	if off < 0 {
		return false
	}
	b, err := Read(r, off, len(magic))
	return err == nil && string(b) == magic
}

// Section is n bytes of a device from off on. What lies beyond the device's end
// is cut off.
func Section(d Device, off, n int64) Device {
	off = max(0, min(off, d.Size()))
	return io.NewSectionReader(d, off, max(0, min(n, d.Size()-off)))
}
