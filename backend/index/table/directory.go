package table

import (
	"encoding/binary"
	"fmt"
)

// The directory: for each table its name, the number of its records and of its
// slots, and the length of its text. The tables lie one after the other. Names
// are their length and their bytes; all numbers are uvarints.

// readDirectory checks that every table lies within the file.
func readDirectory(directory, data string) (map[string]*Table, error) {
	tables := map[string]*Table{}
	for in := (&input{rest: directory}); in.rest != ""; {
		name, count, slots, text := in.text(), in.number(), in.number(), in.number()
		if in.bad {
			return nil, fmt.Errorf("%w: its directory is damaged", ErrFormat)
		}
		if (count == 0) != (slots == 0) || slotSize*slots+text > len(data) {
			return nil, fmt.Errorf("%w: table %s lies outside", ErrFormat, name)
		}
		t := &Table{count: count}
		t.slots, data = data[:slotSize*slots], data[slotSize*slots:]
		t.text, data = data[:text], data[text:]
		tables[name] = t
	}
	return tables, nil
}

// input takes texts and numbers off a text; bad once that failed.
type input struct {
	rest string
	bad  bool
}

func (in *input) number() int {
	n, size := binary.Uvarint([]byte(in.rest[:min(len(in.rest), binary.MaxVarintLen64)]))
	if size <= 0 || n > maxText {
		in.bad, in.rest = true, ""
		return 0
	}
	in.rest = in.rest[size:]
	return int(n)
}

func (in *input) text() string {
	n := in.number()
	if n > len(in.rest) {
		in.bad, in.rest = true, ""
		return ""
	}
	s := in.rest[:n]
	in.rest = in.rest[n:]
	return s
}

func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}
