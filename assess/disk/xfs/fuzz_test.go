package xfs

import (
	"encoding/binary"
	"flag"
	"fmt"
	"hash/crc32"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"

	"svc/assess/disk/block"
	"svc/assess/disk/inode/inodetest"
)

var update = flag.Bool("update", false, "make the image of testdata, and the golden file of what it holds")

const packed = "testdata/small.gz"

// makeSmall makes the image of testdata: folders and files in all forms.
func makeSmall(t testing.TB) {
	t.Helper()
	is := is.New(t)
	image := mkfs(t, "")
	inodetest.Mounted(t, image, "", func(root string) {
		path := func(name string) string {
			p := filepath.Join(root, name)
			is.NoErr(os.MkdirAll(filepath.Dir(p), 0o755))
			return p
		}
		is.NoErr(os.WriteFile(path("etc/hostname"), []byte("machine\n"), 0o644))
		for folder, count := range map[string]int{"block": 30, "leaf": 100, "node": 600} {
			for i := range count {
				is.NoErr(os.Link(path("etc/hostname"), path(fmt.Sprintf("%s/%060d", folder, i))))
			}
		}
		for name, pieces := range map[string]int64{"extents": 5, "tree": 40} {
			f, err := os.Create(path(name))
			is.NoErr(err)
			for i := range pieces {
				_, err := f.WriteAt([]byte("piece"), i*8192)
				is.NoErr(err)
			}
			is.NoErr(f.Close())
		}
		is.NoErr(os.Symlink("etc/hostname", path("short")))
		is.NoErr(os.Symlink(strings.Repeat("long/", 200), path("long")))
		is.NoErr(os.MkdirAll(path("a/b/c/d"), 0o755))
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
	facts := inodetest.FactsOf(t, f)
	var got strings.Builder
	for _, name := range slices.Sorted(maps.Keys(facts)) {
		if dir, base, _ := strings.Cut(name, "/"); dir != "node" || strings.HasSuffix(base, "00") {
			fmt.Fprintf(&got, "%q %+v\n", name, facts[name])
		}
	}
	const golden = "testdata/small.golden"
	if *update {
		is.NoErr(os.WriteFile(golden, []byte(got.String()), 0o644))
	}
	want, err := os.ReadFile(golden)
	is.NoErr(err)
	is.Equal(got.String(), string(want))
}

// sumAt is where the checksums of a page lie by what it begins with; inodes are
// several in one.
func sumAt(page []byte) (at, size int) {
	switch magic := string(page[:4]); {
	case magic == "XFSB":
		return 224, 512
	case magic[:2] == "IN":
		return 100, 512
	case magic == "XDB3", magic == "XDD3":
		return 4, len(page)
	case magic == "XSLM":
		return 12, len(page)
	case magic == "BMA3":
		return 64, len(page)
	}
	switch be.Uint16(page[8:]) {
	case magicLeaf1V5, magicLeafNV5, magicNodeV5:
		return 12, len(page)
	}
	return 0, 0
}

// seal writes the checksums of a page again.
func seal(page []byte, _ int64) {
	at, size := sumAt(page)
	for ; size > 0 && len(page) >= size; page = page[size:] {
		clear(page[at : at+4])
		binary.LittleEndian.PutUint32(page[at:], crc32.Checksum(page[:size], block.Castagnoli))
		if at == 224 {
			return
		}
	}
}

// FuzzOpen reads a bit of everything from the image of testdata with some bytes
// changed and, where it has them, its checksums right again: no panic, and no
// more work than a few times what there is to read.
func FuzzOpen(f *testing.F) {
	base := inodetest.Unpack(f, packed)
	for _, field := range []uint16{4, 8, 48, 56, 84, 88, 100, 102, 104, 120, 123, 124, 192, 216} {
		f.Add(inodetest.Patch(0, field, 1))
	}
	base.Pages(func(number uint16, page []byte) {
		if at, _ := sumAt(page); at == 0 || number == 0 {
			return
		}
		for _, field := range []uint16{0, 6, 8, 24, 56, 64, 76, 82, 176, 4092} {
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
		if device.Read > 256<<20 {
			t.Fatalf("%d bytes read", device.Read)
		}
	})
}
