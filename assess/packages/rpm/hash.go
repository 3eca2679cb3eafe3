package rpm

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
	"slices"

	"svc/assess/packages/pages"
)

// The layout of Berkeley DB's hash files, versions 8 and 9, as in its
// dbinc/db_page.h.
const (
	hashMagic    = 0x061561
	pageHeader   = 26
	pageUnsorted = 2 // a hash page, before version 9
	pageOverflow = 7
	pageHash     = 13
	itemData     = 1
	itemOffPage  = 3
)

// hash is a Berkeley DB file.
type hash struct {
	pages    *pages.Reader
	order    binary.ByteOrder
	pageSize int
	last     uint32 // number of the last page
	buckets  uint32
	records  int        // that the file says it has, with rpm's own note
	spares   [32]uint32 // where each doubling of the buckets begins
	left     int64      // bytes of headers that the file can still hold
}

// header is where a package's header stands: on its own chain of pages, or,
// where it is small, beside its key.
type header struct {
	key, page uint32
	size      uint32
	data      []byte
}

// isHash reports whether the first bytes are those of a hash file.
func isHash(head []byte) bool {
	return len(head) == 512 && (binary.LittleEndian.Uint32(head[12:]) == hashMagic || binary.BigEndian.Uint32(head[12:]) == hashMagic)
}

// readHash reads the headers in the order of their pages.
func readHash(d Database, faults *Faults, do func([]byte)) error {
	h, err := openHash(d)
	if err != nil {
		return err
	}
	headers := h.headers(faults)
	if lost := h.records - 1 - len(headers); lost > 0 { // rpm's own note is a record too
		faults.Add(fmt.Errorf("the file counts %d packages, and %d of them can't be found", h.records-1, lost))
	}
	slices.SortFunc(headers, func(a, b header) int { return cmp.Or(cmp.Compare(a.page, b.page), cmp.Compare(a.key, b.key)) })
	buf := make([]byte, 0, largest(headers, d.Size))
	for _, header := range headers {
		blob := header.data
		if blob == nil {
			if buf, err = h.chain(buf[:0], header); err != nil {
				faults.Add(fmt.Errorf("header %d: %w", header.key, err))
				continue
			}
			blob = buf
		}
		do(blob)
	}
	return nil
}

// largest is the size of the largest header that can be one.
func largest(headers []header, size int64) (most uint32) {
	for _, h := range headers {
		if int64(h.size) <= min(maxHeader, size) {
			most = max(most, h.size)
		}
	}
	return most
}

func openHash(d Database) (*hash, error) {
	h := &hash{pages: pages.New(d.File, d.Size), order: binary.LittleEndian, left: d.Size}
	meta, err := h.pages.Bytes(0, 512)
	if err != nil {
		return nil, err
	}
	if h.order.Uint32(meta[12:]) != hashMagic {
		h.order = binary.BigEndian
	}
	h.pageSize, h.last = int(h.order.Uint32(meta[20:])), h.order.Uint32(meta[32:])
	h.buckets, h.records = h.order.Uint32(meta[72:])+1, int(h.order.Uint32(meta[88:]))
	for i := range h.spares {
		h.spares[i] = h.order.Uint32(meta[96+4*i:])
	}
	version := h.order.Uint32(meta[16:])
	switch {
	case version < 7 || version > 9:
		return nil, fmt.Errorf("page 0: version %d of Berkeley DB's hash is not known", version)
	case meta[24] != 0:
		return nil, errors.New("page 0: the file is encrypted")
	case h.pageSize < 512 || h.pageSize > 64<<10 || h.pageSize&(h.pageSize-1) != 0:
		return nil, fmt.Errorf("page 0: a page of %d bytes", h.pageSize)
	}
	return h, nil
}

// page is a page of the file, valid until the next is read.
func (h *hash) page(n uint32) ([]byte, error) {
	p, err := h.pages.Bytes(int64(n)*int64(h.pageSize), h.pageSize)
	if err != nil {
		return nil, fmt.Errorf("page %d: %w", n, err)
	}
	return p, nil
}

