package xfs

import (
	"os"
	"strings"
	"testing"

	"github.com/matryer/is"

	"svc/assess/disk/inode/inodetest"
)

// openImage opens the file system of an image file.
func openImage(t testing.TB, image string) *FS {
	t.Helper()
	is := is.New(t)
	r, err := os.Open(image)
	is.NoErr(err)
	t.Cleanup(func() { _ = r.Close() })
	info, err := r.Stat()
	is.NoErr(err)
	f, err := Open(r, info.Size())
	is.NoErr(err)
	return f
}

const (
	id    = "12345678-9abc-def0-1234-56789abcdef0"
	label = "a label"
)

func mkfs(t testing.TB, options string) string {
	t.Helper()
	inodetest.Needs(t, "mkfs.xfs")
	image := inodetest.Image(t, 1<<30)
	args := append([]string{"-q", "-L", label, "-m", "uuid=" + id}, strings.Fields(options)...)
	inodetest.Command(t, "mkfs.xfs", append(args, image)...)
	return image
}

// matrix has the options of mkfs.xfs that change the format.
var matrix = map[string]string{
	"default":          "",
	"512 B sectors":    "-s size=512",
	"4 KiB sectors":    "-s size=4096",
	"1k":               "-b size=1024",
	"2k":               "-b size=2048 -i size=1024",
	"inodes of 2k":     "-i size=2048",
	"folders of 8k":    "-n size=8192",
	"folders of 64k":   "-n size=65536",
	"1k, 64k folders":  "-b size=1024 -n size=65536",
	"nrext64":          "-i nrext64=1",
	"nrext64, 1k":      "-i nrext64=1 -b size=1024",
	"no bigtime":       "-m bigtime=0",
	"no reflink":       "-m reflink=0",
	"rmapbt":           "-m rmapbt=1",
	"no finobt":        "-m finobt=0,inobtcount=0",
	"no sparse inodes": "-i sparse=0",
	"many groups":      "-d agcount=15",
}

func TestMatrix(t *testing.T) {
	for name, options := range matrix {
		t.Run(name, func(t *testing.T) {
			inodetest.Case(t, name)
			image := mkfs(t, options)
			var want map[string]inodetest.Fact
			inodetest.Mounted(t, image, "", func(root string) {
				inodetest.WriteTree(t, root)
				inodetest.WriteMany(t, root)
			})
			inodetest.Mounted(t, image, "ro", func(root string) { want = inodetest.FactsOfFolder(t, root) })
			f := openImage(t, image)
			is := is.New(t)
			is.Equal(f.UUID(), id)
			is.Equal(f.Label(), label)
			inodetest.Same(t, inodetest.FactsOf(t, f), want)
		})
	}
}
