package advisory

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"slices"
	"sync"
	"time"

	"svc/backend/api"
	"svc/backend/pkgversion"
	"svc/backend/wire"
)

// A feed file holds, after its header, the records of advisories; for each
// release blocks of rules by package, a table of the packages, sorted by name,
// and a table of module builds; and the directory of releases. Everything is
// found by offset and length, and nothing but the directory is read before it
// is asked for.
//
//	magic "SVCADVIS", format u32, directory offset u64 and length u32, built
//	i64 (Unix time), SHA-256 of all that follows the header, CRC of the header
//	so far u32
//
// All fixed numbers are little endian; each part ends in its CRC-32C.
const (
	magic      = "SVCADVIS"
	format     = 1
	headerSize = len(magic) + 4 + 8 + 4 + 8 + sha256.Size + 4
	maxPart    = 256 << 20 // bytes of one part
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// ErrFormat says that a file is no feed or is damaged.
var ErrFormat = errors.New("not an advisory feed of this format")

// extent is where a part of the file is.
type extent struct{ offset, length uint64 }

// section is the advisories of one release.
type section struct {
	release    string
	kind       pkgversion.Kind
	source     bool  // packages are source packages
	advisories int   // of vulnerabilities
	updates    int   // bug fixes and enhancements
	names      int   // packages
	rules      int   // of all packages
	updated    int64 // Unix time of the newest change in the ecosystem
	table      extent
	builds     extent
}

func (s *section) append(b []byte) []byte {
	b = wire.AppendText(wire.AppendText(b, s.release), string(s.kind))
	source := uint64(0)
	if s.source {
		source = 1
	}
	for _, n := range []uint64{
		source, uint64(s.advisories), uint64(s.updates), uint64(s.names), uint64(s.rules), uint64(s.updated),
		s.table.offset, s.table.length, s.builds.offset, s.builds.length,
	} {
		b = binary.AppendUvarint(b, n)
	}
	return b
}

func (s *section) read(in *wire.Input) {
	s.release, s.kind, s.source = in.Text(), pkgversion.Kind(in.Text()), in.Number() == 1
	for _, n := range []*int{&s.advisories, &s.updates, &s.names, &s.rules} {
		*n = int(in.Number())
	}
	s.updated = int64(in.Number())
	for _, n := range []*uint64{&s.table.offset, &s.table.length, &s.builds.offset, &s.builds.length} {
		*n = in.Number()
	}
}

// Feed is an open feed. It is safe for concurrent use. The file may be replaced
// by another, but not changed.
type Feed struct {
	file     io.ReaderAt
	close    func() error
	size     int64
	digest   [sha256.Size]byte
	built    time.Time
	rejected int
	sections map[string]*openSection
}

// openSection is a section whose tables are read when they are first needed.
type openSection struct {
	section
	table  func() (string, error)
	builds func() (map[string][]string, error)
}

// Open opens a feed file. What it holds is read, and checked, when it is asked
// for.
func Open(path string) (*Feed, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("opening advisories: %w", err)
	}
	info, err := f.Stat()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("opening advisories: %w", err), f.Close())
	}
	feed, err := newFeed(f, info.Size())
	if err != nil {
		return nil, errors.Join(fmt.Errorf("opening advisories %s: %w", path, err), f.Close())
	}
	feed.close = f.Close
	return feed, nil
}

// openCopy opens a copy of a feed file, a file without a name, once all of it
// is checked.
func openCopy(path string) (*Feed, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("opening advisories: %w", err)
	}
	defer f.Close()
	own, err := os.CreateTemp("", "svc-advisories-")
	if err != nil {
		return nil, fmt.Errorf("copying advisories: %w", err)
	}
	size, err := io.Copy(own, f)
	if err = errors.Join(err, os.Remove(own.Name())); err != nil {
		return nil, errors.Join(fmt.Errorf("copying advisories: %w", err), own.Close())
	}
	feed, err := newFeed(own, size)
	if err == nil {
		err = feed.verify()
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("opening advisories %s: %w", path, err), own.Close())
	}
	feed.close = own.Close
	return feed, nil
}

// newFeed reads the header and the directory.
func newFeed(file io.ReaderAt, size int64) (*Feed, error) {
	f := &Feed{file: file, size: size, close: func() error { return nil }, sections: map[string]*openSection{}}
	head := make([]byte, headerSize)
	if _, err := file.ReadAt(head, 0); err != nil || string(head[:len(magic)]) != magic {
		return nil, fmt.Errorf("%w: it does not begin with %q", ErrFormat, magic)
	}
	sum := headerSize - 4
	if crc32.Checksum(head[:sum], castagnoli) != binary.LittleEndian.Uint32(head[sum:]) {
		return nil, fmt.Errorf("%w: its header is damaged", ErrFormat)
	}
	h := head[len(magic):]
	if v := binary.LittleEndian.Uint32(h); v != format {
		return nil, fmt.Errorf("%w: it has version %d, this program reads %d: svc admin advisories build makes it anew", ErrFormat, v, format)
	}
	directory := extent{binary.LittleEndian.Uint64(h[4:]), uint64(binary.LittleEndian.Uint32(h[12:]))}
	f.built = time.Unix(int64(binary.LittleEndian.Uint64(h[16:])), 0)
	f.digest = [sha256.Size]byte(h[24:])
	text, err := f.part(directory, new([]byte))
	if err != nil {
		return nil, fmt.Errorf("its directory: %w", err)
	}
	return f, f.readDirectory(text)
}

