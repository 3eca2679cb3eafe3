package pristine

import (
	"archive/tar"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"strconv"
	"strings"

	"svc/backend/index/deb"
	"svc/backend/pkgversion"
)

// Bounds of what is read of a package.
const (
	maxUnpacked = 16 << 30 // bytes
	maxEntries  = 500_000  // files
	maxHeader   = 64 << 20 // bytes of an rpm's header
	maxText     = 1 << 20  // bytes of a file that is wanted
	maxKept     = 32 << 20 // bytes of all files of a package that are kept, and of what keeping them takes
	perFile     = 256      // bytes that keeping a file takes beside its name and its text
	maxName     = 4096
)

// unpack gives a file of a package, where it has that, and those below /etc that
// stand before it.
func unpack(ctx context.Context, kind pkgversion.Kind, file, wanted string) (contents, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	p := payload{wanted: wanted, files: contents{}}
	if kind == pkgversion.RPM {
		err = p.rpm(ctx, f)
	} else {
		err = p.deb(ctx, f)
	}
	if errors.Is(err, errFound) {
		err = nil
	}
	return p.files, err
}

// errFound says that what is wanted was found: the rest need not be unpacked.
var errFound = errors.New("found")

// payload is what a package has in it. The libraries that read packages make room
// for whatever size a header claims.
type payload struct {
	wanted  string
	files   contents
	entries int
	kept    int64
}

// take keeps a file that is wanted.
func (p *payload) take(name string, size int64, r io.Reader) error {
	if p.entries++; p.entries > maxEntries {
		return fmt.Errorf("it has more than %d files", maxEntries)
	}
	name = path.Clean("/" + name)
	if size < 0 || size > maxText || name != p.wanted && !strings.HasPrefix(name, "/etc/") {
		return nil
	}
	if p.kept += size + int64(len(name)) + perFile; p.kept > maxKept {
		return fmt.Errorf("its files below /etc take more than %d bytes", maxKept)
	}
	text := make([]byte, size)
	switch _, err := io.ReadFull(r, text); {
	case errors.Is(err, io.EOF):
		return io.ErrUnexpectedEOF
	case err != nil:
		return err
	}
	if p.files[name] = text; name == p.wanted {
		return errFound
	}
	return nil
}

// errNoPackage says that a file is not what its name says.
var errNoPackage = errors.New("it is no package, or a damaged one")

// deb reads the data of a package of Debian: a member of an archive of ar.
func (p *payload) deb(ctx context.Context, r io.Reader) error {
	magic := make([]byte, 8)
	if _, err := io.ReadFull(r, magic); err != nil || string(magic) != "!<arch>\n" {
		return errNoPackage
	}
	for {
		head := make([]byte, 60)
		if _, err := io.ReadFull(r, head); err != nil {
			return errNoPackage
		}
		name := strings.TrimRight(strings.TrimSpace(string(head[:16])), "/")
		size, err := strconv.ParseInt(strings.TrimSpace(string(head[48:58])), 10, 64)
		if err != nil || size < 0 {
			return errNoPackage
		}
		member := io.LimitReader(r, size)
		if strings.HasPrefix(name, "data.tar") {
			return p.tar(ctx, member, path.Ext(name))
		}
		if n, err := io.Copy(io.Discard, io.LimitReader(r, size+size%2)); err != nil || n != size+size%2 {
			return errNoPackage
		}
	}
}

func (p *payload) tar(ctx context.Context, packed io.Reader, ending string) error {
	r, err := deb.Unpack(packed, ending)
	if err != nil {
		return fmt.Errorf("unpacking it: %w", err)
	}
	for t := tar.NewReader(deb.Bounded(ctx, r, maxUnpacked)); ; {
		entry, err := t.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil && entry.Typeflag == tar.TypeReg {
			err = p.take(entry.Name, entry.Size, t)
		}
		if err != nil {
			return fmt.Errorf("unpacking it: %w", err)
		}
	}
}

