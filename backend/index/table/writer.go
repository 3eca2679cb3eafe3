package table

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"maps"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// Writer collects tables; Bytes makes the file of them.
type Writer struct {
	tables map[string]map[string]string
	copied map[string]*Table
}

// Copy sets a whole table to one of another file, which must stay open until
// Bytes; its blocks are taken over as they are.
func (w *Writer) Copy(name string, t *Table) {
	if w.copied == nil {
		w.copied = map[string]*Table{}
	}
	w.copied[name] = t
}

// Put sets a record. It refuses keys with a tab or a newline, values with a
// newline, and a second value for a key.
func (w *Writer) Put(table, key, value string) error {
	if strings.ContainsAny(key, "\t\n") || strings.Contains(value, "\n") || len(key)+len(value) > maxBlock/2 {
		return fmt.Errorf("the record %.60q of table %s cannot be stored", key, table)
	}
	if w.tables == nil {
		w.tables = map[string]map[string]string{}
	}
	if w.tables[table] == nil {
		w.tables[table] = map[string]string{}
	}
	if old, twice := w.tables[table][key]; twice && old != value {
		return fmt.Errorf("table %s has two values for %q: %.60q and %.60q", table, key, old, value)
	}
	w.tables[table][key] = value
	return nil
}

// Bytes is the file of all records.
func (w *Writer) Bytes() ([]byte, error) {
	encoder, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedBestCompression), zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(true))
	if err != nil {
		return nil, fmt.Errorf("preparing to pack: %w", err)
	}
	var directory, blocks []byte
	names := slices.AppendSeq(slices.Collect(maps.Keys(w.tables)), maps.Keys(w.copied))
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		if t, ok := w.copied[name]; ok {
			directory, blocks = t.appendTo(name, directory, blocks)
			continue
		}
		records := w.tables[name]
		parts := pack(records)
		directory = appendText(directory, name)
		directory = binary.AppendUvarint(directory, uint64(len(records)))
		directory = binary.AppendUvarint(directory, uint64(len(parts)))
		for _, text := range parts {
			first, _, _ := strings.Cut(text, "\t")
			before := len(blocks)
			blocks = encoder.EncodeAll([]byte(text), blocks)
			directory = appendText(directory, first)
			directory = binary.AppendUvarint(directory, uint64(len(blocks)-before))
			directory = binary.AppendUvarint(directory, uint64(len(text)))
		}
	}
	return assemble(directory, blocks), encoder.Close()
}

// pack joins the sorted records to texts of about a block.
func pack(records map[string]string) []string {
	var parts []string
	var b strings.Builder
	for _, key := range slices.Sorted(maps.Keys(records)) {
		if b.Len() > 0 && b.Len()+len(key)+len(records[key]) > blockSize {
			parts = append(parts, b.String())
			b.Reset()
		}
		b.WriteString(key + "\t" + records[key] + "\n")
	}
	if b.Len() > 0 {
		parts = append(parts, b.String())
	}
	return parts
}

func assemble(directory, blocks []byte) []byte {
	content := append(slices.Clone(directory), blocks...)
	sum := sha256.Sum256(content)
	out := make([]byte, 0, headerSize+len(content))
	out = append(out, magic...)
	out = binary.LittleEndian.AppendUint32(out, format)
	out = binary.LittleEndian.AppendUint32(out, uint32(len(directory)))
	out = append(out, sum[:]...)
	out = binary.LittleEndian.AppendUint32(out, crc32.Checksum(directory, castagnoli))
	return append(out, content...)
}

// appendTo takes a table over into the directory and the blocks of a new file.
func (t *Table) appendTo(name string, directory, blocks []byte) (newDirectory, newBlocks []byte) {
	directory = appendText(directory, name)
	directory = binary.AppendUvarint(directory, uint64(t.count))
	directory = binary.AppendUvarint(directory, uint64(len(t.blocks)))
	for _, b := range t.blocks {
		directory = appendText(directory, b.first)
		directory = binary.AppendUvarint(directory, uint64(b.packed))
		directory = binary.AppendUvarint(directory, uint64(b.length))
		blocks = append(blocks, t.file.blocks[b.offset:b.offset+b.packed]...)
	}
	return directory, blocks
}
