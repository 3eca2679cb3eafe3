package ext4

import (
	"bytes"
	"compress/gzip"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"
	"golang.org/x/sys/unix"

	"svc/assess/disk/inode/inodetest"
)

var update = flag.Bool("update", false, "make the images of testdata, and the golden file of what they hold")

// images are small file systems in testdata, with the options that they were
// made by: they need no program to be tested with.
var images = []struct{ name, options string }{
	{"indirect", "-t ext2 -b 1024 -I 128 -O ^metadata_csum"},
	{"extents", "-t ext4 -b 1024 -O ^metadata_csum,^has_journal,dir_index"},
	{"checksums", "-t ext4 -b 1024 -O metadata_csum,^has_journal,dir_index"},
	{"inline", "-t ext4 -b 1024 -O inline_data,^metadata_csum,^has_journal"},
	{"journal", "-t ext4 -b 1024 -O ^metadata_csum"},
	{"plain", "-t ext2 -b 1024 -r 0"},
}

// imageBytes gives an image of testdata.
func imageBytes(t testing.TB, name string) []byte {
	t.Helper()
	is := is.New(t)
	packed, err := os.ReadFile(filepath.Join("testdata", name+".gz"))
	is.NoErr(err)
	r, err := gzip.NewReader(bytes.NewReader(packed))
	is.NoErr(err)
	b, err := io.ReadAll(r)
	is.NoErr(err)
	return b
}

// openBytes opens an image in memory.
func openBytes(b []byte) (*FS, error) { return Open(bytes.NewReader(b), int64(len(b))) }

// makeImage makes an image of testdata: the same bytes each time.
func makeImage(t *testing.T, name, options string) {
	t.Helper()
	inodetest.Needs(t, "mke2fs", "e2fsck", "debugfs")
	is := is.New(t)
	source, image := t.TempDir(), filepath.Join(t.TempDir(), name)
	writeSmallTree(t, source)
	t.Setenv("E2FSPROGS_FAKE_TIME", "1700000000")
	size := map[bool]string{true: "2048", false: "512"}[name == "journal"]
	args := strings.Fields("-q -F -N 96 -m 0 -U 12345678-9abc-def0-1234-56789abcdef0 -E hash_seed=12345678-9abc-def0-1234-56789abcdef0,root_owner=0:0 -d " + source + " " + options)
	inodetest.Command(t, "mke2fs", append(args, image, size)...)
	_ = exec.Command("e2fsck", "-fyD", image).Run() // 1: changed
	if name == "journal" {
		block := strings.Fields(inodetest.Command(t, "debugfs", "-R", "blocks /etc/hostname", image))
		content := filepath.Join(source, "logged")
		is.NoErr(os.WriteFile(content, append([]byte("from the journal"), make([]byte, 1008)...), 0o600))
		script(t, image, "jo", fmt.Sprintf("jw -b %s %s", block[len(block)-1], content), "jc")
	}
	b, err := os.ReadFile(image)
	is.NoErr(err)
	var packed bytes.Buffer
	w, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	is.NoErr(err)
	_, err = w.Write(b)
	is.NoErr(err)
	is.NoErr(w.Close())
	is.NoErr(os.WriteFile(filepath.Join("testdata", name+".gz"), packed.Bytes(), 0o644))
}

// writeSmallTree makes a folder of less than 100 KiB.
func writeSmallTree(t *testing.T, root string) {
	t.Helper()
	is, path := is.New(t), inodetest.Maker(t, root)
	write := func(name string, size int) {
		is.NoErr(os.WriteFile(path(name), []byte(strings.Repeat(name+"\n", size/(len(name)+1)+1)[:size]), 0o644))
	}
	write("etc/hostname", 16)
	write("etc/inline", 120)
	write("var/blocks", 20_000)
	f, err := os.Create(path("var/pieces"))
	is.NoErr(err)
	is.NoErr(f.Truncate(700_000))
	for i := range int64(9) {
		_, err := f.WriteAt(bytes.Repeat([]byte{byte('a' + i)}, 100), i*i*10_000)
		is.NoErr(err)
	}
	is.NoErr(f.Close())
	for i := range 24 {
		is.NoErr(os.Link(path("etc/hostname"), path(fmt.Sprintf("usr/many/%0100d", i))))
	}
	is.NoErr(os.Symlink("usr/many", path("fast")))
	is.NoErr(os.Symlink(strings.Repeat("slow/", 30), path("slow")))
	is.NoErr(os.MkdirAll(path("a/b/c/d"), 0o755))
	is.NoErr(filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		at := []unix.Timeval{{Sec: 1_700_000_000}, {Sec: 1_700_000_000}}
		return unix.Lutimes(path, at)
	}))
}

// TestImages compares what the images of testdata hold with the golden file.
func TestImages(t *testing.T) {
	is := is.New(t)
	var got strings.Builder
	for _, image := range images {
		if *update {
			makeImage(t, image.name, image.options)
		}
		f, err := openBytes(imageBytes(t, image.name))
		is.NoErr(err)
		facts, err := inodetest.Facts(f)
		is.NoErr(err)
		for _, name := range slices.Sorted(maps.Keys(facts)) {
			fmt.Fprintf(&got, "%s %q %+v\n", image.name, name, facts[name])
		}
	}
	const golden = "testdata/images.golden"
	if *update {
		is.NoErr(os.WriteFile(golden, []byte(got.String()), 0o644))
	}
	want, err := os.ReadFile(golden)
	is.NoErr(err)
	is.Equal(got.String(), string(want))
}
