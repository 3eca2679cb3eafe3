package table

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cespare/xxhash/v2"

	"svc/backend/wire"
)

// maxRecord bounds a record.
const maxRecord = 2 << 20

// Writer collects tables; Bytes makes the file of them, or tells of the first record
// that was refused.
type Writer struct {
	tables  map[string]map[string]string
	copied  map[string]*Table
	refused error
}

// Copy sets a whole table to one of another file.
func (w *Writer) Copy(name string, t *Table) {
	if w.copied == nil {
		w.copied = map[string]*Table{}
	}
	w.copied[name] = t
}

// PutAll sets the records of a table.
func (w *Writer) PutAll(table string, records map[string]string) {
	for key, value := range records {
		w.Put(table, key, value)
	}
}

// Put sets a record. It refuses keys with a tab or a newline, values with a
// newline, and a second value for a key.
func (w *Writer) Put(table, key, value string) {
	if w.tables == nil {
		w.tables = map[string]map[string]string{}
	}
	if w.tables[table] == nil {
		w.tables[table] = map[string]string{}
	}
	old, twice := w.tables[table][key]
	switch {
	case w.refused != nil:
	case strings.ContainsAny(key, "\t\n") || strings.Contains(value, "\n") || len(key)+len(value) > maxRecord:
		w.refused = fmt.Errorf("the record %.60q of table %s cannot be stored", key, table)
	case twice && old != value:
		w.refused = fmt.Errorf("table %s has two values for %q: %.60q and %.60q", table, key, old, value)
	}
	w.tables[table][key] = value
}

// Only is a Writer of those tables alone whose names a rule takes.
func (w *Writer) Only(takes func(name string) bool) *Writer {
	left := &Writer{tables: maps.Clone(w.tables), copied: maps.Clone(w.copied), refused: w.refused}
	maps.DeleteFunc(left.tables, func(name string, _ map[string]string) bool { return !takes(name) })
	maps.DeleteFunc(left.copied, func(name string, _ *Table) bool { return !takes(name) })
	return left
}

// Err is why the first of the refused records was; nil where none was.
func (w *Writer) Err() error { return w.refused }

// Bytes is the file of all records.
func (w *Writer) Bytes() ([]byte, error) {
	if w.refused != nil {
		return nil, w.refused
	}
	var directory, tables []byte
	names := slices.AppendSeq(slices.Collect(maps.Keys(w.tables)), maps.Keys(w.copied))
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		t, ok := w.copied[name]
		if !ok {
			t = newTable(w.tables[name])
		}
		if len(t.text) > maxText {
			return nil, fmt.Errorf("table %s has more than %d bytes", name, maxText)
		}
		directory = wire.AppendText(directory, name)
		for _, n := range []int{t.count, len(t.slots) / slotSize, len(t.text)} {
			directory = binary.AppendUvarint(directory, uint64(n))
		}
		tables = append(append(tables, t.slots...), t.text...)
	}
	return assemble(directory, tables), nil
}

// newTable makes a table, two thirds of whose slots are used.
func newTable(records map[string]string) *Table {
	slots := make([]byte, slotSize*(len(records)+(len(records)+1)/2))
	var text strings.Builder
	for _, key := range slices.Sorted(maps.Keys(records)) {
		i, tag := place(xxhash.Sum64String(key), len(slots))
		for slots[i] != 0 {
			i = next(i, len(slots))
		}
		slots[i] = tag
		binary.LittleEndian.PutUint32(slots[i+1:], uint32(text.Len()))
		text.WriteString(key + "\t" + records[key] + "\n")
	}
	return &Table{count: len(records), slots: string(slots), text: text.String()}
}

func assemble(directory, tables []byte) []byte {
	sum := sha256.New()
	sum.Write(directory)
	sum.Write(tables)
	out := make([]byte, 0, headerSize+len(directory)+len(tables))
	out = append(out, magic...)
	out = binary.LittleEndian.AppendUint32(out, format)
	out = binary.LittleEndian.AppendUint32(out, uint32(len(directory)))
	out = sum.Sum(out)
	return append(append(out, directory...), tables...)
}
