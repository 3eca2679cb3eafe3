package ext4

import "fmt"

// inline reads content that stands in the inode itself: 60 bytes, and the rest
// as an extended attribute. The two parts of a folder are lists of their own.
// They may end before the file does.
func (n *node) inline() (first, second []byte, err error) {
	first = n.block[:min(n.Size, int64(len(n.block)))]
	rest := n.Size - int64(len(first))
	if rest == 0 {
		return first, nil, nil
	}
	second, err = systemData(n.beyond)
	if err != nil {
		return nil, nil, fmt.Errorf("inline content of inode %d: %w", n.number, err)
	}
	return first, second[:min(rest, int64(len(second)))], nil
}

// systemData finds the attribute system.data.
func systemData(b []byte) ([]byte, error) {
	if len(b) < 4 || le.Uint32(b) != xattrMagic {
		return nil, damaged("the inode has no attributes")
	}
	for entry := range attributes(b[4:]) {
		if attributeName(entry) == "system.data" {
			return value(b[4:], entry)
		}
	}
	return nil, damaged("the inode has no attribute system.data")
}

// value is what an attribute's entry points to.
func value(values, entry []byte) ([]byte, error) {
	offset, inode, size := uint64(le.Uint16(entry[2:])), le.Uint32(entry[4:]), uint64(le.Uint32(entry[8:]))
	if inode != 0 || offset+size > uint64(len(values)) {
		return nil, damaged("attribute system.data lies outside of the inode")
	}
	return values[offset:][:size], nil
}
