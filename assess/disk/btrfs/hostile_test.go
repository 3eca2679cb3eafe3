package btrfs

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/matryer/is"

	"svc/assess/disk/block"
	"svc/assess/disk/inode"
	"svc/assess/disk/inode/inodetest"
)

// openFile opens an image that may be refused.
func openFile(t testing.TB, image string) (*FS, error) {
	t.Helper()
	is := is.New(t)
	r, err := os.Open(image)
	is.NoErr(err)
	t.Cleanup(func() { _ = r.Close() })
	info, err := r.Stat()
	is.NoErr(err)
	return Open(r, info.Size())
}

// change replaces the first place of an image that has some bytes.
func change(t testing.TB, image, from, to string) {
	t.Helper()
	is := is.New(t)
	b, err := os.ReadFile(image)
	is.NoErr(err)
	at := bytes.Index(b, []byte(from))
	is.True(at >= 0)
	w, err := os.OpenFile(image, os.O_WRONLY, 0)
	is.NoErr(err)
	defer w.Close()
	_, err = w.WriteAt([]byte(to), int64(at))
	is.NoErr(err)
}

// TestDamagedData changes data on the disk: a copy that is whole is read, and
// without one it is an error.
func TestDamagedData(t *testing.T) {
	for options, copies := range map[string]int{"": 1, "--csum xxhash": 1, "-d dup": 2, "--mixed -m dup -d dup": 2} {
		is := is.New(t)
		inodetest.Needs(t, "mkfs.btrfs")
		image := inodetest.Image(t, 240<<20)
		inodetest.Command(t, "mkfs.btrfs", append(append([]string{"-q"}, strings.Fields(options)...), image)...)
		text := strings.Repeat("content\n", 1000) + "a line\n" + strings.Repeat("content\n", 1000)
		inodetest.Mounted(t, image, "", func(root string) {
			is.NoErr(os.WriteFile(filepath.Join(root, "file"), []byte(text), 0o600))
		})
		for range copies {
			b, err := fs.ReadFile(openImage(t, image), "file")
			is.NoErr(err)
			is.True(string(b) == text)
			change(t, image, "content\na line", "content\nA LINE")
		}
		_, err := fs.ReadFile(openImage(t, image), "file")
		is.True(errors.Is(err, block.ErrDamaged))
		is.True(strings.Contains(err.Error(), "wrong checksum of the data"))
	}
}

// TestWithoutChecksums reads files that were written without them.
func TestWithoutChecksums(t *testing.T) {
	is := is.New(t)
	image, _ := mkfs(t, "")
	inodetest.Mounted(t, image, "nodatasum", func(root string) {
		is.NoErr(os.WriteFile(filepath.Join(root, "file"), bytes.Repeat([]byte("content\n"), 1000), 0o600))
	})
	b, err := fs.ReadFile(openImage(t, image), "file")
	is.NoErr(err)
	is.Equal(len(b), 8000)
}

// TestUncleanShutdown reads a file system that was copied while Linux had it
// mounted: what was written last is in its log tree alone.
func TestUncleanShutdown(t *testing.T) {
	is := is.New(t)
	image, _ := mkfs(t, "")
	snapshot := filepath.Join(t.TempDir(), "snapshot")
	inodetest.Mounted(t, image, "", func(root string) {
		f, err := os.Create(filepath.Join(root, "file"))
		is.NoErr(err)
		defer f.Close()
		_, err = io.WriteString(f, "content")
		is.NoErr(err)
		is.NoErr(f.Sync())
		inodetest.Command(t, "cp", "--sparse=always", image, snapshot)
	})
	_, err := openFile(t, snapshot)
	is.True(errors.Is(err, block.ErrUnsupported))
	is.True(strings.Contains(err.Error(), "not shut down cleanly"))
	_, err = openFile(t, image)
	is.NoErr(err)
}

// TestManyDevices refuses what one device alone doesn't have.
func TestManyDevices(t *testing.T) {
	inodetest.Needs(t, "mkfs.btrfs")
	for _, options := range []string{"-d single", "-m raid1 -d raid1", "-m raid0 -d raid0"} {
		is := is.New(t)
		a, b := inodetest.Image(t, 256<<20), inodetest.Image(t, 256<<20)
		inodetest.Command(t, "mkfs.btrfs", append(append([]string{"-q"}, strings.Fields(options)...), a, b)...)
		for _, image := range []string{a, b} {
			_, err := openFile(t, image)
			is.True(errors.Is(err, block.ErrUnsupported))
			is.True(strings.Contains(err.Error(), "2 devices"))
		}
	}
}

// item is where an item of the image of testdata lies: the page, and the places
// in it of its key and its data.
func item(t testing.TB, device *inodetest.Sparse, owner uint64, k key) (page, header, data uint16) {
	t.Helper()
	f, err := Open(device, device.Size())
	is.New(t).NoErr(err)
	tree, err := f.treeOf(owner)
	is.New(t).NoErr(err)
	l, err := tree.leaf(k)
	is.New(t).NoErr(err)
	places, _, err := f.spans(le.Uint64(l.block[48:]), pageBytes)
	is.New(t).NoErr(err)
	i := l.search(k)
	if i == l.count() || l.key(i).object != k.object || l.key(i).kind != k.kind {
		t.Fatalf("no item %v", k)
	}
	header = uint16(headerSize + i*itemSize)
	return device.PageOf(places[0]), header, headerSize + uint16(le.Uint32(l.block[header+keySize:]))
}