func (f *Feed) readDirectory(text string) error {
	in := &wire.Input{Rest: text}
	f.rejected = int(in.Number())
	for range in.Count() {
		s := &openSection{}
		s.read(in)
		s.table = sync.OnceValues(func() (string, error) { return f.part(s.section.table, new([]byte)) })
		s.builds = sync.OnceValues(func() (map[string][]string, error) { return f.readBuilds(s.section.builds) })
		f.sections[s.release] = s
	}
	if in.Bad || in.Rest != "" {
		return fmt.Errorf("%w: its directory is damaged", ErrFormat)
	}
	return nil
}

// part reads a part of the file, by way of a buffer that is used again, and
// checks it.
func (f *Feed) part(e extent, buffer *[]byte) (string, error) {
	if e.length < 4 || e.length > maxPart || e.offset > uint64(f.size) || e.length > uint64(f.size)-e.offset {
		return "", fmt.Errorf("%w: it is cut off", ErrFormat)
	}
	b := slices.Grow((*buffer)[:0], int(e.length))[:e.length]
	*buffer = b
	if _, err := f.file.ReadAt(b, int64(e.offset)); err != nil {
		return "", fmt.Errorf("reading advisories: %w", err)
	}
	end := len(b) - 4
	if crc32.Checksum(b[:end], castagnoli) != binary.LittleEndian.Uint32(b[end:]) {
		return "", fmt.Errorf("%w: it is damaged at %d", ErrFormat, e.offset)
	}
	return string(b[:end]), nil
}

func (f *Feed) readBuilds(e extent) (map[string][]string, error) {
	text, err := f.part(e, new([]byte))
	if err != nil {
		return nil, err
	}
	in := &wire.Input{Rest: text}
	builds := map[string][]string{}
	for range in.Count() {
		tag := in.Text()
		builds[tag] = in.Texts(nil)
	}
	if in.Bad {
		return nil, fmt.Errorf("%w: its table of modules is damaged", ErrFormat)
	}
	return builds, nil
}

// rules are the rules of a package, as they stand in the file; "" for a
// package without any.
func (f *Feed) rules(s *openSection, name string, buffer *[]byte) (string, error) {
	table, err := s.table()
	if err != nil {
		return "", err
	}
	e, ok := lookup(table, name)
	if !ok {
		return "", nil
	}
	return f.part(e, buffer)
}

// The table of packages: their number u32, the place of each entry u32, the
// entries: name, offset, length.

// lookup finds a package by binary search in the text of a table.
func lookup(table, name string) (extent, bool) {
	n := int(u32(table, 0))
	for low, high := 0, n; low < high; {
		middle := int(uint(low+high) >> 1)
		at := int(u32(table, 4+4*middle))
		if at > len(table) {
			return extent{}, false
		}
		in := wire.Input{Rest: table[at:]}
		switch key := in.Text(); {
		case key == name:
			e := extent{in.Number(), in.Number()}
			return e, !in.Bad
		case key < name:
			low = middle + 1
		default:
			high = middle
		}
	}
	return extent{}, false
}

// u32 is a number of a table, 0 outside of it.
func u32(s string, at int) uint32 {
	if at+4 > len(s) {
		return 0
	}
	return uint32(s[at]) | uint32(s[at+1])<<8 | uint32(s[at+2])<<16 | uint32(s[at+3])<<24
}

// record reads what is kept of an advisory.
func (f *Feed) record(e extent, buffer *[]byte) (record, error) {
	text, err := f.part(e, buffer)
	if err != nil {
		return record{}, err
	}
	in := &wire.Input{Rest: text}
	var r record
	if r.read(in); in.Bad {
		return record{}, fmt.Errorf("%w: the advisory at %d is damaged", ErrFormat, e.offset)
	}
	return r, nil
}

// stale are the releases whose newest advisory is older than a week, sorted.
func (f *Feed) stale(now time.Time) (releases []string) {
	for _, s := range f.sections {
		if now.Sub(time.Unix(s.updated, 0)) > api.StaleAfter {
			releases = append(releases, s.release)
		}
	}
	slices.Sort(releases)
	return releases
}

// Version is the beginning of the SHA-256 of the content, 16 hex characters.
func (f *Feed) Version() string { return hex.EncodeToString(f.digest[:])[:16] }

// Close closes the file.
func (f *Feed) Close() error { return f.close() }

// verify reads the whole file and compares its digest.
func (f *Feed) verify() error {
	h := sha256.New()
	if _, err := io.Copy(h, io.NewSectionReader(f.file, int64(headerSize), f.size-int64(headerSize))); err != nil {
		return fmt.Errorf("reading advisories: %w", err)
	}
	if !bytes.Equal(h.Sum(nil), f.digest[:]) {
		return fmt.Errorf("%w: its digest is not that of its content", ErrFormat)
	}
	return nil
}

// Stats is what a feed holds.
type Stats struct {
	Version  string                  `json:"version"`
	Bytes    int64                   `json:"bytes"`
	BuiltAt  string                  `json:"built_at"`
	Rejected int                     `json:"rejected"`
	Releases map[string]ReleaseStats `json:"releases"`
}

// ReadStats checks a whole feed file and counts what it holds.
func ReadStats(path string) (*Stats, error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if err := f.verify(); err != nil {
		return nil, err
	}
	s := &Stats{Version: f.Version(), Bytes: f.size, BuiltAt: stamp(f.built), Rejected: f.rejected, Releases: map[string]ReleaseStats{}}
	for name, section := range f.sections {
		s.Releases[name] = section.stats()
	}
	return s, nil
}

func (s *section) stats() ReleaseStats {
	return ReleaseStats{s.advisories, s.updates, s.names, s.rules, stamp(time.Unix(s.updated, 0))}
}
