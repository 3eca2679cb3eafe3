package ext4

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"svc/assess/disk/block"
	"svc/assess/disk/inode"
	"svc/assess/host"
)

// Bounds on a folder.
const (
	maxEntries   = 1 << 20   // of a folder that is listed
	maxListed    = 64 << 20  // bytes of a folder that is listed
	maxSearched  = 256 << 20 // bytes of a folder in which a name is looked up
	maxKept      = 4 << 20   // bytes of a folder that is kept; larger ones are read for each name
	readAtOnce   = 256 << 10
	entryHeader  = 8 // inode, length of the entry, length of the name, type
	checksumTail = 12
)

// types are the modes that the type of a folder's entry stands for.
var types = [8]uint16{0, typeRegular, typeFolder, 0x2000, 0x6000, 0x1000, 0xC000, typeSymlink}

// folder is a folder's content, its .. among it.
type folder struct {
	casefold bool    // names differ by more than case
	entries  []entry // by name
}

// entry is what a folder tells of a file.
type entry struct {
	name string
	place
}

// folderOf names the folders of a volume in the cache.
type folderOf struct{ *volume }

// folder gives a folder's content by way of the cache.
func (v *volume) folder(n *node) (*folder, error) {
	return block.Kept(v.cache, folderOf{v}, int64(n.number), func() (*folder, int, error) {
		d := &folder{casefold: n.flags&flagCasefold != 0}
		if err := v.scan(n, d.add); err != nil {
			return nil, 0, err
		}
		slices.SortStableFunc(d.entries, entry.compare)
		return d, int(n.Size) + 32*len(d.entries), nil
	})
}

// add takes an entry in.
func (d *folder) add(e entry) error {
	switch {
	case e.name == ".": // the folder itself
	case len(d.entries) == maxEntries:
		return block.Unsupported("a folder of more than %d entries", maxEntries)
	default:
		d.entries = append(d.entries, e)
	}
	return nil
}

// folderNode reads the inode of a folder of at most limit bytes.
func (v *volume) folderNode(number uint32, limit int64) (*node, error) {
	n, err := v.node(number)
	if err != nil {
		return nil, err
	}
	if err := n.readable(typeFolder); err != nil {
		return nil, err
	}
	if n.Size > limit {
		return nil, block.Unsupported("a folder of %d bytes, more than %d", n.Size, limit)
	}
	return n, nil
}

func (e entry) compare(other entry) int { return strings.Compare(e.name, other.name) }

// Lookup finds a name in a folder.
func (v *volume) Lookup(at place, name string) (place, error) {
	n, err := v.folderNode(at.inode, maxSearched)
	if err != nil {
		return place{}, err
	}
	if n.Size > maxKept {
		return v.search(n, name)
	}
	d, err := v.folder(n)
	if err != nil {
		return place{}, err
	}
	return d.find(name)
}

// Within refuses a folder that is met in another one than that which its ..
// names: it would be a cycle, or stand in two places.
func (v *volume) Within(at, parent place) error {
	above, err := v.Lookup(at, "..")
	if (err == nil || errors.Is(err, fs.ErrNotExist)) && above.inode != parent.inode {
		return damaged("folder %d stands in folder %d, but its .. is %d", at.inode, parent.inode, above.inode)
	}
	return err
}

// find looks a name up. Where names differ by more than case, one that is equal
// to the letter goes first. Linux would equate accents too, however they are
// composed.
func (d *folder) find(name string) (place, error) {
	i, ok := slices.BinarySearchFunc(d.entries, entry{name: name}, entry.compare)
	if !ok && d.casefold {
		i = slices.IndexFunc(d.entries, func(e entry) bool { return strings.EqualFold(e.name, name) })
		ok = i >= 0
	}
	if !ok {
		return place{}, fs.ErrNotExist
	}
	return d.entries[i].place, nil
}

var errFound = errors.New("found")

// search looks a name up in a folder too large to be kept.
func (v *volume) search(n *node, name string) (place, error) {
	d := &folder{casefold: n.flags&flagCasefold != 0}
	err := v.scan(n, func(e entry) error {
		if e.name != name && !(d.casefold && strings.EqualFold(e.name, name)) {
			return nil
		}
		if err := d.add(e); err != nil || e.name != name {
			return err
		}
		return errFound
	})
	if err != nil && !errors.Is(err, errFound) {
		return place{}, err
	}
	slices.SortStableFunc(d.entries, entry.compare)
	return d.find(name)
}

// List describes what is in a folder.
func (v *volume) List(at place) ([]inode.Entry[place], error) {
	n, err := v.folderNode(at.inode, maxListed)
	if err != nil {
		return nil, err
	}
	d, err := v.folder(n)
	if err != nil {
		return nil, err
	}
	entries, folders := make([]inode.Entry[place], 0, len(d.entries)), map[uint32]string{}
	for _, e := range d.entries {
		if e.name == ".." {
			continue
		}
		if e.kind, err = v.kindOf(e); err != nil {
			return nil, err
		}
		if e.kind == typeFolder && folders[e.inode] != "" {
			return nil, damaged("%q and %q are one folder", folders[e.inode], e.name)
		}
		if e.kind == typeFolder {
			folders[e.inode] = e.name
		}
		entries = append(entries, inode.Entry[place]{Base: e.name, At: e.place, Kind: host.Mode(uint32(e.kind)).Type()})
	}
	return entries, nil
}

