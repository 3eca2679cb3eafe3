package deb

import (
	"bufio"
	"bytes"
	"errors"
	"io"

	"github.com/ulikunitz/xz"
)

// maxWindow is the largest window of xz that is taken, as xz writes it in a byte:
// 128 MiB, twice that of `xz -9`. The reader makes room for what a header claims.
const maxWindow = 30

// maxBlocks is how many blocks an index has at most; a longer one is cut, which the
// reader finds.
const maxBlocks = 1 << 20

var (
	errWindow  = errors.New("its window is larger than 128 MiB")
	errDamaged = errors.New("it is damaged")
)

// newXZ unpacks xz whose windows are bounded.
func newXZ(r io.Reader) (io.Reader, error) {
	return xz.NewReader(&windows{r: bufio.NewReader(r), step: (*windows).stream})
}

// windows passes on what is packed by xz, and looks at each block's header before
// the reader does. What it does not understand it refuses.
type windows struct {
	r      *bufio.Reader
	ready  bytes.Buffer // to be passed on, before left bytes more
	left   int64
	packed int64 // bytes of the block's data, for its padding
	check  int   // bytes of the check after each block
	step   func(*windows) error
}

func (w *windows) Read(p []byte) (int, error) {
	for w.ready.Len() == 0 && w.left == 0 {
		if err := w.step(w); err != nil {
			return 0, err
		}
	}
	if w.ready.Len() > 0 {
		return w.ready.Read(p)
	}
	n, err := w.r.Read(p[:min(int64(len(p)), w.left)])
	w.left -= int64(n)
	return n, err
}

// take reads n bytes and has them passed on.
func (w *windows) take(n int) ([]byte, error) {
	b := make([]byte, n)
	_, err := io.ReadFull(w.r, b)
	w.ready.Write(b)
	return b, err
}

// stream takes the header of a stream, or the four zeros that may stand between.
func (w *windows) stream() error {
	if b, err := w.r.Peek(4); err != nil || string(b) == "\x00\x00\x00\x00" {
		_, err := w.take(len(b))
		if len(b) == 0 || err != nil {
			return io.EOF
		}
		return nil
	}
	b, err := w.take(12)
	if err != nil || !bytes.HasPrefix(b, []byte("\xfd7zXZ\x00\x00")) {
		return errDamaged
	}
	w.check = []int{0, 4, 4, 4, 8, 8, 8, 16, 16, 16, 32, 32, 32, 64, 64, 64}[b[7]&0xf]
	w.step = (*windows).block
	return nil
}

// block takes a block's header, or goes on to the index.
func (w *windows) block() error {
	size, err := w.r.Peek(1)
	if err != nil {
		return errDamaged
	}
	if size[0] == 0 {
		return w.index()
	}
	b, err := w.take(4 * (int(size[0]) + 1))
	if err != nil {
		return errDamaged
	}
	r := bytes.NewReader(b[2:])
	for _, sized := range []byte{0x40, 0x80} {
		if b[1]&sized != 0 {
			number(r)
		}
	}
	for range b[1]&3 + 1 {
		id, n := number(r), number(r)
		props := make([]byte, min(n, uint64(r.Len())))
		if _, err := io.ReadFull(r, props); err != nil || uint64(len(props)) != n {
			return errDamaged
		}
		if id == 0x21 && (n != 1 || props[0] > maxWindow) {
			return errWindow
		}
	}
	w.packed, w.step = 0, (*windows).chunk
	return nil
}

// chunk takes the head of a chunk of LZMA2, and leaves its bytes to be passed on.
func (w *windows) chunk() error {
	control, err := w.r.Peek(1)
	if err != nil {
		return errDamaged
	}
	b, err := w.take(headOf(control[0]))
	switch {
	case err != nil || len(b) == 0:
		return errDamaged
	case b[0] == 0:
		w.packed++
		w.step = (*windows).block
		_, err := w.take(int(-w.packed&3) + w.check)
		return err
	case b[0] < 0x80:
		w.left = int64(b[1])<<8 + int64(b[2]) + 1
	default:
		w.left = int64(b[3])<<8 + int64(b[4]) + 1
	}
	w.packed += int64(len(b)) + w.left
	return nil
}

// headOf is the size of a chunk's head, by its first byte; 0 is none.
func headOf(control byte) int {
	switch {
	case control == 0:
		return 1
	case control < 3:
		return 3
	case control < 0x80:
		return 0
	case control < 0xc0:
		return 5
	}
	return 6
}

// index takes the index and the footer of a stream.
func (w *windows) index() error {
	size := int64(w.ready.Len())
	records := &teed{w}
	_, _ = records.ReadByte()
	for range min(number(records), maxBlocks+1) {
		number(records)
		number(records)
	}
	size = int64(w.ready.Len()) - size
	w.step = (*windows).stream
	_, err := w.take(int(-size&3) + 4 + 12)
	return err
}

// teed are bytes that are passed on.
type teed struct{ w *windows }

func (t *teed) ReadByte() (byte, error) {
	b, err := t.w.take(1)
	return b[0], err
}

// number reads a number of up to nine bytes; what is cut off is found where more
// is needed.
func number(r io.ByteReader) (n uint64) {
	for i := range 9 {
		b, err := r.ReadByte()
		if err != nil {
			return n
		}
		n |= uint64(b&0x7f) << (7 * i)
		if b&0x80 == 0 {
			break
		}
	}
	return n
}