// headers finds all headers, bucket by bucket.
func (h *hash) headers(faults *Faults) (found []header) {
	if held := h.pages.Size() / int64(h.pageSize); int64(h.last) >= held {
		faults.Add(fmt.Errorf("the file ends after page %d of %d: it is cut off", held-1, h.last))
		h.last = uint32(max(held, 1) - 1)
	}
	seen := map[uint32]bool{0: true}
	for bucket := range min(h.buckets, h.last) {
		n := bucket + h.spares[min(bits.Len32(bucket), 31)]
		for ; n != 0 && !seen[n]; n = h.bucketPage(n, faults, &found) {
			seen[n] = true
			if len(found) > maxPackages {
				return found
			}
		}
	}
	return found
}

// bucketPage adds the headers that a page of a bucket names, and gives the
// bucket's next page, or 0.
func (h *hash) bucketPage(n uint32, faults *Faults, found *[]header) uint32 {
	p, err := h.page(n)
	if err == nil && p[25] != pageHash && p[25] != pageUnsorted {
		err = fmt.Errorf("page %d: type %d where a hash page is expected", n, p[25])
	}
	if err != nil {
		faults.Add(err)
		return 0
	}
	for i := 0; i+1 < int(h.order.Uint16(p[20:])); i += 2 {
		header, ok, err := h.pair(p, i)
		if err != nil {
			faults.Add(fmt.Errorf("page %d, item %d: %w", n, i, err))
		}
		if ok {
			*found = append(*found, header)
		}
	}
	return h.order.Uint32(p[16:])
}

// pair reads a key and the data beside it. The key 0 is rpm's own note of the
// next free key.
func (h *hash) pair(p []byte, i int) (header, bool, error) {
	key, err := h.item(p, i)
	if err != nil {
		return header{}, false, err
	}
	data, err := h.item(p, i+1)
	if err != nil {
		return header{}, false, err
	}
	if len(key) != 5 || key[0] != itemData {
		return header{}, false, errors.New("a key that is not a number")
	}
	found := header{key: h.order.Uint32(key[1:])}
	switch {
	case found.key == 0:
		return header{}, false, nil
	case data[0] == itemData:
		found.data = slices.Clone(data[1:])
	case data[0] == itemOffPage && len(data) == 12:
		found.page, found.size = h.order.Uint32(data[4:]), h.order.Uint32(data[8:])
	default:
		return header{}, false, fmt.Errorf("an item of type %d", data[0])
	}
	return found, true, nil
}

// item is an item of a page with its type first. Items stand from the end of
// the page to its front.
func (h *hash) item(p []byte, i int) ([]byte, error) {
	if pageHeader+2*(i+1) > len(p) {
		return nil, errors.New("more items than the page has room for")
	}
	end := len(p)
	if i > 0 {
		end = int(h.order.Uint16(p[pageHeader+2*(i-1):]))
	}
	start := int(h.order.Uint16(p[pageHeader+2*i:]))
	if start < pageHeader || start >= end || end > len(p) {
		return nil, fmt.Errorf("from %d to %d on the page", start, end)
	}
	return p[start:end], nil
}

// chain appends a header that stands on pages of its own. All headers together
// are no larger than the file: pages that several chains share end the reading.
func (h *hash) chain(buf []byte, header header) ([]byte, error) {
	h.left -= int64(header.size)
	if header.size > maxHeader || h.left < 0 {
		return buf, fmt.Errorf("%d bytes: too large", header.size)
	}
	n := header.page
	for len(buf) < int(header.size) {
		p, err := h.page(n)
		if err != nil {
			return buf, err
		}
		used := int(h.order.Uint16(p[22:]))
		if p[25] != pageOverflow || used == 0 || used > h.pageSize-pageHeader || used > int(header.size)-len(buf) {
			return buf, fmt.Errorf("page %d: type %d with %d bytes is no part of it, after %d of %d bytes", n, p[25], used, len(buf), header.size)
		}
		buf = append(buf, p[pageHeader:][:used]...)
		n = h.order.Uint32(p[16:])
	}
	return buf, nil
}
