#!/usr/bin/env bash
# Assesses one machine on disk images of every format, partition table and file
# system, and compares each answer byte for byte with that of its root folder.
# Then hostile images. Needs root; installs the Debian packages that it uses.
# Images are kept in ${XDG_CACHE_HOME:-$HOME/.cache}/svc-e2e/images, made once for
# each version of this file. Ends with "N passed, N failed".
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=.ci/e2e/checks.sh
. .ci/e2e/checks.sh

cache=${XDG_CACHE_HOME:-$HOME/.cache}/svc-e2e
work=$(mktemp -d)
chmod 755 "$work"
images=$work/images # the cache, where an ordinary user reaches it

cleanup() {
	umount -q -l "$work/mnt" "$images" 2>/dev/null || true
	rm -rf --one-file-system "$work"
}
trap cleanup EXIT

# below NAME A B: a number is at most another.
below() { if [ "$2" -le "$3" ]; then ok "$1 ($2)"; else fail "$1: $2, above $3"; fi; }

install() {
	needs qemu-img:qemu-utils mke2fs:e2fsprogs mkfs.xfs:xfsprogs mkfs.btrfs:btrfs-progs lvm:lvm2 sgdisk:gdisk sfdisk:fdisk \
		mkfs.vfat:dosfstools cryptsetup:cryptsetup-bin strace:strace time:time setpriv:util-linux debootstrap:debootstrap python3:python3
}

# as_user runs a command as nobody, who may not use a loop device or a mount.
as_user() { setpriv --reuid=65534 --regid=65534 --clear-groups env -i HOME="$work/nobody" PATH="$PATH" "$@"; }

svc() { as_user "$work/svc" "$@"; }

# --- the machine -----------------------------------------------------------

# What fstab calls the file systems.
root_id=11111111-2222-4333-8444-555555555501
usr_id=11111111-2222-4333-8444-555555555502
var_id=11111111-2222-4333-8444-555555555503
boot_id=11111111-2222-4333-8444-555555555504

# machine makes the root that all images hold, from a copy of a Debian.
machine() { # folder
	cp -a "$cache/roots/trixie-base" "$1"
	echo "# changed" >>"$1/etc/sudoers"
	mkdir -p "$1/etc/cron.d"
	echo "0 4 * * * root /usr/local/bin/job" >"$1/etc/cron.d/own"
	ln -s ../../etc/passwd "$1/etc/climbing"
	ln -s /etc/hostname "$1/etc/absolute"
	ln -s loop2 "$1/etc/loop1" && ln -s loop1 "$1/etc/loop2"
	mkdir -p "$1/srv/many" && (cd "$1/srv/many" && seq -f 'a-file-of-a-large-folder-%05g' 6000 | xargs touch)
	truncate -s 5G "$1/srv/sparse" && echo end >>"$1/srv/sparse"
	echo uploaded >"$1/boot/uploaded"
}

# --- making images ---------------------------------------------------------

# put writes a file at an offset of an image, in MiB.
put() { dd if="$2" of="$1" bs=1M seek="$3" conv=notrunc,sparse status=none; }

# tree gives a copy of the machine without the folders that stand elsewhere.
tree() { # fstab folders…
	local dir
	rm -rf --one-file-system "$work/tree"
	cp -a "$work/machine" "$work/tree"
	echo "$1" >"$work/tree/etc/fstab"
	shift
	for dir; do
		rm -rf "$work/part-$dir"
		mv "$work/tree/$dir" "$work/part-$dir"
		mkdir "$work/tree/$dir"
	done
}

ext() { rm -f "$1" && truncate -s "$2" "$1" && shift 2 && mke2fs -q -F "$@"; }

# fill copies a folder into a file system that only the kernel can write.
fill() { # image folder options
	mkdir -p "$work/mnt"
	mount -o "loop${3:+,$3}" "$1" "$work/mnt"
	cp -a "$2/." "$work/mnt"
	umount "$work/mnt"
}

image_whole() { # ext4 on the whole disk
	tree "UUID=$root_id / ext4 defaults 0 1"
	ext "$1" 1500M -t ext4 -U $root_id -d "$work/tree" "$1"
}

