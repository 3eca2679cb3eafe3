package btrfs

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"sort"
	"sync"

	"svc/assess/disk/block"
)

// key orders the items of a tree.
type key struct {
	object uint64
	kind   byte
	offset uint64
}

// Kinds of items.
const (
	typeInode       = 1
	typeInodeRef    = 12
	typeAttribute   = 24
	typeDirItem     = 84
	typeDirIndex    = 96
	typeExtentData  = 108
	typeChecksums   = 128
	typeRoot        = 132
	typeRootBackref = 144
	typeChunk       = 228
)

// Well-known objects.
const (
	topSubvolume   = 5
	firstInode     = 256 // the folder at the top of a subvolume
	emptyInode     = 2   // a folder in whose stead a snapshot has no subvolume
	firstChunkTree = 256
	lastSubvolume  = math.MaxUint64 - 256
)

const (
	keySize    = 17
	maxOffset  = math.MaxUint64
	maxLevel   = 7
	headerSize = 101
	itemSize   = 25
	childSize  = 33
)

// maxKey is above all others.
var maxKey = key{math.MaxUint64, math.MaxUint8, math.MaxUint64}

func decodeKey(b []byte) key { return key{le.Uint64(b), b[8], le.Uint64(b[9:])} }

func (k key) compare(other key) int {
	return cmp.Or(cmp.Compare(k.object, other.object), cmp.Compare(k.kind, other.kind), cmp.Compare(k.offset, other.offset))
}

func (k key) String() string { return fmt.Sprintf("(%d %d %d)", k.object, k.kind, k.offset) }

// pointer leads to a block of a tree: its logical address, and what it must be.
type pointer struct {
	logical    uint64
	generation uint64
	level      int
}

// tree is a B-tree of the file system.
type tree struct {
	volume *volume
	root   pointer
	id     uint64
}

// trees remembers subvolumes that were read before.
type trees struct {
	mu    sync.RWMutex
	known map[uint64]tree
}

// maxTrees bounds the subvolumes that are remembered.
const maxTrees = 1024

// leaf is a block of items, and the least key after them.
type leaf struct {
	block []byte
	upper key
}

func (l leaf) count() int    { return int(le.Uint32(l.block[96:])) }
func (l leaf) key(i int) key { return decodeKey(l.block[headerSize+i*itemSize:]) }
func (l leaf) search(k key) int {
	return sort.Search(l.count(), func(i int) bool { return l.key(i).compare(k) >= 0 })
}
func (l leaf) data(i int) []byte { return itemData(l.block, i) }

// itemData is the i-th item of a block that was checked.
func itemData(b []byte, i int) []byte {
	item := b[headerSize+i*itemSize+keySize:]
	from := headerSize + int(le.Uint32(item))
	return b[from : from+int(le.Uint32(item[4:]))]
}

// leaf goes down to the leaf that has a key, or would have it. Levels count
// down, and keys of a block lie between those of its parent: a walk ends, and
// sees no block twice.
func (t tree) leaf(k key) (leaf, error) {
	at, upper := t.root, maxKey
	lower := key{}
	if at.level > maxLevel {
		return leaf{}, block.Damaged("tree %d has %d levels", t.id, at.level)
	}
	for {
		b, err := t.volume.treeBlock(at, lower, upper)
		if err != nil {
			return leaf{}, fmt.Errorf("tree %d: %w", t.id, err)
		}
		if at.level == 0 {
			return leaf{b, upper}, nil
		}
		count := int(le.Uint32(b[96:]))
		child := func(i int) []byte { return b[headerSize+i*childSize:] }
		next := sort.Search(count, func(i int) bool { return decodeKey(child(i)).compare(k) > 0 })
		if next < count {
			upper = decodeKey(child(next))
		}
		chosen := child(max(next-1, 0))
		lower = decodeKey(chosen)
		at = pointer{le.Uint64(chosen[keySize:]), le.Uint64(chosen[keySize+8:]), at.level - 1}
	}
}

// treeBlock reads a block of a tree, whose keys begin at lower and end before upper.
func (v *volume) treeBlock(at pointer, lower, upper key) ([]byte, error) {
	b, err := v.cache.Get(v, int64(at.logical), func() ([]byte, error) { return v.readTreeBlock(at.logical) })
	if err != nil {
		return nil, err
	}
	size, count := itemSize, int(le.Uint32(b[96:]))
	if at.level > 0 {
		size = childSize
	}
	switch {
	case int(b[100]) != at.level, le.Uint64(b[80:]) != at.generation:
		err = block.Damaged("the block at %d has level %d and generation %d instead of %d and %d",
			at.logical, b[100], le.Uint64(b[80:]), at.level, at.generation)
	case count > 0 && (decodeKey(b[headerSize:]).compare(lower) < 0 || decodeKey(b[headerSize+(count-1)*size:]).compare(upper) >= 0):
		err = block.Damaged("the block at %d has keys outside of %v to %v", at.logical, lower, upper)
	}
	return b, err
}

