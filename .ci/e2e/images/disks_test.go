package images_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/matryer/is"

	"svc/.ci/e2e"
)

// What fstab calls the file systems.
const (
	rootID = "11111111-2222-4333-8444-555555555501"
	usrID  = "11111111-2222-4333-8444-555555555502"
	varID  = "11111111-2222-4333-8444-555555555503"
	bootID = "11111111-2222-4333-8444-555555555504"
)

// layout is a way to have the machine on a disk.
type layout struct {
	name, fstab string
	apart       string // folders with file systems of their own
	disk        string // writes it to $disk, of the folder tree and of those apart
}

var layouts = []layout{
	// ext4 on the whole disk
	{"whole", "UUID=" + rootID + " / ext4 defaults 0 1\n", "", `
		truncate -s 1500M "$disk"
		mke2fs -q -F -t ext4 -U $root_id -d tree "$disk"`},

	// GPT: ESP, root, /var, swap and what nobody knows
	{"gpt", `PARTUUID=aaaaaaaa-0000-4000-8000-000000000002 / ext4 defaults 0 1
/dev/disk/by-label/the\x20var /var ext4 defaults 0 2
UUID=` + bootID + ` none swap sw 0 0
tmpfs /tmp tmpfs defaults 0 0
//nas/share /mnt cifs noauto 0 0
`, "var", `
		truncate -s 2000M "$disk"
		sgdisk -n 1:1M:+32M -t 1:ef00 -n 2:40M:+1200M -u 2:aaaaaaaa-0000-4000-8000-000000000002 -n 3:1300M:+400M -n 4:1800M:+100M -t 4:8200 -n 5:1950M:+10M "$disk"
		truncate -s 32M esp && mkfs.vfat esp && put esp 1
		mke2fs -q -F -t ext4 -U $root_id -E offset=$((40 << 20)) -d tree "$disk" 1200M
		mke2fs -q -F -t ext4 -L "the var" -E offset=$((1300 << 20)) -d var "$disk" 400M
		truncate -s 100M swap && mkswap -q -U $boot_id swap && put swap 1800`},

	// MBR: /boot is ext2, the root and /usr are logical
	{"extended", `/dev/sda5 / ext4 defaults 0 1
UUID=` + bootID + ` /boot ext2 defaults 0 2
PARTUUID=cafe0001-06 /usr ext3 defaults 0 2
`, "usr boot", `
		truncate -s 2000M "$disk"
		printf 'label: dos\nlabel-id: 0xcafe0001\n1: start=1MiB,size=99MiB\n4: start=100MiB,type=f\n5: start=101MiB,size=798MiB\n6: start=900MiB,size=1000MiB\n' | sfdisk -q "$disk"
		mke2fs -q -F -t ext2 -U $boot_id -E offset=$((1 << 20)) -d boot "$disk" 99M
		mke2fs -q -F -t ext4 -b 1024 -U $root_id -E offset=$((101 << 20)) -d tree "$disk" 798M
		mke2fs -q -F -t ext3 -I 128 -U $usr_id -E offset=$((900 << 20)) -d usr "$disk" 1000M`},

	// GPT with two physical volumes; the root has three segments, /var two stripes. There
	// is no device-mapper: LVM writes its metadata, and where the extents are it says.
	{"lvm", `/dev/mapper/vg--0-root / ext4 defaults 0 1
/dev/vg-0/var /var ext4 defaults 0 2
/dev/vg-0/swap none swap sw 0 0
/dev/mapper/secret /srv/secret ext4 nofail 0 2
`, "var", `
		alone=(--driverloaded n --config 'devices{use_devicesfile=0} activation{monitoring=0 udev_sync=0 udev_rules=0} backup{backup=0 archive=0}')
		report=(--noheadings --nosuffix --units b --separator ' ' "${alone[@]}")
		truncate -s 2600M "$disk"
		sgdisk -n 1:1M:+1199M -t 1:8e00 -n 2:1200M:+1300M -t 2:8e00 "$disk"
		a=$(losetup -f --show -o $((1 << 20)) --sizelimit $((1199 << 20)) "$disk")
		loops=($a)
		b=$(losetup -f --show -o $((1200 << 20)) --sizelimit $((1300 << 20)) "$disk")
		loops=($a $b)
		for volume in $a $b; do lvm pvcreate -ff -y "$volume" "${alone[@]}"; done
		lvm vgcreate -s 4m vg-0 $a $b "${alone[@]}"
		create=(-an -Zn -Wn -y "${alone[@]}" vg-0)
		lvm lvcreate -L 600m -n root "${create[@]}" $a
		lvm lvcreate -L 40m -n swap "${create[@]}" $a
		lvm lvcreate -L 400m -n var -i 2 -I 64k "${create[@]}" $a $b
		lvm lvextend -y -L 1300m vg-0/root "${alone[@]}"
		lvm lvs --segments -o lv_name,seg_start,seg_size,stripes,stripe_size,seg_pe_ranges "${report[@]}" vg-0 >segments
		for at in $a=1 $b=1200; do echo "${at%=*} $((${at#*=} << 20)) $(lvm pvs -o pe_start,vg_extent_size "${report[@]}" "${at%=*}")"; done >volumes
		truncate -s 1300M root.ext4 && mke2fs -q -F -t ext4 -U $root_id -d tree root.ext4
		truncate -s 400M var.ext4 && mke2fs -q -F -t ext4 -U $var_id -d var var.ext4`},

	// GPT: the root and /var are xfs
	{"xfs", "UUID=" + rootID + " / xfs defaults 0 0\nLABEL=var /var xfs defaults 0 0\n", "var", `
		truncate -s 2000M "$disk"
		sgdisk -n 1:1M:+1200M -n 2:1300M:+600M "$disk"
		truncate -s 1200M a && mkfs.xfs -q -m uuid=$root_id a
		truncate -s 600M b && mkfs.xfs -q -L var b
		mount -o loop a mnt && cp -a tree/. mnt && umount mnt
		mount -o loop b mnt && cp -a var/. mnt && umount mnt
		put a 1 && put b 1300`},

	// MBR: subvolumes of one btrfs, compressed
	{"btrfs", `UUID=` + rootID + ` / btrfs subvol=@ 0 0
UUID=` + rootID + ` /var btrfs subvol=/@/var-of-it 0 0
UUID=` + rootID + ` /srv btrfs subvol=@srv,compress=zstd 0 0
`, "var srv", `
		truncate -s 1600M "$disk"
		printf 'label: dos\n1: start=1MiB,size=1500MiB\n' | sfdisk -q "$disk"
		truncate -s 1500M a && mkfs.btrfs -q -U $root_id a
		mount -o loop,compress=zstd a mnt
		for volume in @ @srv @/var-of-it; do btrfs -q subvolume create mnt/$volume; done
		cp -a tree/. mnt/@ && cp -a var/. mnt/@/var-of-it && cp -a srv/. mnt/@srv
		btrfs -q subvolume snapshot -r mnt/@ mnt/@/backup
		umount mnt
		put a 1`},

	// the default subvolume is the root, and fstab says nothing of it
	{"btrfs_default", "LABEL=system / btrfs defaults 0 0\n", "", `
		truncate -s 1500M "$disk" && mkfs.btrfs -q -L system "$disk"
		mount -o loop,compress=lzo "$disk" mnt
		btrfs -q subvolume create mnt/first && btrfs -q subvolume create mnt/first/second
		cp -a tree/. mnt/first/second
		btrfs -q subvolume set-default mnt/first/second
		umount mnt`},
}