image_gpt() { # ESP, root, /var, swap and what nobody knows
	tree "PARTUUID=aaaaaaaa-0000-4000-8000-000000000002 / ext4 defaults 0 1
/dev/disk/by-label/the\\x20var /var ext4 defaults 0 2
UUID=$boot_id none swap sw 0 0
tmpfs /tmp tmpfs defaults 0 0
//nas/share /mnt cifs noauto 0 0" var
	rm -f "$1" && truncate -s 2000M "$1"
	sgdisk -n 1:1M:+32M -t 1:ef00 -n 2:40M:+1200M -u 2:aaaaaaaa-0000-4000-8000-000000000002 -n 3:1300M:+400M \
		-n 4:1800M:+100M -t 4:8200 -n 5:1950M:+10M "$1" >/dev/null
	rm -f "$work/esp" && truncate -s 32M "$work/esp" && mkfs.vfat "$work/esp" >/dev/null && put "$1" "$work/esp" 1
	mke2fs -q -F -t ext4 -U $root_id -E offset=$((40 << 20)) -d "$work/tree" "$1" 1200M
	mke2fs -q -F -t ext4 -L "the var" -E offset=$((1300 << 20)) -d "$work/part-var" "$1" 400M
	truncate -s 100M "$work/swap" && mkswap -q -U $boot_id "$work/swap" 2>/dev/null && put "$1" "$work/swap" 1800
}

image_extended() { # MBR: /boot is ext2, the root and /usr are logical
	tree "/dev/sda5 / ext4 defaults 0 1
UUID=$boot_id /boot ext2 defaults 0 2
PARTUUID=cafe0001-06 /usr ext3 defaults 0 2" usr boot
	rm -f "$1" && truncate -s 2000M "$1"
	printf 'label: dos\nlabel-id: 0xcafe0001\n1: start=1MiB,size=99MiB\n4: start=100MiB,type=f\n5: start=101MiB,size=798MiB\n6: start=900MiB,size=1000MiB\n' | sfdisk -q "$1"
	mke2fs -q -F -t ext2 -U $boot_id -E offset=$((1 << 20)) -d "$work/part-boot" "$1" 99M
	mke2fs -q -F -t ext4 -b 1024 -U $root_id -E offset=$((101 << 20)) -d "$work/tree" "$1" 798M
	mke2fs -q -F -t ext3 -I 128 -U $usr_id -E offset=$((900 << 20)) -d "$work/part-usr" "$1" 1000M
}

# lvm_ runs LVM where there is no device-mapper: it writes its metadata alone.
lvm_() {
	lvm "$@" --driverloaded n --config 'devices{use_devicesfile=0} activation{monitoring=0 udev_sync=0 udev_rules=0} backup{backup=0 archive=0}' \
		>>"$work/lvm.log" 2>&1
}

lvm_report() {
	lvm "$@" --noheadings --nosuffix --units b --separator ' ' --driverloaded n --config 'devices{use_devicesfile=0}' 2>>"$work/lvm.log"
}

