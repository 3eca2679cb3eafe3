package tsv_test

import (
	"slices"
	"testing"

	"github.com/matryer/is"

	"svc/backend/tsv"
)

func TestRows(t *testing.T) {
	is := is.New(t)
	const table = "# name, what\na\tfirst word\nb\t\n# the last\nc\tthird"
	is.Equal(slices.Collect(tsv.Rows(table, 2)), [][]string{{"a", "first word"}, {"b", ""}, {"c", "third"}})
	is.Equal(tsv.Words(table), map[string][]string{"a": {"first", "word"}, "b": {}, "c": {"third"}})
	is.Equal(tsv.Words(table+"\na\tmore"), map[string][]string{"a": {"first", "word", "more"}, "b": {}, "c": {"third"}})
	for row := range tsv.Rows(table, 2) {
		is.Equal(row[0], "a")
		break
	}
	is.Equal(len(slices.Collect(tsv.Rows("", 2))), 0)
}

// TestMistakes: a row that lacks a cell is not passed over.
func TestMistakes(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a row of another length was taken")
		}
	}()
	for range tsv.Rows("a\tb\tc\n", 2) {
		continue
	}
}

// TestList: a dash is an empty cell there, and a table is read once.
func TestList(t *testing.T) {
	is := is.New(t)
	type row struct{ name, what string }
	read := 0
	rows := tsv.List("# name, what\na\t-\nb\t-v\n", 2, func(c []string) row { read++; return row{c[0], c[1]} })
	is.Equal(read, 0)
	is.Equal(rows(), []row{{"a", ""}, {"b", "-v"}})
	is.Equal(len(rows()), 2)
	is.Equal(read, 2)
}
