package ext4

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"svc/assess/disk/block"
	"svc/assess/disk/inode"
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

// folder is a folder's content, without . and .. entries.
type folder struct {
	parent   uint32
	casefold bool    // names differ by more than case
	entries  []entry // by name
}

// entry is what a folder tells of a file.
type entry struct {
	name  string
	inode uint32
	kind  uint16 // as in a mode; 0 where the file system doesn't say
}

// folder gives a folder's content by way of the cache. A folder that is met
// below another one than that which its .. names would be a cycle, or stand in
// two places, and is refused.
func (f *FS) folder(number, parent uint32) (*folder, error) {
	d, ok := f.folders.get(number)
	if !ok {
		var err error
		if d, err = f.readFolder(number); err != nil {
			return nil, err
		}
	}
	return d, d.standsIn(number, parent)
}

// standsIn refuses a folder that is met in another one than its parent.
func (d *folder) standsIn(number, parent uint32) error {
	if d.parent != parent {
		return damaged("folder %d stands in folder %d, but its .. is %d", number, parent, d.parent)
	}
	return nil
}

func (f *FS) readFolder(number uint32) (*folder, error) {
	n, err := f.folderNode(number, maxListed)
	if err != nil {
		return nil, err
	}
	d := &folder{casefold: n.flags&flagCasefold != 0}
	if err := f.scan(n, d.add); err != nil {
		return nil, err
	}
	slices.SortStableFunc(d.entries, entry.compare)
	f.folders.put(number, d, int(n.size)+32*len(d.entries))
	return d, nil
}

// add takes an entry in.
func (d *folder) add(e entry) error {
	switch {
	case e.name == ".": // the folder itself
	case e.name == "..":
		d.parent = e.inode
	case len(d.entries) == maxEntries:
		return block.Unsupported("a folder of more than %d entries", maxEntries)
	default:
		d.entries = append(d.entries, e)
	}
	return nil
}

// folderNode reads the inode of a folder of at most limit bytes.
func (f *FS) folderNode(number uint32, limit int64) (*node, error) {
	n, err := f.node(number)
	if err != nil {
		return nil, err
	}
	if err := n.readable(typeFolder); err != nil {
		return nil, err
	}
	if n.size > limit {
		return nil, block.Unsupported("a folder of %d bytes, more than %d", n.size, limit)
	}
	return n, nil
}

func (e entry) compare(other entry) int { return strings.Compare(e.name, other.name) }

// find looks a name up in a folder.
func (f *FS) find(at, parent uint32, name string) (entry, error) {
	switch name {
	case "", ".", "..":
		return entry{}, fs.ErrInvalid
	}
	if _, kept := f.folders.get(at); !kept {
		n, err := f.folderNode(at, maxSearched)
		if err != nil {
			return entry{}, err
		}
		if n.size > maxKept {
			return f.search(n, parent, name)
		}
	}
	d, err := f.folder(at, parent)
	if err != nil {
		return entry{}, err
	}
	return d.find(name)
}

// find looks a name up. Where names differ by more than case, one that is equal
// to the letter goes first. Linux would equate accents too, however they are
// composed.
func (d *folder) find(name string) (entry, error) {
	i, ok := slices.BinarySearchFunc(d.entries, entry{name: name}, entry.compare)
	if !ok && d.casefold {
		i = slices.IndexFunc(d.entries, func(e entry) bool { return strings.EqualFold(e.name, name) })
		ok = i >= 0
	}
	if !ok {
		return entry{}, fs.ErrNotExist
	}
	return d.entries[i], nil
}

var errFound = errors.New("found")

// search looks a name up in a folder too large to be kept.
func (f *FS) search(n *node, parent uint32, name string) (entry, error) {
	d := &folder{casefold: n.flags&flagCasefold != 0}
	err := f.scan(n, func(e entry) error {
		if e.name != "." && e.name != ".." && e.name != name && !(d.casefold && strings.EqualFold(e.name, name)) {
			return nil
		}
		if err := d.add(e); err != nil || e.name != name {
			return err
		}
		return errFound
	})
	if err != nil && !errors.Is(err, errFound) {
		return entry{}, err
	}
	if err := d.standsIn(n.number, parent); err != nil {
		return entry{}, err
	}
	return d.find(name)
}

// list describes what is in a folder.
func (f *FS) list(name string) ([]fs.DirEntry, error) {
	at, parent, err := f.walk(name)
	if err != nil {
		return nil, err
	}
	d, err := f.folder(at.inode, parent)
	if err != nil {
		return nil, err
	}
	entries, folders := make([]fs.DirEntry, len(d.entries)), map[uint32]string{}
	for i, e := range d.entries {
		if e.kind, err = f.kindOf(e); err != nil {
			return nil, err
		}
		if e.kind == typeFolder && folders[e.inode] != "" {
			return nil, damaged("%q and %q are one folder", folders[e.inode], e.name)
		}
		if e.kind == typeFolder {
			folders[e.inode] = e.name
		}
		entries[i] = dirEntry{f, e}
	}
	return entries, nil
}

