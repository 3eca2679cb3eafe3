package xfs

import "svc/assess/disk/block"

// The flags of an attribute: its name space, where its value is, and what no
// program is shown.
const (
	attributeLocal   = 1 << 0
	attributeTrusted = 1 << 1
	attributeSecure  = 1 << 2
	attributeHidden  = 1<<3 | 1<<7 // the name of the file's folder; one that is not whole
)

// aclNames are how the lists of rights are kept.
var aclNames = map[string]string{"SGI_ACL_FILE": "system.posix_acl_access", "SGI_ACL_DEFAULT": "system.posix_acl_default"}

// Attributes are the names of the file's extended attributes: in the inode, or in
// blocks of a fork of their own.
func (n *node) Attributes() (names []string, err error) {
	switch {
	case len(n.attributes) == 0 || n.attributeForm == formExtents && n.attributeExtents == 0:
		return nil, nil
	case n.attributeForm != formLocal:
		return n.attributeFork().names()
	case len(n.attributes) < 4:
		return nil, block.Damaged("inode %d: attributes of %d bytes", n.Number, len(n.attributes))
	}
	b := n.attributes[4:]
	for range n.attributes[2] {
		if len(b) < 3 || 3+int(b[0])+int(b[1]) > len(b) {
			return nil, block.Damaged("inode %d: an attribute ends beyond it", n.Number)
		}
		length := 3 + int(b[0])
		names = appendName(names, b[2], b[3:length])
		b = b[length+int(b[1]):]
	}
	return names, nil
}

// appendName adds a name as Linux lists it.
func appendName(names []string, flags byte, raw []byte) []string {
	name := string(raw)
	switch {
	case flags&attributeHidden != 0:
		return names
	case flags&attributeTrusted != 0 && aclNames[name] != "":
		return append(names, aclNames[name])
	case flags&attributeTrusted != 0:
		return append(names, "trusted."+name)
	case flags&attributeSecure != 0:
		return append(names, "security."+name)
	}
	return append(names, "user."+name)
}

// attributeFork is the fork of a node's attributes: blocks, of which the first is
// a leaf or the root of a tree of leaves.
type attributeFork struct{ *node }

// attributeFork is the node as if its attributes were its data.
func (n *node) attributeFork() attributeFork {
	return attributeFork{&node{volume: n.volume, Status: n.Status, form: n.attributeForm, fork: n.attributes, extents: n.attributeExtents}}
}

// The kinds of blocks of an attribute fork, beside those of indexes of folders.
const (
	magicAttributes   = 0xfbee
	magicAttributesV5 = 0x3bee
)

// maxAttributeBlocks bounds a fork, loops too: Linux lists 64 KiB of names at most.
const maxAttributeBlocks = 1 << 10

// names goes down to the first leaf, and from each to the next.
func (f attributeFork) names() (names []string, err error) {
	at := uint32(0)
	for range maxAttributeBlocks {
		b, err := f.block(at)
		if err != nil {
			return nil, err
		}
		if magic := be.Uint16(b[8:]); magic == magicNode || magic == magicNodeV5 {
			at = be.Uint32(b[f.volume.dataHeader()+4:]) // of the first entry
			continue
		}
		if names, err = f.leaf(b, names); err != nil {
			return nil, err
		}
		if at = be.Uint32(b); at == 0 {
			return names, nil
		}
	}
	return nil, block.Damaged("inode %d: more than %d blocks of attributes", f.Number, maxAttributeBlocks)
}

// block reads a block of the fork and checks it.
func (f attributeFork) block(number uint32) ([]byte, error) {
	b := make([]byte, f.volume.blockBytes)
	if _, err := content(f).ReadAt(b, int64(number)*f.volume.blockBytes); err != nil {
		return nil, err
	}
	switch magic := be.Uint16(b[8:]); {
	case !f.volume.v5 && (magic == magicAttributes || magic == magicNode):
		return b, nil
	case !f.volume.v5 || magic != magicAttributesV5 && magic != magicNodeV5:
		return nil, block.Damaged("inode %d: block %d is none of attributes", f.Number, number)
	case !sumMatches(b, 12) || be.Uint64(b[48:]) != f.Number:
		return nil, block.Damaged("inode %d: block %d of attributes has a wrong checksum or owner", f.Number, number)
	}
	return b, nil
}

// leaf adds the names of a leaf. Its entries say where the names stand, behind
// the length of a value, or behind the place of one too.
func (f attributeFork) leaf(b []byte, names []string) ([]string, error) {
	count, entries := int(be.Uint16(b[12:])), b[32:]
	if f.volume.v5 {
		count, entries = int(be.Uint16(b[56:])), b[80:]
	}
	for i := range count {
		if 8*i+8 > len(entries) {
			return nil, block.Damaged("inode %d: %d attributes in a block", f.Number, count)
		}
		entry := entries[8*i:]
		at, flags := int(be.Uint16(entry[4:])), entry[6]
		if at += 8; flags&attributeLocal != 0 {
			at -= 6
		}
		if at >= len(b) || at+1+int(b[at]) > len(b) {
			return nil, block.Damaged("inode %d: an attribute ends beyond its block", f.Number)
		}
		names = appendName(names, flags, b[at+1:at+1+int(b[at])])
	}
	return names, nil
}
