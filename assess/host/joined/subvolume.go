package joined

import (
	"fmt"
	"io/fs"
	"strconv"

	"svc/assess/disk/btrfs"
	"svc/assess/disk/inode"
	"svc/backend/sliced"
)

// topSubvolume holds all others of a btrfs.
const topSubvolume = 5

// maxSubvolumes bounds in how many folders of a btrfs a system is looked for.
const maxSubvolumes = 64

// subvolumes gives the places of a btrfs where a system may stand if its default
// subvolume has none: the folders of the one that holds all others, of which a
// boot loader names one.
func subvolumes(v *btrfs.FS) []mount {
	top, err := v.SubvolumeID(topSubvolume)
	if err != nil {
		return nil
	}
	entries, err := top.ReadDir(".")
	if err != nil {
		return nil
	}
	return sliced.FilterMap(entries[:min(len(entries), maxSubvolumes)], func(e fs.DirEntry) (mount, bool) { return mount{fs: top, dir: e.Name()}, e.IsDir() })
}

// mountOf is what a line of fstab means of a file system: its root, or the
// subvolume that the options name.
func (l fstabLine) mountOf(system inode.FS) (mount, error) {
	whole := mount{fs: system, dir: "."}
	v, ok := system.(*btrfs.FS)
	if !ok {
		return whole, nil
	}
	var err error
	if text, ok := l.option("subvolid"); ok {
		id, parseErr := strconv.ParseUint(text, 0, 64)
		if parseErr != nil {
			return mount{}, fmt.Errorf("subvolid=%s: %w", text, parseErr)
		}
		whole.fs, err = v.SubvolumeID(id)
	} else if name, ok := l.option("subvol"); ok {
		whole.fs, err = v.Subvolume(name)
	}
	return whole, err
}
