#!/usr/bin/env bash
# Moves servers of the usual kinds to Debian 13: each is installed from Debian's
# archive, configured under its own systemd as its howtos have it, and rehearsed with
# its data. Its functions are checked on a copy of the source and on the target; what
# is lost has to be named by the plan or by the rehearsal's own questions. Needs root.
#   .ci/servers/run.sh [NAME…]   all, where none is named
# A server is a folder: packages (suite, packages), configure (bash, in the booted
# source), checks (t NAME ABOUT COMMAND…; ABOUT is what a plan calls it by).
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=.ci/e2e/checks.sh
. .ci/e2e/checks.sh
work=$(mktemp -d)
# shellcheck source=.ci/e2e/booted.sh
. .ci/e2e/booted.sh
roots=${XDG_CACHE_HOME:-$HOME/.cache}/svc-e2e/servers
trap 'halt source; rm -rf --one-file-system "$work"' EXIT
common=systemd,systemd-sysv,dbus,cron,logrotate,rsyslog,openssh-server,sudo,locales,ca-certificates,iproute2,netbase,procps,curl,python3,less,rsync

# packages_root NAME: the server's release with its packages, kept for the next run.
packages_root() (
	local name=$1 suite packages
	{ read -r suite && read -r packages; } <".ci/servers/$name/packages"
	mkdir -p "$roots"
	exec 9>"$roots/$name.lock"
	flock 9
	[ ! -e "$roots/$name.made" ] || return 0
	echo "making $roots/$name"
	rm -rf --one-file-system "${roots:?}/$name"
	mmdebstrap --quiet --mode=root --variant=important --aptopt='APT::Install-Recommends "false"' --dpkgopt=force-unsafe-io \
		--include="$common,${packages// /,}" "$suite" "$roots/$name" "$(mirror)" >"$roots/$name.log" 2>&1
	touch "$roots/$name.made"
)

# configured NAME: a copy of it, after its configure ran in it.
configured() {
	rm -rf --one-file-system "${work:?}/source"
	cp -a "$roots/$1" "$work/source"
	rm -f "$work/source/etc/apt/apt.conf.d/99mmdebstrap" "$work/source/etc/machine-id"
	head -c 16 /dev/urandom | od -An -tx1 | tr -d ' \n' >"$work/source/etc/machine-id"
	echo "$1" >"$work/source/etc/hostname"
	printf '127.0.0.1 localhost\n127.0.1.1 %s.example.org %s\n::1 localhost ip6-localhost ip6-loopback\n' "$1" "$1" >"$work/source/etc/hosts"
	boot source "$work/source"
	inside source bash -s <".ci/servers/$1/configure" >"$work/configure.log" 2>&1 || tail -n 5 "$work/configure.log"
	halt source
}

# asks NAME: its checks as one program that prints TAP.
asks() {
	mkdir -p "$work/$1.checks"
	{
		cat <<-'TAP'
			#!/bin/bash
			# A service that was just started may need a moment; what fails is tried again.
			export HOME=/root LC_ALL=C.UTF-8 PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
			n=0
			t() { local name=$1 about=$2 out try; shift 2; n=$((n + 1)); for try in 1 2; do out=$("$@" 2>&1 </dev/null) && { echo "ok $n - $name [$about]"; return; }; sleep 1; done; printf 'not ok %s - %s [%s]\n# %s\n' "$n" "$name" "$about" "$(tail -n 2 <<<"$out" | tr '\n' ' ' | cut -c1-200)"; }
		TAP
		cat ".ci/servers/$1/checks"
	} >"$work/$1.checks/$1"
	chmod 755 "$work/$1.checks/$1"
}

# server NAME: one of them, from its packages to what became of its functions.
server() {
	local name=$1
	packages_root "$name"
	configured "$name"
	asks "$name"
	svc migrate --root "$work/source" --target debian-13 --out "$work/$name.plan" --confirm >"$work/last.log" 2>&1 || true # 6 where a person has something to do
	check "$name: it is planned" test -s "$work/$name.plan/NEXT.md"
	svc rehearse --root "$work/source" --target debian-13 --archive "$(mirror)" --with-data --checks "$work/$name.checks" --out "$work/$name" >"$work/last.log" 2>&1 || true
	check "$name: it is rehearsed" test -s "$work/$name/rehearsal.json"
	check "$name: what is lost was named" python3 .ci/servers/hold.py "$work/$name" "$work/$name.plan"
	cat "$work/last.log"
	[ -z "${E2E_KEEP:-}" ] || { rm -rf "${E2E_KEEP:?}/$name" "${E2E_KEEP:?}/$name.plan" && mkdir -p "$E2E_KEEP" && cp -a "$work/$name" "$work/$name.plan" "$work/$name.checks" "$E2E_KEEP/"; }
}

CGO_ENABLED=0 go build -trimpath -o "$work/svc" ./cmd/svc
needs mmdebstrap:mmdebstrap ansible-playbook:ansible rsync:rsync nsenter:util-linux capsh:libcap2-bin
names=("$@")
[ $# != 0 ] || names=(.ci/servers/*/)
for name in "${names[@]}"; do server "$(basename "$name")"; done
finish
