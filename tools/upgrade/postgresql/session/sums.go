package session

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"strconv"

	"svc/tools/upgrade/engine"
	"svc/tools/upgrade/setsum"
)

// heading begins the line before the rows of a relation, which its number
// follows. No row begins so: COPY writes a backslash of the data as two.
const heading = `\= `

var errRows = errors.New("rows without a heading")

// readSums reads rows as COPY writes them, a line each, and gives a sum for each
// heading. A row is never held as a whole: it may have a gigabyte.
func readSums(r io.Reader, n int, so *engine.Reach) ([]setsum.Sum, error) {
	sums, lines, digest := make([]setsum.Sum, n), bufio.NewReaderSize(r, 256<<10), sha256.New()
	at, within := -1, false
	for {
		part, err := lines.ReadSlice('\n')
		so.Bytes.Add(int64(len(part)))
		switch {
		case errors.Is(err, io.EOF) && len(part) == 0 && !within:
			return sums, nil
		case err != nil && !errors.Is(err, bufio.ErrBufferFull):
			return nil, fmt.Errorf("reading rows: %w", err)
		case !within && bytes.HasPrefix(part, []byte(heading)):
			if at, err = strconv.Atoi(string(bytes.TrimSpace(part[len(heading):]))); err != nil || at < 0 || at >= n {
				return nil, errRows
			}
			so.Tables.Add(1)
			continue
		case at < 0:
			return nil, errRows
		}
		digest.Write(part)
		if within = err != nil; !within {
			sums[at].Add([sha256.Size]byte(digest.Sum(nil)))
			digest.Reset()
		}
	}
}
