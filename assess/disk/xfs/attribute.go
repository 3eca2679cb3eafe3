package xfs

import "svc/assess/disk/block"

// The name spaces of an attribute, by its flags.
const (
	attributeTrusted = 1 << 1
	attributeSecure  = 1 << 2
)

// aclNames are how the lists of rights are kept.
var aclNames = map[string]string{"SGI_ACL_FILE": "system.posix_acl_access", "SGI_ACL_DEFAULT": "system.posix_acl_default"}

// Attributes are the names of the file's extended attributes, where they stand in
// the inode: those of a fork of its own are not read.
func (n *node) Attributes() (names []string, err error) {
	switch {
	case len(n.attributes) == 0 || n.attributeForm == formExtents && n.attributeExtents == 0:
		return nil, nil
	case n.attributeForm != formLocal:
		return nil, block.Unsupported("inode %d keeps its attributes elsewhere", n.number)
	case len(n.attributes) < 4:
		return nil, block.Damaged("inode %d: attributes of %d bytes", n.number, len(n.attributes))
	}
	b := n.attributes[4:]
	for range n.attributes[2] {
		if len(b) < 3 || 3+int(b[0])+int(b[1]) > len(b) {
			return nil, block.Damaged("inode %d: an attribute ends beyond it", n.number)
		}
		length := 3 + int(b[0])
		names = append(names, attributeName(b[2], string(b[3:length])))
		b = b[length+int(b[1]):]
	}
	return names, nil
}

// attributeName is the name as Linux lists it.
func attributeName(flags byte, name string) string {
	switch {
	case flags&attributeTrusted != 0 && aclNames[name] != "":
		return aclNames[name]
	case flags&attributeTrusted != 0:
		return "trusted." + name
	case flags&attributeSecure != 0:
		return "security." + name
	}
	return "user." + name
}
