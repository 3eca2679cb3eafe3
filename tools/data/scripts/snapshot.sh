# shellcheck shell=bash
# What the scripts of snapshots share: sourced. They set KIND, lvm, btrfs or zfs;
# VOLUME, of LVM, as group/volume; and PLACES, which are copied from the snapshot.
# shellcheck source=lib.sh
. "$(dirname -- "${BASH_SOURCE[0]}")/lib.sh"
KIND="" VOLUME="" PLACES=()
SETTINGS+=(KIND VOLUME)
export LVM_SUPPRESS_FD_WARNINGS=1
bases=() # the folders of which there are snapshots; the root is the empty one

# base_of FOLDER: the folder whose snapshot has it, with a slash at its end: where
# its file system is mounted; of btrfs its subvolume, which has the inode 256.
base_of() {
	local base=$1 mount
	mount=$(stat -c %m -- "$1") || return
	mount=${mount%/}
	[[ $1 == "$mount"/* || $1 == "$mount" ]] || return
	until [ "$base" = "$mount" ] || { [ "$KIND" = btrfs ] && [ "$(stat -c %i -- "$base")" = 256 ]; }; do base=${base%/*}; done
	printf '%s/' "$base"
}

# seen_at BASE: where what the snapshot has is seen on the source.
seen_at() {
	case $KIND in
	lvm) printf '/run/svc-move/%s' "${VOLUME##*/}" ;;
	btrfs) printf '%s/.svc-move' "$1" ;;
	zfs) printf '%s/.zfs/snapshot/svc-move' "$1" ;;
	esac
}

# name_of BASE: what the snapshot is called.
name_of() {
	case $KIND in
	lvm) printf '%s/svc-move-%s' "${VOLUME%%/*}" "${VOLUME##*/}" ;;
	btrfs) seen_at "$1" ;;
	zfs) printf '%s@svc-move' "$(findmnt -n -o SOURCE --mountpoint "${1:-/}")" ;;
	esac
}

# take BASE: takes the snapshot, and shows it. Runs on the source, as all that follows.
take() {
	case $KIND in
	lvm) take_lvm "$1" "$(seen_at "$1")" ;;
	btrfs) btrfs subvolume snapshot -r -- "${1:-/}" "$(name_of "$1")" >/dev/null ;;
	zfs) zfs snapshot "$(name_of "$1")" ;;
	esac
}

# take_lvm BASE FOLDER: a thin volume's pool has the room; else it is what is free
# in the group, but no more than the volume has. XFS is not mounted twice by itself.
take_lvm() {
	local group volume free extent size pool how=ro room=()
	read -r group volume free extent size pool <<<"$(lvs --noheadings --units b --nosuffix -o vg_name,lv_name,vg_free_count,vg_extent_size,lv_size,pool_lv -- "$(findmnt -n -o SOURCE --mountpoint "${1:-/}")")"
	[ "$group/$volume" = "$VOLUME" ] || { echo "$(printf %q "${1:-/}") is on $group/$volume, and was on $VOLUME when this was planned." >&2 && return 1; }
	if [ -z "$pool" ]; then
		[ "$free" -gt 0 ] || { echo "Nothing is free in the group $group." >&2 && return 1; }
		room=(--extents "$((free < size / extent ? free : size / extent))")
	elif lvs --noheadings -o data_percent -- "$group/$pool" | awk '$1 > 80 { exit 1 }'; then
		room=(--setactivationskip n)
	else
		echo "The pool $group/$pool is more than four fifths full: were it to fill, the source itself would fail." >&2 && return 1
	fi
	lvcreate --quiet --yes --snapshot "${room[@]}" --name "$(basename -- "$(name_of "$1")")" -- "$VOLUME" >/dev/null || return
	[ "$(findmnt -n -o FSTYPE --mountpoint "${1:-/}")" != xfs ] || how=ro,nouuid
	mkdir -p -- "$2" && mount -o "$how" -- "/dev/$(name_of "$1")" "$2"
}

# whole BASE: whether the snapshot has all: one of LVM is lost when more was written
# meanwhile than it had room for.
whole() { [ "$KIND" != lvm ] || [[ $(lvs --noheadings -o lv_snapshot_invalid -- "$(name_of "$1")" 2>/dev/null) != *"snapshot invalid"* ]]; }

# drop BASE: takes the snapshot away, where there is one.
drop() {
	case $KIND in
	lvm)
		! mountpoint -q -- "$(seen_at "$1")" || umount -- "$(seen_at "$1")" || return
		! lvs -- "$(name_of "$1")" >/dev/null 2>&1 || lvremove --quiet --yes -- "$(name_of "$1")" >/dev/null
		;;
	btrfs) [ ! -e "$(name_of "$1")" ] || btrfs subvolume delete -- "$(name_of "$1")" >/dev/null ;;
	zfs) ! zfs list -t snapshot "$(name_of "$1")" >/dev/null 2>&1 || zfs destroy "$(name_of "$1")" ;;
	esac
}

# Here, on the target, again.

# drop_all: no snapshot stays, and what one has lost is said.
drop_all() {
	local base wrong=0
	trap - EXIT
	for base in "${bases[@]}"; do
		on_source whole "$base" || { wrong=1 && echo "More was written to the source than the snapshot had room for: what was copied is not of one moment." >&2; }
		on_source drop "$base" || { wrong=1 && echo "A snapshot is left on the source: run this with remove." >&2; }
	done
	[ "$wrong" = 0 ] || exit 1
}

# each_of_these COMMAND: runs it for each of PLACES, with its settings, and in BASE
# the folder whose snapshot has it.
each_of_these() {
	local name
	for name in "${PLACES[@]}"; do
		load "$plan/places/$name.sh"
		BASE=$(on_source base_of "$FROM") || die "The file system of $SHOWN on the source does not take snapshots as it did when this was planned, or can't be reached."
		BASE=${BASE%/}
		"$1"
	done
}

known() {
	local base
	for base in "${bases[@]}"; do [ "$base" != "$BASE" ] || return 0; done
	return 1
}

note() { known || bases+=("$BASE"); }

# take_base: one of before goes first.
take_base() {
	! known || return 0
	note
	say "a snapshot of what is below $(printf %q "${BASE:-/}")"
	on_source drop "$BASE"
	on_source take "$BASE" || die "No snapshot was taken. Nothing was copied."
}

move_place() {
	FROM=$(seen_at "$BASE")${FROM#"$BASE"}
	before
	last_copy
	after
}

# snapshot STEP: what such a script does.
snapshot() {
	begin
	case ${1:-} in
	move)
		[ -e "$STATE/users.map" ] || die "Run 10-check.sh first. Nothing was done."
		trap drop_all EXIT
		trap 'exit 130' INT TERM HUP
		each_of_these take_base
		rm -f -- "$STATE/started"
		each_of_these working
		each_of_these still
		each_of_these move_place
		drop_all
		[ "$different" = 0 ] || { again && die "The target is not what the snapshot was: ${held[*]} differ. Run this again, or 90-roll-back.sh."; }
		again
		say "The target has the places as they were at the snapshot. What was written since comes by 30-before.sh, 40-copy.sh and 50-after.sh, once the source is quiet."
		;;
	remove)
		each_of_these note
		drop_all
		say "No snapshot of this plan is left on the source."
		;;
	*)
		echo "Usage: $0 move | remove" >&2
		exit 2
		;;
	esac
}
