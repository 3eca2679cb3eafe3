package ext4

import (
	"bufio"
	"bytes"
	"crypto/md5"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/matryer/is"

	"svc/assess/disk/inode/inodetest"
)

// realImage is an ext4 image of the root of a real server, where the end-to-end
// test made one, and that root.
func realImage(b *testing.B) (image, root string) {
	b.Helper()
	inodetest.Needs(b, "mke2fs")
	is := is.New(b)
	cache, err := os.UserCacheDir()
	is.NoErr(err)
	root = filepath.Join(cache, "svc-e2e", "roots", "bullseye-server")
	if _, err := os.Stat(root + ".recipe"); err != nil {
		b.Skip("no real root: bash .ci/e2e/roots.sh makes one")
	}
	image = filepath.Join(cache, "svc-e2e", "ext4", "bullseye-server.ext4")
	if _, err := os.Stat(image); err != nil {
		is.NoErr(os.MkdirAll(filepath.Dir(image), 0o755))
		inodetest.Command(b, "mke2fs", "-q", "-F", "-t", "ext4", "-d", root, image+".new", "3G")
		is.NoErr(os.Rename(image+".new", image))
	}
	return image, root
}

// read counts what is read of a device.
type counted struct {
	io.ReaderAt
	calls, bytes int
}

func (c *counted) ReadAt(p []byte, off int64) (int, error) {
	c.calls++
	c.bytes += len(p)
	return c.ReaderAt.ReadAt(p, off)
}

// packageFiles reads the package database and hashes the configuration files
// that it lists, and gives how many bytes that were.
func packageFiles(b *testing.B, open func(name string) ([]byte, error)) int {
	status, err := open("var/lib/dpkg/status")
	is.New(b).NoErr(err)
	total := len(status)
	for s := bufio.NewScanner(bytes.NewReader(status)); s.Scan(); {
		name, isFile := strings.CutPrefix(s.Text(), " /")
		name, _, hasSum := strings.Cut(name, " ")
		if !isFile || !hasSum {
			continue
		}
		if content, err := open(name); err == nil {
			md5.Sum(content)
			total += len(content)
		}
	}
	return total
}

// BenchmarkFloor reads the files from the folder.
func BenchmarkFloor(b *testing.B) {
	_, root := realImage(b)
	for b.Loop() {
		packageFiles(b, func(name string) ([]byte, error) { return os.ReadFile(filepath.Join(root, name)) })
	}
}

// BenchmarkPackageFiles opens the image and reads the same files from it.
func BenchmarkPackageFiles(b *testing.B) {
	image, _ := realImage(b)
	is := is.New(b)
	file, err := os.Open(image)
	is.NoErr(err)
	defer file.Close()
	size, err := file.Seek(0, io.SeekEnd)
	is.NoErr(err)
	b.ReportAllocs()
	var device *counted
	used := 0
	for b.Loop() {
		device = &counted{ReaderAt: file}
		f, err := Open(device, size)
		is.NoErr(err)
		used = packageFiles(b, func(name string) ([]byte, error) { return fs.ReadFile(onlyOpen{f}, name) })
	}
	b.ReportMetric(float64(device.calls), "reads/op")
	b.ReportMetric(float64(device.bytes)/float64(used), "B/used")
}

// BenchmarkWalk describes every file of the image.
func BenchmarkWalk(b *testing.B) {
	image, _ := realImage(b)
	is := is.New(b)
	b.ReportAllocs()
	count := 0
	for b.Loop() {
		f := openImage(b, image)
		count = walk(b, f, ".")
	}
	is.True(count > 1000)
	b.ReportMetric(float64(count), "files/op")
}

func walk(b *testing.B, f *FS, name string) int {
	entries, err := f.ReadDir(name)
	is.New(b).NoErr(err)
	count := 0
	for _, e := range entries {
		_, err := e.Info()
		is.New(b).NoErr(err)
		if count++; e.IsDir() {
			count += walk(b, f, strings.TrimPrefix(name+"/"+e.Name(), "./"))
		}
	}
	return count
}
