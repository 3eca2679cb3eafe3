package software

import (
	"bytes"
	"encoding/binary"
)

// The words of ELF that say what a program is linked with: parts of a file that are
// loaded, the part that the linker reads, and in it where names stand and which of them
// are of libraries.
const (
	partLoaded, partLinker        = 1, 2
	tagEnd, tagNeeded, tagStrings = 0, 1, 5
)

// elf is a file of ELF, of 32 or 64 bits. A foreign file may say anything: what leads
// out of it is nothing.
type elf struct {
	b     []byte
	order binary.ByteOrder
	wide  bool
}

// linkedWith are the libraries that a program names; none where the file is of
// another kind, or broken.
func linkedWith(b []byte) (names []string) {
	if len(b) < 20 || !bytes.HasPrefix(b, []byte("\x7fELF")) {
		return nil
	}
	f := elf{b: b, order: binary.LittleEndian, wide: b[4] == 2}
	if b[5] == 2 {
		f.order = binary.BigEndian
	}
	var needed []uint64
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
		case tagStrings:
			table = value
		}
	}
	table, ok := f.offset(table)
	for _, n := range needed {
		if at := table + n; ok && at >= table && at < uint64(len(b)) {
			name, _, whole := bytes.Cut(b[at:], []byte{0})
			if whole && len(name) > 0 && len(name) < 256 && !bytes.ContainsAny(name, "/\\*?[") {
				names = append(names, string(name))
			}
		}
	}
	return names
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