// readTreeBlock reads a block of a tree from the first copy that is whole.
func (v *volume) readTreeBlock(logical uint64) ([]byte, error) {
	places, n, err := v.spans(logical, v.nodeSize)
	if err != nil {
		return nil, err
	}
	if n < v.nodeSize {
		return nil, block.Damaged("the block at %d crosses chunks", logical)
	}
	var failed error
	for _, at := range places {
		b, err := block.Read(v.disk, at, n)
		if err == nil {
			err = v.checkTreeBlock(b, logical)
		}
		if err == nil {
			return b, nil
		}
		failed = errors.Join(failed, fmt.Errorf("the block at byte %d: %w", at, err))
	}
	return nil, failed
}

// checkTreeBlock verifies what a block says of itself, and that its keys rise.
func (v *volume) checkTreeBlock(b []byte, logical uint64) error {
	switch {
	case !v.sum.matches(b):
		return block.Damaged("wrong checksum")
	case le.Uint64(b[48:]) != logical, [16]byte(b[32:48]) != v.metadataID:
		return block.Damaged("is of another place or file system")
	}
	level, count, size := int(b[100]), int(le.Uint32(b[96:])), itemSize
	if level > 0 {
		size = childSize
	}
	if count > (len(b)-headerSize)/size || level > 0 && count == 0 || level > maxLevel {
		return block.Damaged("%d items at level %d", count, level)
	}
	for i := range count {
		at := headerSize + i*size
		if i > 0 && decodeKey(b[at-size:]).compare(decodeKey(b[at:])) >= 0 {
			return block.Damaged("item %d is out of order", i)
		}
		if level > 0 {
			continue
		}
		if from, n := uint64(le.Uint32(b[at+keySize:])), uint64(le.Uint32(b[at+keySize+4:])); from+n > uint64(len(b)-headerSize) {
			return block.Damaged("item %d lies outside the block", i)
		}
	}
	return nil
}

// errNone means that a tree has no such item.
var errNone = errors.New("there is no such item")

// get gives the item of a key.
func (t tree) get(k key) ([]byte, error) {
	l, err := t.leaf(k)
	if err != nil {
		return nil, err
	}
	i := l.search(k)
	if i == l.count() || l.key(i) != k {
		return nil, errNone
	}
	return l.data(i), nil
}

// floor gives the last item whose key is not above k, and the next key.
func (t tree) floor(k key) (found key, data []byte, next key, err error) {
	l, err := t.leaf(k)
	if err != nil {
		return key{}, nil, key{}, err
	}
	i := l.search(k)
	if i < l.count() && l.key(i) == k {
		i++
	}
	next = l.upper
	if i < l.count() {
		next = l.key(i)
	}
	if i == 0 {
		return key{}, nil, next, nil
	}
	return l.key(i - 1), l.data(i - 1), next, nil
}

// each visits the items from one key to another, both included.
func (t tree) each(from, to key, visit func(key, []byte) error) error {
	for from.compare(to) <= 0 {
		l, err := t.leaf(from)
		if err != nil {
			return err
		}
		for i := l.search(from); i < l.count() && l.key(i).compare(to) <= 0; i++ {
			if err := visit(l.key(i), l.data(i)); err != nil {
				return err
			}
		}
		if l.upper == maxKey {
			return nil
		}
		from = l.upper
	}
	return nil
}

// tree finds a subvolume.
func (v *volume) tree(id uint64) (tree, error) {
	if id != topSubvolume && (id < firstInode || id > lastSubvolume) {
		return tree{}, block.Damaged("%d is no subvolume", id)
	}
	return v.treeOf(id)
}

// treeOf finds a tree by its number.
func (v *volume) treeOf(id uint64) (tree, error) {
	v.trees.mu.RLock()
	t, known := v.trees.known[id]
	v.trees.mu.RUnlock()
	if known {
		return t, nil
	}
	k, b, _, err := v.roots().floor(key{id, typeRoot, maxOffset})
	if err != nil {
		return tree{}, err
	}
	if k.object != id || k.kind != typeRoot || len(b) < 239 {
		return tree{}, fmt.Errorf("there is no tree %d", id)
	}
	t = tree{v, pointer{le.Uint64(b[176:]), le.Uint64(b[160:]), int(b[238])}, id}
	v.trees.mu.Lock()
	defer v.trees.mu.Unlock()
	if len(v.trees.known) >= maxTrees {
		clear(v.trees.known)
	}
	v.trees.known[id] = t
	return t, nil
}

// roots is the tree of trees.
func (v *volume) roots() tree { return tree{v, v.root, 1} }

// defaultSubvolume is what is mounted where no subvolume is named.
func (v *volume) defaultSubvolume() (uint64, error) {
	b, err := v.roots().get(key{v.rootDir, typeDirItem, uint64(nameHash("default"))})
	if errors.Is(err, errNone) {
		return topSubvolume, nil
	}
	if err != nil {
		return 0, err
	}
	for e, err := range dirItems(b) {
		if err != nil {
			return 0, err
		}
		if string(e.name) == "default" {
			return e.location.object, nil
		}
	}
	return topSubvolume, nil
}
