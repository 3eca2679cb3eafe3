#!/bin/sh
# Keeps packages away that others only recommend, until FILE is removed again:
#   unwanted.sh FILE NAME... -- PACKAGE...
# A name may be one that packages provide. What PACKAGE... depend on comes nevertheless.
set -eu
file=$1
shift
names=
while [ "$1" != -- ]; do
	names="$names $1"
	shift
done
shift
needed=$(apt-get install -s --no-install-recommends -- "$@" | sed -n 's/^Inst \([^ ]*\).*/\1/p')
for name in $names; do
	echo "$name"
	apt-cache showpkg -- "$name" | sed '1,/^Reverse Provides/d; s/ .*//'
done | sort -u | grep -vxF -- "$needed" | while read -r name; do
	printf 'Package: %s\nPin: release *\nPin-Priority: -1\n\n' "$name"
done >"$file"