// kindOf is the type of the file behind an entry.
func (v *volume) kindOf(e entry) (uint16, error) {
	if e.kind != 0 {
		return e.kind, nil
	}
	n, err := v.node(e.inode)
	if err != nil {
		return 0, err
	}
	return uint16(n.Mode & typeMask), nil
}

// scan visits the entries of a folder as they stand, hash tree or not: to who
// reads all blocks in turn, the tree's own are entries that are not in use.
func (v *volume) scan(n *node, visit func(entry) error) error {
	if n.flags&flagInline != 0 {
		return v.scanInline(n, visit)
	}
	if n.Size == 0 || uint64(n.Size)%v.blockSize != 0 {
		return damaged("the folder of inode %d has %d bytes", n.number, n.Size)
	}
	buffer := make([]byte, min(n.Size, max(readAtOnce, int64(v.blockSize))))
	for off := int64(0); off < n.Size; off += int64(len(buffer)) {
		buffer = buffer[:min(int64(len(buffer)), n.Size-off)]
		if _, err := (content{n}).ReadAt(buffer, off); err != nil {
			return err
		}
		if err := v.scanBlocks(n, buffer, off, visit); err != nil {
			return err
		}
	}
	return nil
}

// scanBlocks visits the entries of whole blocks, which stand at off in the folder.
func (v *volume) scanBlocks(n *node, b []byte, off int64, visit func(entry) error) error {
	for at := 0; at < len(b); at += int(v.blockSize) {
		list := b[at:][:v.blockSize]
		err := v.checkBlock(n, list, off == 0 && at == 0)
		if err == nil {
			err = v.scanList(list, visit)
		}
		if err != nil {
			return fmt.Errorf("folder of inode %d, byte %d: %w", n.number, off+int64(at), err)
		}
	}
	return nil
}

// scanInline visits the entries of a folder that stands in its inode: the
// number of its parent, then two lists.
func (v *volume) scanInline(n *node, visit func(entry) error) error {
	first, second, err := n.inline()
	if err != nil {
		return err
	}
	if len(first) < 4 {
		return damaged("the folder of inode %d has %d bytes", n.number, n.Size)
	}
	lists := [][]byte{first[4:], second}
	if err := visit(entry{"..", place{inode: le.Uint32(first)}}); err != nil {
		return err
	}
	for _, list := range lists {
		if err := v.scanList(list, visit); err != nil {
			return fmt.Errorf("inline folder of inode %d: %w", n.number, err)
		}
	}
	return nil
}

var errEntry = damaged("an entry of the folder is impossible")

// scanList visits the entries of a list.
func (v *volume) scanList(b []byte, visit func(entry) error) error {
	for at := 0; at < len(b); {
		rest := b[at:]
		if len(rest) < entryHeader {
			return errEntry
		}
		length, name := entryLength(rest, v.blockSize), int(rest[6])
		if length < entryHeader+name || length%4 != 0 || length > len(rest) {
			return errEntry
		}
		if number := le.Uint32(rest); number != 0 {
			e, err := v.parseEntry(rest, number, string(rest[entryHeader:][:name]))
			if err == nil {
				err = visit(e)
			}
			if err != nil {
				return err
			}
		}
		at += length
	}
	return nil
}

// entryLength is how far the next entry is. The largest blocks need 65536,
// which the field has no room for.
func entryLength(b []byte, blockSize uint64) int {
	length := int(le.Uint16(b[4:]))
	if blockSize == 1<<16 && (length == 0 || length == 1<<16-1) {
		return 1 << 16
	}
	return length
}

func (v *volume) parseEntry(b []byte, number uint32, name string) (entry, error) {
	if number > v.inodes || name == "" || strings.ContainsAny(name, "/\x00") {
		return entry{}, errEntry
	}
	e := entry{name, place{inode: number}}
	if v.incompatible&hasFiletype == 0 {
		return e, nil // the length of the name has 16 bits there, of which 8 are in use
	}
	if b[7] >= byte(len(types)) {
		return entry{}, errEntry
	}
	e.kind = types[b[7]]
	return e, nil
}

// checkBlock checks the checksum of a folder's block: at the end of a list, or
// after the last place of a node of the hash tree, which is told by its first
// entries.
func (v *volume) checkBlock(n *node, b []byte, first bool) error {
	if v.readOnly&hasMetaCsum == 0 {
		return nil
	}
	sum, want := uint32(0), uint32(0)
	switch {
	case n.flags&flagIndex != 0 && (first || entryLength(b, v.blockSize) == len(b)):
		places := 8
		if first {
			places = 32
		}
		limit, count := int(le.Uint16(b[places:])), int(le.Uint16(b[places+2:]))
		tail := places + 8*limit
		if count > limit || tail+8 > len(b) {
			return damaged("a node of its hash tree is impossible")
		}
		sum = crc32cBut(crc32c(n.seed, b[:places+8*count]), b[tail:tail+8], 4, 4)
		want = le.Uint32(b[tail+4:])
	default:
		tail := len(b) - checksumTail
		sum, want = crc32c(n.seed, b[:tail]), le.Uint32(b[tail+8:])
	}
	if sum != want {
		return damaged("the checksum is wrong")
	}
	return nil
}
