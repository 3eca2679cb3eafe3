#!/usr/bin/env bash
# Moves data to a machine whose services run: a Debian 13 under its own systemd,
# where Redis writes its own, empty data over a copy when it is stopped. The
# generated scripts stop it, refuse what no service of the system is, and start it
# after the comparison; its keys outlive a boot. Needs root. Prints a line for each
# check and ends with "N passed, N failed".
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=.ci/e2e/checks.sh
. .ci/e2e/checks.sh
work=$(mktemp -d)
# shellcheck source=.ci/e2e/booted.sh
. .ci/e2e/booted.sh
roots=${XDG_CACHE_HOME:-$HOME/.cache}/svc-e2e/roots
target=$work/target source=$work/source
trap 'halt target; rm -rf --one-file-system "$work"' EXIT

# target_root: a Debian 13 with Redis, kept for the next run.
target_root() {
	kept "$roots/trixie-redis" trixie systemd,systemd-sysv,dbus,procps,rsync,redis-server
	cp -a "$roots/trixie-redis" "$target"
	: >"$target/etc/machine-id"
}

# source_root: an older machine with keys in its Redis, an account of its own and
# the owner of a folder of logs that the target has not.
source_root() {
	mkdir -p "$source/etc/redis" "$source/var/lib/dpkg" "$source/var/lib/redis" "$source/var/lib/agent" "$source/var/log/clock"
	printf 'ID=debian\nVERSION_ID=11\n' >"$source/etc/os-release"
	printf 'Package: redis-server\nStatus: install ok installed\nVersion: 5:6.0.16-1\nArchitecture: amd64\n' >"$source/var/lib/dpkg/status"
	printf '0123456789abcdef0123456789abcdef\n' >"$source/etc/machine-id"
	printf 'dir /var/lib/redis\nport 6379\n' >"$source/etc/redis/redis.conf"
	printf 'root:x:0:0::/root:/bin/sh\nredis:x:110:115::/var/lib/redis:/usr/sbin/nologin\nagent:x:111:116::/var/lib/agent:/usr/sbin/nologin\nclock:x:112:117::/:/bin/false\n' >"$source/etc/passwd"
	printf 'root:x:0:\nredis:x:115:\nagent:x:116:\nclock:x:117:\n' >"$source/etc/group"
	echo state >"$source/var/lib/agent/state"
	echo log >"$source/var/log/clock/log"
	inside target sh -c 'seq 200 | sed "s/.*/set key& value&/" | redis-cli >/dev/null && redis-cli save >/dev/null'
	cp "$target/var/lib/redis/dump.rdb" "$source/var/lib/redis/dump.rdb"
	# A person's timer, which the role brought: what it calls writes into a place, and ends.
	printf '[Timer]\nOnActiveSec=1\nOnUnitActiveSec=1\nAccuracySec=100ms\n[Install]\nWantedBy=timers.target\n' >"$target/etc/systemd/system/tick.timer"
	printf '[Service]\nType=oneshot\nExecStart=/bin/sh -c "[ -e /run/quiet ] || { mkdir -p /var/lib/agent && date +%%%%N >/var/lib/agent/state; }"\n' >"$target/etc/systemd/system/tick.service"
	inside target sh -c 'systemctl daemon-reload && systemctl enable -q --now tick.timer'
	inside target sh -c 'redis-cli flushall && redis-cli save' >/dev/null
	chown -R 110:115 "$source/var/lib/redis"
	chown -R 111:116 "$source/var/lib/agent"
	chown -R 112:117 "$source/var/log/clock"
}

# step NAME CODE SCRIPT: runs one of the plan's scripts in the target.
step() { exits "$1" "$2" inside target env SOURCE_ROOT=/srv-source bash "/srv-plan/$3"; }
keys() { inside target redis-cli dbsize; }

plan() {
	exits "the move is planned" 0 svc data plan --root "$source" --target debian-13 --source-offline --out "$work/out" --confirm
	cp -a "$source" "$target/srv-source"
	cp -a "$work/out" "$target/srv-plan"
}

moves() {
	same "redis runs on the target, and is empty" "$(keys)" 0
	step "an account that no release has is asked for" 1 10-check.sh
	said "by name" 'no agent in /etc/passwd'
	same "but not the owner of what stays" "$(grep clock "$work/last.log" || true)" ""
	step "it is made" 0 05-accounts.sh
	step "the check passes" 0 10-check.sh
	said "and says what will be stopped" 'the copy will stop redis-server.service'
	said "and what would call programs meanwhile" 'The copy will stop tick.timer'
	inside target sh -c 'cd /var/lib/redis && exec setsid sleep 1000' &
	until_true inside target pgrep -x sleep
	step "what no service is, is refused" 1 20-first-copy.sh
	said "by name" ' - sleep'
	same "with nothing copied" "$(inside target sh -c 'grep -sx state /var/lib/agent/state')" ""
	inside target pkill -x sleep
	step "a first copy is made" 0 20-first-copy.sh
	same "while the service is stopped" "$(inside target systemctl is-active redis-server)" inactive
	step "the source is counted" 0 30-before.sh
	step "the last copy is made" 0 40-copy.sh
	inside target systemctl start redis-server
	step "a service that somebody starts meanwhile is a difference" 1 50-after.sh
	said "and is named" redis-server.service
	inside target systemctl stop redis-server
	step "a copy anew" 0 40-copy.sh
	inside target touch /run/quiet
	step "is the source's" 0 50-after.sh
	same "and the service serves it" "$(keys)" 200
	same "and the timer waits again" "$(inside target systemctl is-active tick.timer)" active
	inside target systemctl disable -q --now tick.timer
	step "a later comparison says that services run" 0 50-after.sh
	said "and that they write" 'run since the last comparison'
}

# cannot_save has the target's Redis unable to write its file, so that it does not end.
cannot_save() {
	local move=(inside target env SOURCE_ROOT=/srv-source STATE=/var/lib/svc/another STOP_SECONDS=5 bash)
	exits "another move is checked" 0 "${move[@]}" /srv-plan/10-check.sh
	inside target sh -c 'chown root: /var/lib/redis && redis-cli set precious 1' >/dev/null
	exits "a server that can't save what it has is not ended" 1 "${move[@]}" /srv-plan/20-first-copy.sh
	said "and who wants that may end it" 'end it by: systemctl kill'
	same "it still has it" "$(keys)" 1
	inside target redis-cli del precious >/dev/null
	exits "one that has nothing is" 0 "${move[@]}" /srv-plan/20-first-copy.sh
	said "and this is said" 'it is ended'
}

CGO_ENABLED=0 go build -trimpath -o "$work/svc" ./cmd/svc
needs debootstrap:debootstrap capsh:libcap2-bin nsenter:util-linux rsync:rsync
target_root
boot target "$target"
source_root
plan
moves
halt target
boot target "$target"
same "the keys outlive a boot" "$(keys)" 200
step "it rolls back" 0 90-roll-back.sh
same "to an empty Redis that runs" "$(keys)" 0
cannot_save
finish
