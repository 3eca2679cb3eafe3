#!/bin/sh
# Says which of some packages apt would install beside others since they recommend them:
#   recommended.sh NAME... -- PACKAGE...
set -eu
names=
while [ "$1" != -- ]; do
	names="$names $1"
	shift
done
shift
brought() { apt-get install -s -o APT::Install-Recommends="$1" -- $2 | sed -n 's/^Inst \([^ :]*\).*/\1/p'; }
needed=$(brought false "$*")
brought true "$*" | grep -vxF -- "$needed" | while read -r name; do
	case " $names " in *" $name "*) echo "$name" ;; esac
done
