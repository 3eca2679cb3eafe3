package innodb

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/matryer/is"
)

// pageSize is that of the tablespaces that are made here.
const pageSize = 4 << 10

// value is a column's in a row that is made: its bytes, and whether the row says
// how many there are.
type value struct {
	b       string
	varying bool
	null    bool // it may be null, and is where b is empty
}

// row makes a row: the lengths and nulls before it, and where it begins.
func row(status byte, values ...value) (b []byte, start int) {
	var before, after []byte
	nulls, n := make([]byte, 8), 0
	for _, v := range values {
		if v.null {
			if v.b == "" {
				nulls[n/8] |= 1 << (n % 8)
			}
			n++
		}
		if v.varying && (!v.null || v.b != "") {
			if len(v.b) > 127 {
				before = append(before, byte(len(v.b)>>8)|0x80)
			}
			before = append(before, byte(len(v.b)))
		}
		after = append(after, v.b...)
	}
	head := append(nulls[:(n+7)/8], before...)
	slices.Reverse(head) // it is read backwards
	head = append(head, status, 0, 0, 0, 0)
	return append(head, after...), len(head)
}

// page makes a page of rows, each of which was made by row.
func page(kind uint16, level byte, next uint32, rows ...func() ([]byte, int)) []byte {
	be := binary.BigEndian
	b := make([]byte, pageSize)
	be.PutUint32(b[pageNext:], next)
	be.PutUint16(b[pageType:], kind)
	be.PutUint16(b[pageRecords:], uint16(len(rows)))
	b[pageLevel+1] = level
	last, free := infimum, 120
	for _, made := range rows {
		r, start := made()
		at := free + start
		be.PutUint16(b[last-2:], uint16(at-last))
		copy(b[free:], r)
		last, free = at, free+len(r)
	}
	return b
}

func is4(n uint32) value { return value{b: string(binary.BigEndian.AppendUint32(nil, n))} }

func made(status byte, values ...value) func() ([]byte, int) {
	return func() ([]byte, int) { return row(status, values...) }
}

// above makes a row of a page above the leaves: a key, a page, and the bits of
// nulls that leaves have.
func above(status byte, key string, page uint32) func() ([]byte, int) {
	return made(status, value{b: key, varying: true}, is4(page), value{null: true, b: " "})
}

// described makes a row of the descriptions.
func described(id byte, text string) func() ([]byte, int) {
	var z bytes.Buffer
	w := zlib.NewWriter(&z)
	_, _ = w.Write([]byte(text))
	_ = w.Close()
	return made(0, is4(1), value{b: "\x00\x00\x00\x00\x00\x00\x00" + string(id)}, value{b: "trxtrx"}, value{b: "undoing"}, is4(uint32(len(text))), is4(uint32(z.Len())), value{b: z.String(), varying: true})
}

const people = `{"dd_object": {"name": "people", "schema_ref": "s", "se_private_data": "",
	"columns": [
		{"name": "name", "type": 16, "char_length": 192, "column_type_utf8": "varchar(64)"},
		{"name": "code", "type": 29, "char_length": 3, "column_type_utf8": "char(3)"},
		{"name": "note", "type": 27, "char_length": 65535, "column_type_utf8": "text", "is_nullable": true},
		{"name": "age", "type": 4, "char_length": 10, "column_type_utf8": "int", "is_nullable": true},
		{"name": "DB_TRX_ID", "type": 10, "char_length": 6, "hidden": 2}, {"name": "DB_ROLL_PTR", "type": 9, "char_length": 7, "hidden": 2}%s],
	"indexes": [{"se_private_data": "id=7;root=4;space_id=1;", "elements": [
		{"column_opx": 0}, {"column_opx": 4, "hidden": true}, {"column_opx": 5, "hidden": true}, {"column_opx": 1, "hidden": true}, {"column_opx": 2, "hidden": true}, {"column_opx": 3, "hidden": true}%s]}]}}`

// tablespace is one of a table whose rows are in two leaves below a root.
func tablespace(extraColumn, extraElement string, rows ...func() ([]byte, int)) []byte {
	first := make([]byte, pageSize)
	binary.BigEndian.PutUint32(first[flagsAt:], flagsSDI|3<<flagsSize)
	copy(first[150+16*88+115:], "\x00\x00\x00\x01\x00\x00\x00\x03")
	half := len(rows) / 2
	pages := [][]byte{
		first, make([]byte, pageSize), make([]byte, pageSize),
		page(typeSDI, 0, none, described(1, fmt.Sprintf(people, extraColumn, extraElement)), described(2, "no JSON")),
		page(typeIndex, 1, none, above(0x10, "a", 5), above(0, "m", 6)),
		page(typeIndex, 0, 6, rows[:half]...),
		page(typeIndex, 0, none, rows[half:]...),
	}
	return slices.Concat(pages...)
}

