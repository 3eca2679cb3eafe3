package btrfs

import "svc/assess/disk/block"

// Attributes are the names of the file's extended attributes. Each item holds
// those whose names' hashes are equal, in the form of a folder's entries.
func (n *node) Attributes() (names []string, err error) {
	if n.inode == emptyInode {
		return nil, nil
	}
	err = n.tree.each(key{n.inode, typeAttribute, 0}, key{n.inode, typeAttribute, maxOffset}, func(_ key, b []byte) error {
		for len(b) > 0 {
			if len(b) < 30 {
				return block.Damaged("attribute of %d bytes", len(b))
			}
			data, name := int(le.Uint16(b[25:])), int(le.Uint16(b[27:]))
			if 30+name+data > len(b) {
				return block.Damaged("attribute with a name of %d bytes and a value of %d", name, data)
			}
			names = append(names, string(b[30:30+name]))
			b = b[30+name+data:]
		}
		return nil
	})
	return names, err
}
