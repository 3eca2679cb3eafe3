#!/usr/bin/env bash
# Copies data that are written to meanwhile, by the snapshot scripts of a data
# plan, from volumes of LVM, thick and thin, and from btrfs. The device mapper that
# this takes is that of a user-mode Linux, which runs this script a second time on
# the same files; whether the host has one does not matter. Needs root. Prints a
# line for each check and ends with "N passed, N failed".
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=.ci/e2e/checks.sh
. .ci/e2e/checks.sh
export DM_DISABLE_UDEV=1 # there is no udev: LVM makes the devices itself

# outside makes the disks and starts the kernel, whose first process is inside.
outside() {
	needs linux.uml:user-mode-linux lvm:lvm2 thin_check:thin-provisioning-tools mke2fs:e2fsprogs mkfs.xfs:xfsprogs mkfs.btrfs:btrfs-progs rsync:rsync modprobe:kmod shellcheck:shellcheck
	work=$(mktemp -d)
	trap 'rm -rf --one-file-system "$work"' EXIT
	CGO_ENABLED=0 go build -trimpath -o "$work/svc" ./cmd/svc
	truncate -s 1500M "$work/volumes"
	truncate -s 200M "$work/btrfs"
	printf '#!/bin/bash\nexport PATH=%q\ncd %q\nbash .ci/e2e/snapshot.sh %q >%q 2>&1\necho o >/proc/sysrq-trigger\nsleep 60\n' "$PATH" "$PWD" "$work" "$work/log" >"$work/init"
	chmod 755 "$work/init"
	timeout 600 linux.uml mem=512M rootfstype=hostfs rootflags=/ rw "init=$work/init" "ubda=$work/volumes" "ubdb=$work/btrfs" con=null con0=null,fd:1 quiet </dev/null >"$work/kernel.log" 2>&1 || true
	cat "$work/log" || tail -n 20 "$work/kernel.log"
	(cd "$work/plan" && shellcheck -x snapshot.sh snapshots/*.sh) # here: the other kernel is slow
	[ -e "$work/passed" ]
}

# kernel: what is mounted and loaded by hand where no system starts.
kernel() {
	local module
	mount -t proc proc /proc
	mount -t sysfs sys /sys
	mount -t tmpfs run /run
	mkdir -p /run/mod/lib/modules /run/lock
	ln -s "/usr/lib/uml/modules/$(uname -r)" /run/mod/lib/modules/
	for module in dm-mod dm-snapshot dm-thin-pool ext4 xfs btrfs; do modprobe -d /run/mod "$module"; done
}

# machine: a Debian 12 with a file system of each kind.
machine() {
	local name
	machine=/run/machine target=/run/target
	mkdir -p "$machine"/{etc/lvm/backup,var/lib/dpkg,thick,xfs,thin,btrfs} "$target/etc"
	printf 'ID=debian\nVERSION_ID=12\n' >"$machine/etc/os-release"
	printf 'Package: base-files\nStatus: install ok installed\nVersion: 12\nArchitecture: amd64\n' >"$machine/var/lib/dpkg/status"
	printf '0123456789abcdef0123456789abcdef\n' >"$machine/etc/machine-id"
	printf 'root:x:0:0::/root:/bin/sh\n' | tee "$machine/etc/passwd" >"$target/etc/passwd"
	printf 'root:x:0:\n' | tee "$machine/etc/group" >"$target/etc/group"
	printf '/dev/mapper/vg-%s /%s %s defaults 0 2\n' thick thick ext4 xfs xfs xfs thin thin ext4 >"$machine/etc/fstab"
	printf '/dev/ubdb /btrfs btrfs defaults 0 2\n' >>"$machine/etc/fstab"
	{
		pvcreate -y /dev/ubda
		vgcreate vg /dev/ubda
		lvcreate -y -L 200m -n thick vg
		lvcreate -y -L 320m -n xfs vg
		lvcreate -y --type thin-pool -L 200m -n pool vg
		lvcreate -y --type thin -V 200m -n thin --thinpool pool vg
		mke2fs -q -t ext4 /dev/vg/thick
		mke2fs -q -t ext4 /dev/vg/thin
		mkfs.xfs -q /dev/vg/xfs
		mkfs.btrfs -q /dev/ubdb
	} >"$work/last.log" 2>&1
	for name in thick xfs thin; do mount "/dev/vg/$name" "$machine/$name"; done
	mount /dev/ubdb "$machine/btrfs"
	btrfs subvolume create "$machine/btrfs/nested" >/dev/null
	vgcfgbackup -f "$machine/etc/lvm/backup/vg" vg >/dev/null
	for name in thick xfs thin btrfs; do
		mkdir -p "$machine/$name/it's"$'\n-r/middle'
		(cd "$machine/$name/it's"$'\n-r/middle' && seq 100 | split -l 1 -a 3)
	done
}

# writer FOLDER: writes a number into two files, one after the other, until the
# file stop is there.
writer() {
	local n=0
	while [ ! -e /run/stop ]; do
		n=$((n + 1))
		echo $n >"$1/first" && mv "$1/first" "$1/a"
		echo $n >"$1/second" && mv "$1/second" "$1/z"
		sleep 0.1
	done
}

step() { env SOURCE_ROOT="$machine" TARGET_ROOT="$target" bash "$work/plan/$1" "${@:2}"; }

# left: what there is of snapshots.
left() {
	lvs --noheadings -o lv_name vg | grep svc-move || true
	btrfs subvolume list "$machine/btrfs" | grep svc-move || true
	grep svc-move /proc/mounts || true
}

# moved NAME SCRIPT: from a snapshot, while it is written to.
moved() {
	local at="$target/$1/it's"$'\n-r' a z
	rm -f /run/stop
	writer "$machine/$1/it's"$'\n-r' &
	until_true test -e "$machine/$1/it's"$'\n-r/z'
	exits "$1: it is copied while it is written to" 0 step "snapshots/$2" move
	touch /run/stop
	said "$1: as it was at the snapshot" "as they were at the snapshot"
	a=$(cat "$at/a") z=$(cat "$at/z")
	check "$1: and that is one moment ($a, $z)" test $((a - z)) -ge 0 -a $((a - z)) -le 1
	same "$1: all of it is there" "$(find "$at/middle" -type f -printf x | wc -c)" 100
	same "$1: no snapshot is left" "$(left)" ""
}

inside() {
	kernel
	machine
	exits "a plan is made" 0 svc data plan --root "$machine" --target debian-13 --out "$work/plan" --confirm
	exits "nothing is copied before the check" 1 step snapshots/01-ubdb.sh move
	exits "the check passes" 0 step 10-check.sh
	moved btrfs 01-ubdb.sh
	moved thick 02-thick.sh
	moved thin 03-thin.sh
	moved xfs 04-xfs.sh
	fails_clean
	exits "quiet, the source is counted" 0 step 30-before.sh
	exits "the rest is copied" 0 step 40-copy.sh
	exits "and the target is what the source is" 0 step 50-after.sh
	exits "it rolls back" 0 step 90-roll-back.sh
	same "to nothing" "$(ls "$target")" etc$'\n'var
	finish && touch "$work/passed"
}

# fails_clean: where it fails, no snapshot stays either.
fails_clean() {
	rm -rf "$target/thick" && touch "$target/thick"
	exits "what can't be copied ends it" 1 step snapshots/02-thick.sh move
	said "and that is said" "File exists"
	same "but nothing else" "$(grep -c 'More was written\|is left' "$work/last.log")" 0
	same "without a snapshot that is left" "$(left)" ""
	rm "$target/thick"
	lvcreate -y -l "$(($(lvs --noheadings -o vg_free_count vg/thick) - 2))" -n full vg >/dev/null
	dd if=/dev/urandom of="$machine/thick/it's"$'\n-r/big' bs=1M count=40 2>/dev/null && sync
	rm -f /run/stop
	(while [ ! -e /run/stop ]; do dd if=/dev/urandom of="$machine/thick/it's"$'\n-r/big' bs=1M count=40 conv=notrunc 2>/dev/null && sync; done) &
	exits "a snapshot that had too little room is refused" 1 step snapshots/02-thick.sh move
	said "and that is said" "More was written to the source"
	touch /run/stop
	wait $!
	same "and it is taken away" "$(left)" ""
	lvremove -y vg/full >/dev/null
	lvcreate -y -s -l 2 -n svc-move-thick vg/thick >/dev/null
	exits "one that a broken line left is taken away" 0 step snapshots/02-thick.sh remove
	same "and is gone" "$(left)" ""
}

if [ $# = 0 ]; then
	outside
else
	work=$1
	inside
fi