const pageBytes = 4096

// TestDamage changes one thing in the image of testdata, with its checksum right
// again, and expects an error that names it.
func TestDamage(t *testing.T) {
	is := is.New(t)
	device := inodetest.Unpack(t, packed)
	super := device.PageOf(superAt[0])
	sound, err := Open(device, device.Size())
	is.NoErr(err)
	id := sound.top.subvolume
	at := func(owner uint64, k key, place uint16) [2]uint16 {
		page, _, data := item(t, device, owner, k)
		return [2]uint16{page, data + place}
	}
	of := func(name string) uint64 {
		at, err := sound.Find(name)
		is.NoErr(err)
		return at.inode
	}
	sparse, a, b := of("sparse"), of("a"), of("a/b")
	page, header, _ := item(t, device, id, key{sparse, typeInode, 0})
	for _, c := range []struct {
		what  string
		place [2]uint16
		value uint16
		want  string
	}{
		{"flags of the superblock", [2]uint16{super, 60}, 4, "a dump without data"},
		{"a log tree", [2]uint16{super, 96}, 1, "not shut down cleanly"},
		{"devices", [2]uint16{super, 136}, 2, "2 devices"},
		{"sectors", [2]uint16{super, 144}, 1, "sectors of 1 bytes"},
		{"nodes", [2]uint16{super, 148}, 5000, "nodes of 5000"},
		{"length of chunks", [2]uint16{super, 160}, 0xFFFF, "bytes of chunks in the superblock"},
		{"unknown features", [2]uint16{super, 188 + 4}, 1, "incompatible features 0x100000000"},
		{"extent tree", [2]uint16{super, 188}, 1 << 13, "extent_tree_v2"},
		{"kind of checksum", [2]uint16{super, 196}, 9, "checksums of kind 9"},
		{"level of the root", [2]uint16{super, 198}, 9, "tree 1 has 9 levels"},
		{"generation", [2]uint16{super, 72}, 1, "instead of"},
		{"size of the device", [2]uint16{super, 209 + 4}, 9, "cut short"},
		{"first chunk", [2]uint16{super, 811 + 8}, 9, "chunk of"},
		{"root", [2]uint16{super, 80 + 4}, 9, "no chunk has the logical address"},
		{"order of keys", [2]uint16{page, header}, 0, "out of order"},
		{"place of an item", [2]uint16{page, header + keySize + 2}, 9, "lies outside the block"},
		{"count of items", [2]uint16{page, 98}, 9, "items at level"},
		{"level of a block", [2]uint16{page, 100}, 1, "out of order"},
		{"owner's place", [2]uint16{page, 48}, 1, "is of another place"},
		{"size of a file", at(id, key{sparse, typeInode, 0}, 22), 0xFFFF, "has the size -"},
		{"kind of an extent", at(id, key{sparse, typeExtentData, 0}, 20), 9, "extent of kind 9"},
		{"compression", at(id, key{sparse, typeExtentData, 0}, 16), 9, "compression 9"},
		{"encryption", at(id, key{sparse, typeExtentData, 0}, 17), 1, "an encrypted extent"},
		{"place of an extent", at(id, key{sparse, typeExtentData, 0}, 26), 9, "no chunk has the logical address"},
		{"length of an extent", at(id, key{sparse, typeExtentData, 0}, 47), 9, "of which the disk has"},
		{"folder that is its parent's", at(id, key{b, typeDirItem, 0}, 0), uint16(a), "but its parent is"},
		{"folder that is the top", at(id, key{b, typeDirItem, 0}, 0), firstInode, "lies within itself"},
		{"length of a name", at(id, key{a, typeDirIndex, 0}, 27), 0xFFFF, "directory entry with a name of"},
		{"slash in a name", at(id, key{a, typeDirIndex, 0}, 30), '/', "the name \"/"},
		{"kind of an entry", at(id, key{a, typeDirIndex, 0}, 8), 77, "leads to an item of kind 77"},
	} {
		t.Run(c.what, func(t *testing.T) {
			changed := device.Patched(inodetest.Patch(c.place[0], c.place[1], c.value), seal)
			f, err := Open(changed, changed.Size())
			if err == nil {
				err = readAll(f)
			}
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

// readAll reads all of a file system, to the first error.
func readAll(f inode.FS) error {
	return inodetest.Walk(f, func(string, inodetest.Fact) {})
}

// TestNames asks for what is not there, or not of the right type.
func TestNames(t *testing.T) {
	is := is.New(t)
	device := inodetest.Unpack(t, packed)
	f, err := Open(device, device.Size())
	is.NoErr(err)
	for _, name := range []string{"", "/", "/a", "a/", "./a", "..", "a/..", "a//b"} {
		_, err := f.Lstat(name)
		is.True(errors.Is(err, fs.ErrInvalid))
	}
	for _, name := range []string{"no", "a/no", "sparse/no", "link/x", "A"} {
		_, err := f.Lstat(name)
		is.True(errors.Is(err, fs.ErrNotExist))
	}
	_, err = Open(device, 1<<20)
	is.True(errors.Is(err, block.ErrDamaged)) // cut short
	_, err = Open(device, 0)
	is.True(errors.Is(err, block.ErrDamaged))
}
