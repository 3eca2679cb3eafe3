package advisory

import "encoding/binary"

// Texts are their length and their bytes, numbers are uvarints, lists their
// length and their members.

func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

func appendTexts(b []byte, list []string) []byte {
	b = binary.AppendUvarint(b, uint64(len(list)))
	for _, s := range list {
		b = appendText(b, s)
	}
	return b
}

// input takes texts and numbers off a string; bad once that failed.
type input struct {
	rest string
	bad  bool
}

func (in *input) number() uint64 {
	var n uint64
	for i := 0; i < len(in.rest) && i < binary.MaxVarintLen64; i++ {
		c := in.rest[i]
		n |= uint64(c&0x7f) << (7 * i)
		if c < 0x80 {
			in.rest = in.rest[i+1:]
			return n
		}
	}
	in.fail()
	return 0
}

func (in *input) text() string {
	n := in.number()
	if n > uint64(len(in.rest)) {
		in.fail()
		return ""
	}
	s := in.rest[:n]
	in.rest = in.rest[n:]
	return s
}

// count is the length of a list, each of whose members has at least a byte.
func (in *input) count() int {
	n := in.number()
	if n > uint64(len(in.rest)) {
		in.fail()
		return 0
	}
	return int(n)
}

// texts appends a list to what it is given.
func (in *input) texts(list []string) []string {
	for range in.count() {
		list = append(list, in.text())
	}
	return list
}

func (in *input) fail() { in.bad, in.rest = true, "" }