// formats are the ways to write a disk: the end of a file's name, and options of qemu-img.
var formats = [][]string{
	{"qcow2", "-O", "qcow2"},
	{"v2.qcow2", "-O", "qcow2", "-o", "compat=0.10"},
	{"zlib.qcow2", "-O", "qcow2", "-c"},
	{"zstd.qcow2", "-O", "qcow2", "-c", "-o", "compression_type=zstd"},
	{"subclusters.qcow2", "-O", "qcow2", "-o", "extended_l2=on,cluster_size=128k"},
	{"sparse.vmdk", "-O", "vmdk"},
	{"stream.vmdk", "-O", "vmdk", "-o", "subformat=streamOptimized"},
	{"flat.vmdk", "-O", "vmdk", "-o", "subformat=monolithicFlat"},
	{"split.vmdk", "-O", "vmdk", "-o", "subformat=twoGbMaxExtentSparse"},
	{"vhd", "-O", "vpc"},
	{"fixed.vhd", "-O", "vpc", "-o", "subformat=fixed"},
	{"vhdx", "-O", "vhdx"},
	{"vdi", "-O", "vdi"},
	{"static.vdi", "-O", "vdi", "-o", "static=on"},
}

// maker makes the images of one machine, and its root folder.
type maker struct {
	*e2e.Work
	is    *is.I
	cache string
}

// make makes what the cache lacks: all of it for each version of this file and of the root.
func (m maker) make() {
	recipe, made := m.recipe(), filepath.Join(m.cache, "recipe")
	if last, err := os.ReadFile(made); err == nil && string(last) == recipe {
		return
	}
	m.is.NoErr(os.RemoveAll(m.cache))
	m.is.NoErr(os.MkdirAll(filepath.Join(m.cache, "overlay"), 0o755))
	m.machine()
	for _, l := range layouts {
		m.lay(l)
	}
	for _, f := range formats {
		m.qemu(append([]string{"convert", "-f", "raw"}, append(f[1:], "gpt.raw", "gpt."+f[0])...)...)
	}
	for _, name := range []string{"lvm", "xfs", "btrfs"} {
		m.qemu("convert", "-f", "raw", "-O", "qcow2", name+".raw", name+".qcow2")
	}
	for _, on := range [][]string{{"gpt.raw", "raw", "middle.qcow2"}, {"middle.qcow2", "qcow2", "overlay.qcow2"}, {"../gpt.qcow2", "qcow2", "overlay/outside.qcow2"}} {
		m.qemu("create", "-q", "-f", "qcow2", "-b", on[0], "-F", on[1], on[2])
	}
	m.Files(m.cache, map[string]string{"recipe": recipe})
}

