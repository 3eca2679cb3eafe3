package image

import (
	"bytes"
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	mathrand "math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/matryer/is"

	"svc/assess/disk/block"
)

// content is what a disk has that is partly random, partly compressible and
// partly never written to; its length is no multiple of any cluster's.
func content() []byte {
	disk := make([]byte, 9<<20+512*7)
	_, _ = rand.Read(disk[1<<20 : 1<<20+300<<10])
	for i := 3 << 20; i < 5<<20; i += 3 {
		disk[i] = byte(i >> 10)
	}
	_, _ = rand.Read(disk[len(disk)-5000:])
	return disk
}

// equal compares a disk with what it should hold: as a whole, and in pieces
// that cross every border.
func equal(t *testing.T, d block.Device, want []byte) {
	t.Helper()
	is := is.New(t)
	is.True(d.Size() >= int64(len(want)))
	got := make([]byte, len(want))
	_, err := d.ReadAt(got, 0)
	is.True(err == nil || err == io.EOF)
	is.True(bytes.Equal(got, want))
	for range 200 {
		from := mathrand.IntN(len(want))
		p := make([]byte, min(len(want)-from, mathrand.IntN(200_000)))
		is.NoErr(block.ReadFull(d, p, int64(from)))
		is.True(bytes.Equal(p, want[from:from+len(p)]))
	}
}

