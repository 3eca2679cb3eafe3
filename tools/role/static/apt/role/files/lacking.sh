#!/bin/sh
# Says which of some packages the archives have nothing for: one such name would keep apt
# from installing the others. Where it is most of them, the archives can't be right, and
# what apt says of them should be seen: none is said then.
set -eu
known=$(LC_ALL=C apt-cache policy -- "$@" | awk '/^[^ ]/ { name = $1; sub(/:$/, "", name) } /^ +Candidate: / && $2 != "(none)" { print name }')
lacking=$(printf '%s\n' "$@" | grep -vxF -- "$known" | while read -r name; do
	# Another may provide it.
	apt-get -s -qq install -- "$name" >/dev/null 2>&1 || echo "$name"
done)
[ "$(printf '%s\n' "$lacking" | wc -l)" -gt $(($# / 2)) ] || printf '%s\n' "$lacking"