// recipe is a digest of what the images are made of.
func (m maker) recipe() string {
	all := sha256.New()
	for _, name := range []string{"disks_test.go", filepath.Join(e2e.Cache(), "roots/trixie-base.recipe")} {
		b, err := os.ReadFile(name)
		m.is.NoErr(err)
		all.Write(b)
	}
	return hex.EncodeToString(all.Sum(nil))
}

// qemu runs qemu-img in the folder of the images: an image calls others by names.
func (m maker) qemu(args ...string) {
	m.Shell(0, `cd "$1"; shift; qemu-img "$@"`, append([]string{m.cache}, args...)...)
}

// machine makes the root that all images hold, from a copy of a Debian: without what
// fills two dozen disks and nobody asks about.
func (m maker) machine() {
	m.Shell(0, `cp -a "$1" "$2" && cd "$2"
		rm -rf usr/share/{doc,locale,man} var/lib/apt/lists/*
		echo "# changed" >>etc/sudoers
		mkdir -p etc/cron.d srv/many
		echo "0 4 * * * root /usr/local/bin/job" >etc/cron.d/own
		ln -s ../../etc/passwd etc/climbing
		ln -s /etc/hostname etc/absolute
		ln -s loop2 etc/loop1 && ln -s loop1 etc/loop2
		(cd srv/many && seq -f 'a-file-of-a-large-folder-%05g' 6000 | xargs touch)
		truncate -s 5G srv/sparse && echo end >>srv/sparse
		echo uploaded >boot/uploaded`, filepath.Join(e2e.Cache(), "roots/trixie-base"), filepath.Join(m.cache, "machine"))
}

// lay makes the disk of a layout. What it mounts is in a namespace of its own: others, which
// begin meanwhile, would have the mount too, and what is unmounted here would not be written.
func (m maker) lay(l layout) {
	const begin = `
		root_id=` + rootID + ` usr_id=` + usrID + ` var_id=` + varID + ` boot_id=` + bootID + `
		disk=$2 apart=$3 loops=()
		mkdir "$4" && cd "$4" && mkdir mnt
		trap 'for loop in "${loops[@]}"; do losetup -d $loop; done' EXIT
		# put writes a file at an offset of the disk, in MiB.
		put() { dd if="$1" of="$disk" bs=1M seek="$2" conv=notrunc,sparse status=none; }
		cp -a "$1" tree && cp "${disk%.raw}.fstab" tree/etc/fstab
		for dir in $apart; do mv tree/$dir $dir && mkdir tree/$dir; done
		`
	dir, disk := m.Path(l.name), filepath.Join(m.cache, l.name+".raw")
	m.Files(m.cache, map[string]string{l.name + ".fstab": l.fstab})
	m.Run(0, "unshare", "--mount", "bash", "-euo", "pipefail", "-c", begin+l.disk, "bash", filepath.Join(m.cache, "machine"), disk, l.apart, dir)
	if l.name == "lvm" {
		m.volumes(dir, disk)
	}
	m.Run(0, "rm", "-rf", "--one-file-system", dir)
}

// volumes writes each volume's content to where LVM says that its extents are.
func (m maker) volumes(dir, disk string) {
	start, extent := map[string]int64{}, int64(0) // of the first one, by partition
	for _, row := range m.rows(filepath.Join(dir, "volumes")) {
		start[row[0]], extent = m.number(row[1])+m.number(row[2]), m.number(row[3])
	}
	out, err := os.OpenFile(disk, os.O_WRONLY, 0)
	m.is.NoErr(err)
	defer out.Close()
	for _, row := range m.rows(filepath.Join(dir, "segments")) {
		content, err := os.Open(filepath.Join(dir, row[0]+".ext4"))
		if errors.Is(err, fs.ErrNotExist) {
			continue // a swap
		}
		m.is.NoErr(err)
		at, size, step, ranges := m.number(row[1]), m.number(row[2]), m.number(row[4]), row[5:]
		if len(ranges) == 1 {
			step = extent
		}
		piece, empty := make([]byte, step), make([]byte, step)
		for i := range size / step {
			partition, extents, _ := strings.Cut(ranges[int(i)%len(ranges)], ":")
			first, _, _ := strings.Cut(extents, "-")
			_, err := content.ReadAt(piece, at+i*step)
			m.is.NoErr(err)
			if bytes.Equal(piece, empty) {
				continue // it stays a hole
			}
			_, err = out.WriteAt(piece, start[partition]+m.number(first)*extent+i/int64(len(ranges))*step)
			m.is.NoErr(err)
		}
		m.is.NoErr(content.Close())
	}
}

// rows are the words of a file's lines.
func (m maker) rows(file string) (rows [][]string) {
	b, err := os.ReadFile(file)
	m.is.NoErr(err)
	for line := range strings.Lines(string(b)) {
		rows = append(rows, strings.Fields(line))
	}
	return rows
}

func (m maker) number(text string) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	m.is.NoErr(err)
	return n
}
