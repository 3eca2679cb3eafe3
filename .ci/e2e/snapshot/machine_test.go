package snapshot_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/matryer/is"
	"golang.org/x/sys/unix"

	"svc/.ci/e2e"
)

// newMachine loads what the kernel has in modules, and makes the machine.
func newMachine(t *testing.T) machine {
	m := machine{e2e.New(t), "/run/machine", "/run/target", os.Getenv("SVC_E2E_PLAN")}
	m.modules(t)
	m.files()
	m.disks()
	m.mounts(t)
	return m
}

func (m machine) modules(t *testing.T) {
	is := is.New(t)
	var name unix.Utsname
	is.NoErr(unix.Uname(&name))
	is.NoErr(os.MkdirAll("/run/mod/lib/modules", 0o755))
	is.NoErr(os.MkdirAll("/run/lock", 0o755))
	is.NoErr(os.Symlink("/usr/lib/uml/modules/"+unix.ByteSliceToString(name.Release[:]), "/run/mod/lib/modules/"+unix.ByteSliceToString(name.Release[:])))
	for _, module := range []string{"dm-mod", "dm-snapshot", "dm-thin-pool", "ext4", "xfs", "btrfs"} {
		m.Run(0, "modprobe", "-d", "/run/mod", module)
	}
}

// files writes what svc reads of the machine, and of the target.
func (m machine) files() {
	const passwd, group = "root:x:0:0::/root:/bin/sh\n", "root:x:0:\n"
	m.Files(m.source, map[string]string{
		"etc/os-release":      "ID=debian\nVERSION_ID=12\n",
		"etc/machine-id":      "0123456789abcdef0123456789abcdef\n",
		"etc/passwd":          passwd,
		"etc/group":           group,
		"etc/fstab":           fstab(),
		"var/lib/dpkg/status": "Package: base-files\nStatus: install ok installed\nVersion: 12\nArchitecture: amd64\n",
	})
	m.Files(m.target, map[string]string{"etc/passwd": passwd, "etc/group": group})
}

// volumes are those of LVM, with their file systems.
var volumes = []struct{ name, kind string }{{"thick", "ext4"}, {"xfs", "xfs"}, {"thin", "ext4"}}

func fstab() string {
	var lines strings.Builder
	for _, v := range volumes {
		fmt.Fprintf(&lines, "/dev/mapper/vg-%[1]s /%[1]s %[2]s defaults 0 2\n", v.name, v.kind)
	}
	return lines.String() + "/dev/ubdb /btrfs btrfs defaults 0 2\n"
}

// disks makes volumes and file systems.
func (m machine) disks() {
	for _, command := range []string{
		"pvcreate -y /dev/ubda",
		"vgcreate vg /dev/ubda",
		"lvcreate -y -L 200m -n thick vg",
		"lvcreate -y -L 320m -n xfs vg",
		"lvcreate -y --type thin-pool -L 200m -n pool vg",
		"lvcreate -y --type thin -V 200m -n thin --thinpool pool vg",
		"mke2fs -q -t ext4 /dev/vg/thick",
		"mke2fs -q -t ext4 /dev/vg/thin",
		"mkfs.xfs -q /dev/vg/xfs",
		"mkfs.btrfs -q /dev/ubdb",
	} {
		words := strings.Fields(command)
		m.Run(0, words[0], words[1:]...)
	}
}

// mounts mounts the file systems, and fills each.
func (m machine) mounts(t *testing.T) {
	is := is.New(t)
	mount := func(device, name, kind string) {
		at := filepath.Join(m.source, name)
		is.NoErr(os.MkdirAll(at, 0o755))
		is.NoErr(unix.Mount(device, at, kind, 0, ""))
		files := map[string]string{}
		for i := range 100 {
			files[fmt.Sprintf("x%02d", i)] = fmt.Sprintln(i)
		}
		m.Files(filepath.Join(at, dir, "middle"), files)
	}
	for _, v := range volumes {
		mount("/dev/vg/"+v.name, v.name, v.kind)
	}
	mount("/dev/ubdb", "btrfs", "btrfs")
	m.Run(0, "btrfs", "subvolume", "create", m.source+"/btrfs/nested")
	is.NoErr(os.MkdirAll(m.source+"/etc/lvm/backup", 0o755))
	m.Run(0, "vgcfgbackup", "-f", m.source+"/etc/lvm/backup/vg", "vg")
}
