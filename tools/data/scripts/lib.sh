# shellcheck shell=bash disable=SC2034 # the scripts beside it use what is set here
# What the scripts of a data plan share. They run on the target, as root, and
# read the source: over ssh, or in a folder where its disk is mounted. Set:
#   SOURCE_SSH   [user@]host of the source, whose user must be root; empty where it is mounted
#   SOURCE_ROOT  folder that holds the source's files; / over ssh
#   NO_DEVICES   1 where the target may make no devices: they are left out
#   TARGET_ROOT  folder that holds the target's files; / where it is unset
#   STATE        folder that remembers what was there before; on the target
#   DIGESTS      0 leaves out the digests of contents, which read everything
set -euo pipefail
export LC_ALL=C
umask 077
plan=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd -P)
SOURCE_SSH=${SOURCE_SSH:-}
SOURCE_ROOT=${SOURCE_ROOT:-}
NO_DEVICES=${NO_DEVICES:-}
TARGET_ROOT=${TARGET_ROOT:-/}
TARGET_ROOT=${TARGET_ROOT%/}
STATE=${STATE:-$TARGET_ROOT/var/lib/svc/data-move}
DIGESTS=${DIGESTS:-1}
EXCLUDES=() NAMES=() READERS=()
SHOWN="" # the place as it is safe to show
SETTINGS=(EXCLUDES NAMES DIGESTS NO_DEVICES) # what a function needs where the source is
different=0
held=() # places that are not whole: who works there stays stopped
# shellcheck source=services.sh
. "$plan/services.sh"
# shellcheck source=packages.sh
. "$plan/packages.sh"

die() {
	printf '%s\n' "$*" >&2
	exit 1
}

say() { printf '== %s\n' "$*"; }

begin() {
	[ "$(id -u)" = 0 ] || die "Run this as root: only root keeps owners. Nothing was done."
	if [ -n "$SOURCE_SSH" ]; then
		SOURCE_ROOT=${SOURCE_ROOT:-/}
	elif [ -z "$SOURCE_ROOT" ]; then
		die "Set SOURCE_SSH=root@HOST, or SOURCE_ROOT to the folder where the source's disk is mounted. Nothing was done."
	fi
	SOURCE_ROOT=${SOURCE_ROOT%/}
	[ "$SOURCE_SSH|$SOURCE_ROOT" != "|$TARGET_ROOT" ] || die "The source and the target are the same folder. Nothing was done."
	mkdir -p -- "$STATE"
	exec 9>"$STATE/lock"
	flock -n 9 || die "Another script of this plan is running. Nothing was done."
}

# each_place COMMAND: runs it for each place that is copied, with its settings.
each_place() {
	local file
	for file in "$plan"/places/*.sh; do
		[ -e "$file" ] || continue
		load "$file"
		"$@"
	done
}

# each_place_back COMMAND: the same, the last place first.
each_place_back() {
	local files=("$plan"/places/*.sh) i
	for ((i = ${#files[@]} - 1; i >= 0; i--)); do
		[ -e "${files[i]}" ] || continue
		load "${files[i]}"
		"$@"
	done
}

load() {
	UNSAFE=0
	NAME=$(basename -- "$1" .sh)
	# shellcheck source=/dev/null
	. "$1"
	TO=$TARGET_ROOT$AT
	FROM=$SOURCE_ROOT$PLACE
	case $(realpath -m -- "$TO")/ in
	"$TARGET_ROOT"/*) ;;
	*) die "A link leads $TARGET_ROOT$SHOWN out of $TARGET_ROOT. Nothing of it was touched." ;;
	esac
	leave_out
	[ ${#NAMES[@]} = 0 ] || return 0
	local own
	for own in "$plan" "$STATE"; do
		case $(realpath -m -- "$own")/ in
		"$(realpath -m -- "$TO")"/*) die "$own lies in $SHOWN, which is made what the source has there: it would be deleted. Move it elsewhere, such as /var/tmp. Nothing of it was touched." ;;
		esac
	done
}

# on_source FUNCTION ARGUMENT…: runs a function of these scripts where the source is.
on_source() {
	if [ -z "$SOURCE_SSH" ]; then
		"$@"
	else
		# What the source says is shown, and obeyed by no terminal.
		{ sent "$@" | ssh -o BatchMode=yes -- "$SOURCE_SSH" bash -s 2>&1 >&3 3>&- | cat -v >&2; } 3>&1
	fi
}

# sent FUNCTION ARGUMENT…: a script that runs it, with all that it may need. A bash
# before 4.4 takes an empty array for an unset one, so that is no error there.
sent() {
	printf 'set -eo pipefail\nexport LC_ALL=C\numask 077\n'
	declare -p "${SETTINGS[@]}"
	declare -f
	printf '%q ' "$@"
	printf '</dev/null\n'
}

# exists FOLDER: says whether it is there.
exists() { [ -d "$1" ]; }

# literal NAME: a pattern of find and rsync that means this very name.
literal() {
	local s=$1
	case $s in
	*[*?[]*) s=${s//\\/\\\\} s=${s//\*/\\*} s=${s//\?/\\?} s=${s//\[/\\[} ;;
	esac
	printf '%s' "$s"
}

