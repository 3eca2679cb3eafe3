package ext4

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/matryer/is"

	"svc/assess/disk/inode/inodetest"
)

// mkfs makes an image of 128 MiB, by way of options that a space separates.
func mkfs(t testing.TB, options string, args ...string) string {
	t.Helper()
	image := inodetest.Image(t, 128<<20)
	args = append([]string{"-q", "-F", "-U", "12345678-9abc-def0-1234-56789abcdef0", "-L", "a label", "-E", "lazy_itable_init=1,lazy_journal_init=1"}, args...)
	if !strings.Contains(options, "-b ") {
		options += " -b 4096" // small ones have 1 KiB where nothing is said
	}
	if !strings.Contains(options, "-N ") {
		options += " -N 4096"
	}
	inodetest.Command(t, "mke2fs", append(append(args, strings.Fields(options)...), image)...)
	return image
}

// openImage opens the file system of an image file.
func openImage(t testing.TB, image string) *FS {
	t.Helper()
	is := is.New(t)
	r, err := os.Open(image)
	is.NoErr(err)
	t.Cleanup(func() { _ = r.Close() })
	size, err := r.Seek(0, io.SeekEnd)
	is.NoErr(err)
	f, err := Open(r, size)
	is.NoErr(err)
	return f
}

// matrix has the options of mke2fs that change the format.
var matrix = map[string]string{
	"ext4":                  "-t ext4",
	"ext3":                  "-t ext3",
	"ext2":                  "-t ext2",
	"ext2, revision 0":      "-t ext2 -r 0",
	"ext2, 1k":              "-t ext2 -b 1024",
	"ext3, 1k":              "-t ext3 -b 1024",
	"ext2, 128":             "-t ext2 -I 128",
	"ext2, 64k":             "-t ext2 -b 65536 -N 8192",
	"1k":                    "-t ext4 -b 1024",
	"2k":                    "-t ext4 -b 2048",
	"8k":                    "-t ext4 -b 8192",
	"16k":                   "-t ext4 -b 16384",
	"32k":                   "-t ext4 -b 32768 -N 8192",
	"64k":                   "-t ext4 -b 65536 -N 8192",
	"128":                   "-t ext4 -I 128",
	"512":                   "-t ext4 -I 512",
	"1024":                  "-t ext4 -I 1024",
	"no metadata_csum":      "-t ext4 -O ^metadata_csum",
	"gdt_csum":              "-t ext4 -O ^metadata_csum,uninit_bg",
	"gdt_csum, not 64bit":   "-t ext4 -O ^metadata_csum,uninit_bg,^64bit",
	"not 64bit":             "-t ext4 -O ^64bit",
	"inline_data":           "-t ext4 -O inline_data",
	"inline_data, 1024":     "-t ext4 -O inline_data -I 1024",
	"inline_data, 1k":       "-t ext4 -O inline_data -b 1024 -I 512",
	"meta_bg":               "-t ext4 -O meta_bg,^resize_inode",
	"meta_bg, 1k":           "-t ext4 -O meta_bg,^resize_inode -b 1024 -g 1024",
	"meta_bg, ext2":         "-t ext2 -O meta_bg,^resize_inode -b 1024 -g 512",
	"no flex_bg":            "-t ext4 -O ^flex_bg -b 1024",
	"bigalloc":              "-t ext4 -O bigalloc -C 65536 -N 8192",
	"bigalloc, 1k":          "-t ext4 -O bigalloc -b 1024 -C 16384",
	"bigalloc, 1k, meta_bg": "-t ext4 -O bigalloc,meta_bg,^resize_inode -b 1024 -C 16384",
	"sparse_super2":         "-t ext4 -O sparse_super2 -b 1024",
	"sparse_super2, meta":   "-t ext4 -O sparse_super2,meta_bg,^resize_inode -b 1024 -g 1024",
	"no sparse_super":       "-t ext4 -O ^sparse_super,meta_bg,^resize_inode -b 1024 -g 1024",
	"metadata_csum_seed":    "-t ext4 -O metadata_csum_seed",
	"orphan_file":           "-t ext4 -O orphan_file",
	"casefold":              "-t ext4 -O casefold -E encoding=utf8",
	"large_dir":             "-t ext4 -O large_dir",
	"no dir_nlink":          "-t ext4 -O ^dir_nlink",
	"no huge_file":          "-t ext4 -O ^huge_file",
	"no extra_isize":        "-t ext4 -O ^extra_isize",
	"ea_inode":              "-t ext4 -O ea_inode",
	"encrypt":               "-t ext4 -O encrypt",
	"verity":                "-t ext4 -O verity",
	"project":               "-t ext4 -O project,quota",
	"mmp":                   "-t ext4 -O mmp",
	"no filetype":           "-t ext4 -O ^filetype",
	"no extents":            "-t ext4 -O ^extent,^64bit",
	"no extents, 1k":        "-t ext4 -O ^extent,^64bit -b 1024",
	"no journal":            "-t ext4 -O ^has_journal",
	"fast_commit":           "-t ext4 -O fast_commit",
	"no dir_index":          "-t ext4 -O ^dir_index",
	"small journal":         "-t ext4 -J size=1 -b 1024",
	"stable_inodes":         "-t ext4 -O stable_inodes",
}