// rpmCompressor is the tag of an rpm's header that names how the payload is packed.
const rpmCompressor = 1125

// rpmEndings are the endings of files that are packed as rpm says.
var rpmEndings = map[string]string{"": ".gz", "gzip": ".gz", "xz": ".xz", "bzip2": ".bz2", "zstd": ".zst"}

// rpm reads the payload of an rpm: lead, signature, header, and an archive of cpio.
func (p *payload) rpm(ctx context.Context, r io.Reader) error {
	lead := make([]byte, 96)
	if _, err := io.ReadFull(r, lead); err != nil || !bytes.HasPrefix(lead, []byte{0xed, 0xab, 0xee, 0xdb}) {
		return errNoPackage
	}
	if _, err := rpmHeader(r, true); err != nil {
		return err
	}
	compressor, err := rpmHeader(r, false)
	if err != nil {
		return err
	}
	ending, ok := rpmEndings[compressor]
	if !ok {
		return fmt.Errorf("its payload is packed by %.20q, which is not known", compressor)
	}
	unpacked, err := deb.Unpack(r, ending)
	if err != nil {
		return fmt.Errorf("unpacking it: %w", err)
	}
	if err := p.cpio(deb.Bounded(ctx, unpacked, maxUnpacked)); err != nil {
		return fmt.Errorf("unpacking it: %w", err)
	}
	return nil
}

// rpmHeader reads a header, of which only the payload's compressor counts. That
// of a signature is filled up to eight bytes.
func rpmHeader(r io.Reader, fill bool) (compressor string, err error) {
	intro := make([]byte, 16)
	if _, err := io.ReadFull(r, intro); err != nil || !bytes.HasPrefix(intro, []byte{0x8e, 0xad, 0xe8, 1}) {
		return "", errNoPackage
	}
	tags, size := int64(binary.BigEndian.Uint32(intro[8:])), int64(binary.BigEndian.Uint32(intro[12:]))
	whole := 16*tags + size
	if whole > maxHeader {
		return "", fmt.Errorf("its header has more than %d bytes", maxHeader)
	}
	if fill {
		whole += (8 - size%8) % 8
	}
	header := make([]byte, whole)
	if _, err := io.ReadFull(r, header); err != nil {
		return "", errNoPackage
	}
	data := header[16*tags:]
	for i := range tags {
		tag := header[16*i:]
		offset := int64(binary.BigEndian.Uint32(tag[8:]))
		if binary.BigEndian.Uint32(tag) == rpmCompressor && offset < int64(len(data)) {
			name, _, _ := bytes.Cut(data[offset:], []byte{0})
			return string(name), nil
		}
	}
	return "", nil
}

// cpio reads an archive of cpio in its "new ASCII" form.
func (p *payload) cpio(r io.Reader) error {
	for {
		head := make([]byte, 110)
		if _, err := io.ReadFull(r, head); err != nil || string(head[:5]) != "07070" || head[5] != '1' && head[5] != '2' {
			return errNoPackage
		}
		field := func(i int) int64 {
			n, err := strconv.ParseUint(string(head[6+8*i:14+8*i]), 16, 32)
			if err != nil {
				return -1
			}
			return int64(n)
		}
		mode, size, length := field(1), field(6), field(11)
		if mode < 0 || size < 0 || length < 1 || length > maxName {
			return errNoPackage
		}
		name := make([]byte, length+(4-(110+length)%4)%4)
		if _, err := io.ReadFull(r, name); err != nil {
			return errNoPackage
		}
		file := string(name[:length-1])
		if file == "TRAILER!!!" {
			return nil
		}
		body := io.LimitReader(r, size+(4-size%4)%4)
		if mode&0o170000 == 0o100000 {
			if err := p.take(file, size, body); err != nil {
				return err
			}
		}
		if _, err := io.Copy(io.Discard, body); err != nil {
			return err
		}
	}
}
