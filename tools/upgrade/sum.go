package upgrade

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strconv"
)

// sum stands for a set, such as the rows of a table: how many there are, and the
// sum of their digests, in whatever order they come.
type sum struct {
	count int64
	words [4]uint64
}

// add takes a digest in.
func (s *sum) add(digest [sha256.Size]byte) {
	s.count++
	for i := range s.words {
		s.words[i] += binary.LittleEndian.Uint64(digest[8*i:])
	}
}

func (s *sum) String() string {
	b := []byte{}
	for _, w := range s.words {
		b = binary.BigEndian.AppendUint64(b, w)
	}
	return fmt.Sprintf("%d, digest %s", s.count, hex.EncodeToString(b)[:32])
}

// heading begins the line before the rows of a relation, which its number
// follows. No row begins so: COPY writes a backslash of the data as two.
const heading = `\= `

var errRows = errors.New("rows without a heading")

// readSums reads rows as COPY writes them, a line each, and gives a sum for each
// heading. A row is never held as a whole: it may have a gigabyte.
func readSums(r io.Reader, n int, so *reach) ([]sum, error) {
	sums, lines, digest := make([]sum, n), bufio.NewReaderSize(r, 256<<10), sha256.New()
	at, within := -1, false
	for {
		part, err := lines.ReadSlice('\n')
		so.bytes.Add(int64(len(part)))
		switch {
		case errors.Is(err, io.EOF) && len(part) == 0 && !within:
			return sums, nil
		case err != nil && !errors.Is(err, bufio.ErrBufferFull):
			return nil, fmt.Errorf("reading rows: %w", err)
		case !within && bytes.HasPrefix(part, []byte(heading)):
			if at, err = strconv.Atoi(string(bytes.TrimSpace(part[len(heading):]))); err != nil || at < 0 || at >= n {
				return nil, errRows
			}
			so.tables.Add(1)
			continue
		case at < 0:
			return nil, errRows
		}
		digest.Write(part)
		if within = err != nil; !within {
			sums[at].add([sha256.Size]byte(digest.Sum(nil)))
			digest.Reset()
		}
	}
}
