package advisory

import (
	"bufio"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash"
	"hash/crc32"
	"maps"
	"slices"
	"time"

	"svc/backend/osfile"
	"svc/backend/wire"
)

// writer writes a feed file from front to end; the header, which has the
// digest, comes last.
type writer struct {
	file    *osfile.Pending
	out     *bufio.Writer
	digest  hash.Hash
	offset  uint64
	part    []byte // being made
	entries []entry
	builds  map[string][]string
}

// entry is a package in the table of a section.
type entry struct {
	name  string
	rules extent
}

func newWriter(path string) (*writer, error) {
	f, err := osfile.Create(path, 0o644)
	if err != nil {
		return nil, fmt.Errorf("writing advisories: %w", err)
	}
	w := &writer{file: f, out: bufio.NewWriterSize(f, 256<<10), digest: sha256.New(), offset: uint64(headerSize), builds: map[string][]string{}}
	_, err = w.out.Write(make([]byte, headerSize))
	return w, err
}

// write adds a part and its CRC, and says where it stands.
func (w *writer) write(part []byte) (extent, error) {
	part = binary.LittleEndian.AppendUint32(part, crc32.Checksum(part, castagnoli))
	if len(part) > maxPart {
		return extent{}, fmt.Errorf("a part of the feed has more than %d bytes", maxPart)
	}
	e := extent{w.offset, uint64(len(part))}
	w.offset += e.length
	w.digest.Write(part)
	_, err := w.out.Write(part)
	return e, err
}

func (w *writer) record(r *record) (extent, error) {
	w.part = r.append(w.part[:0])
	return w.write(w.part)
}

// rules writes the rules of one package and notes them for the section's tables.
func (w *writer) rules(name string, rules []*rule) error {
	w.part = w.part[:0]
	for _, r := range rules {
		w.part = r.append(w.part)
		for _, tag := range r.tags() {
			w.builds[tag] = union(w.builds[tag], r.streams)
		}
	}
	e, err := w.write(w.part)
	w.entries = append(w.entries, entry{name, e})
	return err
}

// tables ends a section.
func (w *writer) tables(s *section) (err error) {
	s.names = len(w.entries)
	if s.table, err = w.write(packageTable(w.entries)); err != nil {
		return err
	}
	builds := binary.AppendUvarint(nil, uint64(len(w.builds)))
	for _, tag := range slices.Sorted(maps.Keys(w.builds)) {
		builds = wire.AppendTexts(wire.AppendText(builds, tag), w.builds[tag])
	}
	s.builds, err = w.write(builds)
	w.entries, w.builds = w.entries[:0], map[string][]string{}
	return err
}

func packageTable(entries []entry) []byte {
	b := binary.LittleEndian.AppendUint32(nil, uint32(len(entries)))
	b = append(b, make([]byte, 4*len(entries))...)
	for i, e := range entries {
		binary.LittleEndian.PutUint32(b[4+4*i:], uint32(len(b)))
		b = wire.AppendText(b, e.name)
		b = binary.AppendUvarint(binary.AppendUvarint(b, e.rules.offset), e.rules.length)
	}
	return b
}

// finish writes the directory and the header, and puts the file in its place.
func (w *writer) finish(sections []*section, rejected int, built time.Time) error {
	directory := binary.AppendUvarint(nil, uint64(rejected))
	directory = binary.AppendUvarint(directory, uint64(len(sections)))
	for _, s := range sections {
		directory = s.append(directory)
	}
	at, err := w.write(directory)
	if err != nil {
		return err
	}
	if err := w.out.Flush(); err != nil {
		return err
	}
	if _, err := w.file.WriteAt(w.header(at, built), 0); err != nil {
		return err
	}
	return w.file.CloseAtomicallyReplace()
}

func (w *writer) header(directory extent, built time.Time) []byte {
	h := append(make([]byte, 0, headerSize), magic...)
	h = binary.LittleEndian.AppendUint32(h, format)
	h = binary.LittleEndian.AppendUint64(h, directory.offset)
	h = binary.LittleEndian.AppendUint32(h, uint32(directory.length))
	h = binary.LittleEndian.AppendUint64(h, uint64(built.Unix()))
	h = w.digest.Sum(h)
	return binary.LittleEndian.AppendUint32(h, crc32.Checksum(h, castagnoli))
}

// discard leaves the place of the file as it was.
func (w *writer) discard() error { return w.file.Cleanup() }
