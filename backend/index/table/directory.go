package table

import (
	"fmt"

	"svc/backend/wire"
)

// readDirectory reads the directory: for each table its name, the number of its records
// and of its slots, and the length of its text. The tables lie one after the other, and
// every one within the file.
func readDirectory(directory, data string) (map[string]*Table, error) {
	tables := map[string]*Table{}
	for in := (&wire.Input{Rest: directory}); in.Rest != ""; {
		name, count, slots, text := in.Text(), in.Number(), in.Number(), in.Number()
		if in.Bad || max(count, slots, text) > maxText {
			return nil, fmt.Errorf("%w: its directory is damaged", ErrFormat)
		}
		slots *= slotSize
		if (count == 0) != (slots == 0) || slots+text > uint64(len(data)) {
			return nil, fmt.Errorf("%w: table %s lies outside", ErrFormat, name)
		}
		t := &Table{count: int(count)}
		t.slots, data = data[:slots], data[slots:]
		t.text, data = data[:text], data[text:]
		tables[name] = t
	}
	return tables, nil
}