// kindOf is the type of the file behind an entry.
func (f *FS) kindOf(e entry) (uint16, error) {
	if e.kind != 0 {
		return e.kind, nil
	}
	n, err := f.node(e.inode)
	if err != nil {
		return 0, err
	}
	return n.mode & typeMask, nil
}

// entryNode reads the inode that an entry names.
func (f *FS) entryNode(e entry) (*node, error) {
	n, err := f.node(e.inode)
	if err != nil {
		return nil, err
	}
	if e.kind != 0 && !n.is(e.kind) {
		return nil, damaged("the folder has type %#x for inode %d, which is %#x", e.kind, n.number, n.mode&typeMask)
	}
	return n, nil
}

// dirEntry is an entry of a listed folder.
type dirEntry struct {
	f *FS
	e entry
}

func (d dirEntry) Name() string      { return d.e.name }
func (d dirEntry) IsDir() bool       { return d.e.kind == typeFolder }
func (d dirEntry) Type() fs.FileMode { return inode.Mode(uint32(d.e.kind)).Type() }
func (d dirEntry) String() string    { return fs.FormatDirEntry(d) }

// Info reads the file's description.
func (d dirEntry) Info() (fs.FileInfo, error) {
	n, err := d.f.entryNode(d.e)
	if err != nil {
		return nil, &fs.PathError{Op: "lstat", Path: d.e.name, Err: err}
	}
	return n.info(d.e.name), nil
}

// scan visits the entries of a folder as they stand, hash tree or not: to who
// reads all blocks in turn, the tree's own are entries that are not in use.
func (f *FS) scan(n *node, visit func(entry) error) error {
	if n.flags&flagInline != 0 {
		return f.scanInline(n, visit)
	}
	if n.size == 0 || uint64(n.size)%f.blockSize != 0 {
		return damaged("the folder of inode %d has %d bytes", n.number, n.size)
	}
	buffer := make([]byte, min(n.size, max(readAtOnce, int64(f.blockSize))))
	for off := int64(0); off < n.size; off += int64(len(buffer)) {
		buffer = buffer[:min(int64(len(buffer)), n.size-off)]
		if _, err := (content{f, n}).ReadAt(buffer, off); err != nil {
			return err
		}
		if err := f.scanBlocks(n, buffer, off, visit); err != nil {
			return err
		}
	}
	return nil
}

// scanBlocks visits the entries of whole blocks, which stand at off in the folder.
func (f *FS) scanBlocks(n *node, b []byte, off int64, visit func(entry) error) error {
	for at := 0; at < len(b); at += int(f.blockSize) {
		list := b[at:][:f.blockSize]
		err := f.checkBlock(n, list, off == 0 && at == 0)
		if err == nil {
			err = f.scanList(list, visit)
		}
		if err != nil {
			return fmt.Errorf("folder of inode %d, byte %d: %w", n.number, off+int64(at), err)
		}
	}
	return nil
}

// scanInline visits the entries of a folder that stands in its inode: the
// number of its parent, then two lists.
func (f *FS) scanInline(n *node, visit func(entry) error) error {
	first, second, err := n.inline()
	if err != nil {
		return err
	}
	if len(first) < 4 {
		return damaged("the folder of inode %d has %d bytes", n.number, n.size)
	}
	lists := [][]byte{first[4:], second}
	if err := visit(entry{name: "..", inode: le.Uint32(first)}); err != nil {
		return err
	}
	for _, list := range lists {
		if err := f.scanList(list, visit); err != nil {
			return fmt.Errorf("inline folder of inode %d: %w", n.number, err)
		}
	}
	return nil
}

var errEntry = damaged("an entry of the folder is impossible")

// scanList visits the entries of a list.
func (f *FS) scanList(b []byte, visit func(entry) error) error {
	for at := 0; at < len(b); {
		rest := b[at:]
		if len(rest) < entryHeader {
			return errEntry
		}
		length, name := entryLength(rest, f.blockSize), int(rest[6])
		if length < entryHeader+name || length%4 != 0 || length > len(rest) {
			return errEntry
		}
		if number := le.Uint32(rest); number != 0 {
			e, err := f.parseEntry(rest, number, string(rest[entryHeader:][:name]))
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

func (f *FS) parseEntry(b []byte, number uint32, name string) (entry, error) {
	if number > f.inodes || name == "" || strings.ContainsAny(name, "/\x00") {
		return entry{}, errEntry
	}
	e := entry{name: name, inode: number}
	if f.incompatible&hasFiletype == 0 {
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
func (f *FS) checkBlock(n *node, b []byte, first bool) error {
	if f.readOnly&hasMetaCsum == 0 {
		return nil
	}
	sum, want := uint32(0), uint32(0)
	switch {
	case n.flags&flagIndex != 0 && (first || entryLength(b, f.blockSize) == len(b)):
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
