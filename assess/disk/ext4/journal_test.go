package ext4

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/matryer/is"
	"golang.org/x/sys/unix"

	"svc/assess/disk/block"
	"svc/assess/disk/inode/inodetest"
)

// script runs commands of debugfs that write.
func script(t testing.TB, image string, commands ...string) {
	t.Helper()
	is := is.New(t)
	file := filepath.Join(t.TempDir(), "commands")
	is.NoErr(os.WriteFile(file, []byte(strings.Join(commands, "\n")+"\n"), 0o600))
	inodetest.Command(t, "debugfs", "-w", "-f", file, image)
}

// contentOf reads a whole file.
func contentOf(t testing.TB, f *FS, name string) []byte {
	t.Helper()
	b, err := fs.ReadFile(onlyOpen{f}, name)
	is.New(t).NoErr(err)
	return b
}

type onlyOpen struct{ f *FS }

func (o onlyOpen) Open(name string) (fs.File, error) { return o.f.Open(name) }

// TestJournalForms reads journals of every form that debugfs writes: a block
// written once, written twice, written and revoked, revoked and written again,
// one that starts as the journal's own do, and one that was not committed.
func TestJournalForms(t *testing.T) {
	inodetest.Needs(t, "mke2fs", "debugfs")
	const size = 1024
	letters := func(s string) (all []byte) {
		for _, letter := range []byte(s) {
			all = append(all, bytes.Repeat([]byte{letter}, size)...)
		}
		return all
	}
	magic := append([]byte{0xC0, 0x3B, 0x39, 0x98}, letters("m")[4:]...)
	forms := map[string][]string{"^metadata_csum": {"jo", "jo -c"}, "metadata_csum": {"jo", "jo -c -v 2", "jo -c -v 3"}}
	for options, forms := range map[string][]string{
		"64bit,^metadata_csum": forms["^metadata_csum"], "^64bit,^metadata_csum": forms["^metadata_csum"],
		"64bit": forms["metadata_csum"], "^64bit": forms["metadata_csum"],
	} {
		for _, form := range forms {
			t.Run(options+" "+form, func(t *testing.T) {
				is := is.New(t)
				image := mkfs(t, "-t ext4 -b 1024 -O "+options)
				dir := t.TempDir()
				write := func(name string, b []byte) string {
					path := filepath.Join(dir, name)
					is.NoErr(os.WriteFile(path, b, 0o600))
					return path
				}
				script(t, image, "write "+write("old", letters("aaaaaa"))+" file")
				b := strings.Fields(inodetest.Command(t, "debugfs", "-R", "blocks /file", image))
				script(t, image, form,
					fmt.Sprintf("jw -b %s,%s,%s,%s %s", b[0], b[1], b[2], b[3], write("first", letters("bbbb"))),
					fmt.Sprintf("jw -b %s %s", b[1], write("second", letters("c"))),
					fmt.Sprintf("jw -r %s,%s", b[2], b[3]),
					fmt.Sprintf("jw -b %s,%s %s", b[3], b[4], write("third", append(letters("d"), magic...))),
					fmt.Sprintf("jw -b %s -c %s", b[5], write("fourth", letters("e"))),
					"jc")
				want := append(letters("bcad"), append(bytes.Clone(magic), letters("a")...)...)
				f := openImage(t, image)
				is.Equal(len(f.device.overlay.blocks), 4)
				is.Equal(fmt.Sprintf("%x", contentOf(t, f, "file")), fmt.Sprintf("%x", want))
				damageJournal(t, f, image, form)
			})
		}
	}
}

// damageJournal changes a copy in the journal, which a checksum tells.
func damageJournal(t *testing.T, f *FS, image, form string) {
	t.Helper()
	is := is.New(t)
	for block, entry := range f.device.overlay.blocks {
		checked := f.device.overlay.mask != 0
		is.Equal(checked, strings.HasSuffix(form, "2") || strings.HasSuffix(form, "3"))
		if !checked {
			return
		}
		w, err := os.OpenFile(image, os.O_WRONLY, 0)
		is.NoErr(err)
		_, err = w.WriteAt([]byte("x"), int64(entry.copy)*1024+1000)
		is.NoErr(err)
		is.NoErr(w.Close())
		_, err = openImage(t, image).device.read(block)
		is.True(strings.Contains(err.Error(), "checksum"))
		return
	}
}

