#!/usr/bin/env bash
# Makes the real machines that the end-to-end test migrates, in
#   ${XDG_CACHE_HOME:-$HOME/.cache}/svc-e2e/roots/{bullseye-server,trixie-base}
# from Debian's packages; with the argument ansible, instead, trixie-ansible: a
# Debian 13 with its own Ansible. A root is made once for each version of this file.
set -euo pipefail
cd "$(dirname "$0")"
# shellcheck source=.ci/e2e/checks.sh
. ./checks.sh

roots=${XDG_CACHE_HOME:-$HOME/.cache}/svc-e2e/roots
recipe=$(sha256sum roots.sh server.sh | sha256sum | cut -c1-16)

in_root() { # root command…
	local root=$1
	shift
	env -u TMPDIR DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 chroot "$root" "$@" # which has no such folder
}

unmount() { # root
	umount -q -l "$1/proc" "$1/dev" 2>/dev/null || true
}

# bootstrap makes a minimal root in which nothing starts.
bootstrap() { # root suite packages
	minimal "$1" "$2" "$3" >"$1.log" 2>&1
	printf '#!/bin/sh\nexit 101\n' >"$1/usr/sbin/policy-rc.d"
	chmod 755 "$1/usr/sbin/policy-rc.d"
	mount -t proc proc "$1/proc"
	mount --bind /dev "$1/dev"
}

build() { # name suite packages recipe
	local root=$roots/$1
	[ "$(cat "$root.recipe" 2>/dev/null)" != "$recipe" ] || return 0
	echo "making $root"
	unmount "$root.new"
	rm -rf --one-file-system "$root" "$root.new" "$root.recipe"
	mkdir -p "$root.new"
	# shellcheck disable=SC2064 # root is gone when the script ends
	trap "unmount '$root.new'" EXIT
	bootstrap "$root.new" "$2" "$3" || { tail -n 20 "$root.new.log"; return 1; }
	"$4" "$root.new"
	unmount "$root.new"
	trap - EXIT
	settled "$root.new"
	mv "$root.new" "$root"
	echo "$recipe" >"$root.recipe"
}

bullseye() { # root
	cp server.sh "$1/root/server.sh"
	in_root "$1" bash /root/server.sh >>"$1.log" 2>&1 || { tail -n 40 "$1.log"; return 1; }
	rm "$1/root/server.sh"
}

trixie() { # root
	in_root "$1" apt-get update -qq
	rm -f "$1/etc/machine-id"
	printf 'fedcba9876543210fedcba9876543210\n' >"$1/etc/machine-id"
	echo target >"$1/etc/hostname"
}

mkdir -p "$roots"
exec 9>"$roots/lock"
flock 9
case ${1:-machines} in
machines)
	build bullseye-server bullseye systemd,systemd-sysv,ca-certificates bullseye
	build trixie-base trixie systemd,systemd-sysv,python3,python3-apt,sudo,locales,ca-certificates trixie
	;;
ansible) build trixie-ansible trixie ansible,python3-apt,openssh-client,sudo,locales true ;;
esac
