# shellcheck shell=sh
# What the shell of a machine that is read over ssh is told first: functions
# that read, one for each kind of question. It comes on the shell's stdin, is
# stored nowhere, and needs a POSIX sh with stat, head, cat and dd, of coreutils
# or busybox. Every answer is made of frames; a frame ends in a line that begins
# with the session's word, which only the two ends know, and says how it went:
# nothing or a status, then the reason.
LC_ALL=C PATH=/usr/sbin:/usr/bin:/sbin:/bin:$PATH
export LC_ALL PATH
unset QUOTING_STYLE POSIXLY_CORRECT GLOBIGNORE SYSTEMD_PAGER
exec 3>&1

# A file: type and mode, owner, group, size, times, name; then name and link,
# or, in the plain form that no link can upset, a mark that there is none.
# shellcheck disable=SC2034 # the questions use it
PLAIN='%f|%u|%g|%s|%Y|%Z|%y|%n//?//'
FULL='%f|%u|%g|%s|%Y|%Z|%y|%n//%N//'
F=$FULL

# z STATUS REASON: ends a frame.
z() {
	echo
	echo "$WORD $*"
}

# The arguments "$1" to "$500", for q.
A='' i=0
while [ $i -lt 500 ]; do
	i=$((i + 1))
	A="$A \"\${$i}\""
done

# q FILE...: describes files; of those in a folder that may be listed but not
# searched, or that are gone by now, there is only the name.
q() {
	stat -c "$F" "$@" 2>/dev/null || for f; do printf '?%s//\n' "$f"; done
}

