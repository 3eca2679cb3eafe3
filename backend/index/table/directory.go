package table

import (
	"encoding/binary"
	"fmt"
)

// The directory: for each table its name, its number of records and of blocks;
// for each block its first key, its length packed and its length. Blocks lie
// one after the other. Texts are their length and their bytes; all numbers are
// uvarints.

// readDirectory checks that every block lies within the file.
func (f *File) readDirectory(directory []byte) (map[string]*Table, error) {
	tables := map[string]*Table{}
	in := &input{rest: directory}
	var offset, number uint64
	for len(in.rest) > 0 && !in.bad {
		name, count, blocks := in.text(), in.number(), in.number()
		t := &Table{file: f, count: int(count), number: int(number)}
		for range blocks {
			if in.bad {
				break
			}
			b := block{first: in.text(), offset: uint32(offset), packed: uint32(in.number()), length: uint32(in.number())}
			offset += uint64(b.packed)
			if b.length > maxBlock || offset > uint64(len(f.blocks)) || offset > 1<<31 {
				return nil, fmt.Errorf("%w: a block of %s lies outside", ErrFormat, name)
			}
			t.blocks = append(t.blocks, b)
			number++
		}
		tables[name] = t
	}
	if in.bad {
		return nil, fmt.Errorf("%w: its directory ends early", ErrFormat)
	}
	f.cache.slots = make([]slot, number)
	return tables, nil
}

// input takes texts and numbers off a byte string; bad once that failed.
type input struct {
	rest []byte
	bad  bool
}

func (in *input) number() uint64 {
	n, size := binary.Uvarint(in.rest)
	if size <= 0 || n > 1<<31 {
		in.bad, in.rest = true, nil
		return 0
	}
	in.rest = in.rest[size:]
	return n
}

func (in *input) text() string {
	n := in.number()
	if n > uint64(len(in.rest)) {
		in.bad, in.rest = true, nil
		return ""
	}
	s := string(in.rest[:n])
	in.rest = in.rest[n:]
	return s
}

func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}
