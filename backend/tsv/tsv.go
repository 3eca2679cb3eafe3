// Package tsv reads the tables of facts that the program holds: a row a line, its cells
// parted by tabs. Lines that begin with # say where the facts are from.
package tsv

import (
	"fmt"
	"iter"
	"strings"
	"sync"
)

// Rows are the rows of a table of n columns. A row of another length is a mistake of the
// program, which its first use finds.
func Rows(text string, n int) iter.Seq[[]string] {
	return func(yield func([]string) bool) {
		for line := range strings.Lines(text) {
			if line[0] == '#' {
				continue
			}
			row := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
			if len(row) != n {
				panic(fmt.Sprintf("a row of a table has %d cells, not %d: %q", len(row), n, line))
			}
			if !yield(row) {
				return
			}
		}
	}
}

// List is a table of n columns, of each row what it makes, when it is first asked for. A
// cell with a dash alone is empty.
func List[T any](text string, n int, make func(cells []string) T) func() []T {
	return sync.OnceValue(func() (all []T) {
		for row := range Rows(text, n) {
			for i := range row {
				row[i] = Said(row[i])
			}
			all = append(all, make(row))
		}
		return all
	})
}

// Said is what a cell says; a dash stands for nothing.
func Said(cell string) string {
	if cell == "-" {
		return ""
	}
	return cell
}

// Words are the rows of a table of two columns: a key, and words; a key may come again.
func Words(text string) map[string][]string {
	all := map[string][]string{}
	for row := range Rows(text, 2) {
		words := strings.Fields(row[1])
		if before, again := all[row[0]]; again {
			words = append(before, words...)
		}
		all[row[0]] = words
	}
	return all
}