// person is a row of the table, as it lies.
func person(status byte, name, code, note, age string) func() ([]byte, int) {
	return made(status, value{b: name, varying: true}, value{b: "trxtrx"}, value{b: "undoing"}, value{b: code}, value{b: note, varying: true, null: true}, value{b: age, null: true})
}

// read gives every row of the table.
func read(b []byte) (all [][]string, err error) {
	t, err := Open(bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	err = t.Each("s.people", []string{"name", "code", "note", "age"}, func(row []string) { all = append(all, row) })
	return all, err
}

func someone() []func() ([]byte, int) {
	long := string(bytes.Repeat([]byte("x"), 700))
	return []func() ([]byte, int){
		person(0, "anna", "abc", "hello", "\x80\x00\x00\x07"), person(deleted, "bob", "abc", "gone", ""), person(0, "carl", "def", long, ""),
		person(0, "mia", "ghi", "", "\x80\x00\x00\x09"), person(0, "zoe", "jkl", "", ""),
	}
}

func TestEach(t *testing.T) {
	is := is.New(t)
	rows, err := read(tablespace("", "", someone()...))
	is.NoErr(err)
	is.Equal(len(rows), 4)
	is.Equal(rows[0], []string{"anna", "abc", "hello", "\x80\x00\x00\x07"})
	is.Equal(rows[1][0]+fmt.Sprint(len(rows[1][2])), "carl700")
	is.Equal(rows[2], []string{"mia", "ghi", "", "\x80\x00\x00\x09"})
	is.Equal(rows[3], []string{"zoe", "jkl", "", ""})
}

func TestWhatIsNotKnownIsRefused(t *testing.T) {
	whole := tablespace("", "", someone()...)
	with := func(at int, b ...byte) []byte {
		changed := bytes.Clone(whole)
		copy(changed[at:], b)
		return changed
	}
	for name, c := range map[string]struct {
		b   []byte
		err error
	}{
		"encrypted":                {with(flagsAt, 0, 0, 0x60, 0xc0), ErrForm},
		"compressed pages":         {with(flagsAt, 0, 0, 0x40, 0xc2), ErrForm},
		"before 8.0":               {with(flagsAt, 0, 0, 0, 0xc0), ErrForm},
		"a loop of pages":          {with(6*pageSize+pageNext, 0, 0, 0, 5), ErrTooBig},
		"a page of another type":   {with(5*pageSize+pageType, 0, 0), ErrDamaged},
		"cut off":                  {whole[:5*pageSize], ErrDamaged},
		"a row beyond its page":    {with(5*pageSize+infimum-2, 0x7f), ErrDamaged},
		"a column added in place":  {tablespace(`, {"name": "new", "type": 4, "se_private_data": "version_added=1;"}`, `, {"column_opx": 6}`, someone()...), ErrForm},
		"a type that is not known": {tablespace(`, {"name": "new", "type": 99}`, `, {"column_opx": 6}`, someone()...), ErrForm},
		"a column that is none":    {tablespace("", `, {"column_opx": 60}`, someone()...), ErrDamaged},
		"a row of another version": {tablespace("", "", append(someone(), person(0x40, "zz", "abc", "", ""))...), ErrForm},
	} {
		if _, err := read(c.b); !errors.Is(err, c.err) {
			t.Errorf("%s: %v, want %v", name, err, c.err)
		}
	}
}

// FuzzOpen changes bytes of a tablespace, by threes: a place, and what is there
// instead. Whatever it says then, reading it ends.
func FuzzOpen(f *testing.F) {
	whole := tablespace(`, {"name": "new", "type": 31, "char_length": 4294967295, "is_nullable": true}`, "", someone()...)
	f.Add([]byte{byte((6*pageSize + pageNext + 3) >> 8), pageNext + 3, 5})
	f.Add([]byte{byte(5 * pageSize >> 8), infimum - 2, 0x7f, byte(4 * pageSize >> 8), infimum - 1, 1})
	f.Fuzz(func(t *testing.T, changes []byte) {
		b := bytes.Clone(whole)
		for ; len(changes) >= 3; changes = changes[3:] {
			b[(int(changes[0])<<8|int(changes[1]))%len(b)] = changes[2]
		}
		rows, err := read(b)
		for _, r := range rows {
			if len(r) != 4 || len(r[1]) > pageSize {
				t.Fatal(r, err)
			}
		}
	})
}
