package btrfs

import (
	"bytes"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"

	"svc/assess/disk/inode/inodetest"
)

var update = flag.Bool("update", false, "make the image of testdata, and the golden file of what it holds")

const packed = "testdata/small.gz"

// makeSmall makes the image of testdata: blocks of trees of one page, files in
// all forms, and subvolumes in each other.
func makeSmall(t testing.TB) {
	t.Helper()
	is := is.New(t)
	inodetest.Needs(t, "mkfs.btrfs", "btrfs")
	image := inodetest.Image(t, 32<<20)
	inodetest.Command(t, "mkfs.btrfs", "-q", "-L", label, "--mixed", "-n", "4096", "-m", "single", "-d", "single", image)
	for _, compression := range []string{"zlib", "lzo", "zstd"} {
		inodetest.Mounted(t, image, "compress-force="+compression, func(root string) {
			write := func(name string, size int) {
				is.NoErr(os.MkdirAll(filepath.Dir(filepath.Join(root, name)), 0o755))
				b := bytes.Repeat([]byte(name+"\n"), size/(len(name)+1)+1)[:size]
				is.NoErr(os.WriteFile(filepath.Join(root, name), b, 0o644))
			}
			write(compression+"/inline", 900)
			write(compression+"/extents", 300_000)
		})
	}
	inodetest.Mounted(t, image, "", func(root string) {
		inodetest.Command(t, "btrfs", "subvolume", "create", root+"/@")
		inodetest.Command(t, "btrfs", "subvolume", "create", root+"/@/var")
		for i := range 60 {
			is.NoErr(os.WriteFile(fmt.Sprintf("%s/@/var/%0100d", root, i), []byte("content"), 0o600))
		}
		f, err := os.Create(root + "/@/sparse")
		is.NoErr(err)
		for i := range int64(9) {
			_, err := f.WriteAt([]byte("piece"), i*i*20_000)
			is.NoErr(err)
		}
		is.NoErr(f.Close())
		is.NoErr(os.Symlink("var/0", root+"/@/link"))
		is.NoErr(os.Link(root+"/@/sparse", root+"/@/hard"))
		is.NoErr(os.MkdirAll(root+"/@/a/b/c", 0o755))
		inodetest.Command(t, "btrfs", "subvolume", "snapshot", root+"/@", root+"/@/a/snapshot")
		inodetest.Command(t, "btrfs", "subvolume", "set-default", root+"/@")
	})
	inodetest.Pack(t, image, packed)
}

// TestSmall compares what the image of testdata holds with the golden file.
func TestSmall(t *testing.T) {
	is := is.New(t)
	if *update {
		makeSmall(t)
	}
	device := inodetest.Unpack(t, packed)
	f, err := Open(device, device.Size())
	is.NoErr(err)
	top, err := f.Subvolume("/")
	is.NoErr(err)
	facts := inodetest.FactsOf(t, top)
	var got strings.Builder
	for _, name := range slices.Sorted(maps.Keys(facts)) {
		fmt.Fprintf(&got, "%q %+v\n", name, facts[name])
	}
	const golden = "testdata/small.golden"
	if *update {
		is.NoErr(os.WriteFile(golden, []byte(got.String()), 0o644))
	}
	want, err := os.ReadFile(golden)
	is.NoErr(err)
	is.Equal(got.String(), string(want))
}

// seal writes the checksum of a block of a tree, or of the superblock, again.
func seal(page []byte, at int64) {
	if at == superAt[0] || le.Uint64(page[48:]) < 1<<40 && page[100] <= maxLevel {
		sum := checksums[0].of(page[32:])
		copy(page, sum[:])
	}
}

// FuzzOpen reads a bit of everything from the image of testdata with some bytes
// changed and, where it has them, its checksums right again: no panic, and no
// more work than a few times what there is to read.
func FuzzOpen(f *testing.F) {
	base := inodetest.Unpack(f, packed)
	super := base.PageOf(superAt[0])
	for _, field := range []uint16{56, 72, 80, 88, 96, 128, 136, 144, 148, 160, 188, 196, 198, 199, 201, 209, 811, 820, 828, 860} {
		f.Add(inodetest.Patch(super, field, 1))
	}
	base.Pages(func(number uint16, page []byte) {
		if bytes.Equal(page[32:48], make([]byte, 16)) || number == super {
			return
		}
		for _, field := range []uint16{80, 96, headerSize + 9, headerSize + keySize, 4096 - 40, 4096 - 200} {
			f.Add(inodetest.Patch(number, field, 0xFFFF))
		}
	})
	f.Fuzz(func(t *testing.T, patches []byte) {
		if len(patches) > 6*64 {
			return
		}
		device := base.Patched(patches, seal)
		s, err := Open(device, device.Size())
		if err != nil {
			return
		}
		budget := 150
		inodetest.Explore(s, ".", &budget)
		if top, err := s.SubvolumeID(topSubvolume); err == nil {
			inodetest.Explore(top, ".", &budget)
		}
		if device.Read > 256<<20 {
			t.Fatalf("%d bytes read", device.Read)
		}
	})
}
