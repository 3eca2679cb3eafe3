package joined

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"svc/assess/disk/block"
	"svc/assess/disk/btrfs"
	"svc/assess/disk/ext4"
	"svc/assess/disk/inode"
	"svc/assess/disk/lvm"
	"svc/assess/disk/partition"
	"svc/assess/disk/signature"
	"svc/assess/disk/xfs"
	"svc/backend/sliced"
)

// volume is a part of a disk that can have a file system.
type volume struct {
	name  string   // for people
	names []string // in the forms of deviceName
	kind  signature.Kind
	fs    inode.FS // nil where none can be read
	err   error    // why it can't
}

// systems open what stands on a volume.
var systems = map[signature.Kind]func(r io.ReaderAt, size int64) (inode.FS, error){
	signature.Ext:   opener(ext4.Open),
	signature.XFS:   opener(xfs.Open),
	signature.Btrfs: opener(btrfs.Open),
}

// opener makes the file systems of all packages one type.
func opener[F inode.FS](open func(io.ReaderAt, int64) (F, error)) func(io.ReaderAt, int64) (inode.FS, error) {
	return func(r io.ReaderAt, size int64) (inode.FS, error) { return open(r, size) }
}

// maxVolumes is more than any real disk has.
const maxVolumes = 256

// disk is what stands on a disk image.
type disk struct {
	volumes []*volume
	members []block.Device // physical volumes of LVM
	err     error          // what of LVM can't be read
}

// volumesOf looks what stands on a disk: in its partitions or, where it has no
// table of them, on the whole of it; and in the volume groups on those.
func volumesOf(d block.Device) (*disk, error) {
	parts, err := partition.Read(d)
	found := &disk{}
	switch {
	case errors.Is(err, partition.ErrNone):
		found.add("the whole disk", d, nodes(0))
	case err != nil:
		return nil, err
	}
	for _, p := range parts {
		names := append(nodes(p.Number), "PARTUUID="+p.ID)
		if p.Label != "" {
			names = append(names, "PARTLABEL="+p.Label)
		}
		found.add(fmt.Sprintf("partition %d", p.Number), p, names)
	}
	volumes, err := lvm.Open(found.members)
	found.err = err
	if len(parts)+len(volumes) > maxVolumes {
		return nil, block.Unsupported("more than %d partitions and volumes", maxVolumes)
	}
	for _, v := range volumes {
		name := v.Group + "/" + v.Name
		names := []string{"/dev/" + name, "/dev/mapper/" + mapperName(v.Group, v.Name)}
		if v.Err != nil {
			found.volumes = append(found.volumes, &volume{name: name, names: names, kind: "LVM volume", err: v.Err})
			continue
		}
		found.add(name, v.Device, names)
	}
	return found, nil
}

// nodes are those that a partition of the first disk can have; number 0 is the
// disk itself.
func nodes(number int) (names []string) {
	for disk, before := range firstDisks {
		if number == 0 {
			names = append(names, disk)
			continue
		}
		names = append(names, fmt.Sprint(disk, before, number))
	}
	return names
}

// add looks what stands on a part of the disk.
func (d *disk) add(name string, part block.Device, names []string) {
	v := &volume{name: name, names: names}
	d.volumes = append(d.volumes, v)
	found, ok := signature.Of(part)
	if !ok {
		return
	}
	v.kind = found.Kind
	if found.ID != "" {
		v.names = append(v.names, "UUID="+found.ID)
	}
	if found.Label != "" {
		v.names = append(v.names, "LABEL="+found.Label)
	}
	if found.Kind == signature.LVM {
		d.members = append(d.members, part)
	}
	if open := systems[found.Kind]; open != nil {
		v.fs, v.err = open(part, part.Size())
		if v.err != nil {
			v.fs = nil
		}
	}
}

// String lists what stands on the disk, for messages.
func (d *disk) String() string {
	all := sliced.Map(d.volumes, (*volume).String)
	if d.err != nil {
		all = append(all, strings.ReplaceAll(d.err.Error(), "\n", "; "))
	}
	return strings.Join(all, "; ")
}

func (v *volume) String() string {
	switch {
	case v.err != nil:
		return fmt.Sprintf("%s: %s that can't be read: %v", v.name, v.kind, v.err)
	case v.kind == "":
		return v.name + ": no partitions and no file system that svc knows"
	case v.fs != nil:
		return fmt.Sprintf("%s: %s without a system", v.name, v.kind)
	}
	return fmt.Sprintf("%s: %s", v.name, v.kind)
}

// named gives the volume that a name of fstab means.
func (d *disk) named(name string) *volume {
	for _, v := range d.volumes {
		for _, n := range v.names {
			if n == name {
				return v
			}
		}
	}
	return nil
}
