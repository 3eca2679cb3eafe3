// Package wire has texts and numbers as the project's own files have them: texts are their
// length and their bytes, numbers are uvarints, lists their length and their members.
package wire

import "encoding/binary"

func AppendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

func AppendTexts(b []byte, list []string) []byte {
	b = binary.AppendUvarint(b, uint64(len(list)))
	for _, s := range list {
		b = AppendText(b, s)
	}
	return b
}

// Input takes texts and numbers off a string; Bad once that failed.
type Input struct {
	Rest string
	Bad  bool
}

func (in *Input) Number() uint64 {
	var n uint64
	for i := 0; i < len(in.Rest) && i < binary.MaxVarintLen64; i++ {
		c := in.Rest[i]
		n |= uint64(c&0x7f) << (7 * i)
		if c < 0x80 {
			in.Rest = in.Rest[i+1:]
			return n
		}
	}
	in.fail()
	return 0
}

func (in *Input) Text() string {
	n := in.Number()
	if n > uint64(len(in.Rest)) {
		in.fail()
		return ""
	}
	s := in.Rest[:n]
	in.Rest = in.Rest[n:]
	return s
}

// Count is the length of a list, each of whose members has at least a byte.
func (in *Input) Count() int {
	n := in.Number()
	if n > uint64(len(in.Rest)) {
		in.fail()
		return 0
	}
	return int(n)
}

// Texts appends a list to what it is given.
func (in *Input) Texts(list []string) []string {
	for range in.Count() {
		list = append(list, in.Text())
	}
	return list
}

func (in *Input) fail() { in.Bad, in.Rest = true, "" }
