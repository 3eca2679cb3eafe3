package build

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"svc/backend/index/data"
	"svc/backend/index/table"
	"svc/backend/release"
	"svc/backend/sliced"
)

// ofProgram are rows that are no part of an index file: an overlay can't have them.
var ofProgram = []string{"families.tsv", "family_names.tsv", "rates.tsv"}

// layers are folders of curated rows: those of the program, then an overlay,
// whose rows go before them. An overlay has any of the files.
type layers []fs.FS

// curatedLayers are the program's rows with those of a folder over them.
func curatedLayers(overlay string) (layers, error) {
	own := fs.FS(data.Rows)
	if overlay == "" {
		return layers{own}, nil
	}
	over := os.DirFS(overlay)
	names, err := fs.Glob(over, "*.tsv")
	if err != nil || len(names) == 0 {
		return nil, errors.Join(fmt.Errorf("reading curated rows: %s has no .tsv file", overlay), err)
	}
	known, err := fs.Glob(own, "*.tsv")
	known = slices.DeleteFunc(known, func(name string) bool { return slices.Contains(ofProgram, name) })
	for _, name := range names {
		if !slices.Contains(known, name) {
			return nil, fmt.Errorf("reading curated rows: %s is none of %s", name, strings.Join(known, ", "))
		}
	}
	return layers{own, over}, err
}

// reader reads curated rows. It keeps the first error: what it reads after that may be
// anything, and is of no use.
type reader struct {
	layers
	err error
}

// refuse keeps an error, unless it is none or there was one before.
func (r *reader) refuse(err error) { r.err = cmp.Or(r.err, err) }

// singles reads a file that has one row of each name. What a layer says twice it
// may mean in one way or the other.
func (r *reader) singles(name string, n int) (all [][]string) {
	for _, dir := range r.layers {
		own := r.layer(dir, name, n)
		for i := 1; i < len(own); i++ {
			if own[i][0] == own[i-1][0] {
				r.refuse(fmt.Errorf("%s has more than one row of %q", name, own[i][0]))
			}
		}
		all = append(all, own...)
	}
	return all
}

// rows reads a file in all layers, the overlay's rows last.
func (r *reader) rows(name string, n int) [][]string {
	return sliced.FlatMap(r.layers, func(dir fs.FS) [][]string { return r.layer(dir, name, n) })
}

// layer reads a file of sorted rows of n columns, if the layer has it.
func (r *reader) layer(dir fs.FS, name string, n int) (all [][]string) {
	err := eachRow(dir, name, n, func(_ int, columns []string) { all = append(all, columns) })
	if !errors.Is(err, fs.ErrNotExist) {
		r.refuse(err)
	}
	return all
}

// Rows reads a file of the program's rows, which must be sorted and of n columns.
func Rows(name string, n int) ([][]string, error) {
	r := &reader{layers: layers{data.Rows}}
	return r.rows(name, n), r.err
}

// maxRow bounds a row, in bytes.
const maxRow = 1 << 20

// eachRow gives the rows of a file of sorted rows of n columns with their lines; those that begin with #
// are comments, and a dash is an empty column.
func eachRow(dir fs.FS, name string, n int, take func(line int, columns []string)) error {
	f, err := dir.Open(name)
	if err != nil {
		return fmt.Errorf("opening curated rows: %w", err)
	}
	defer f.Close()
	previous := ""
	s := bufio.NewScanner(f)
	s.Buffer(nil, maxRow)
	for line := 1; s.Scan(); line++ {
		text := s.Text()
		if !utf8.ValidString(text) || strings.HasPrefix(text, "\ufeff") {
			return fmt.Errorf("%s:%d is not UTF-8 without a byte order mark", name, line)
		}
		if text == "" || strings.HasPrefix(text, "#") {
			continue
		}
		columns := strings.Split(text, "\t")
		if len(columns) != n {
			return fmt.Errorf("%s:%d has %d columns, not %d", name, line, len(columns), n)
		}
		if text < previous {
			return fmt.Errorf("%s:%d is not in order", name, line)
		}
		previous = text
		for i, c := range columns {
			if c == "-" {
				columns[i] = ""
			}
		}
		take(line, columns)
	}
	if err := s.Err(); errors.Is(err, bufio.ErrTooLong) {
		return fmt.Errorf("reading %s: a line has more than %d bytes", name, maxRow)
	} else if err != nil {
		return fmt.Errorf("reading %s: %w", name, err)
	}
	return nil
}

// group reads rows whose first column is their key, and stores a JSON array of the rows
// of each key.
func group[T any](w *table.Writer, name string, r *reader, file string, columns int, parse func([]string) (T, error)) {
	groups := map[string][]T{}
	refuse := func(key string, err error) {
		if err != nil {
			r.refuse(fmt.Errorf("%s: row %q: %w", file, key, err))
		}
	}
	for _, c := range r.rows(file, columns) {
		row, err := parse(c)
		refuse(c[0], err)
		groups[c[0]] = append(groups[c[0]], row)
	}
	for key, rows := range groups {
		text, err := json.Marshal(rows)
		refuse(key, err)
		w.Put(name, key, string(text))
	}
}

func known(slug string) error {
	if _, ok := release.Lookup(slug); slug != "" && !ok {
		return fmt.Errorf("release %q is not known", slug)
	}
	return nil
}