// qemu runs qemu-img in a folder.
func qemu(t *testing.T, dir string, args ...string) {
	t.Helper()
	if _, err := exec.LookPath("qemu-img"); err != nil {
		t.Skip("no qemu-img here")
	}
	cmd := exec.Command("qemu-img", args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("qemu-img %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// made are ways to write a disk, as qemu-img takes them.
var made = map[string][]string{
	"qcow2 v3":              {"-O", "qcow2"},
	"qcow2 v2":              {"-O", "qcow2", "-o", "compat=0.10"},
	"qcow2 deflate":         {"-O", "qcow2", "-c"},
	"qcow2 zstd":            {"-O", "qcow2", "-c", "-o", "compression_type=zstd"},
	"qcow2 small clusters":  {"-O", "qcow2", "-o", "cluster_size=512"},
	"qcow2 large clusters":  {"-O", "qcow2", "-c", "-o", "cluster_size=2M"},
	"qcow2 subclusters":     {"-O", "qcow2", "-o", "extended_l2=on,cluster_size=128k"},
	"qcow2 subclusters c":   {"-O", "qcow2", "-c", "-o", "extended_l2=on"},
	"qcow2 data file":       {"-O", "qcow2", "-o", "data_file=data.raw"},
	"qcow2 raw data file":   {"-O", "qcow2", "-o", "data_file=data.raw,data_file_raw=on"},
	"qcow2 lazy refcounts":  {"-O", "qcow2", "-o", "lazy_refcounts=on"},
	"qcow2 zeroes":          {"-O", "qcow2", "-S", "0"},
	"vmdk monolithicSparse": {"-O", "vmdk"},
	"vmdk monolithicFlat":   {"-O", "vmdk", "-o", "subformat=monolithicFlat"},
	"vmdk split sparse":     {"-O", "vmdk", "-o", "subformat=twoGbMaxExtentSparse"},
	"vmdk split flat":       {"-O", "vmdk", "-o", "subformat=twoGbMaxExtentFlat"},
	"vmdk streamOptimized":  {"-O", "vmdk", "-o", "subformat=streamOptimized"},
	"vmdk zeroed grains":    {"-O", "vmdk", "-S", "0", "-o", "zeroed_grain=on"},
	"vhd dynamic":           {"-O", "vpc"},
	"vhd fixed":             {"-O", "vpc", "-o", "subformat=fixed"},
	"vhd exact":             {"-O", "vpc", "-o", "force_size=on"},
	"vhdx dynamic":          {"-O", "vhdx"},
	"vhdx fixed":            {"-O", "vhdx", "-o", "subformat=fixed"},
	"vhdx large blocks":     {"-O", "vhdx", "-o", "block_size=32M"},
	"vdi dynamic":           {"-O", "vdi"},
	"vdi static":            {"-O", "vdi", "-o", "static=on"},
	"raw":                   {"-O", "raw"},
}

func TestDisksThatQEMUWrote(t *testing.T) {
	want := content()
	for name, args := range made {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			dir := t.TempDir()
			is.NoErr(os.WriteFile(filepath.Join(dir, "raw"), want, 0o600))
			qemu(t, dir, append(append([]string{"convert", "-f", "raw"}, args...), "raw", "disk")...)
			d, err := Open(filepath.Join(dir, "disk"), Options{})
			is.NoErr(err)
			defer d.Close()
			equal(t, d, want)
		})
	}
}

// write has qemu-io change a disk.
func write(t *testing.T, format, file, command string) {
	t.Helper()
	if _, err := exec.LookPath("qemu-io"); err != nil {
		t.Skip("no qemu-io here")
	}
	out, err := exec.Command("qemu-io", "-f", format, "-c", command, file).CombinedOutput()
	if err != nil || bytes.Contains(out, []byte("failed")) {
		t.Fatalf("qemu-io %s: %v\n%s", command, err, out)
	}
}

func TestDisksOfManyParts(t *testing.T) {
	is := is.New(t)
	disk := filepath.Join(t.TempDir(), "disk")
	qemu(t, filepath.Dir(disk), "create", "-f", "vmdk", "-o", "subformat=twoGbMaxExtentSparse", disk, "5G")
	for _, at := range []string{"0", "2147418112", "4400000000"} {
		write(t, "vmdk", disk, "write -P 7 "+at+" 131072")
	}
	d, err := Open(disk, Options{})
	is.NoErr(err)
	defer d.Close()
	is.Equal(d.Size(), int64(5<<30))
	for _, at := range []int64{0, 2147418112, 4400000000} {
		p, err := block.Read(d, at, 131072)
		is.NoErr(err)
		is.Equal(bytes.Count(p, []byte{7}), len(p))
	}
	p, err := block.Read(d, 1<<30, 131072)
	is.NoErr(err)
	is.Equal(bytes.Count(p, []byte{0}), len(p))
}

func TestOverlays(t *testing.T) {
	is := is.New(t)
	dir := t.TempDir()
	want := content()
	is.NoErr(os.WriteFile(filepath.Join(dir, "raw"), want, 0o600))
	qemu(t, dir, "create", "-f", "qcow2", "-b", "raw", "-F", "raw", "middle", "12M")
	qemu(t, dir, "create", "-f", "qcow2", "-o", "extended_l2=on", "-b", filepath.Join(dir, "middle"), "-F", "qcow2", "top", "14M")
	write(t, "qcow2", filepath.Join(dir, "middle"), "write -P 5 1050000 70000")
	write(t, "qcow2", filepath.Join(dir, "middle"), "write -z 3200000 400000")
	write(t, "qcow2", filepath.Join(dir, "top"), "write -P 9 4000000 3000")
	write(t, "qcow2", filepath.Join(dir, "top"), "write -z 1060000 3000")
	want = append(want, make([]byte, 14<<20-len(want))...)
	copy(want[1050000:], bytes.Repeat([]byte{5}, 70000))
	clear(want[3200000:3600000])
	copy(want[4000000:], bytes.Repeat([]byte{9}, 3000))
	clear(want[1060000:1063000])
	d, err := Open(filepath.Join(dir, "top"), Options{})
	is.NoErr(err)
	defer d.Close()
	equal(t, d, want)
}

func TestFilesElsewhere(t *testing.T) {
	is := is.New(t)
	parent := t.TempDir()
	dir := filepath.Join(parent, "images")
	is.NoErr(os.Mkdir(dir, 0o700))
	want := content()
	is.NoErr(os.WriteFile(filepath.Join(parent, "base"), want, 0o600))
	qemu(t, dir, "create", "-f", "qcow2", "-b", "../base", "-F", "raw", "top")
	is.NoErr(os.Symlink("../base", filepath.Join(dir, "link")))
	qemu(t, dir, "create", "-f", "qcow2", "-b", "link", "-F", "raw", "linked")
	for _, name := range []string{"top", "linked"} {
		_, err := Open(filepath.Join(dir, name), Options{})
		is.True(errors.Is(err, ErrOutside))
		d, err := Open(filepath.Join(dir, name), Options{Outside: true})
		is.NoErr(err)
		equal(t, d, want)
		is.NoErr(d.Close())
	}
	is.NoErr(os.Symlink("images/top", filepath.Join(parent, "top")))
	_, err := Open(filepath.Join(parent, "top"), Options{})
	is.True(err != nil) // QEMU too looks beside the link
}

func TestImagesBehindThemselves(t *testing.T) {
	is := is.New(t)
	dir := t.TempDir()
	qemu(t, dir, "create", "-f", "qcow2", "a", "1M")
	qemu(t, dir, "create", "-f", "qcow2", "-b", "a", "-F", "qcow2", "b")
	qemu(t, dir, "rebase", "-u", "-b", "b", "-F", "qcow2", "a")
	_, err := Open(filepath.Join(dir, "a"), Options{})
	is.True(errors.Is(err, block.ErrDamaged))
	is.True(strings.Contains(err.Error(), "behind itself"))
}

func TestNoImages(t *testing.T) {
	is := is.New(t)
	dir := t.TempDir()
	_, err := Open(filepath.Join(dir, "nothing"), Options{})
	is.True(errors.Is(err, fs.ErrNotExist))
	_, err = Open(dir, Options{})
	is.True(errors.Is(err, ErrNotDisk))
	pipe := filepath.Join(dir, "pipe")
	is.NoErr(syscall.Mkfifo(pipe, 0o600))
	done := make(chan error)
	go func() {
		_, err := Open(pipe, Options{})
		done <- err
	}()
	select {
	case err := <-done:
		is.True(errors.Is(err, ErrNotDisk))
	case <-time.After(10 * time.Second):
		t.Fatal("opening a pipe hangs")
	}
}
