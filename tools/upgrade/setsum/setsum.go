// Package setsum stands for a set by the sum of its members' digests, in any order.
package setsum

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
)

// Sum stands for a set, such as the rows of a table: how many there are, and the
// sum of their digests, in whatever order they come.
type Sum struct {
	Count int64
	words [4]uint64
}

// Add takes a digest in.
func (s *Sum) Add(digest [sha256.Size]byte) {
	s.Count++
	for i := range s.words {
		s.words[i] += binary.LittleEndian.Uint64(digest[8*i:])
	}
}

func (s *Sum) String() string {
	b := []byte{}
	for _, w := range s.words {
		b = binary.BigEndian.AppendUint64(b, w)
	}
	return fmt.Sprintf("%d, digest %s", s.Count, hex.EncodeToString(b)[:32])
}