// TestJournalRing turns the ring of the log, so that a transaction goes on from
// its end to its start at each of its blocks.
func TestJournalRing(t *testing.T) {
	is := is.New(t)
	b := imageBytes(t, "journal")
	f, err := openBytes(b)
	is.NoErr(err)
	want, err := inodetest.Facts(f)
	is.NoErr(err)
	j, err := f.openJournal()
	is.NoErr(err)
	place := func(block uint64) []byte {
		r, err := f.locate(j.n, block, 1)
		is.NoErr(err)
		return b[r.start*f.blockSize:][:f.blockSize]
	}
	for turned := j.last - 1; turned > j.last-5; turned-- {
		first := bytes.Clone(place(j.first))
		for at := j.first; at < j.last-1; at++ {
			copy(place(at), place(at+1))
		}
		copy(place(j.last-1), first)
		be.PutUint32(place(0)[0x1C:], uint32(turned))
		f, err := openBytes(b)
		is.NoErr(err)
		is.Equal(len(f.device.overlay.blocks), 1)
		got, err := inodetest.Facts(f)
		is.NoErr(err)
		inodetest.Same(t, got, want)
	}
}

// TestUncleanShutdown copies the disk of a running machine, and compares what
// its journal holds with what Linux makes of the same copy.
func TestUncleanShutdown(t *testing.T) {
	needsMount(t)
	cases := map[string]string{"ext4": "", "1k": "data=journal", "no metadata_csum": "journal_checksum"}
	if inodetest.Thorough() {
		maps.Copy(cases, map[string]string{
			"ext3": "data=journal", "not 64bit": "data=journal", "gdt_csum": "", "inline_data": "data=journal",
			"bigalloc": "", "orphan_file": "data=journal", "small journal": "",
		})
	}
	for name, options := range cases {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			image := mkfs(t, matrix[name])
			inodetest.Mounted(t, image, "", func(dir string) { inodetest.WriteTree(t, dir) })
			dirty := filepath.Join(inodetest.Scratch(t), "dirty")
			inodetest.Mounted(t, image, strings.TrimSuffix("commit=300,"+options, ","), func(dir string) {
				writeDirty(t, dir)
				inodetest.Command(t, "cp", "--sparse=always", image, dirty)
			})
			f := openImage(t, dirty)
			got, err := inodetest.Facts(f)
			is.NoErr(err)
			is.True(len(f.device.overlay.blocks) > 10)
			j, err := f.openJournal()
			is.NoErr(err)
			log, err := j.scan()
			is.NoErr(err)
			revoked := 0
			for _, t := range log {
				revoked += len(t.revoked)
			}
			t.Logf("%d transactions from %d to %d, %d blocks, %d revoked", len(log), j.start, j.last, len(f.device.overlay.blocks), revoked)
			is.True(revoked > 0 || options == "data=journal")
			var want map[string]inodetest.Fact
			inodetest.Mounted(t, dirty, "", func(dir string) { want = inodetest.FactsOfFolder(t, dir) })
			inodetest.Same(t, got, want)
		})
	}
}

// writeDirty changes a file system so that much of it is in the journal alone:
// folders that are removed, whose blocks others take, files that start as the
// journal's blocks do, all committed and not written back.
func writeDirty(t testing.TB, dir string) {
	t.Helper()
	is, path := is.New(t), inodetest.Maker(t, dir)
	commit := func() {
		d, err := os.Open(dir)
		is.NoErr(err)
		is.NoErr(unix.Fsync(int(d.Fd())))
		is.NoErr(d.Close())
	}
	for i := range 1500 {
		is.NoErr(os.WriteFile(path(fmt.Sprintf("gone/%d/%0100d", i%5, i)), nil, 0o600))
	}
	commit()
	is.NoErr(os.RemoveAll(path("gone")))
	is.NoErr(os.RemoveAll(path("many")))
	is.NoErr(os.Remove(path("sparse/fragments")))
	commit()
	for i := range 200 {
		name := path(fmt.Sprintf("new/%d", i))
		is.NoErr(os.WriteFile(name, bytes.Repeat([]byte{0xC0, 0x3B, 0x39, 0x98}, 5000), 0o600))
	}
	is.NoErr(os.Rename(path("deep"), path("new/deep")))
	f, err := os.OpenFile(path("new/last"), os.O_CREATE|os.O_WRONLY, 0o600)
	is.NoErr(err)
	is.NoErr(f.Sync())
	is.NoErr(f.Close())
	is.NoErr(os.WriteFile(path("new/lost"), nil, 0o600)) // not committed
}

// TestFastCommits refuses changes that are in the other form of a journal.
func TestFastCommits(t *testing.T) {
	needsMount(t)
	is := is.New(t)
	image, dirty := mkfs(t, matrix["fast_commit"]), filepath.Join(inodetest.Scratch(t), "dirty")
	inodetest.Mounted(t, image, "", func(dir string) {
		for _, name := range []string{"first", "second"} { // the first is a whole transaction
			f, err := os.Create(filepath.Join(dir, name))
			is.NoErr(err)
			is.NoErr(f.Sync())
			is.NoErr(f.Close())
		}
		inodetest.Command(t, "cp", "--sparse=always", image, dirty)
	})
	r, err := os.Open(dirty)
	is.NoErr(err)
	defer r.Close()
	_, err = Open(r, 128<<20)
	is.True(errors.Is(err, block.ErrUnsupported))
	is.True(strings.Contains(err.Error(), "fast commits"))
}
