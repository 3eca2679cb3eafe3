package inodetest

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"testing"

	"github.com/matryer/is"

	"svc/assess/disk/inode"
)

const pageSize = 4096

// Sparse is a device in memory, of which only the pages are kept that aren't zeros.
type Sparse struct {
	pages map[int64][]byte // by number
	order []int64          // their numbers
	size  int64
	Read  int64 // bytes, so far
}

// Size is the length in bytes.
func (s *Sparse) Size() int64 { return s.size }

// ReadAt is as io.ReaderAt has it.
func (s *Sparse) ReadAt(p []byte, off int64) (int, error) {
	if off < 0 || off >= s.size {
		return 0, io.EOF
	}
	n := int(min(int64(len(p)), s.size-off))
	s.Read += int64(n)
	clear(p[:n])
	for done := 0; done < n; {
		at := off + int64(done)
		part := p[done:min(n, done+pageSize-int(at%pageSize))]
		if page := s.pages[at/pageSize]; page != nil {
			copy(part, page[at%pageSize:])
		}
		done += len(part)
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// Patch is a change of two bytes: the page, counted among those that are kept,
// and the place in it.
func Patch(page, place, value uint16) []byte {
	return binary.LittleEndian.AppendUint16(binary.LittleEndian.AppendUint16(binary.LittleEndian.AppendUint16(nil, page), place), value)
}

// Patched is the device with some patches. Seal is called with each page that
// has changed, and where it lies, to write its checksum again.
func (s *Sparse) Patched(patches []byte, seal func(page []byte, at int64)) *Sparse {
	changed := &Sparse{pages: maps.Clone(s.pages), size: s.size, order: s.order}
	fresh := map[int64]bool{}
	for ; len(patches) >= 6; patches = patches[6:] {
		number := s.order[int(binary.LittleEndian.Uint16(patches))%len(s.order)]
		if !fresh[number] {
			fresh[number], changed.pages[number] = true, bytes.Clone(s.pages[number])
		}
		at := int(binary.LittleEndian.Uint16(patches[2:])) % (pageSize - 1)
		copy(changed.pages[number][at:], patches[4:6])
	}
	for number := range fresh {
		seal(changed.pages[number], number*pageSize)
	}
	return changed
}

// PageOf is the number, among those that are kept, of the page at a byte.
func (s *Sparse) PageOf(at int64) uint16 {
	i, _ := slices.BinarySearch(s.order, at/pageSize)
	return uint16(i)
}

// Pages visits all pages that are kept.
func (s *Sparse) Pages(visit func(number uint16, page []byte)) {
	for i, number := range s.order {
		visit(uint16(i), s.pages[number])
	}
}

// Pack writes an image's pages that aren't zeros to a file.
func Pack(t testing.TB, image, packed string) {
	t.Helper()
	is := is.New(t)
	from, err := os.Open(image)
	is.NoErr(err)
	defer from.Close()
	info, err := from.Stat()
	is.NoErr(err)
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	is.NoErr(err)
	is.NoErr(binary.Write(w, binary.LittleEndian, info.Size()))
	page := make([]byte, pageSize)
	for number := range info.Size() / pageSize {
		_, err := from.ReadAt(page, number*pageSize)
		is.NoErr(err)
		if !bytes.Equal(page, make([]byte, pageSize)) {
			is.NoErr(binary.Write(w, binary.LittleEndian, number))
			_, err := w.Write(page)
			is.NoErr(err)
		}
	}
	is.NoErr(w.Close())
	is.NoErr(os.WriteFile(packed, b.Bytes(), 0o644))
}

// Unpack reads what Pack wrote.
func Unpack(t testing.TB, packed string) *Sparse {
	t.Helper()
	is := is.New(t)
	f, err := os.Open(packed)
	is.NoErr(err)
	defer f.Close()
	r, err := gzip.NewReader(f)
	is.NoErr(err)
	s := &Sparse{pages: map[int64][]byte{}}
	is.NoErr(binary.Read(r, binary.LittleEndian, &s.size))
	for {
		var number int64
		if err := binary.Read(r, binary.LittleEndian, &number); err == io.EOF {
			return s
		}
		page := make([]byte, pageSize)
		_, err := io.ReadFull(r, page)
		is.NoErr(err)
		s.pages[number], s.order = page, append(s.order, number)
	}
}

// Explore reads a bit of everything, of at most budget files.
func Explore(f inode.FS, name string, budget *int) {
	if *budget--; *budget < 0 {
		return
	}
	_, _ = f.Lstat(name)
	_, _ = f.ReadLink(name)
	_, _ = f.Attributes(name)
	if opened, err := f.Open(name); err == nil {
		exploreFile(opened)
	}
	entries, _ := f.ReadDir(name)
	for _, e := range entries {
		_, _ = e.Info()
		Explore(f, path.Join(name, e.Name()), budget)
	}
}

func exploreFile(f fs.File) {
	info, _ := f.Stat()
	b := make([]byte, 70_000)
	for _, at := range []int64{0, info.Size() / 2, info.Size() - 1} {
		_, _ = f.(io.ReaderAt).ReadAt(b, max(at, 0))
	}
}
