# shellcheck shell=bash disable=SC2153,SC2154 # lib.sh sets NAME and AT
# Which names in a place are those of the target's packages, and no part of the move:
# they are neither deleted where the source has no such file, nor made what the older
# package of the source has there. What somebody wrote or edited on the source moves.
# The target's own lists alone name these files; the source says of each what it has
# there. A place with too many of them moves whole, and so does one of a database.
# Sourced by lib.sh. $STATE/PLACE.packaged has the names, each with a NUL after it.
PACKAGED=() # what is left out of the place
SHIPPED=()  # what the source is asked about
SETTINGS+=(PACKAGED SHIPPED)
most_names=2000 most_bytes=131072 # they are words of commands, too

# books ROOT: what rpm's packages have, but for the programs below /usr: how it tells a file
# as theirs, a tab, its name. That is its flags, its digest, and where it leads.
books() {
	local at=(--dbpath /var/lib/rpm) # or a link there leads to it; a rpm of another family may look elsewhere
	[ -z "$1" ] || at+=(--root "$1")
	[ -d "$1/var/lib/rpm" ] && command -v rpm >/dev/null || return 0
	rpm "${at[@]}" -qa --qf '[%{FILEFLAGS} %{FILEDIGESTS} %{FILELINKTOS}\t%{FILENAMES}\n]' 2>/dev/null </dev/null | grep -av -e $'\t/usr/[^l]' -e $'\t/usr/li' || true
}

# of_rpm BOOKS PLACE: the lines of these in a place, without the flags. What packages only
# claim (ghosts) is what services make.
of_rpm() {
	local line flags
	{ grep -aF -- $'\t'"$2/" <<<"$1" || true; } | while IFS= read -r line; do
		flags=${line%% *}
		[[ $flags =~ ^[0-9]+$ ]] || continue # of a name with a line's end
		[ $((flags & 64)) != 0 ] || printf '%s\n' "${line#* }"
	done
}

# listed ROOT ENDING TEXT: lines of dpkg's files of that ending that hold a text: the
# file, a tab, the line.
listed() { { find "$1/var/lib/dpkg/info" -maxdepth 1 -type f -name "*.$2" -exec grep -aHZF -- "$3" {} + 2>/dev/null || true; } | tr '\0' '\t'; }

