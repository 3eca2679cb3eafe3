package software

import (
	"bytes"
	"encoding/binary"
	"strings"
)

// The words of ELF that say what a program is linked with: parts of a file that are
// loaded, the part that the linker reads, and in it where names stand, which of them are
// of libraries, and which of folders where it looks first.
const (
	partLoaded, partLinker        = 1, 2
	tagEnd, tagNeeded, tagStrings = 0, 1, 5
	tagPath, tagRunPath           = 15, 29
)

// elf is a file of ELF, of 32 or 64 bits. A foreign file may say anything: what leads
// out of it is nothing.
type elf struct {
	b     []byte
	order binary.ByteOrder
	wide  bool
}

// links are the libraries that a file names, and the folders that it names for them.
type links struct {
	names, folders []string
	kind           string // for which processors: a library of another kind is not taken
}

// linkedWith is what a program says of its libraries; nothing where the file is of
// another kind, or broken.
func linkedWith(b []byte) (l links) {
	if l.kind = kindOf(b); l.kind == "" {
		return l
	}
	f := elf{b: b, order: binary.LittleEndian, wide: b[4] == 2}
	if b[5] == 2 {
		f.order = binary.BigEndian
	}
	var needed, paths []uint64
	var table uint64
	for at, end := f.linkerPart(); at < end; at += f.pick(8, 16) {
		tag, ok := f.word(at)
		value, there := f.word(at + f.pick(4, 8))
		if !ok || !there || tag == tagEnd || len(needed) == maxNeeded {
			break
		}
		switch tag {
		case tagNeeded:
			needed = append(needed, value)
		case tagPath, tagRunPath:
			paths = append(paths, value)
		case tagStrings:
			table = value
		}
	}
	for _, n := range needed {
		if name := f.text(table, n); name != "" && !strings.ContainsAny(name, "/\\*?[") {
			l.names = append(l.names, name)
		}
	}
	for _, n := range paths[:min(len(paths), 2)] {
		l.folders = append(l.folders, strings.Split(f.text(table, n), ":")...)
	}
	return l
}

// kindOf is the width of a file of ELF, its order of bytes, and its processor; nothing of
// another file.
func kindOf(b []byte) string {
	if len(b) < headed || !bytes.HasPrefix(b, []byte("\x7fELF")) {
		return ""
	}
	return string(b[4:6]) + string(b[18:20])
}

// headed is how long the part of a file is that says its kind.
const headed = 20

// text is one of the file's short texts, of which a table begins at an address.
func (f elf) text(table, n uint64) string {
	start, ok := f.offset(table)
	if at := start + n; ok && at >= start && at < uint64(len(f.b)) {
		if text, _, whole := bytes.Cut(f.b[at:], []byte{0}); whole && len(text) < 256 {
			return string(text)
		}
	}
	return ""
}

// pick is a number of files of 32 bits, or of 64.
func (f elf) pick(narrow, wide uint64) uint64 {
	if f.wide {
		return wide
	}
	return narrow
}

// word is a number of the file's width.
func (f elf) word(at uint64) (uint64, bool) {
	size := f.pick(4, 8)
	if at > uint64(len(f.b)) || uint64(len(f.b))-at < size {
		return 0, false
	}
	if f.wide {
		return f.order.Uint64(f.b[at:]), true
	}
	return uint64(f.order.Uint32(f.b[at:])), true
}

// part is one of those that the file is loaded by.
type part struct{ kind, offset, address, size uint64 }

func (f elf) parts() (all []part) {
	first, ok := f.word(f.pick(28, 32))
	if counts := f.pick(42, 54); ok && uint64(len(f.b)) >= counts+4 {
		size, n := uint64(f.order.Uint16(f.b[counts:])), int(f.order.Uint16(f.b[counts+2:]))
		for i := range uint64(min(n, 256)) {
			at := first + i*size
			if at < first || at > uint64(len(f.b)) || uint64(len(f.b))-at < f.pick(32, 56) {
				break
			}
			offset, _ := f.word(at + f.pick(4, 8))
			address, _ := f.word(at + f.pick(8, 16))
			length, _ := f.word(at + f.pick(16, 32))
			all = append(all, part{uint64(f.order.Uint32(f.b[at:])), offset, address, length})
		}
	}
	return all
}

// linkerPart is what the linker reads, from and to.
func (f elf) linkerPart() (from, to uint64) {
	for _, p := range f.parts() {
		if p.kind == partLinker && p.offset <= uint64(len(f.b)) {
			return p.offset, p.offset + min(p.size, uint64(len(f.b))-p.offset)
		}
	}
	return 0, 0
}

// offset is where an address of the loaded program stands in the file.
func (f elf) offset(address uint64) (uint64, bool) {
	for _, p := range f.parts() {
		if p.kind == partLoaded && address >= p.address && address-p.address < p.size {
			return p.offset + address - p.address, true
		}
	}
	return 0, false
}