# p PATTERN FILE...: describes what a pattern stands for, which is itself where
# nothing matches; in parts, as the arguments of a program are limited.
p() {
	[ "$1" != "$2" ] || [ -e "$2" ] || [ -L "$2" ] || return 0
	shift
	while [ $# -gt 500 ]; do
		eval "q $A"
		shift 500
	done
	q "$@"
}

# d FOLDER: describes all that is in it.
d() {
	if [ ! -d "$1/" ]; then
		e=$(stat -L "$1/" 2>&1 >/dev/null)
		z 1 "${e##*: }"
	elif [ ! -r "$1/" ]; then
		z 1 'Permission denied'
	else
		p "$1/*" "$1"/*
		p "$1/.[!.]*" "$1"/.[!.]*
		p "$1/..?*" "$1"/..?*
		z 0
	fi
}

# m FOLDER...: names those of the folders that may be read and searched, then
# describes all that is in them.
m() {
	for f; do
		shift
		if [ -d "$f/" ] && [ -r "$f/" ] && [ -x "$f/" ]; then
			printf '+%s//\n' "$f"
			set -- "$@" "$f"/* "$f"/.[!.]* "$f"/..?*
		fi
	done
	while [ $# -gt 500 ]; do
		eval "stat -c \"\$F\" $A" 2>/dev/null
		shift 500
	done
	[ $# = 0 ] || stat -c "$F" "$@" 2>/dev/null # a pattern of nothing is no file
	z 0
}

# i FILE: describes it; then what it leads to, where it is a link.
i() {
	stat -c "$F" "$1" 2>&1
	z $?
	[ ! -L "$1" ] || stat -L -c "$F" "$1" 2>&1
	z $?
}

# l LINK: what it says.
l() {
	[ -L "$1" ] || { z 1 'Invalid argument'; return; }
	e=$(readlink -n "$1" 2>&1 >&3 3>&-)
	s=$?
	e=${e##*: }
	z $s "${e:-Permission denied}" # not every readlink gives a reason
}

# t TYPE...: one of these file systems is the kernel's: what states no size there
# is made up when it is read, which may take for ever.
t() {
	for f; do
		case $f in 9fa0 | 62656572 | 64626720 | 74726163 | 73636673 | f97cff8c | 27e0eb | 63677270) return 0 ;; esac
	done
	return 1
}

# k FILE: it is such a file, and its name does not say so.
# shellcheck disable=SC2046 # types are words
k() {
	case $1 in /proc/* | /sys/*) return 1 ;; esac
	[ ! -s "$1" ] && t $(stat -f -c %t "$1" 2>/dev/null)
}

# o FILE BYTES: describes what it leads to; then its beginning, where it is a
# regular file, or all of it where it states no size, as those of /proc.
o() {
	stat -L -c "$F" "$1" 2>&1
	z $?
	[ -f "$1" ] || { z 0; return; }
	! k "$1" || { z 1 'Not a regular file'; return; }
	n=$2
	[ -s "$1" ] || n=16777216
	e=$(head -c "$n" "$1" 2>&1 >&3 3>&-)
	z $? "${e##*: }"
}

# b FILE SKIP COUNT: a range of a regular file, in blocks of 64 KiB.
b() {
	[ -f "$1" ] || { z 1 'No such file or directory'; return; }
	dd if="$1" bs=65536 skip="$2" count="$3" 2>/dev/null
	z $?
}

# c FILE...: describes those that are regular and may be read, without the empty
# ones where one of those is the kernel's (they are asked for alone), gives the content
# of all in a row, and describes them again: where that differs, the row can't
# be cut.
c() {
	for f; do
		shift
		[ -f "$f" ] && [ -r "$f" ] && set -- "$@" "$f"
	done
	# shellcheck disable=SC2046 # types are words
	if t $(for f; do shift; [ -s "$f" ] || set -- "$@" "$f"; done; [ $# = 0 ] || stat -f -c %t "$@" 2>/dev/null); then
		for f; do
			shift
			[ -s "$f" ] && set -- "$@" "$f"
		done
	fi
	if [ $# = 0 ]; then
		z 0
		z 0
		z 0
		return
	fi
	stat -L -c "$F" "$@" 2>/dev/null
	z $?
	cat "$@" 2>/dev/null
	z $?
	stat -L -c "$F" "$@" 2>/dev/null
	z $?
}

# n FILE...: describes them, where they are there.
n() {
	stat -c "$F" "$@" 2>/dev/null
	z 0
}

# r PROGRAM ARGUMENT...: what a program prints.
r() {
	command -v "$1" >/dev/null || { z 1 'No such file or directory'; return; }
	"$@" 2>/dev/null | head -c 4194304
	z 0
}

# a WHAT PROGRAM ARGUMENT...: the beginning of what a program prints, as errors
# alone (e) or both (b), and its status, which is 137 after 20 seconds.
a() {
	w=$1
	shift
	if ! [ -x "$1" ] || ! command -v timeout >/dev/null; then
		z 1 'No such file or directory'
		return
	fi
	s=$({
		{
			if [ "$w" = e ]; then timeout -s KILL 20 "$@" 2>&1 >/dev/null; else timeout -s KILL 20 "$@" 2>&1; fi 3>&- 4>&-
			echo $? >&4
		} | { head -c 65536 >&3; cat >/dev/null; }
	} 4>&1)
	z 0 "$s"
}

# What w says of some files: each file's type and mode, owner, group, size, time,
# links, blocks, device, number and name; then the names of their extended
# attributes, and whether those are known.
# shellcheck disable=SC2016,SC2089 # it is for the shell that xargs starts
B='stat -c "$W" "$@" 2>&4
[ -z "$G" ] || getfattr -hPm - --absolute-names -- "$@" 2>/dev/null
echo "${G:--}//"'
W='%f|%u|%g|%s|%Y|%h|%b|%d|%i|%n//'
G=
! command -v getfattr >/dev/null || G='='
# shellcheck disable=SC2090
export B W G

# w FOLDER EXPRESSION...: describes it and all below it, but for other file
# systems and what the expression keeps find from; then says what went wrong.
w() {
	f=$1
	shift
	e=$({ find "$f" -xdev "$@" -print0 2>&4 | xargs -0 -r -n 500 sh -c "$B" sh >&3 2>/dev/null 3>&-; } 4>&1 | { head -c 1048576; cat >/dev/null; })
	z 0
	printf '%s' "$e"
	z 0
}

# h: who reads.
h() {
	id -u
	stat -c %f /
	z $?
}
z
