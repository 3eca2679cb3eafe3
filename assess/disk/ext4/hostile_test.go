package ext4

import (
	"bytes"
	"errors"
	"io/fs"
	"strings"
	"testing"

	"github.com/matryer/is"

	"svc/assess/disk/block"
	"svc/assess/disk/inode/inodetest"
)

// TestDamage changes one thing in an image, and expects an error that names it.
func TestDamage(t *testing.T) {
	field := func(at uint32) func(testing.TB, *FS) uint32 {
		return func(testing.TB, *FS) uint32 { return superblockAt + at }
	}
	inode := func(name string, at uint32) func(testing.TB, *FS) uint32 {
		return func(t testing.TB, f *FS) uint32 {
			n, err := f.resolve(name)
			is.New(t).NoErr(err)
			return inodePlace(t, f, n.number) + at
		}
	}
	block := func(name string, number uint64, at uint32) func(testing.TB, *FS) uint32 {
		return func(t testing.TB, f *FS) uint32 {
			n, err := f.resolve(name)
			is.New(t).NoErr(err)
			r, err := f.locate(n, number, 1)
			is.New(t).NoErr(err)
			return uint32(r.start*f.blockSize) + at
		}
	}
	// The block of extents of a file, which has one.
	extents := func(name string, at uint32) func(testing.TB, *FS) uint32 {
		return func(t testing.TB, f *FS) uint32 {
			n, err := f.resolve(name)
			is.New(t).NoErr(err)
			return le.Uint32(n.block[16:])*uint32(f.blockSize) + at
		}
	}
	const iBlock = 0x28
	for _, c := range []struct {
		what, image string
		place       func(testing.TB, *FS) uint32
		value       uint16
		want        string
	}{
		{"magic", "extents", field(0x38), 0, "no superblock of ext2, ext3 or ext4"},
		{"block size", "extents", field(0x18), 7, "2^7 KiB"},
		{"blocks", "extents", field(4), 0xFFFF, "cut short"},
		{"no blocks", "extents", field(4), 0, "impossible shape"},
		{"first block", "extents", field(0x14), 2, "impossible shape"},
		{"blocks of a group", "extents", field(0x20), 0, "impossible shape"},
		{"inodes of a group", "extents", field(0x28), 0, "impossible shape"},
		{"inodes", "extents", field(0), 0xFFFF, "more than its 1 groups hold"},
		{"inode size", "extents", field(0x58), 200, "impossible shape"},
		{"descriptor size", "extents", field(0xFE), 32, "impossible shape"},
		{"compression", "extents", field(0x60), 0x2C3, "not supported: it uses compression"},
		{"unknown features", "extents", field(0x62), 0x6000, "it uses incompatible feature 0x20000000, incompatible feature 0x40000000"},
		{"a journal's device", "extents", field(0x60), 0x2CA, "journal_dev"},
		{"kind of checksum", "checksums", field(0x174), 0x0200, "checksums of the kind 2"},
		{"superblock", "checksums", field(0x78), 1, "the superblock's checksum is wrong"},
		{"group", "checksums", func(_ testing.TB, f *FS) uint32 { return uint32(f.descriptorBlock(0)*f.blockSize) + 12 }, 9, "the checksum of the descriptor of group 0 is wrong"},
		{"inode table", "extents", func(_ testing.TB, f *FS) uint32 { return uint32(f.descriptorBlock(0)*f.blockSize) + 8 }, 0xFFFF, "not within its 512"},
		{"inode", "checksums", inode("var/pieces", 2), 9, "the checksum of inode"},
		{"extents", "checksums", extents("var/pieces", 30), 9, "the checksum is wrong"},
		{"folder", "checksums", block("etc", 0, 30), 9, "the checksum is wrong"},
		{"hash tree", "checksums", block("usr/many", 0, 40), 9, "the checksum is wrong"},
		{"hash tree's size", "checksums", block("usr/many", 0, 32), 0xFFFF, "hash tree is impossible"},
		{"folder of a hash tree", "checksums", block("usr/many", 1, 40), 9, "the checksum is wrong"},
		{"deleted inode", "extents", inode("etc/hostname", 0x1A), 0, "named but deleted"},
		{"size", "extents", inode("var/pieces", 0x6E), 0x8000, "impossible size"},
		{"size of a folder", "extents", inode("etc", 4), 100, "has 100 bytes"},
		{"length of a symlink", "extents", inode("slow", 4), 5000, "has 5000 bytes"},
		{"type", "extents", inode("var/pieces", 0), 0x4180, "the folder has type 0x8000"},
		{"no extents", "extents", inode("var/pieces", iBlock), 0, "no node of a tree of extents"},
		{"count of extents", "extents", inode("var/pieces", iBlock+2), 5, "no node of a tree of extents"},
		{"room for extents", "extents", inode("var/pieces", iBlock+4), 0xFFFF, "no node of a tree of extents"},
		{"depth of extents", "extents", inode("var/pieces", iBlock+6), 6, "a depth of 6"},
		{"extents in a cycle", "extents", extents("var/pieces", 6), 1, "a depth of 1 where 0 is expected"},
		{"index without entries", "extents", inode("var/pieces", iBlock+2), 0, "an index without entries"},
		{"place of extents", "extents", inode("var/pieces", iBlock+18), 0xFFFF, "not within its 512"},
		{"order of extents", "extents", extents("var/pieces", 12+12), 0, "out of order"},
		{"length of an extent", "extents", extents("var/pieces", 12+4), 0, "an extent of 0 blocks"},
		{"long extent", "extents", extents("var/pieces", 12+4), 100, "out of order"},
		{"place of an extent", "extents", extents("var/pieces", 12+6), 1, "not within its 512"},
		{"direct block", "indirect", inode("var/pieces", iBlock+2), 0xFFFF, "not within its 512"},
		{"indirect block", "indirect", inode("var/pieces", iBlock+4*12+2), 0xFFFF, "not within its 512"},
		{"length of an entry", "extents", block("etc", 0, 24+4), 0, "an entry of the folder is impossible"},
		{"length of a name", "extents", block("etc", 0, 24+6), 0xFF, "an entry of the folder is impossible"},
		{"type of an entry", "extents", block("etc", 0, 24+6), 0x0902, "an entry of the folder is impossible"},
		{"slash in a name", "extents", block("etc", 0, 24+8), '/', "an entry of the folder is impossible"},
		{"inode of an entry", "extents", block("etc", 0, 24), 0x7FFF, "an entry of the folder is impossible"},
		{"folder that is its parent's", "extents", block("a/b/c", 0, 24), rootInode, "but its .. is 2"},
		{"folder in another's place", "extents", block("a/b/c", 0, 12), rootInode, "but its .. is 2"},
		{"inline content", "inline", inode("etc/inline", 128+32+2), 0, "no attributes"},
		{"inline content's place", "inline", inode("etc/inline", 128+32+4+2), 0x7000, "outside of the inode"},
		{"journal's inode", "journal", field(0xE0), 9, "opening the journal"},
		{"other journal", "journal", field(0xE0), 0, "on another device"},
		{"journal", "journal", journalAt(0), 0, "no superblock"},
		{"journal's block size", "journal", journalAt(0xE), 0x0800, "its blocks have"},
		{"journal's length", "journal", journalAt(0x12), 0xFFFF, "its log is from"},
		{"journal's start", "journal", journalAt(0x1C), 0xFFFF, "its log is from"},
		{"journal's features", "journal", journalAt(0x28), 0xFFFF, "incompatible features 0x"},
		{"journal without order", "journal", journalAt(0x2A), 0x0400, "without order"},
	} {
		t.Run(c.what, func(t *testing.T) {
			is := is.New(t)
			b := imageBytes(t, c.image)
			sound, err := openBytes(b)
			is.NoErr(err)
			le.PutUint16(b[c.place(t, sound):], c.value)
			f, err := openBytes(b)
			if err == nil {
				_, err = inodetest.Facts(f)
			}
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

// journalAt is a place in the first block of the journal.
func journalAt(at uint32) func(testing.TB, *FS) uint32 {
	return func(t testing.TB, f *FS) uint32 {
		n, err := f.node(f.journal)
		is.New(t).NoErr(err)
		r, err := f.locate(n, 0, 1)
		is.New(t).NoErr(err)
		return uint32(r.start*f.blockSize) + at
	}
}

// resolve reads the inode of a name.
func (f *FS) resolve(name string) (*node, error) {
	at, err := f.Find(name)
	if err != nil {
		return nil, err
	}
	return f.node(at.inode)
}

// TestTruncated cuts an image, and lies about its size.
func TestTruncated(t *testing.T) {
	is := is.New(t)
	b := imageBytes(t, "extents")
	_, err := openBytes(b[:len(b)-1])
	is.True(errors.Is(err, block.ErrDamaged))
	for _, size := range []int{0, 1024, 1500, 2048, 3072, 60_000} {
		_, err := openBytes(b[:size])
		is.True(errors.Is(err, block.ErrDamaged))
		f, err := Open(bytes.NewReader(b[:size]), int64(len(b)))
		if err == nil {
			_, err = inodetest.Facts(f)
		}
		is.True(errors.Is(err, block.ErrDamaged))
	}
	_, err = Open(bytes.NewReader(b), -1)
	is.True(err != nil)
}

// TestNames asks for what is not there, or not of the right type.
func TestNames(t *testing.T) {
	is := is.New(t)
	f, err := openBytes(imageBytes(t, "extents"))
	is.NoErr(err)
	for _, name := range []string{"", "/", "/etc", "etc/", "./etc", "..", "etc/..", "a//b"} {
		_, err := f.Lstat(name)
		is.True(errors.Is(err, fs.ErrInvalid))
	}
	for _, name := range []string{"no", "etc/no", "etc/hostname/no", "fast/" + strings.Repeat("0", 100), "no/no", "ETC"} {
		_, err := f.Lstat(name)
		is.True(errors.Is(err, fs.ErrNotExist))
	}
	for _, name := range []string{".", "etc", "fast"} {
		_, err := f.Open(name)
		is.True(errors.Is(err, errNotRegular))
	}
	_, err = f.ReadDir("etc/hostname")
	is.True(errors.Is(err, fs.ErrNotExist))
	_, err = f.ReadLink("etc/hostname")
	is.True(errors.Is(err, fs.ErrInvalid))
}
