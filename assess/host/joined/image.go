package joined

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"svc/assess/disk/block"
	"svc/assess/disk/btrfs"
	"svc/assess/disk/image"
	"svc/assess/host"
	"svc/backend/sliced"
)

// ErrNoMachine means that a disk image has no Linux system.
var ErrNoMachine = errors.New("no Linux system that can be read is on it")

// ErrManyMachines means that a disk image has several Linux systems.
var ErrManyMachines = errors.New("several Linux systems are on it: mount the one that is meant, and give its folder as root")

// Open opens the machine on a disk image, read where it lies. Outside
// allows the image to name files outside its folder, such as a backing file.
func Open(name string, outside bool) (host.Host, error) {
	d, err := image.Open(name, image.Options{Outside: outside})
	if err != nil {
		return nil, fmt.Errorf("opening image %s: %w", name, err)
	}
	whole, err := join(d)
	if errors.Is(err, ErrNoMachine) {
		err = fmt.Errorf("%w%s", err, unlike(d))
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("opening image %s: %w", name, err), d.Close())
	}
	return &imaged{name, d, whole}, nil
}

// unlike says of a disk on which nothing is known what it is instead, by its first
// bytes.
func unlike(d block.Device) string {
	head := make([]byte, min(d.Size(), 1<<20))
	n, err := d.ReadAt(head, 0)
	switch head = head[:n]; {
	case err != nil && !errors.Is(err, io.EOF):
		return ""
	case len(head) == 0:
		return ": the file is empty"
	case len(bytes.Trim(head, "\x00")) == 0:
		return ": the disk begins with zeros alone: was it copied whole?"
	case utf8.Valid(head[:min(len(head), 512)]) && !bytes.ContainsRune(head, 0):
		return ": the file is a text, not a disk image"
	}
	return ""
}

// imaged is a machine on a disk image.
type imaged struct {
	name string
	disk *image.Disk
	fs   *joined
}

func (h *imaged) FS() host.FS    { return h.fs }
func (h *imaged) Live() bool     { return false }
func (h *imaged) String() string { return h.name }
func (h *imaged) Close() error   { return h.disk.Close() }

// join finds the machine's root file system, and mounts what its fstab names.
func join(d *image.Disk) (*joined, error) {
	disk, err := volumesOf(d)
	if err != nil {
		return nil, err
	}
	root, err := disk.root()
	if err != nil {
		return nil, err
	}
	whole := newJoined(root.mount)
	for _, l := range root.fstab {
		if l.path == "." {
			continue
		}
		if m, ok := disk.mount(l); ok {
			whole.add(l.path, m)
		}
	}
	return whole, nil
}

// system is a Linux system that a volume may have.
type system struct {
	mount
	volume *volume
	fstab  []fstabLine
}

func (s *system) name() string {
	if s.dir == "." {
		return s.volume.name
	}
	return fmt.Sprintf("%s (subvolume %s)", s.volume.name, s.dir)
}

// root finds the one Linux system of the disk. Where several have one, such as
// a rescue system beside the machine's, those count whose fstab names
// themselves.
func (d *disk) root() (*system, error) {
	found := sliced.FlatMap(d.volumes, (*volume).systems)
	if named := sliced.Filter(found, d.namesItself); len(named) > 0 {
		found = named
	}
	switch len(found) {
	case 0:
		return nil, fmt.Errorf("%w: %s%s", ErrNoMachine, d, d.hint())
	case 1:
		return found[0], nil
	}
	return nil, fmt.Errorf("%w: %s", ErrManyMachines, strings.Join(sliced.Map(found, (*system).name), ", "))
}

// hint says what helps where a disk is encrypted.
func (d *disk) hint() string {
	for _, v := range d.volumes {
		if strings.Contains(string(v.kind), "encrypted") {
			return " (unlock it, mount it, and give its folder as root)"
		}
	}
	return ""
}

// systems gives the Linux systems of a volume.
func (v *volume) systems() []*system {
	if v.fs == nil {
		return nil
	}
	if s := v.system(mount{fs: v.fs, dir: "."}); s != nil {
		return []*system{v.booted(s)}
	}
	b, ok := v.fs.(*btrfs.FS)
	if !ok {
		return nil
	}
	return sliced.Filter(sliced.Map(subvolumes(b), v.system), func(s *system) bool { return s != nil })
}

// booted gives the system that a boot loader starts where one was found at what
// is mounted by itself: the one in the subvolume that its fstab names.
func (v *volume) booted(found *system) *system {
	for _, l := range found.fstab {
		if l.path != "." {
			continue
		}
		if m, err := l.mountOf(v.fs); err == nil {
			if named := v.system(m); named != nil {
				return named
			}
		}
	}
	return found
}

// releases are where a system says what it is.
var releases = []string{"etc/os-release", "usr/lib/os-release"}

// system gives the Linux system whose root is m, or nil where it is none.
func (v *volume) system(m mount) *system {
	whole := newJoined(m)
	for _, name := range releases {
		if _, err := whole.Lstat(name); err == nil {
			text, _ := host.ReadFile(whole, "etc/fstab", maxFstab) // without one, nothing is mounted
			return &system{m, v, parseFstab(string(text))}
		}
	}
	return nil
}

const maxFstab = 1 << 20

// namesItself reports whether a system's fstab has it as the root.
func (d *disk) namesItself(s *system) bool {
	for _, l := range s.fstab {
		name, ok := deviceName(l.device)
		subvolume, named := l.option("subvol")
		if ok && l.path == "." && slices.Contains(s.volume.names, name) && (s.dir == "." || !named || path.Clean("/"+subvolume) == "/"+s.dir) {
			return true
		}
	}
	return false
}

// mount gives what a line of fstab mounts; it is not ok for what is no disk.
func (d *disk) mount(l fstabLine) (mount, bool) {
	name, ok := deviceName(l.device)
	if !ok {
		return mount{}, false
	}
	v := d.named(name)
	switch {
	case v == nil:
		return mount{missing: elsewhere{l.device, "is not on this image"}}, true
	case v.fs == nil:
		return mount{missing: elsewhere{l.device, "can't be read: " + v.String()}}, true
	}
	m, err := l.mountOf(v.fs)
	if err != nil {
		return mount{missing: elsewhere{l.device, "can't be read: " + err.Error()}}, true
	}
	return m, true
}
