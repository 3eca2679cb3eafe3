package joined

import (
	"os"
	"path"
	"path/filepath"
	"testing"

	"github.com/matryer/is"

	"svc/assess/disk/inode/inodetest"
	"svc/assess/host"
)

// layouts are those that installers make: the subvolumes in their order, the
// one that is the root, the one that is mounted where none is named, the other
// lines of fstab, and snapshots of the root.
var layouts = map[string]struct {
	subvolumes     []string
	root, byItself string
	options        string
	mounts         map[string]string // the option of each folder
	markers        map[string]string // the subvolume that is seen in each folder
	snapshots      []string
}{
	"openSUSE": {
		subvolumes: []string{"@", "@/var", "@/home", "@/.snapshots"}, root: "@/.snapshots/1/snapshot", byItself: "@/.snapshots/1/snapshot",
		options: "defaults", mounts: map[string]string{"var": "subvol=/@/var", "home": "subvol=/@/home", ".snapshots": "subvol=/@/.snapshots"},
		snapshots: []string{"@/.snapshots/2/snapshot"}, markers: map[string]string{"var": "@/var", "home": "@/home", ".snapshots": "@/.snapshots"},
	},
	"Fedora": {
		subvolumes: []string{"root", "home", "var"}, root: "root", options: "subvol=root,compress=zstd:1",
		mounts: map[string]string{"home": "subvol=home,compress=zstd:1", "var": "subvol=var"}, snapshots: []string{"root-before"},
		markers: map[string]string{".": "root", "home": "home", "var": "var"},
	},
	"Ubuntu": {
		subvolumes: []string{"@", "@home"}, root: "@", options: "defaults,subvol=@",
		mounts: map[string]string{"home": "defaults,subvol=@home"}, snapshots: []string{"timeshift-btrfs/snapshots/1/@", "@before"},
		markers: map[string]string{".": "@", "home": "@home"},
	},
	"Debian": {subvolumes: []string{"@rootfs"}, root: "@rootfs", options: "defaults,subvol=@rootfs", markers: map[string]string{".": "@rootfs"}},
	"an old snapshot is mounted by itself": {
		subvolumes: []string{"@"}, root: "@", byItself: "old", options: "subvol=/@", snapshots: []string{"old"}, markers: map[string]string{".": "@"},
	},
	"nested": {subvolumes: []string{"@", "@/var", "@/home"}, root: "@", byItself: "@", options: "noatime", markers: map[string]string{".": "@", "var": "@/var", "home": "@/home"}},
}

func TestLayoutsOfBtrfs(t *testing.T) {
	for name, l := range layouts {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			inodetest.Needs(t, "mkfs.btrfs", "btrfs")
			image := inodetest.Image(t, 256<<20)
			inodetest.Command(t, "mkfs.btrfs", "-q", "-L", "system", image)
			inodetest.Mounted(t, image, "", func(top string) {
				write := func(name, text string) {
					is.NoErr(os.MkdirAll(filepath.Join(top, filepath.Dir(name)), 0o755))
					is.NoErr(os.WriteFile(filepath.Join(top, name), []byte(text), 0o644))
				}
				make := func(args ...string) {
					to := filepath.Join(top, args[len(args)-1])
					is.NoErr(os.MkdirAll(filepath.Dir(to), 0o755))
					args[len(args)-1] = to
					inodetest.Command(t, "btrfs", append([]string{"subvolume"}, args...)...)
				}
				for _, s := range append(l.subvolumes, l.root) {
					if _, err := os.Stat(filepath.Join(top, s)); err != nil {
						make("create", s)
					}
				}
				fstab := "LABEL=system / btrfs " + l.options + " 0 0\n"
				for _, dir := range []string{"var", "home", ".snapshots"} {
					at := filepath.Join(l.root, dir)
					if option, ok := l.mounts[dir]; ok {
						fstab += "LABEL=system /" + dir + " btrfs " + option + " 0 0\n"
					}
					write(filepath.Join(at, "under"), "")
				}
				write(filepath.Join(l.root, "etc/os-release"), "ID=right\n")
				write(filepath.Join(l.root, "etc/fstab"), fstab)
				for _, s := range l.snapshots {
					make("snapshot", filepath.Join(top, l.root), s)
					write(filepath.Join(s, "etc/os-release"), "ID=wrong\n")
				}
				for _, s := range l.subvolumes {
					write(filepath.Join(s, "marker"), s)
				}
				if l.byItself != "" {
					inodetest.Command(t, "btrfs", "subvolume", "set-default", filepath.Join(top, l.byItself))
				}
			})
			h, err := Open(image, false)
			is.NoErr(err)
			defer h.Close()
			b, err := host.ReadFile(h.FS(), "etc/os-release", 100)
			is.NoErr(err)
			is.Equal(string(b), "ID=right\n")
			for dir, want := range l.markers {
				b, err := host.ReadFile(h.FS(), path.Join(dir, "marker"), 100)
				is.NoErr(err)
				is.Equal(string(b), want)
			}
		})
	}
}