# shipped: sets SHIPPED, the files, links and empty folders of the target's packages
# that stood in the place before the first copy, and what is left out below a folder: where
# the source has no such folder, the target's stays, with what is made anew in it.
shipped() {
	local line lines name stood=$TO length=0
	SHIPPED=()
	if [ ${#NAMES[@]} != 0 ] || [ -e "$STATE/$NAME.absent" ]; then return; fi
	case ${NAME#*-} in database-*) return ;; esac
	[ ! -e "$STATE/$NAME.saved" ] || stood=$STATE/$NAME.saved
	for name in "${EXCLUDES[@]}"; do
		case $name in */*) SHIPPED+=("$name") ;; esac
	done
	[ -n "${BOOKS+read}" ] || BOOKS=$(books "$TARGET_ROOT")
	lines=$(listed "$TARGET_ROOT" list "$AT/" && of_rpm "$BOOKS" "$AT") # no <(): a rescue system may have no /dev/fd
	while IFS= read -r line; do
		line=${line#*$'\t'}
		name=${line#"$AT/"}
		[ "$name" != "$line" ] || continue
		if [ -d "$stood/$name" ] && [ ! -L "$stood/$name" ]; then
			[ -z "$(find "$stood/$name" -mindepth 1 -maxdepth 1 -print -quit)" ] || continue
		elif [ ! -L "$stood/$name" ] && [ ! -f "$stood/$name" ]; then
			continue
		fi
		SHIPPED+=("$name")
		length=$((length + ${#name}))
		[ ${#SHIPPED[@]} -gt "$most_names" ] || [ "$length" -gt "$most_bytes" ] || continue
		say "$SHOWN has too many files of the target's packages to leave them out: it is made what the source has there"
		SHIPPED=()
		return
	done <<<"$lines"
}

# stays ROOT PLACE FOLDER: says which of SHIPPED are not to be copied: what the source
# lacks, and what its own package has there and nobody edited. A line each: its number,
# and how many of its last parts are not even to be looked for, as their folder is not
# there. Runs where the source is.
stays() {
	local line lines i at rest slashes sums=()
	local -A digests=() lists=() leads=()
	lines=$(listed "$1" md5sums "${2#/}/")
	while IFS= read -r line; do
		line=${line#*$'\t'}
		digests["/${line:34}"]+=" ${line:0:32} "
	done <<<"$lines"
	lines=$(listed "$1" list "$2/")
	while IFS= read -r line; do
		rest=${line#*$'\t'}
		lists["/${rest#/}"]=${line%%$'\t'*}
	done <<<"$lines"
	lines=$(of_rpm "$(books "$1")" "$2")
	while IFS= read -r line; do
		rest=${line#*$'\t'} line=${line%%$'\t'*}
		[ -n "$rest" ] || continue
		digests["$rest"]+=" ${line%% *} " leads["$rest"]=${line#* }
	done <<<"$lines"
	for i in "${!SHIPPED[@]}"; do
		at=$3 rest=${SHIPPED[i]}
		while [[ $rest == */* ]] && [ -d "$at" ]; do
			at=$at/${rest%%/*} rest=${rest#*/}
			[ ! -L "$at" ] || continue 2
			[ -e "$at" ] && continue
			slashes=${rest//[!\/]/}
			echo "$i $((${#slashes} + 1))"
			continue 2
		done
		[ -d "$at" ] || continue # a file, where the target has a folder
		at=$at/$rest rest=$2/${SHIPPED[i]}
		if [ ! -e "$at" ] && [ ! -L "$at" ]; then
			echo "$i 0"
		elif [ -L "$at" ]; then
			if [ -n "${leads["$rest"]:-}" ]; then
				[ "$(readlink -- "$at")" != "${leads["$rest"]}" ] || echo "$i 0"
				continue
			fi
			# dpkg says of no link where it leads: one that is younger than its package is somebody's.
			[ -n "${lists["$rest"]:-}" ] || continue
			[ -z "${digests["$rest"]:-}" ] || continue
			[ "$(stat -c %Y -- "$at")" -gt "$(stat -c %Y -- "${lists["$rest"]}")" ] || echo "$i 0"
		elif [ -f "$at" ] && [ -n "${digests["$rest"]:-}" ]; then
			read -ra sums <<<"${digests["$rest"]}"
			! theirs "$at" "${sums[@]}" || echo "$i 0"
		fi
	done
}

# theirs FILE DIGEST…: whether the file has one of these digests. What can't be read, the
# copy says.
theirs() {
	local file=$1 digest sum
	shift
	for digest; do
		case ${#digest} in
		32) sum=$(md5sum <"$file") ;;
		40) sum=$(sha1sum <"$file") ;;
		64) sum=$(sha256sum <"$file") ;;
		128) sum=$(sha512sum <"$file") ;;
		*) continue ;;
		esac || continue
		[ "${sum%% *}" != "$digest" ] || return 0
	done
	return 1
}

# packaged: works out anew what of the place is left out, and remembers it.
packaged() {
	local said="" i up name
	shipped
	if [ ${#SHIPPED[@]} != 0 ]; then
		said=$(on_source stays "$SOURCE_ROOT" "$PLACE" "$FROM") || die "The source can't be asked which files of packages in $SHOWN were edited. Nothing of it was copied."
	fi
	while read -r i up; do
		[[ "$i $up" =~ ^(0|[1-9][0-9]{0,4})' '(0|[1-9][0-9]{0,2})$ ]] || continue
		[ "$i" -lt ${#SHIPPED[@]} ] || continue
		name=${SHIPPED[i]}
		for ((; up > 0; up--)); do name=${name%/*}; done
		printf '%s\0' "$name"
	done <<<"$said" | sort -zu >"$STATE/$NAME.packaged.part"
	SHIPPED=()
	mv -- "$STATE/$NAME.packaged.part" "$STATE/$NAME.packaged"
	[ -s "$STATE/$NAME.packaged" ] || rm -f -- "$STATE/$NAME.packaged"
	leave_out
}

# leave_out: sets PACKAGED to what was worked out.
leave_out() {
	local name
	PACKAGED=()
	[ -e "$STATE/$NAME.packaged" ] || return 0
	while IFS= read -r -d '' name; do PACKAGED+=("$name"); done <"$STATE/$NAME.packaged"
}
