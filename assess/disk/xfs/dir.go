package xfs

import (
	"errors"
	"fmt"
	"io/fs"
	"math/bits"
	"sort"
	"strings"

	"svc/assess/disk/block"
	"svc/assess/disk/inode"
	"svc/assess/host"
)

const (
	leafByte   = 1 << 35 // where the hash index of a folder begins in its fork
	maxEntries = 1 << 20 // of a folder that is listed
)

// errStop ends the reading of a folder early.
var errStop = errors.New("stop")

// raw is an entry as it lies in the folder.
type raw struct {
	name   []byte
	number uint64
	kind   byte
}

// List reads a folder's entries, in the order of the disk.
func (v *volume) List(number uint64) ([]inode.Entry[uint64], error) {
	n, err := v.node(number)
	if err != nil {
		return nil, err
	}
	var entries []inode.Entry[uint64]
	err = v.each(n, func(r raw) error {
		e, err := v.entry(r)
		if err != nil || e.Base == "." || e.Base == ".." {
			return err
		}
		if len(entries) == maxEntries {
			return block.Damaged("has more than %d files", maxEntries)
		}
		entries = append(entries, e)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("folder %d: %w", number, err)
	}
	return entries, nil
}

// entry checks a raw entry, and asks the inode where the folder doesn't know
// the type.
func (v *volume) entry(r raw) (inode.Entry[uint64], error) {
	e := inode.Entry[uint64]{Base: string(r.name), At: r.number, Kind: fs.ModeIrregular}
	if strings.ContainsAny(e.Base, "/\x00") || e.Base == "" {
		return e, block.Damaged("the name %q", e.Base)
	}
	if 0 < r.kind && int(r.kind) < len(inode.Kinds) {
		e.Kind = inode.Kinds[r.kind]
		return e, nil
	}
	n, err := v.node(r.number)
	if err == nil {
		e.Kind = host.Mode(n.Mode).Type()
	}
	return e, err
}

// Within refuses a folder that is listed in another than its parent.
func (v *volume) Within(number, parent uint64) error {
	n, err := v.node(number)
	if err != nil {
		return err
	}
	above, err := v.parent(n)
	if err == nil && above != parent {
		err = block.Damaged("inode %d is listed in folder %d, but its parent is %d", number, parent, above)
	}
	return err
}

// parent is the folder above a folder.
func (v *volume) parent(n *node) (uint64, error) {
	if n.form != formLocal {
		return v.lookupNode(n, "..")
	}
	_, wide, err := shortHeader(n.fork)
	if err != nil {
		return 0, fmt.Errorf("folder %d: %w", n.Number, err)
	}
	return shortNumber(n.fork[2:], wide), nil
}

// Lookup finds a name in a folder.
func (v *volume) Lookup(folder uint64, name string) (uint64, error) {
	n, err := v.node(folder)
	if err != nil {
		return 0, err
	}
	return v.lookupNode(n, name)
}

func (v *volume) lookupNode(n *node, name string) (uint64, error) {
	found, number := false, uint64(0)
	match := func(r raw) error {
		if string(r.name) != name {
			return nil
		}
		found, number = true, r.number
		return errStop
	}
	err := v.candidates(n, name, match)
	switch {
	case found:
		return number, nil
	case err == nil:
		return 0, fs.ErrNotExist
	}
	return 0, fmt.Errorf("folder %d: %w", n.Number, err)
}

// candidates visits the entries that may have a name: all of a small folder,
// those with the name's hash else.
func (v *volume) candidates(n *node, name string, visit func(raw) error) error {
	if n.form == formLocal {
		return v.eachShort(n.fork, visit)
	}
	first, err := v.dirBlock(n, 0)
	if err != nil {
		return err
	}
	if isSingle(first) {
		leaves, _, err := v.tail(first)
		if err != nil {
			return err
		}
		return v.matching(n, leaves, hash(name), visit)
	}
	return v.searchIndex(n, hash(name), visit)
}

// each visits all entries.
func (v *volume) each(n *node, visit func(raw) error) error {
	if !n.is(fs.ModeDir) {
		return block.Damaged("is no folder")
	}
	if n.form == formLocal {
		return v.eachShort(n.fork, visit)
	}
	per := uint64(v.dirBytes / v.blockBytes)
	end := min(uint64(n.Size), leafByte) / uint64(v.blockBytes)
	for blk := uint64(0); blk < end; {
		e, err := v.extentAt(n, blk)
		if err != nil {
			return err
		}
		if e.zeros {
			blk = (blk + max(e.count, per)) / per * per
			continue
		}
		if err := v.eachData(n, blk, visit); err != nil {
			return err
		}
		blk += per
	}
	return nil
}

// eachData visits the entries of a directory block.
func (v *volume) eachData(n *node, blk uint64, visit func(raw) error) error {
	b, err := v.dirBlock(n, blk)
	if err != nil {
		return err
	}
	end := len(b)
	if isSingle(b) {
		if _, end, err = v.tail(b); err != nil {
			return err
		}
	}
	for at := v.dataHeader(); at < end; {
		length, err := v.visitData(b[:end], at, visit)
		if err != nil {
			return err
		}
		at += length
	}
	return nil
}

// visitData visits the entry at an offset of a directory block, if it is in
// use, and gives its length.
func (v *volume) visitData(b []byte, at int, visit func(raw) error) (int, error) {
	if at+8 > len(b) {
		return 0, block.Damaged("entry at %d of %d bytes", at, len(b))
	}
	if be.Uint16(b[at:]) == 0xffff {
		length := int(be.Uint16(b[at+2:]))
		if length == 0 || length%8 != 0 || length > len(b)-at {
			return 0, block.Damaged("unused part of %d bytes", length)
		}
		return length, nil
	}
	if at+16 > len(b) {
		return 0, block.Damaged("entry at %d of %d bytes", at, len(b))
	}
	name := int(b[at+8])
	length := 8 + 1 + name + 2
	if v.ftype {
		length++
	}
	length = (length + 7) &^ 7
	if name == 0 || length > len(b)-at {
		return 0, block.Damaged("entry of %d bytes at %d of %d", length, at, len(b))
	}
	r := raw{name: b[at+9 : at+9+name], number: be.Uint64(b[at:])}
	if v.ftype {
		r.kind = b[at+9+name]
	}
	return length, visit(r)
}

// shortHeader reads the header of a folder within its inode: how many files it
// has, and whether their numbers are wide (8 bytes, not 4).
func shortHeader(b []byte) (count int, wide bool, err error) {
	if len(b) < 6 {
		return 0, false, block.Damaged("short folder of %d bytes", len(b))
	}
	wide = b[1] != 0
	if wide && len(b) < 10 {
		return 0, false, block.Damaged("short folder of %d bytes", len(b))
	}
	return int(b[0]), wide, nil
}

func shortNumber(b []byte, wide bool) uint64 {
	if wide {
		return be.Uint64(b)
	}
	return uint64(be.Uint32(b))
}

// eachShort visits the entries of a folder within its inode.
func (v *volume) eachShort(b []byte, visit func(raw) error) error {
	count, wide, err := shortHeader(b)
	if err != nil {
		return err
	}
	number, kind := 4, 0
	if wide {
		number = 8
	}
	if v.ftype {
		kind = 1
	}
	for at := 2 + number; count > 0; count-- {
		if at+3 > len(b) || at+3+int(b[at])+kind+number > len(b) {
			return block.Damaged("short folder ends within an entry at %d", at)
		}
		end := at + 3 + int(b[at])
		r := raw{name: b[at+3 : end], number: shortNumber(b[end+kind:], wide)}
		if v.ftype {
			r.kind = b[end]
		}
		if err := visit(r); err != nil {
			return err
		}
		at = end + kind + number
	}
	return nil
}

// dirBlock names the blocks of a folder's fork in the cache.
type dirBlock struct {
	volume *volume
	folder uint64
}

func (v *volume) dataHeader() int {
	if v.v5 {
		return 64
	}
	return 16
}

// isSingle tells the one block of a small folder, which ends with its index.
func isSingle(b []byte) bool {
	m := string(b[:4])
	return m == "XD2B" || m == "XDB3"
}

// dirBlock reads a block of a folder, data or index, and checks it.
func (v *volume) dirBlock(n *node, blk uint64) ([]byte, error) {
	return v.cache.Get(dirBlock{v, n.Number}, int64(blk), func() ([]byte, error) {
		b := make([]byte, v.dirBytes)
		if blk > leafByte*2/512 {
			return nil, block.Damaged("block %d", blk)
		}
		if _, err := (content{n}).ReadAt(b, int64(blk)*v.blockBytes); err != nil {
			return nil, err
		}
		if err := v.checkDirBlock(n, b); err != nil {
			return nil, fmt.Errorf("block %d: %w", blk, err)
		}
		return b, nil
	})
}

// indexMagic are the kinds of index blocks.
const (
	magicLeaf1 = 0xd2f1 // the only index block of a folder
	magicLeafN = 0xd2ff
	magicNode  = 0xfebe
	// Version 5 has others for each.
	magicLeaf1V5 = 0x3df1
	magicLeafNV5 = 0x3dff
	magicNodeV5  = 0x3ebe
)

// checkDirBlock verifies a directory block's kind, checksum and owner.
func (v *volume) checkDirBlock(n *node, b []byte) error {
	data, index := string(b[:4]), be.Uint16(b[8:])
	sum, owner := 0, 0
	switch {
	case !v.v5 && (data == "XD2B" || data == "XD2D" || index == magicLeaf1 || index == magicLeafN || index == magicNode):
		return nil
	case v.v5 && (data == "XDB3" || data == "XDD3"):
		sum, owner = 4, 40
	case v.v5 && (index == magicLeaf1V5 || index == magicLeafNV5 || index == magicNodeV5):
		sum, owner = 12, 48
	default:
		return block.Damaged("is no directory block")
	}
	if !sumMatches(b, sum) || be.Uint64(b[owner:]) != n.Number {
		return block.Damaged("wrong checksum or owner")
	}
	return nil
}

// tail gives the index at the end of a single block, and where it begins.
func (v *volume) tail(b []byte) ([]byte, int, error) {
	count := int(be.Uint32(b[len(b)-8:]))
	begin := len(b) - 8 - 8*count
	if count > len(b)/8 || begin < v.dataHeader() {
		return nil, 0, block.Damaged("index of %d entries", count)
	}
	return b[begin : len(b)-8], begin, nil
}

// searchIndex goes down the hash index, and along the leaves that hold the hash.
func (v *volume) searchIndex(n *node, h uint32, visit func(raw) error) error {
	blk := uint64(leafByte / v.blockBytes)
	level := maxLevel
	for range maxLevel {
		b, err := v.dirBlock(n, blk)
		if err != nil {
			return err
		}
		items, below, err := v.indexItems(b)
		if err != nil {
			return err
		}
		if below == 0 {
			return v.alongLeaves(n, b, items, h, visit)
		}
		if below >= level {
			return block.Damaged("index nodes in a cycle")
		}
		level = below
		i := min(after(items, h), len(items)/8-1)
		if i < 0 {
			return block.Damaged("empty index node")
		}
		blk = uint64(be.Uint32(items[8*i+4:]))
	}
	return block.Damaged("index is too deep")
}

// after is the first item whose hash is not below h.
func after(items []byte, h uint32) int {
	return sort.Search(len(items)/8, func(i int) bool { return be.Uint32(items[8*i:]) >= h })
}

// indexItems gives the pairs of an index block, and its level: 0 is a leaf.
func (v *volume) indexItems(b []byte) (items []byte, level int, err error) {
	info := 12
	if v.v5 {
		info = 56
	}
	count, header := int(be.Uint16(b[info:])), 16
	if v.v5 {
		header = 64
	}
	if m := be.Uint16(b[8:]); m == magicNode || m == magicNodeV5 {
		level = int(be.Uint16(b[info+2:]))
		if level == 0 {
			return nil, 0, block.Damaged("index node of level 0")
		}
	} else if isData(b) {
		return nil, 0, block.Damaged("data where the index is due")
	}
	if count > (len(b)-header)/8 {
		return nil, 0, block.Damaged("index block with %d items", count)
	}
	return b[header : header+8*count], level, nil
}

func isData(b []byte) bool { return strings.HasPrefix(string(b[:4]), "XD") }

// alongLeaves visits the entries of a hash, which may go on in leaves that follow.
func (v *volume) alongLeaves(n *node, b, items []byte, h uint32, visit func(raw) error) error {
	for range maxEntries / 8 {
		if err := v.matching(n, items, h, visit); err != nil {
			return err
		}
		next := be.Uint32(b)
		single := be.Uint16(b[8:]) == magicLeaf1 || be.Uint16(b[8:]) == magicLeaf1V5
		if single || next == 0 || len(items) > 0 && be.Uint32(items[len(items)-8:]) > h {
			return nil
		}
		var err error
		if b, err = v.dirBlock(n, uint64(next)); err != nil {
			return err
		}
		level := 0
		if items, level, err = v.indexItems(b); err != nil || level != 0 {
			return errors.Join(err, block.Damaged("index leaves end in a node"))
		}
	}
	return block.Damaged("index leaves in a cycle")
}

// matching visits the entries that a leaf gives for a hash.
func (v *volume) matching(n *node, leaves []byte, h uint32, visit func(raw) error) error {
	for i := after(leaves, h); i < len(leaves)/8 && be.Uint32(leaves[8*i:]) == h; i++ {
		address := uint64(be.Uint32(leaves[8*i+4:])) * 8
		if address == 0 {
			continue // deleted
		}
		blk := address / uint64(v.dirBytes) * uint64(v.dirBytes) / uint64(v.blockBytes)
		b, err := v.dirBlock(n, blk)
		if err != nil {
			return err
		}
		if !isData(b) {
			return block.Damaged("no data in block %d", blk)
		}
		if _, err := v.visitData(b, int(address%uint64(v.dirBytes)), visit); err != nil {
			return err
		}
	}
	return nil
}

// hash is xfs_da_hashname.
func hash(name string) uint32 {
	h := uint32(0)
	for len(name) >= 4 {
		h = uint32(name[0])<<21 ^ uint32(name[1])<<14 ^ uint32(name[2])<<7 ^ uint32(name[3]) ^ bits.RotateLeft32(h, 28)
		name = name[4:]
	}
	for _, c := range []byte(name) {
		h = uint32(c) ^ bits.RotateLeft32(h, 7)
	}
	return h
}
