package images_test

import (
	"math"
	"math/rand/v2"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/matryer/is"
)

// hostile are files that are taken for images: what makes them in a folder, and what
// svc says of them.
var hostile = []struct{ name, make, says string }{
	{"none", "", "there is no .*none"},
	{"folder", "mkdir folder", "is a folder"},
	{"pipe", "mkfifo pipe", "not a disk image"},
	{"text", "echo text >text", "no Linux system"},
	{"empty", ": >empty", "no Linux system"},
	{"of-another", "echo text >of-another; chmod 600 of-another", "no permission"},
	{"zeros", "truncate -s 1G zeros", "no file system that svc knows"},
	{"noise", "head -c 20M /dev/urandom >noise", "no Linux system"},
	{"paging", "truncate -s 1G paging; mkswap -q paging", "swap"},
	{"luks", "truncate -s 40M luks; echo secret | cryptsetup -q luksFormat --pbkdf pbkdf2 --pbkdf-force-iterations 1000 luks -", "LUKS.*unlock it"},
	{"raid", `truncate -s 1G raid; printf '\xfc\x4e\x2b\xa9' | dd of=raid bs=1 seek=4096 conv=notrunc`, "RAID"},
	// On a busy machine it fails to measure its key derivation.
	{"encrypted.qcow2", `for _ in 1 2 3 4 5; do
			qemu-img create -q --object secret,id=s,data=x -f qcow2 -o encrypt.format=luks,encrypt.key-secret=s,encrypt.iter-time=10 encrypted.qcow2 100M && break
		done`, "encrypted with LUKS"},
	{"round.qcow2", `qemu-img create -q -f qcow2 round.qcow2 10M && qemu-img create -q -f qcow2 -b round.qcow2 -F qcow2 b.qcow2
		qemu-img rebase -q -u -b b.qcow2 -F qcow2 round.qcow2`, "behind itself"},
	{"of-the-host.qcow2", "qemu-img create -q -u -f qcow2 -b /etc/shadow -F raw of-the-host.qcow2 10M", "outside the image's folder"},
	{"of-the-network.qcow2", "qemu-img create -q -u -f qcow2 -b nbd://localhost/x -F raw of-the-network.qcow2 10M", "no file's path"},
	// 512 MB of compressed clusters, which are nothing but zeros
	{"bomb.qcow2", "truncate -s 512M bomb && qemu-img convert -q -f raw -O qcow2 -c -S 0 -o cluster_size=2M bomb bomb.qcow2", "no file system that svc knows"},
	// a system whose package database and fstab have 1 TB
	{"absurd", `mkdir -p tree/etc tree/var/lib/dpkg && echo ID=debian >tree/etc/os-release
		truncate -s 64M absurd && mke2fs -q -F -t ext4 -d tree absurd
		for name in /var/lib/dpkg/status /etc/fstab; do
			debugfs -w -R "write /dev/null $name" absurd
			debugfs -w -R "sif $name size 1000000000000" absurd
		done`, "status"},
	{"huge.qcow2", "qemu-img create -q -f qcow2 huge.qcow2 900T", "no file system that svc knows"},
	{"lacks-a-part.vmdk", "qemu-img create -q -f vmdk -o subformat=twoGbMaxExtentSparse lacks-a-part.vmdk 5G && rm lacks-a-part-s002.vmdk", "there is no .*lacks-a-part-s002.vmdk"},
}

func TestHostile(t *testing.T) {
	d := newDisks(t)
	dir := d.at("hostile")
	is.New(t).NoErr(os.Mkdir(dir, 0o755))
	for _, h := range hostile {
		t.Run(h.name, func(t *testing.T) {
			d := d.in(t)
			d.Shell(0, `cd "$1"; `+h.make, dir)
			d.refused(d.at("hostile", h.name), h.says)
		})
	}
	outside := d.image("overlay/outside.qcow2") // its backing file is
	d.refused(outside, "trust-image")
	d.is.Equal(d.nobody(mostHostileTime, "assess", "--image", outside, "--trust-image").code, 0)
}

// bounded assesses a hostile image, which svc survives, in bounded memory.
func (d *disks) bounded(image string, options ...string) ended {
	d.t.Helper()
	ended := d.nobody(mostHostileTime, append([]string{"assess", "--image", image}, options...)...)
	if ended.memory > mostHostileMemory || strings.Contains("\n"+ended.err, "\ngoroutine") {
		d.t.Fatalf("%d KiB: %s", ended.memory>>10, ended.err)
	}
	return ended
}

// refused: assessing it fails, saying so.
func (d *disks) refused(image, says string) {
	d.t.Helper()
	ended := d.bounded(image)
	d.t.Log(ended.err)
	d.is.Equal(ended.code, 1)
	d.is.True(regexp.MustCompile(says).MatchString(ended.err))
}

// TestDamaged changes bytes of images at random: whatever is said then, it is said in
// time, and the program doesn't break.
func TestDamaged(t *testing.T) {
	d := newDisks(t)
	for _, name := range []string{"gpt.qcow2", "gpt.stream.vmdk", "gpt.vhdx", "lvm.raw", "xfs.qcow2", "btrfs.qcow2", "extended.raw"} {
		t.Run(name, func(t *testing.T) {
			d := d.in(t)
			image := d.at("damaged")
			d.Run(0, "cp", "--sparse=always", "--reflink=auto", d.image(name), image)
			for seed := range uint64(12) {
				d.damage(image, seed)
				if ended := d.bounded(image, "--json"); ended.code != 0 && ended.code != 1 {
					t.Fatalf("seed %d: exit %d: %s", seed, ended.code, ended.err)
				}
			}
		})
	}
}

// damage changes some bytes, most of them near the beginning; by the last seed it cuts
// the image off too.
func (d *disks) damage(image string, seed uint64) {
	f, err := os.OpenFile(image, os.O_RDWR, 0)
	d.is.NoErr(err)
	defer f.Close()
	info, err := f.Stat()
	d.is.NoErr(err)
	random := rand.New(rand.NewPCG(seed, 0))
	for range 40 {
		b := make([]byte, []int{1, 4, 8}[random.IntN(3)])
		for i := range b {
			b[i] = byte(random.Uint32())
		}
		_, err := f.WriteAt(b, min(int64(math.Exp2(9+22*random.Float64())), info.Size()-8))
		d.is.NoErr(err)
	}
	if seed == 11 {
		d.is.NoErr(f.Truncate(info.Size() / 3))
	}
}
