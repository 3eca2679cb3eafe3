// Package image opens a disk image, whatever its format, with the files that
// it names. An image is hostile: what it names must stand in its own folder.
package image

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"svc/assess/disk/block"
	"svc/assess/disk/qcow2"
	"svc/assess/disk/vdi"
	"svc/assess/disk/vhd"
	"svc/assess/disk/vhdx"
	"svc/assess/disk/vmdk"
	"svc/backend/sliced"
)

// ErrOutside means that an image names a file that is not in its folder.
var ErrOutside = errors.New("it is outside the image's folder: only an image that you trust may name such files (--trust-image)")

// ErrNotDisk means that what was named is no file that could be a disk image.
var ErrNotDisk = errors.New("not a disk image")

// Options are what opening an image takes beside its name.
type Options struct {
	// Outside allows the image to name files outside its folder.
	Outside bool
}

// Disk is an open disk image.
type Disk struct {
	block.Device
	folders []string // that may hold what the image names
	options Options
	cache   *block.Cache
	files   []file
}

// file is an open file of an image.
type file struct {
	*os.File
	info   fs.FileInfo
	device block.Device
}

// Bounds of what one image may take.
const (
	maxDepth  = 16      // images that stand behind each other
	maxFiles  = 1000    // files that belong to one disk
	cacheSize = 8 << 20 // bytes
)

// Open opens the image in a file, or the disk that is a block device.
func Open(name string, o Options) (*Disk, error) {
	d := &Disk{options: o, cache: block.NewCache(cacheSize)}
	if err := d.open(name); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

func (d *Disk) open(name string) error {
	real, err := realPath(name)
	if err != nil {
		return err
	}
	dir, err := realPath(filepath.Dir(name)) // another one where name is a link
	if err != nil {
		return err
	}
	d.folders = []string{dir, filepath.Dir(real)}
	d.Device, err = d.layer(name, "", nil)
	return err
}

// realPath is the absolute path without symlinks.
func realPath(name string) (string, error) {
	absolute, err := filepath.Abs(name)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(absolute)
}

// Close closes all files of the image.
func (d *Disk) Close() error {
	var failed error
	for _, f := range d.files {
		failed = errors.Join(failed, f.Close())
	}
	return failed
}

// format is a form that a disk can have in a file.
type format struct {
	name  string // as QEMU has it
	probe func(block.Device) bool
	open  func(block.Device, *block.Cache, block.Opener) (block.Device, error)
}

// formats are tried in this order; a file of none of them is the disk itself.
var formats = []format{
	{"qcow2", qcow2.Probe, qcow2.Open},
	{"vmdk", vmdk.Probe, vmdk.Open},
	{"vhdx", vhdx.Probe, alone(vhdx.Open)},
	{"vdi", vdi.Probe, alone(vdi.Open)},
	{"vpc", vhd.Probe, alone(vhd.Open)},
}

// alone opens a format that names no other files.
func alone(open func(block.Device, *block.Cache) (block.Device, error)) func(block.Device, *block.Cache, block.Opener) (block.Device, error) {
	return func(file block.Device, cache *block.Cache, _ block.Opener) (block.Device, error) {
		return open(file, cache)
	}
}

// layer opens a file as a disk in a format, or in that which it shows. Chain
// are the files that lead to it.
func (d *Disk) layer(name, as string, chain []block.Device) (block.Device, error) {
	file, err := d.file(name)
	if err != nil {
		return nil, err
	}
	if slices.Contains(chain, file) {
		return nil, block.Damaged("%s stands behind itself", name)
	}
	if len(chain) == maxDepth {
		return nil, block.Unsupported("more than %d files behind each other", maxDepth)
	}
	f, ok := recognise(file, as)
	if !ok {
		return file, nil
	}
	if f.open == nil {
		return nil, block.Unsupported("%s in the format %q", name, as)
	}
	disk, err := f.open(file, d.cache, func(other, as string) (block.Device, error) {
		found, err := d.beside(name, other)
		if err != nil {
			return nil, err
		}
		return d.layer(found, as, append(slices.Clone(chain), file))
	})
	if err != nil {
		return nil, fmt.Errorf("%s (%s): %w", filepath.Base(name), f.name, err)
	}
	return disk, nil
}

// recognise gives the format of a file, which is not ok where it is the disk
// itself. One that is not known has no open.
func recognise(file block.Device, as string) (format, bool) {
	if as == "raw" || as == "host_device" {
		return format{}, false
	}
	known, ok := sliced.Find(formats, func(f format) bool { return as == f.name || as == "" && f.probe(file) })
	if !ok {
		return format{name: as}, as != ""
	}
	return known, true
}

// beside gives the path of a file that the image at name calls other.
func (d *Disk) beside(name, other string) (string, error) {
	scheme, _, isURL := strings.Cut(other, ":")
	if other == "" || strings.ContainsRune(other, 0) || isURL && !strings.Contains(scheme, "/") {
		return "", block.Unsupported("%q, which is no file's path", other)
	}
	if !filepath.IsAbs(other) {
		other = filepath.Join(filepath.Dir(name), other)
	}
	real, err := realPath(other)
	if err != nil {
		return "", err
	}
	if !d.options.Outside && !d.inside(real) {
		return "", fmt.Errorf("%s: %w", other, ErrOutside)
	}
	return other, nil
}

func (d *Disk) inside(real string) bool {
	for _, dir := range d.folders {
		if rel, err := filepath.Rel(dir, real); err == nil && filepath.IsLocal(rel) {
			return true
		}
	}
	return false
}

// file opens a file of the image, each once.
func (d *Disk) file(name string) (block.Device, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if err := checkType(name, info); err != nil {
		return nil, err
	}
	for _, f := range d.files {
		if os.SameFile(info, f.info) {
			return f.device, nil
		}
	}
	if len(d.files) == maxFiles {
		return nil, block.Unsupported("more than %d files", maxFiles)
	}
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOCTTY, 0)
	if err != nil {
		return nil, err
	}
	d.files = append(d.files, file{f, info, nil})
	size, err := f.Seek(0, io.SeekEnd) // a block device's size is in no Stat
	if err != nil {
		return nil, err
	}
	opened := io.NewSectionReader(f, 0, size)
	d.files[len(d.files)-1].device = opened
	return opened, nil
}

// checkType refuses what is neither a file nor a disk, before it is opened.
func checkType(name string, info fs.FileInfo) error {
	switch mode := info.Mode(); {
	case mode.IsDir():
		return fmt.Errorf("%s is a folder, %w: a folder that holds a machine's files is given as root", name, ErrNotDisk)
	case mode.IsRegular(), mode&fs.ModeDevice != 0 && mode&fs.ModeCharDevice == 0:
		return nil
	}
	return fmt.Errorf("%s is neither a file nor a disk: %w", name, ErrNotDisk)
}
