package ext4

import (
	"fmt"
	"iter"
)

// spaces are the name spaces of attributes, by their numbers.
var spaces = [...]string{1: "user.", 2: "system.posix_acl_access", 3: "system.posix_acl_default", 4: "trusted.", 6: "security.", 7: "system.", 8: "system.richacl"}

// attributeEntry is what an entry takes beside its name.
const attributeEntry = 16

// attributes gives the entries of a list of extended attributes.
func attributes(b []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for len(b) >= attributeEntry && le.Uint32(b) != 0 {
			length := attributeEntry + int(b[0])
			if length > len(b) || !yield(b[:length]) {
				return
			}
			b = b[min((length+3)&^3, len(b)):]
		}
	}
}

// attributeName is an entry's name as Linux lists it.
func attributeName(entry []byte) string {
	space := ""
	if int(entry[1]) < len(spaces) {
		space = spaces[entry[1]]
	}
	return space + string(entry[attributeEntry:])
}

// Attributes are the names of a file's extended attributes: those in its inode,
// and those in a block of their own.
func (n *node) Attributes() (names []string, err error) {
	if len(n.beyond) >= 4 && le.Uint32(n.beyond) == xattrMagic {
		for entry := range attributes(n.beyond[4:]) {
			names = append(names, attributeName(entry))
		}
	}
	if n.xattrs == 0 {
		return names, nil
	}
	b, err := n.volume.metadata(n.xattrs)
	if err != nil {
		return nil, fmt.Errorf("attributes of inode %d: %w", n.number, err)
	}
	const header = 32
	if le.Uint32(b) != xattrMagic {
		return nil, damaged("the attributes of inode %d are not in block %d", n.number, n.xattrs)
	}
	for entry := range attributes(b[header:]) {
		names = append(names, attributeName(entry))
	}
	return names, nil
}