// carried drops what mke2fs -d does not carry over.
func carried(facts map[string]inodetest.Fact, options string) map[string]inodetest.Fact {
	delete(facts, ".")
	for name, x := range facts {
		x.Modified = x.Modified / int64(time.Second) * int64(time.Second)
		x.Blocks = 0
		facts[name] = x
		if strings.Contains(options, "inline_data") && strings.HasPrefix(name, "sparse/") {
			delete(facts, name) // mke2fs 1.47 cuts their ends off
		}
	}
	return facts
}

func TestMatrix(t *testing.T) {
	inodetest.Needs(t, "mke2fs", "e2fsck", "tune2fs")
	source := inodetest.Scratch(t)
	inodetest.WriteTree(t, source)
	want := inodetest.FactsOfFolder(t, source)
	short := []string{"ext4", "ext3, 1k", "ext2, revision 0", "64k", "gdt_csum, not 64bit", "inline_data", "bigalloc, 1k, meta_bg", "sparse_super2, meta"}
	for name, options := range matrix {
		if !inodetest.Thorough() && !slices.Contains(short, name) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			image := mkfs(t, options, "-d", source)
			if strings.Contains(name, "metadata_csum_seed") {
				inodetest.Command(t, "tune2fs", "-U", "11111111-2222-3333-4444-555555555555", image)
			}
			f := openImage(t, image)
			is.Equal(f.Label(), "a label")
			is.Equal(f.UUID() == "12345678-9abc-def0-1234-56789abcdef0", name != "metadata_csum_seed")
			got, err := inodetest.Facts(f)
			is.NoErr(err)
			inodetest.Same(t, carried(got, options), carried(maps.Clone(want), options))
		})
	}
}

// TestDebugfs compares with debugfs what it writes without Linux: space that is
// allocated and not written, times, and a folder that ignores case.
func TestDebugfs(t *testing.T) {
	inodetest.Needs(t, "mke2fs", "debugfs")
	is := is.New(t)
	image := mkfs(t, matrix["casefold"])
	content := filepath.Join(t.TempDir(), "content")
	is.NoErr(os.WriteFile(content, bytes.Repeat([]byte("content\n"), 5000), 0o600))
	script(t, image,
		"write "+content+" file", "punch file 2 3", "fallocate file 20 900", "set_inode_field file size 4000000",
		"set_inode_field file mtime @2208988800", "mkdir Folder", "set_inode_field Folder flags 0x40080000",
		"cd Folder", "write "+content+" Ünder", "cd ..", "symlink link "+strings.Repeat("x", 59), "symlink longer "+strings.Repeat("x", 60))
	f := openImage(t, image)
	for _, name := range []string{"file", "Folder/Ünder"} {
		is.Equal(string(contentOf(t, f, name)), inodetest.Command(t, "debugfs", "-R", "cat /"+name, image))
	}
	_, err := f.Lstat("Folder/ünDER")
	is.NoErr(err)
	_, err = f.Lstat("folder/Ünder")
	is.True(errors.Is(err, fs.ErrNotExist))
	info, err := f.Lstat("file")
	is.NoErr(err)
	is.Equal(info.ModTime().Unix(), int64(2_208_988_800))
	n, err := f.resolve("file")
	is.NoErr(err)
	for block, hole := range map[uint64]bool{0: false, 2: true, 3: true, 4: false, 20: true, 900: true, 901: true} {
		r, err := f.locate(n, block, 1)
		is.NoErr(err)
		is.Equal(r.hole, hole)
	}
}

// TestConcurrent reads one file system from many sides at once.
func TestConcurrent(t *testing.T) {
	is := is.New(t)
	for _, name := range []string{"indirect", "journal", "checksums"} {
		f, err := openBytes(imageBytes(t, name))
		is.NoErr(err)
		want, err := inodetest.Facts(f)
		is.NoErr(err)
		f, err = openBytes(imageBytes(t, name))
		is.NoErr(err)
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				got, err := inodetest.Facts(f)
				if err != nil || !maps.Equal(got, want) {
					t.Error(name, err)
				}
			})
		}
		all.Wait()
	}
}