# place_volumes writes each volume's content to where LVM says its extents are.
place_volumes() { # image partition=MiB… volume=content…
	python3 - "$work/pvs" "$work/segments" "$@" <<-'PY'
		import sys
		pvs, segments, image, *rest = sys.argv[1:]
		given = dict(a.split("=", 1) for a in rest)
		start = {}  # of the first extent, by partition
		for name, first, extent in map(str.split, open(pvs)):
		    start[name] = int(given[name]) * (1 << 20) + int(first)
		    size = int(extent)
		with open(image, "r+b") as disk:
		    for name, at, length, stripes, stripe, *ranges in map(str.split, open(segments)):
		        if name not in given: continue
		        content = open(given[name], "rb")
		        content.seek(int(at))
		        places = []
		        for r in ranges:
		            pv, extents = r.rsplit(":", 1)
		            places.append(start[pv] + int(extents.split("-")[0]) * size)
		        step = int(stripe) if len(places) > 1 else 4 << 20
		        for i in range(int(length) // step):
		            disk.seek(places[i % len(places)] + i // len(places) * step)
		            disk.write(content.read(step))
	PY
}

image_lvm() { # GPT with two physical volumes; the root has three segments, /var two stripes
	tree "/dev/mapper/vg--0-root / ext4 defaults 0 1
/dev/vg-0/var /var ext4 defaults 0 2
/dev/vg-0/swap none swap sw 0 0
/dev/mapper/secret /srv/secret ext4 nofail 0 2" var
	rm -f "$1" && truncate -s 2600M "$1"
	sgdisk -n 1:1M:+1199M -t 1:8e00 -n 2:1200M:+1300M -t 2:8e00 "$1" >/dev/null
	local a b
	a=$(losetup -f --show -o $((1 << 20)) --sizelimit $((1199 << 20)) "$1")
	b=$(losetup -f --show -o $((1200 << 20)) --sizelimit $((1300 << 20)) "$1")
	lvm_ pvcreate -ff -y "$a" && lvm_ pvcreate -ff -y "$b" && lvm_ vgcreate -s 4m vg-0 "$a" "$b"
	lvm_ lvcreate -an -Zn -Wn -y -L 600m -n root vg-0 "$a" && lvm_ lvcreate -an -Zn -Wn -y -L 40m -n swap vg-0 "$a"
	lvm_ lvcreate -an -Zn -Wn -y -L 400m -i 2 -I 64k -n var vg-0 "$a" "$b"
	lvm_ lvextend -y -L 1300m vg-0/root
	ext "$work/root.ext4" 1300M -t ext4 -U $root_id -d "$work/tree" "$work/root.ext4"
	ext "$work/var.ext4" 400M -t ext4 -U $var_id -d "$work/part-var" "$work/var.ext4"
	lvm_report lvs --segments -o lv_name,seg_start,seg_size,stripes,stripe_size,seg_pe_ranges vg-0 >"$work/segments"
	lvm_report pvs -o pv_name,pe_start,vg_extent_size "$a" "$b" >"$work/pvs"
	losetup -d "$a" && losetup -d "$b"
	place_volumes "$1" "$a=1" "$b=1200" "root=$work/root.ext4" "var=$work/var.ext4"
}

image_xfs() { # GPT: the root and /var are xfs
	tree "UUID=$root_id / xfs defaults 0 0
LABEL=var /var xfs defaults 0 0" var
	rm -f "$1" && truncate -s 2000M "$1"
	sgdisk -n 1:1M:+1200M -n 2:1300M:+600M "$1" >/dev/null
	rm -f "$work/a" "$work/b" && truncate -s 1200M "$work/a" && truncate -s 600M "$work/b"
	mkfs.xfs -q -m uuid=$root_id "$work/a" && fill "$work/a" "$work/tree"
	mkfs.xfs -q -L var "$work/b" && fill "$work/b" "$work/part-var"
	put "$1" "$work/a" 1 && put "$1" "$work/b" 1300
}

image_btrfs() { # MBR: subvolumes of one btrfs, compressed
	tree "UUID=$root_id / btrfs subvol=@ 0 0
UUID=$root_id /var btrfs subvol=/@/var-of-it 0 0
UUID=$root_id /srv btrfs subvol=@srv,compress=zstd 0 0" var srv
	rm -f "$1" "$work/a" && truncate -s 1600M "$1" && truncate -s 1500M "$work/a"
	printf 'label: dos\n1: start=1MiB,size=1500MiB\n' | sfdisk -q "$1"
	mkfs.btrfs -q -U $root_id "$work/a" >/dev/null
	mkdir -p "$work/mnt" && mount -o loop,compress=zstd "$work/a" "$work/mnt"
	btrfs -q subvolume create "$work/mnt/@" && btrfs -q subvolume create "$work/mnt/@srv"
	btrfs -q subvolume create "$work/mnt/@/var-of-it"
	cp -a "$work/tree/." "$work/mnt/@" && cp -a "$work/part-var/." "$work/mnt/@/var-of-it" && cp -a "$work/part-srv/." "$work/mnt/@srv"
	btrfs -q subvolume snapshot -r "$work/mnt/@" "$work/mnt/@/backup"
	umount "$work/mnt"
	put "$1" "$work/a" 1
}

image_btrfs_default() { # the default subvolume is the root, and fstab says nothing of it
	tree "LABEL=system / btrfs defaults 0 0"
	rm -f "$1" && truncate -s 1500M "$1"
	mkfs.btrfs -q -L system "$1" >/dev/null
	mkdir -p "$work/mnt" && mount -o loop,compress=lzo "$1" "$work/mnt"
	btrfs -q subvolume create "$work/mnt/first" && btrfs -q subvolume create "$work/mnt/first/second"
	cp -a "$work/tree/." "$work/mnt/first/second"
	btrfs -q subvolume set-default "$work/mnt/first/second"
	umount "$work/mnt"
}

layouts="whole gpt extended lvm xfs btrfs btrfs_default"

# formats NAME OPTIONS of qemu-img: the ways to write a disk.
formats() {
	cat <<-'LIST'
		qcow2 -O qcow2
		v2.qcow2 -O qcow2 -o compat=0.10
		zlib.qcow2 -O qcow2 -c
		zstd.qcow2 -O qcow2 -c -o compression_type=zstd
		subclusters.qcow2 -O qcow2 -o extended_l2=on,cluster_size=128k
		sparse.vmdk -O vmdk
		stream.vmdk -O vmdk -o subformat=streamOptimized
		flat.vmdk -O vmdk -o subformat=monolithicFlat
		split.vmdk -O vmdk -o subformat=twoGbMaxExtentSparse
		vhd -O vpc
		fixed.vhd -O vpc -o subformat=fixed
		vhdx -O vhdx
		vdi -O vdi
		static.vdi -O vdi -o static=on
	LIST
}

# make_images makes what the cache lacks.
make_images() {
	local recipe layout name options
	recipe=$(sed '/^# --- assessing/,$d' .ci/e2e/images.sh | cat - "$cache/roots/trixie-base.recipe" | sha256sum | cut -c1-16)
	[ "$(cat "$cache/images/recipe" 2>/dev/null)" != "$recipe" ] || return 0
	rm -rf "$cache/images"
	mkdir -p "$cache/images"
	machine "$work/machine"
	for layout in $layouts; do
		echo "making $layout"
		"image_$layout" "$cache/images/$layout.raw"
		cp "$work/tree/etc/fstab" "$cache/images/$layout.fstab"
	done
	while read -r name options; do
		echo "making gpt.$name"
		# shellcheck disable=SC2086 # several options
		(cd "$cache/images" && qemu-img convert -f raw $options gpt.raw "gpt.$name")
	done < <(formats)
	for layout in lvm xfs btrfs; do qemu-img convert -f raw -O qcow2 "$cache/images/$layout.raw" "$cache/images/$layout.qcow2"; done
	mkdir "$cache/images/overlay"
	(cd "$cache/images" && qemu-img create -q -f qcow2 -b gpt.raw -F raw middle.qcow2 && qemu-img create -q -f qcow2 -b middle.qcow2 -F qcow2 overlay.qcow2)
	(cd "$cache/images/overlay" && qemu-img create -q -f qcow2 -b ../gpt.qcow2 -F qcow2 outside.qcow2)
	mv "$work/machine" "$cache/images/machine"
	echo "$recipe" >"$cache/images/recipe"
}

# --- assessing them --------------------------------------------------------

# expect makes the answer that the images of a layout must give.
expect() { # layout
	cp "$images/$1.fstab" "$images/machine/etc/fstab"
	"$work/svc" assess --root "$images/machine" --json >"$work/expected.json" || true
}

# assess_image compares an image's answer with the expected one, and the memory
# that it takes with 64 MiB.
assess_image() { # file
	local peak
	as_user timeout 30 "$(command -v time)" -o "$work/nobody/peak" -f %M "$work/svc" assess --image "$images/$1" --json >"$work/got.json" 2>"$work/last.log" || true
	if cmp -s "$work/expected.json" "$work/got.json"; then
		ok "$1 gives what its root folder gives"
	else
		fail "$1 gives another answer"
		head -c 500 "$work/last.log"
		diff <(python3 -m json.tool "$work/expected.json") <(python3 -m json.tool "$work/got.json" 2>&1) | head -n 20 || true
	fi
	peak=$(tail -n 1 "$work/nobody/peak")
	below "$1 takes at most 64 MiB" "$peak" 65536
}

assess_images() {
	local layout name options
	for layout in $layouts; do
		expect "$layout"
		assess_image "$layout.raw"
		[ ! -e "$images/$layout.qcow2" ] || assess_image "$layout.qcow2"
	done
	expect gpt
	while read -r name options; do assess_image "gpt.$name"; done < <(formats)
	assess_image overlay.qcow2
}

fingerprint() { python3 -c 'import json,sys; print(json.load(sys.stdin)["fingerprint"])'; }

# commands shows that every command with --root takes --image, and that the
# answer is the same.
commands() {
	expect lvm
	same "the fingerprint is that of the root folder" \
		"$(svc assess --image "$images/lvm.qcow2" --json | fingerprint)" "$("$work/svc" assess --root "$images/machine" --json | fingerprint)"
	export XDG_DATA_HOME=$work/data XDG_CONFIG_HOME=$work/config XDG_STATE_HOME=$work/state
	local kind command
	for kind in root image; do
		ask $kind migrate --target debian-13 --out "$work/out-$kind" --confirm --json
		for command in verify drift; do ask $kind $command --source "$work/out-root" --json; done
		ask $kind cve-scan --json
	done
	check "a migration of the image writes the same role" diff -r "$work/out-root/role" "$work/out-image/role"
	check "a migration of the image writes the same plan" cmp "$work/out-root/plan.json" "$work/out-image/plan.json"
	for command in verify drift cve-scan; do
		check "$command of the image says the same" diff "$work/$command-root.json" "$work/$command-image.json"
	done
	check "every tool of the MCP server with root takes image" python3 -c "$mcp" "$work/svc" "$images/machine" "$images/lvm.qcow2" "$work/out-root"
	unset XDG_DATA_HOME XDG_CONFIG_HOME XDG_STATE_HOME
}

# ask runs a command for the root folder or the image, and keeps its exit code
# and its answer, without what is signed anew each time.
ask() { # root|image command options…
	local kind=$1 command=$2 place=$images/machine got=0
	shift 2
	[ "$kind" = root ] || place=$images/lvm.qcow2
	"$work/svc" "$command" "--$kind" "$place" "$@" >"$work/answer" 2>/dev/null || got=$?
	{
		echo "exit $got"
		python3 -c 'import json, sys; d = json.load(sys.stdin); [d.pop(k, 0) for k in ("attestation", "manifest", "salt")]; print(json.dumps(d, indent=1).replace(sys.argv[1], "PLACE"))' "$place" <"$work/answer"
	} >"$work/$command-$kind.json" 2>&1 || true
}

# mcp calls each tool that has the argument root with that, and with image.
mcp=$(
	cat <<-'PY'
		import json, subprocess, sys
		svc, root, image, source = sys.argv[1:]
		server = subprocess.Popen([svc, "mcp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
		def send(**message):
		    server.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
		    server.stdin.flush()
		def ask(method, **params):
		    send(id=1, method=method, params=params)
		    return json.loads(server.stdout.readline())["result"]
		ask("initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo={"name": "e2e", "version": "1"})
		send(method="notifications/initialized")
		given = {"target": "debian-13", "source": source, "preflight": True}
		compared = 0
		for tool in ask("tools/list")["tools"]:
		    schema = tool["inputSchema"]
		    if "root" not in schema.get("properties", {}): continue
		    if tool["name"] == "svc_data_plan": continue # it takes no disk without a confirmation
		    rest = {k: v for k, v in given.items() if k in schema.get("required", []) or k != "target" and k in schema["properties"]}
		    answers = []
		    for kind, place in (("root", root), ("image", image)):
		        answer = ask("tools/call", name=tool["name"], arguments={kind: place, **rest})["structuredContent"]
		        for key in ("attestation", "manifest", "salt", "signature"): answer.pop(key, 0)  # signed anew each time
		        if "places" in answer: # with the devices that they are on
		            answer = [(p["path"], p["kind"], p["files"], p["bytes"]) for p in answer["places"]]
		        answers.append(json.dumps(answer).replace(place, "PLACE").replace(f"--{kind} ", "--KIND "))
		    if answers[0] != answers[1]: sys.exit(f"{tool['name']}: {answers}")
		    compared += 1
		if compared < 3: sys.exit(f"only {compared} tools")
	PY
)

# bytes_read counts the bytes that a command reads from files.
bytes_read() { strace -f -qq -e trace=read,pread64 -o "$work/trace" "$@" >/dev/null 2>&1 || true; awk '/= [0-9]+$/ { n += $NF } END { print n }' "$work/trace"; }

# bytes_used counts what an assessment of a root folder needs of its disk: the
# bytes of files and folders, and an inode of 256 bytes for each name.
bytes_used() {
	strace -f -qq -e trace=read,pread64,getdents64,openat2 -o "$work/trace" "$@" >/dev/null 2>&1 || true
	awk '/(read|pread64|getdents64)[( ].*= [0-9]+$/ { n += $NF } /openat2[( ].*= [0-9]+$/ { n += 256 } END { print n }' "$work/trace"
}

economy() {
	local used
	expect gpt
	used=$(bytes_used "$work/svc" assess --root "$images/machine" --json)
	for name in gpt.qcow2 xfs.qcow2 btrfs.qcow2 lvm.qcow2; do
		below "$name: bytes read are at most twice those that the root folder needs, $used" "$(bytes_read "$work/svc" assess --image "$images/$name" --json)" $((2 * used))
	done
}

# --- hostile images --------------------------------------------------------

# hostile_memory is what any image may take at most, in KiB.
hostile_memory=$((128 << 10))

# bounded runs svc as nobody for at most 20 seconds, and keeps its peak of memory.
bounded() { as_user timeout 20 "$(command -v time)" -q -o "$work/nobody/peak" -f %M "$work/svc" "$@"; }

peak() { tail -n 1 "$work/nobody/peak"; }

# refused NAME FILE TEXT: assessing it fails in time and memory, saying so.
refused() {
	local got=0
	bounded assess --image "$2" >"$work/last.log" 2>&1 || got=$?
	[ "$(peak)" -le $hostile_memory ] || got="$got and $(peak) KiB"
	if [ "$got" = 1 ] && grep -qE -- "$3" "$work/last.log" && ! grep -q '^goroutine' "$work/last.log"; then ok "$1"; else
		fail "$1: exit $got"
		head -c 1000 "$work/last.log" | sed 's/^/      /'
	fi
}

hostile() {
	local h=$work/hostile
	mkdir "$h"
	refused "a file that is not there" "$h/none" "there is no .*none"
	refused "a folder" "$h" "is a folder"
	mkfifo "$h/pipe" && refused "a pipe" "$h/pipe" "not a disk image"
	echo text >"$h/text" && refused "a text" "$h/text" "no Linux system"
	: >"$h/empty" && refused "an empty file" "$h/empty" "no Linux system"
	cp "$h/text" "$h/closed" && chmod 600 "$h/closed" && refused "a file of another" "$h/closed" "no permission"
	truncate -s 1G "$h/zeros" && refused "zeros" "$h/zeros" "no file system that svc knows"
	head -c 20M /dev/urandom >"$h/noise" && refused "noise" "$h/noise" "no Linux system"
	cp "$h/zeros" "$h/swap" && mkswap -q "$h/swap" && refused "a swap" "$h/swap" "swap"
	truncate -s 40M "$h/luks" && echo secret | cryptsetup -q luksFormat --pbkdf pbkdf2 --pbkdf-force-iterations 1000 "$h/luks" - >/dev/null 2>&1
	refused "a LUKS disk" "$h/luks" "LUKS.*unlock it"
	cp "$h/zeros" "$h/raid" && printf '\xfc\x4e\x2b\xa9' | dd of="$h/raid" bs=1 seek=4096 conv=notrunc status=none
	refused "a disk of a RAID" "$h/raid" "RAID"
	for _ in 1 2 3 4 5; do # on a busy machine it fails to measure its key derivation
		qemu-img create -q --object secret,id=s,data=x -f qcow2 -o encrypt.format=luks,encrypt.key-secret=s "$h/encrypted.qcow2" 100M 2>/dev/null && break
	done
	refused "a qcow2 encrypted with LUKS" "$h/encrypted.qcow2" "encrypted with LUKS"
	qemu-img create -q -f qcow2 "$h/a.qcow2" 10M && qemu-img create -q -f qcow2 -b a.qcow2 -F qcow2 "$h/b.qcow2"
	qemu-img rebase -q -u -b b.qcow2 -F qcow2 "$h/a.qcow2" && refused "backing files that go round" "$h/a.qcow2" "behind itself"
	qemu-img create -q -u -f qcow2 -b /etc/shadow -F raw "$h/shadow.qcow2" 10M && refused "a backing file of the host" "$h/shadow.qcow2" "outside the image's folder"
	qemu-img create -q -u -f qcow2 -b nbd://localhost/x -F raw "$h/url.qcow2" 10M && refused "a backing file of the network" "$h/url.qcow2" "no file's path"
	refused "a backing file outside" "$images/overlay/outside.qcow2" "trust-image"
	check "which is read where the image is trusted" svc_ok --image "$images/overlay/outside.qcow2" --trust-image
	bomb
	absurd
	qemu-img create -q -f qcow2 "$h/huge.qcow2" 900T && refused "a disk of 900 TB" "$h/huge.qcow2" "no file system that svc knows"
	qemu-img create -q -f vmdk -o subformat=twoGbMaxExtentSparse "$h/split.vmdk" 5G && rm "$h/split-s002.vmdk"
	refused "a split disk that lacks a part" "$h/split.vmdk" "there is no .*split-s002.vmdk"
	damaged
}

# bomb is a disk of 512 MB of compressed clusters, which are nothing but zeros.
bomb() {
	truncate -s 512M "$h/zeros.raw"
	qemu-img convert -q -f raw -O qcow2 -c -S 0 -o cluster_size=2M "$h/zeros.raw" "$h/bomb.qcow2"
	refused "a zip bomb of $(stat -c %s "$h/bomb.qcow2") bytes" "$h/bomb.qcow2" "no file system that svc knows"
}

# absurd is a system whose package database and fstab have 1 TB.
absurd() {
	mkdir -p "$h/tree/etc" "$h/tree/var/lib/dpkg"
	echo ID=debian >"$h/tree/etc/os-release"
	ext "$h/absurd" 64M -t ext4 -d "$h/tree" "$h/absurd"
	debugfs -w -R "write /dev/null /var/lib/dpkg/status" "$h/absurd" 2>/dev/null
	debugfs -w -R "write /dev/null /etc/fstab" "$h/absurd" 2>/dev/null
	local name
	for name in /var/lib/dpkg/status /etc/fstab; do debugfs -w -R "sif $name size 1000000000000" "$h/absurd" 2>/dev/null; done
	refused "files of 1 TB" "$h/absurd" "status"
}

svc_ok() { svc assess "$@" >/dev/null; }

# damaged changes bytes of images at random: whatever is said then, it is said in
# time, and the program doesn't break.
damaged() {
	local name broken=""
	for name in gpt.qcow2 gpt.stream.vmdk gpt.vhdx lvm.raw xfs.qcow2 btrfs.qcow2 extended.raw; do
		cp --sparse=always --reflink=auto "$images/$name" "$work/hostile/broken"
		for seed in $(seq 12); do
			python3 - "$work/hostile/broken" "$seed" <<-'PY'
				import random, sys
				random.seed(int(sys.argv[2]))
				with open(sys.argv[1], "r+b") as f:
				    size = f.seek(0, 2)
				    for _ in range(40):
				        f.seek(min(int(2 ** random.uniform(9, 31)), size - 8))
				        f.write(random.randbytes(random.choice((1, 4, 8))))
				    if int(sys.argv[2]) == 12:
				        f.truncate(size // 3)
			PY
			local got=0
			bounded assess --image "$work/hostile/broken" --json >"$work/got.json" 2>"$work/last.log" || got=$?
			if [ "$got" -gt 1 ] || [ "$(peak)" -gt $hostile_memory ] || grep -q '^goroutine' "$work/last.log"; then broken="$broken $name/$seed($got)"; fi
		done
	done
	same "images with changed bytes end in an answer or an error" "$broken" ""
}

main() {
	install
	bash .ci/e2e/roots.sh
	CGO_ENABLED=0 go build -trimpath -o "$work/svc" ./cmd/svc
	make_images
	mkdir "$images" "$work/nobody" && chown 65534 "$work/nobody"
	chmod 755 "$cache/images" && mount --bind "$cache/images" "$images"
	assess_images
	commands
	economy
	hostile
	finish
}

main "$@"
