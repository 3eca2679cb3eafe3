package advisory

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"svc/backend/pkgversion"
	"svc/backend/wire"
)

// row is what one advisory says of one package of one release.
type row struct {
	release, name string
	kind          pkgversion.Kind
	source        bool
	modified      int64
	rule          rule
}

func compareRows(a, b row) int {
	return cmp.Or(
		strings.Compare(a.release, b.release), strings.Compare(a.name, b.name), strings.Compare(a.rule.id, b.rule.id),
		strings.Compare(a.rule.line, b.rule.line), slices.CompareFunc(a.rule.spans, b.rule.spans, compareSpans),
		cmp.Compare(a.rule.offset, b.rule.offset),
	)
}

func compareSpans(a, b span) int {
	return cmp.Or(strings.Compare(a.fixed, b.fixed), strings.Compare(a.introduced, b.introduced), strings.Compare(a.last, b.last))
}

// sorter sorts more rows than memory holds: sorted runs go to temporary files,
// and are merged.
type sorter struct {
	rows []row
	size int
	runs []*os.File
}

// weight is about what a row takes in memory.
func (r *row) weight() int {
	n := 400 + len(r.name) + len(r.rule.id)
	for _, s := range r.rule.spans {
		n += 48 + len(s.fixed) + len(s.introduced) + len(s.last)
	}
	for _, v := range r.rule.versions {
		n += 16 + len(v)
	}
	return n
}

func (s *sorter) add(r row) error {
	s.rows = append(s.rows, r)
	if s.size += r.weight(); s.size < maxBuffer {
		return nil
	}
	return s.spill()
}

// spill writes the rows in memory to a file of their own.
func (s *sorter) spill() error {
	f, err := os.CreateTemp("", "svc-advisories-")
	if err != nil {
		return fmt.Errorf("making a temporary file: %w", err)
	}
	s.runs = append(s.runs, f)
	slices.SortFunc(s.rows, compareRows)
	w := bufio.NewWriter(f)
	var b []byte
	for i := range s.rows {
		b = s.rows[i].append(b[:0])
		_, _ = w.Write(binary.AppendUvarint(nil, uint64(len(b)))) // the first error stays with w
		_, _ = w.Write(b)
	}
	clear(s.rows)
	s.rows, s.size = s.rows[:0], 0
	return errors.Join(w.Flush(), rewind(f))
}

func rewind(f *os.File) error {
	_, err := f.Seek(0, io.SeekStart)
	return err
}

func (r *row) append(b []byte) []byte {
	source := uint64(0)
	if r.source {
		source = 1
	}
	b = wire.AppendText(wire.AppendText(wire.AppendText(b, r.release), r.name), string(r.kind))
	b = binary.AppendUvarint(binary.AppendUvarint(b, source), uint64(r.modified))
	return r.rule.append(b)
}

func (r *row) read(in *wire.Input) {
	r.release, r.name, r.kind = in.Text(), in.Text(), pkgversion.Kind(in.Text())
	r.source, r.modified = in.Number() == 1, int64(in.Number())
	r.rule.read(in)
}

// run gives the rows of one file, or of memory, in order.
type run struct {
	rows []row
	file *bufio.Reader
	head row
}

// next moves to the next row; false at the end.
func (r *run) next() (bool, error) {
	if r.file == nil {
		if len(r.rows) == 0 {
			return false, nil
		}
		r.head, r.rows = r.rows[0], r.rows[1:]
		return true, nil
	}
	n, err := binary.ReadUvarint(r.file)
	if errors.Is(err, io.EOF) {
		return false, nil
	}
	b := make([]byte, min(n, maxPart))
	if err == nil {
		_, err = io.ReadFull(r.file, b)
	}
	r.head = row{}
	in := &wire.Input{Rest: string(b)}
	if r.head.read(in); err == nil && in.Bad {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return false, fmt.Errorf("reading a temporary file: %w", err)
	}
	return true, nil
}

// groups calls do with all rows of each package of each release, in order.
func (s *sorter) groups(do func([]row) error) error {
	slices.SortFunc(s.rows, compareRows)
	runs := []*run{{rows: s.rows}}
	for _, f := range s.runs {
		runs = append(runs, &run{file: bufio.NewReader(f)})
	}
	for i := len(runs) - 1; i >= 0; i-- {
		if more, err := runs[i].next(); err != nil {
			return err
		} else if !more {
			runs = slices.Delete(runs, i, i+1)
		}
	}
	var group []row
	for len(runs) > 0 {
		first := slices.MinFunc(runs, func(a, b *run) int { return compareRows(a.head, b.head) })
		if len(group) > 0 && (group[0].name != first.head.name || group[0].release != first.head.release) {
			if err := do(group); err != nil {
				return err
			}
			group = group[:0]
		}
		group = append(group, first.head)
		if more, err := first.next(); err != nil {
			return err
		} else if !more {
			runs = slices.DeleteFunc(runs, func(r *run) bool { return r == first })
		}
	}
	if len(group) == 0 {
		return nil
	}
	return do(group)
}

// close removes the temporary files.
func (s *sorter) close() {
	for _, f := range s.runs {
		_ = f.Close() // what is left of it is removed
		_ = os.Remove(f.Name())
	}
}
