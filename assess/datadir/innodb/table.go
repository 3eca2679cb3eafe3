package innodb

import (
	"bytes"
	"compress/zlib"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
)

// descriptions are the columns of the table of descriptions.
var descriptions = []column{
	{name: "type", fixed: 4, key: true},
	{name: "id", fixed: 8, key: true},
	{name: "transaction", fixed: 6},
	{name: "undo", fixed: 7},
	{name: "unpacked", fixed: 4},
	{name: "packed", fixed: 4},
	{name: "json", long: true},
}

// table is one whose rows can be read.
type table struct {
	columns []column
	root    uint32
	why     error // they can't be
}

// description is what is read of one.
type description struct {
	Object struct {
		Name    string            `json:"name"`
		Schema  string            `json:"schema_ref"`
		Private string            `json:"se_private_data"`
		Columns []describedColumn `json:"columns"`
		Indexes []struct {
			Private  string `json:"se_private_data"`
			Elements []struct {
				Column int  `json:"column_opx"`
				Hidden bool `json:"hidden"`
			} `json:"elements"`
		} `json:"indexes"`
	} `json:"dd_object"`
}

type describedColumn struct {
	Name     string `json:"name"`
	Type     int    `json:"type"`
	SQLType  string `json:"column_type_utf8"`
	Length   int    `json:"char_length"`
	Nullable bool   `json:"is_nullable"`
	Hidden   int    `json:"hidden"`
	Private  string `json:"se_private_data"`
}

// add takes a description. One whose rest is elsewhere is of a table of
// hundreds of columns, and left out.
func (t *Tablespace) add(packed []byte) error {
	z, err := zlib.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil
	}
	text, err := io.ReadAll(io.LimitReader(z, maxDescribed))
	if t.read.described += len(text); t.read.described >= maxDescribed {
		return ErrTooBig
	}
	var d description
	if err == nil && json.Unmarshal(text, &d) == nil {
		t.tables[d.Object.Schema+"."+d.Object.Name] = d.table()
	}
	return nil
}

// maxColumns is more than a table can have.
const maxColumns = 1100

// widths are the bytes of values by the number of their type, where it has a
// fixed one: of enumerations, as the server's own tables have them.
var widths = map[int]int{2: 1, 3: 2, 4: 4, 5: 4, 6: 8, 9: 8, 10: 3, 14: 1, 15: 3, 18: 4, 22: 1}

// The types of which rows say how many bytes a value has.
const (
	typeChar     = 29 // where a character may have several bytes
	hiddenColumn = 2  // of the engine's own, with its length in bytes
)

var varying = map[int]bool{16: true, 24: true, 25: true, 26: true, 27: true, 28: true, typeChar: true, 31: true}

// table is what a description says of where rows are, and of what.
func (d *description) table() (t table) {
	o := &d.Object
	if len(o.Indexes) == 0 || len(o.Columns) > maxColumns || strings.Contains(o.Private, "instant_col=") {
		return table{why: ErrForm}
	}
	_, place, _ := strings.Cut(o.Indexes[0].Private, "root=")
	if _, err := fmt.Sscanf(place, "%d", &t.root); err != nil {
		return table{why: ErrForm}
	}
	for _, e := range o.Indexes[0].Elements {
		if e.Column < 0 || e.Column >= len(o.Columns) {
			return table{why: ErrDamaged}
		}
		c, ok := o.Columns[e.Column].column()
		if !ok {
			return table{why: fmt.Errorf("column %s: %w", c.name, ErrForm)}
		}
		c.key = !e.Hidden
		t.columns = append(t.columns, c)
	}
	return t
}

// column is how a described one lies in rows.
func (d *describedColumn) column() (c column, ok bool) {
	c = column{name: d.Name, nullable: d.Nullable, fixed: widths[d.Type]}
	switch {
	case strings.Contains(d.Private, "version_"): // added or dropped in place
		return c, false
	case d.Hidden == hiddenColumn || d.Type == typeChar && d.SQLType == fmt.Sprintf("char(%d)", d.Length):
		c.fixed = d.Length
	case varying[d.Type]:
		c.long = d.Length > 255
		return c, true
	}
	return c, c.fixed > 0
}

// Each gives the named columns of a table's rows, in the order of its key, as
// their bytes; what is null is empty.
func (t *Tablespace) Each(name string, columns []string, row func([]string)) error {
	table, ok := t.tables[name]
	if !ok {
		return fmt.Errorf("no description of %s: %w", name, ErrForm)
	}
	at := make([]int, len(columns))
	for i, wanted := range columns {
		at[i] = slices.IndexFunc(table.columns, func(c column) bool { return c.name == wanted })
		if at[i] < 0 && table.why == nil {
			table.why = fmt.Errorf("no column %s: %w", wanted, ErrForm)
		}
	}
	if table.why != nil {
		return fmt.Errorf("%s: %w", name, table.why)
	}
	err := t.each(table.columns, table.root, typeIndex, func(values [][]byte) error {
		of := make([]string, len(columns))
		for i := range of {
			of[i] = string(values[at[i]])
		}
		row(of)
		return nil
	})
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}
