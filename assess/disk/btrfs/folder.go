package btrfs

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"iter"
	"strings"

	"svc/assess/disk/block"
	"svc/assess/disk/inode"
)

// maxEntries bounds the files of a folder that is listed.
const maxEntries = 1 << 20

// dirItem is an entry as the tree has it.
type dirItem struct {
	location key
	name     []byte
	kind     fs.FileMode
}

// dirItems gives the entries of an item: several where their names' hashes are equal.
func dirItems(b []byte) iter.Seq2[dirItem, error] {
	return func(yield func(dirItem, error) bool) {
		for len(b) > 0 {
			e, n, err := decodeDirItem(b)
			if !yield(e, err) || err != nil {
				return
			}
			b = b[n:]
		}
	}
}

func decodeDirItem(b []byte) (dirItem, int, error) {
	if len(b) < 30 {
		return dirItem{}, 0, block.Damaged("directory entry of %d bytes", len(b))
	}
	data, name, kind := int(le.Uint16(b[25:])), int(le.Uint16(b[27:])), int(b[29])
	if 30+name+data > len(b) || name == 0 || kind == 0 || kind >= len(inode.Kinds) {
		return dirItem{}, 0, block.Damaged("directory entry with a name of %d bytes, kind %d", name, kind)
	}
	return dirItem{decodeKey(b), b[30 : 30+name], inode.Kinds[kind]}, 30 + name + data, nil
}

// nameHash is CRC-32C as Btrfs begins and ends it.
func nameHash(name string) uint32 { return ^crc32.Update(1, block.Castagnoli, []byte(name)) }

// Lookup finds a name in a folder.
func (v *volume) Lookup(folder place, name string) (place, error) {
	if folder.inode == emptyInode {
		return place{}, fs.ErrNotExist
	}
	t, err := v.tree(folder.subvolume)
	if err != nil {
		return place{}, err
	}
	b, err := t.get(key{folder.inode, typeDirItem, uint64(nameHash(name))})
	if errors.Is(err, errNone) {
		return place{}, fs.ErrNotExist
	}
	if err != nil {
		return place{}, err
	}
	for e, err := range dirItems(b) {
		if err != nil {
			return place{}, fmt.Errorf("folder %d: %w", folder.inode, err)
		}
		if string(e.name) == name {
			return v.target(folder, e)
		}
	}
	return place{}, fs.ErrNotExist
}

// List reads a folder's entries.
func (v *volume) List(folder place) ([]inode.Entry[place], error) {
	if folder.inode == emptyInode {
		return nil, nil
	}
	t, err := v.tree(folder.subvolume)
	if err != nil {
		return nil, err
	}
	var entries []inode.Entry[place]
	from, to := key{folder.inode, typeDirIndex, 0}, key{folder.inode, typeDirIndex, maxOffset}
	err = t.each(from, to, func(_ key, b []byte) error {
		for item, err := range dirItems(b) {
			if err != nil {
				return err
			}
			e, err := v.entry(folder, item)
			if err != nil {
				return err
			}
			entries = append(entries, e)
		}
		if len(entries) > maxEntries {
			return block.Unsupported("more than %d files", maxEntries)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("folder %d: %w", folder.inode, err)
	}
	return entries, nil
}

func (v *volume) entry(folder place, item dirItem) (inode.Entry[place], error) {
	name := string(item.name)
	if strings.ContainsAny(name, "/\x00") || name == "." || name == ".." {
		return inode.Entry[place]{}, block.Damaged("the name %q", name)
	}
	at, err := v.target(folder, item)
	return inode.Entry[place]{Base: name, At: at, Kind: item.kind}, err
}

// target is what an entry stands for: a file of the subvolume, or the top of
// another that is nested in it.
func (v *volume) target(folder place, e dirItem) (place, error) {
	switch e.location.kind {
	case typeInode:
		return place{folder.subvolume, e.location.object}, nil
	case typeRoot:
		return v.nested(folder, e)
	}
	return place{}, block.Damaged("the entry %q leads to an item of kind %d", e.name, e.location.kind)
}

// nested finds a nested subvolume. It belongs into one folder; a snapshot of
// that has an empty folder in its stead, as in the kernel.
func (v *volume) nested(folder place, e dirItem) (place, error) {
	id := e.location.object
	stop := errors.New("first")
	belongs := false
	err := v.roots().each(key{id, typeRootBackref, 0}, key{id, typeRootBackref, maxOffset}, func(k key, b []byte) error {
		belongs = len(b) == 18+len(e.name) && k.offset == folder.subvolume && le.Uint64(b) == folder.inode && string(b[18:]) == string(e.name)
		return stop
	})
	if err != nil && !errors.Is(err, stop) {
		return place{}, err
	}
	if !belongs {
		return place{folder.subvolume, emptyInode}, nil
	}
	return place{id, firstInode}, nil
}

// Within refuses a folder that is listed in another than its parent.
func (t subtree) Within(at, parent place) error {
	if at == t.top {
		return block.Damaged("subvolume %d lies within itself", at.subvolume)
	}
	if at.subvolume != parent.subvolume || at.inode == emptyInode {
		return nil // Lookup has checked where a subvolume lies
	}
	above, err := t.parent(at)
	if err == nil && above != parent.inode {
		err = block.Damaged("inode %d is listed in folder %d, but its parent is %d", at.inode, parent.inode, above)
	}
	return err
}

// parent is the folder above a folder.
func (v *volume) parent(folder place) (uint64, error) {
	t, err := v.tree(folder.subvolume)
	if err != nil {
		return 0, err
	}
	k, _, _, err := t.floor(key{folder.inode, typeInodeRef, maxOffset})
	if err == nil && (k.object != folder.inode || k.kind != typeInodeRef) {
		err = block.Damaged("folder %d has no parent", folder.inode)
	}
	return k.offset, err
}