# entries EXPRESSION…: what find says of all in this folder that is not excluded nor the
# target's packages', or of those NAMES in it that are there.
entries() {
	local prune=() name there=()
	[ "$NO_DEVICES" != 1 ] || set -- ! -type b ! -type c "$@"
	if [ ${#NAMES[@]} != 0 ]; then
		for name in "${NAMES[@]}"; do
			[ ! -e "./$name" ] && [ ! -L "./$name" ] || there+=("./$name")
		done
		[ ${#there[@]} = 0 ] || find "${there[@]}" -xdev "$@"
		return
	fi
	for name in "${EXCLUDES[@]}" "${PACKAGED[@]}"; do
		# find takes a backslash for what it is in no pattern.
		name=${name//\\/\\\\} name=${name//\*/\\*} name=${name//\?/\\?} name=${name//\[/\\[}
		prune+=(-path "./$name" -prune -o)
	done
	find . -xdev "${prune[@]}" "$@"
}

# manifest FOLDER: its counts and digests, a line each; owners by number.
manifest() (
	cd -- "$1"
	entries -printf 'type %y\n' | sort | uniq -c | awk '{ print $2, $3, $1 }'
	entries -type f -printf '%s\n' | awk '{ s += $1 } END { printf "bytes all %.0f\n", s }'
	entries -type f -links +1 -printf '%i\n' | sort | uniq -d | awk 'END { print "hard-linked files", NR }'
	entries -printf 'user %U\n' -printf 'group %G\n' | sort | uniq -c | awk '{ print $2, $3, $1 }'
	entries -printf '%y %m %p\0' | sort -z | sha256sum | awk '{ print "names modes", $1 }'
	entries -type l -printf '%p -> %l\0' | sort -z | sha256sum | awk '{ print "link targets", $1 }'
	[ "$DIGESTS" = 0 ] || entries -type f -print0 | sort -z | xargs -0 -r sha256sum -z -- | sha256sum | awk '{ print "contents sha256", $1 }'
)

# remapped: a manifest with the target's ids for the source's.
remapped() {
	awk -v users="$STATE/users.map" -v groups="$STATE/groups.map" '
		BEGIN {
			while ((getline line < users) > 0) { split(line, f, " "); to["user " f[1]] = f[2] }
			while ((getline line < groups) > 0) { split(line, f, " "); to["group " f[1]] = f[2] }
		}
		$1 == "user" || $1 == "group" { key = $1 " " $2; id = key in to ? to[key] : $2; n[$1 " " id] += $3; next }
		{ print }
		END { for (key in n) print key, n[key] }
	' | sort
}

# mapping FILE: a map as rsync takes it.
mapping() { awk '{ printf "%s%s:%s", (NR > 1 ? "," : ""), $1, $2 }' "$1"; }

# filters NAME…: sets FILTERS, by which rsync leaves alone what is not the place's, and
# these. Where it is NAMES, others change the folder's time.
filters() {
	local name
	FILTERS=()
	for name in "${EXCLUDES[@]}" "$@"; do FILTERS+=("--exclude=/$(literal "$name")"); done
	[ ${#NAMES[@]} != 0 ] || return 0
	for name in "${NAMES[@]}"; do FILTERS+=("--include=/$(literal "$name")"); done
	FILTERS+=('--exclude=*' --omit-dir-times)
}

# copy OPTION…: makes the place on the target what it is on the source. Names that are
# excluded, or the target's packages', are neither copied nor deleted. Labels of SELinux
# are the target's own. A folder of which NAMES alone are the place, and that the target
# has, stays as its packages made it: whom it lets in is not the source's to say.
copy() {
	local from=$FROM/ users groups code=0 folder=""
	# Every owner is in the maps; with --numeric-ids those of ACLs would not follow
	# them, nor where ACLs come as attributes: where one is left out, system.* is
	# no longer left out by itself.
	local options=(-aHAXS --one-file-system --delete --protect-args '--filter=-x system.*' '--filter=-x security.selinux')
	filters "${PACKAGED[@]}"
	options+=("${FILTERS[@]}")
	# Each fails by itself: a caller may look at the exit code.
	users=$(mapping "$STATE/users.map") || return
	groups=$(mapping "$STATE/groups.map") || return
	[ -z "$users" ] || options+=("--usermap=$users")
	[ -z "$groups" ] || options+=("--groupmap=$groups")
	[ -z "$SOURCE_SSH" ] || from=$SOURCE_SSH:$from
	[ "$NO_DEVICES" != 1 ] || options+=(--no-devices --info=nonreg0)
	[ ${#NAMES[@]} = 0 ] || [ -e "$STATE/$NAME.absent" ] || folder=$(stat -c '%u:%g %a' -- "$TO") || return
	rsync "${options[@]}" "$@" -- "$from" "$TO/" || code=$?
	[ -z "$folder" ] || { chown -- "${folder% *}" "$TO" && chmod -- "0000${folder#* }" "$TO"; } || return # with fewer digits a folder keeps setgid
	return "$code"
}

# keep: remembers once what stood on the target before the first copy.
keep() {
	[ ! -e "$STATE/$NAME.absent" ] && [ ! -e "$STATE/$NAME.saved" ] || return 0
	if [ ! -e "$TO" ] && [ ! -L "$TO" ]; then
		: >"$STATE/$NAME.absent"
		return
	fi
	[ -d "$TO" ] || die "$TARGET_ROOT$SHOWN is there and is no folder. Nothing of it was touched."
	rm -rf -- "$STATE/$NAME.part"
	mkdir -- "$STATE/$NAME.part"
	restore "$TO/" "$STATE/$NAME.part/"
	mv -T -- "$STATE/$NAME.part" "$STATE/$NAME.saved"
}

# restore FROM TO: a copy within the target, owners as they are; with its packages' files.
restore() {
	filters
	[ "$NO_DEVICES" != 1 ] || FILTERS+=(--no-devices --info=nonreg0)
	rsync -aHAXS --numeric-ids --one-file-system --delete "${FILTERS[@]}" -- "$1" "$2"
}

# before: counts and digests the place on the source, which must be quiet.
before() {
	say "$SHOWN"
	packaged
	on_source manifest "$FROM" | remapped >"$STATE/$NAME.before.part"
	mv -- "$STATE/$NAME.before.part" "$STATE/$NAME.before"
}

# last_copy: makes the place on the target what it was when it was counted.
last_copy() {
	say "$SHOWN"
	keep
	(umask 022 && mkdir -p -- "$TO")
	copy --quiet
	if command -v restorecon >/dev/null && [ -z "$TARGET_ROOT" ]; then
		restorecon -R -- "$TO"
	fi
}

# after: holds the place on the target against the source; where they differ it is held.
after() {
	local before=$different
	different=0
	compare
	used
	[ "$different" = 0 ] || held+=("$NAME")
	[ "$before" = 0 ] || different=1
}

# compare: sets different.
compare() {
	local left checks=(--dry-run --itemize-changes)
	[ -e "$STATE/$NAME.before" ] || die "Run 30-before.sh and 40-copy.sh first."
	[ -d "$TO" ] || { say "$SHOWN is no folder on the target" && different=1 && return; }
	manifest "$TO" | sort >"$STATE/$NAME.after"
	if ! diff -- "$STATE/$NAME.before" "$STATE/$NAME.after" >"$STATE/$NAME.diff"; then
		say "$SHOWN DIFFERS (< the source, > the target):"
		cat -- "$STATE/$NAME.diff"
		different=1
	fi
	[ "$DIGESTS" = 0 ] || checks+=(--checksum)
	left=$(copy "${checks[@]}") || { say "$SHOWN can't be compared, as said above" && different=1 && return; }
	[ ${#NAMES[@]} = 0 ] || left=$(awk '$2 != "./"' <<<"$left")
	if [ -n "$left" ]; then
		say "$SHOWN DIFFERS, as rsync sees it:"
		printf '%s\n' "$left" | head -n 20
		different=1
	fi
}

# used: says who works in the place again before it was compared; sets different.
used() {
	local by
	[ "$UNSAFE" = 1 ] || [ "$different" = 1 ] || return 0
	by=$(workers)
	[ -n "$by" ] || return 0
	if [ -e "$STATE/started" ]; then
		say "$SHOWN: its services run since the last comparison, so what differs is what they wrote."
		return
	fi
	say "$SHOWN is written to on the target, though it was stopped (process, service, program):"
	printf '%s\n' "$by"
	different=1
}
