package sqlite

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"svc/backend/lazyregexp"
)

// ErrNoTable means that the file has no such table, or the table no such column.
var ErrNoTable = errors.New("no such table or column")

// table is what the schema says of a table.
type table struct {
	root    uint32
	columns []string // in lower case
	key     int      // the column that is the row's key, or -1
}

// table finds a table in the schema, which is the table on page 1.
func (db *DB) table(name string) (t table, err error) {
	w := &walk{db: db, seen: db.pages(), fault: func(fault error) { err = fault }, row: func(_ int64, row []Value) {
		if len(row) >= 5 && string(row[0].Bytes) == "table" && strings.EqualFold(string(row[1].Bytes), name) {
			t = parseTable(string(row[4].Bytes))
			t.root = uint32(row[3].Int)
		}
	}}
	w.tree(1, 0)
	switch {
	case t.root != 0:
		return t, nil
	case err != nil:
		return t, fmt.Errorf("schema: %w", err)
	}
	return t, fmt.Errorf("%w: %s", ErrNoTable, name)
}

// positions are the places of columns in a row.
func (t table) positions(columns []string) ([]int, error) {
	at := make([]int, len(columns))
	for i, name := range columns {
		if at[i] = slices.Index(t.columns, name); at[i] < 0 {
			return nil, fmt.Errorf("%w: %s", ErrNoTable, name)
		}
	}
	return at, nil
}

// constraints begin the parts of a CREATE TABLE that are no columns.
var constraints = []string{"constraint", "primary", "unique", "check", "foreign"}

// comment is a comment of SQL, which the schema keeps.
var comment = lazyregexp.New(`(?s)/\*.*?\*/|--[^\n]*`)

// parseTable reads the columns of a CREATE TABLE statement.
func parseTable(sql string) table {
	t := table{key: -1}
	sql = comment.ReplaceAllString(sql, " ")
	for _, part := range parts(sql) {
		words := strings.Fields(strings.ToLower(part))
		if len(words) == 0 || slices.Contains(constraints, words[0]) {
			continue
		}
		if strings.HasPrefix(strings.Join(words[1:], " "), "integer primary key") {
			t.key = len(t.columns)
		}
		t.columns = append(t.columns, strings.Trim(words[0], "\"`[]'"))
	}
	return t
}

// parts are what the commas between a statement's outer brackets set apart.
func parts(sql string) (parts []string) {
	depth, begin := 0, 0
	for i, r := range sql {
		switch {
		case r == '(' && depth == 0:
			begin = i + 1
			depth++
		case r == '(':
			depth++
		case r == ')' && depth == 1:
			return append(parts, sql[begin:i])
		case r == ')':
			depth--
		case r == ',' && depth == 1:
			parts = append(parts, sql[begin:i])
			begin = i + 1
		}
	}
	return parts
}
