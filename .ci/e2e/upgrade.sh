#!/usr/bin/env bash
# Upgrades a real cluster of PostgreSQL in a chroot that has versions 13, 15 and
# 17 installed together, as a host has that went from Debian 11 to 13: with plans,
# refusals, signals, SIGKILL at every step, full disks, and a file system that
# turns read-only; and one in the layout of Red Hat's own packages. After each, every
# table is compared by checksums of this script's own. E2E_PARTS names some of the
# parts. Needs root. Ends with "N passed, N failed".
set -euo pipefail
cd "$(dirname "$0")/../.."

cache=${XDG_CACHE_HOME:-$HOME/.cache}/svc-e2e/upgrade
work=$(mktemp -d)
root=$work/root
# shellcheck source=.ci/e2e/checks.sh
. .ci/e2e/checks.sh
# shellcheck source=.ci/e2e/shop.sh
. .ci/e2e/shop.sh
trap clear EXIT

# make_root makes a trixie with the servers of three releases, once.
make_root() {
	local base=$cache/postgresql suite
	[ ! -e "$base.made" ] || return 0
	echo "making $base"
	rm -rf --one-file-system "$base"
	mkdir -p "$base"
	{
		debootstrap --variant=minbase trixie "$base" "$(mirror)"
		for suite in bullseye bookworm trixie; do echo "deb $(mirror) $suite main"; done >"$base/etc/apt/sources.list"
		printf '#!/bin/sh\nexit 101\n' >"$base/usr/sbin/policy-rc.d"
		chmod +x "$base/usr/sbin/policy-rc.d"
		mkdir -p "$base/etc/postgresql-common"
		echo 'create_main_cluster = false' >"$base/etc/postgresql-common/createcluster.conf"
		chroot "$base" apt-get update
		DEBIAN_FRONTEND=noninteractive chroot "$base" apt-get install -y -qq --no-install-recommends postgresql-13 postgresql-15 postgresql-17 locales
		echo 'en_US.UTF-8 UTF-8' >"$base/etc/locale.gen"
		chroot "$base" locale-gen
		chroot "$base" apt-get clean
	} >"$base.log" 2>&1 || { tail -n 20 "$base.log"; return 1; }
	touch "$base.made"
}

# mount_root has all changes to the chroot go to memory.
mount_root() {
	mkdir -p "$work/memory" "$root"
	mount -t tmpfs -o size=3g tmpfs "$work/memory"
	mkdir "$work/memory/upper" "$work/memory/work" "$work/memory/saved"
	mount -t overlay overlay -o "lowerdir=$cache/postgresql,upperdir=$work/memory/upper,workdir=$work/memory/work" "$root"
	mount -t proc proc "$root/proc"
	mount --bind /dev "$root/dev"
	cp "$work/svc" "$root/usr/local/bin/svc"
	mkdir -p "$root/srv"
}

# end_servers kills what runs in the chroot, and what that has just started.
end_servers() {
	local dir found=1
	while [ "$found" = 1 ]; do
		found=0
		for dir in /proc/[0-9]*; do
			[ "$(readlink "$dir/root" 2>/dev/null)" = "$root" ] && kill -KILL "${dir#/proc/}" 2>/dev/null && found=1
		done
		sleep 0.1
	done
}

clear() {
	local at
	end_servers
	awk -v work="$work/" 'index($2, work) == 1 {print $2}' /proc/mounts | sort -r | while read -r at; do
		umount -l "$at"
	done
	rm -rf --one-file-system "$work"
}

host() { chroot "$root" "$@"; }
sql() { chroot "$root" setpriv --reuid postgres --regid postgres --init-groups psql -X -q -A -t -v ON_ERROR_STOP=1 "$@"; }

upgrade() { timeout 300 chroot "$root" env HOME=/root svc db upgrade "$@" </dev/null; }
to() { upgrade --engine postgresql --to "$1" --backup-dir "$2" "${@:3}"; }

# json COMMAND…: keeps what it prints in $work/result.json.
json() { "$@" >"$work/result.json"; }

# place NAME: an empty backup directory, which the server's account can enter.
place() { install -d -m 0711 "$root/srv/$1"; }

# holds NAME VERSION: this version serves the port, with everything in it.
holds() {
	local got
	got=$(sql -p 5432 -c 'show server_version' 2>&1 | cut -d. -f1)
	sums >"$work/now" 2>&1 || true
	if [ "$got" = "$2" ] && diff "$work/sums" "$work/now" >"$work/last.log" 2>&1; then ok "$1: PostgreSQL $2 has everything"; else fails "$1: PostgreSQL $got is not $2 with everything"; fi
}

# as_before NAME: version 13 serves, and no file of configuration or data of
# another cluster is there.
as_before() {
	holds "$1" 13
	check "$1: no configuration differs" diff -r "$work/memory/saved/etc" "$root/etc/postgresql"
	check "$1: no other cluster" test "$(ls "$root/var/lib/postgresql")" = 13
	check "$1: nothing private is left" test ! -e "$root/run/svc-db-upgrade"
}

# save keeps the stopped cluster; reset brings it back.
save() {
	host pg_ctlcluster 13 main stop
	cp -a "$root/var/lib/postgresql" "$work/memory/saved/data"
	cp -a "$root/etc/postgresql" "$work/memory/saved/etc"
	host pg_ctlcluster 13 main start
}

reset() {
	end_servers
	rm -rf "$root/var/lib/postgresql" "$root/etc/postgresql" "$root/run/postgresql"/.s* "$root/run/postgresql"/*.pid
	cp -a "$work/memory/saved/data" "$root/var/lib/postgresql"
	cp -a "$work/memory/saved/etc" "$root/etc/postgresql"
	host pg_ctlcluster 13 main start
}

# during STATE STEP ACTION NAME ARGS…: runs an upgrade in the directory NAME, and
# ACTION, which gets its process, when the journal says that a step is in a state.
during() {
	local state=$1 step=$2 action=$3 journal=$root/srv/$4/journal.jsonl pid lines
	shift 4
	lines=0
	[ ! -e "$journal" ] || lines=$(wc -l <"$journal")
	chroot "$root" env HOME=/root svc db upgrade "$@" </dev/null >"$work/run.log" 2>&1 &
	pid=$!
	while kill -0 "$pid" 2>/dev/null && ! tail -n "+$((lines + 1))" "$journal" 2>/dev/null | grep -q "\"step\":\"$step\",\"state\":\"$state\""; do
		sleep 0.02
	done
	"$action" "$pid"
	code=0
	wait "$pid" 2>/dev/null || code=$?
	cp "$work/run.log" "$work/last.log"
}

# killed: at once, or in the midst of a step.
killed() {
	sleep "${delay:-0}"
	kill -KILL "$1" 2>/dev/null || echo "it had ended" >>"$work/run.log"
}
interrupted() { kill -INT "$1"; }
terminated() { kill -TERM "$1"; }
hung_up() { kill -HUP "$1"; }

refusals() {
	check "refused: not root" test "$(host setpriv --reuid nobody --clear-groups env HOME=/tmp/nobody svc db upgrade --engine postgresql --to 15 --backup-dir /srv 2>&1 | grep -c 'does not run as root')" = 1
	exits "refused: no backup directory is named" 2 upgrade --engine postgresql --to 15
	refused "the backup directory is not there" "does not exist" to 15 /srv/none
	place full && touch "$root/srv/full/file"
	refused "the backup directory has something in it" "is not empty" to 15 /srv/full
	place a
	refused "a way that is not on record" "is not on record as supported" to 11 /srv/a --instance 13/main
	refused "an engine that is not upgraded" "are not upgraded" upgrade --engine mongodb --to 5.0 --backup-dir /srv/a
	refused "the new version is not installed" "apt-get install postgresql-16" to 16 /srv/a
	host pg_createcluster 15 main >/dev/null
	refused "the new cluster is there" "pg_dropcluster --stop 15 main" to 15 /srv/a --instance 13/main
	host pg_dropcluster 15 main
	host pg_createcluster 13 second >/dev/null
	refused "two clusters, and none is named" "name one with --instance" to 15 /srv/a
	refused "the cluster does not run" "is not online but down" to 15 /srv/a --instance 13/second
	host pg_dropcluster 13 second
	mv "$root/usr/share/postgresql/15/extension/hstore.control" "$work/"
	refused "an extension that the new version lacks" "extension hstore, which PostgreSQL 15 lacks" to 15 /srv/a
	mv "$work/hstore.control" "$root/usr/share/postgresql/15/extension/"
	sql -c "select pg_create_physical_replication_slot('s')" >/dev/null
	refused "a replication slot" "replication slots" to 15 /srv/a
	sql -c "select pg_drop_replication_slot('s')"
	chroot "$root" setpriv --reuid postgres --regid postgres --init-groups pg_receivewal -D /tmp >/dev/null 2>&1 &
	local receiver=$!
	until [ "$(sql -c 'select count(*) from pg_stat_replication')" = 1 ]; do sleep 0.1; done
	refused "a connected replica" "replicas or backups are connected" to 15 /srv/a
	kill "$receiver" && wait "$receiver" 2>/dev/null || true
	host install -d -o postgres /srv/space && sql -c "create tablespace far location '/srv/space'"
	refused "a tablespace" "tablespaces are there" to 15 /srv/a
	sql -c 'drop tablespace far'
	chmod 700 "$root/srv/a"
	refused "a backup directory that the server's account can't enter" "can't enter the backup directory" to 15 /srv/a
	chmod 711 "$root/srv/a"
	place small && mount -t tmpfs -o size=100m,mode=711 tmpfs "$root/srv/small"
	refused "too little room" "too little room on a disk" to 15 /srv/small
	umount "$root/srv/small"
	flock "$root/run/svc-db-upgrade.lock" sleep 60 &
	local holder=$!
	sleep 0.2
	refused "another upgrade runs" "another svc db upgrade runs" to 15 /srv/a
	pkill -P "$holder" 2>/dev/null || true
	kill "$holder" 2>/dev/null || true
	mv "$root/usr/bin/pg_lsclusters" "$work/"
	refused "another layout" "in the layout of Debian's" to 15 /srv/a
	mv "$work/pg_lsclusters" "$root/usr/bin/"
	check "refused: nothing was written" test -z "$(ls "$root/srv/a")"
	as_before "after all refusals"
}

# refused NAME TEXT COMMAND…: fails with the text, confirmed.
refused() {
	local name=$1 text=$2
	shift 2
	exits "refused: $name" 1 "$@" --confirm
	said "and why: $name" "$text"
}

# chain upgrades 13 to 15, killed in every step, and resumed.
chain() {
	local step
	place chain
	exits "without --confirm there is a plan: exit 2" 2 to 15 /srv/chain
	said "the plan has its steps" "takes checksums of every table and dumps every database"
	check "and writes nothing" test -z "$(ls "$root/srv/chain")"
	delay=0 during started check killed chain --engine postgresql --to 15 --backup-dir /srv/chain --confirm
	exits "while one is begun, no other begins" 1 to 15 /srv/chain --confirm
	said "and it says how to go on" "--resume"
	for step in close dump prove upgrade index compare open; do
		delay=0.$((RANDOM % 7)) during started "$step" killed chain --backup-dir /srv/chain --resume --confirm
		check "SIGKILL in $step" grep -q "\"step\":\"$step\",\"state\":\"started\"" "$root/srv/chain/journal.jsonl"
	done
	upgrade --backup-dir /srv/chain --resume --confirm 2>&1 | head -n 1 >"$work/last.log" || true
	exits "the rest is resumed, though nobody reads what is printed" 0 upgrade --backup-dir /srv/chain --resume --confirm
	said "a summary names the old cluster" "the old cluster is in /var/lib/postgresql/13/main"
	check "and is done once" test "$(grep -c '"step":"open","state":"done"' "$root/srv/chain/journal.jsonl")" = 1
	holds "killed in every step and resumed" 15
}

# carried looks at what 15 got of 13.
carried() {
	check "the configuration is carried over" test "$(sql -c 'show work_mem')" = 5MB
	check "a setting that went is a comment" grep -q '^# not taken by PostgreSQL 15: operator_precedence_warning' "$root/etc/postgresql/15/main/postgresql.conf"
	check "the new cluster starts as the old one did" cmp "$root/etc/postgresql/15/main/start.conf" "$work/memory/saved/etc/13/main/start.conf"
	check "the old one does not start by itself" grep -qx manual "$root/etc/postgresql/13/main/start.conf"
	check "the old cluster is kept" test -e "$root/var/lib/postgresql/13/main/PG_VERSION"
	# pg_upgrade keeps the files' numbers: an index that was made again has another.
	check "indexes on text were made again" test "$(sql -d shop -c "select count(*) from pg_class where relname in ('item_name', 'item_lower', 'item_trgm', 'item_name_key') and pg_relation_filenode(oid) <> oid")" = 4
	check "others were not" test "$(sql -d shop -c "select count(*) from pg_class where relname in ('item_price', 'item_pkey') and pg_relation_filenode(oid) = oid")" = 2
	check "the version of sorting is on record" test "$(sql -c "select count(*) from pg_database where datname = 'shop' and datcollversion = pg_database_collation_actual_version(oid)")" = 1
	check "indexes find what tables have" test "$(sql -d shop -c 'set enable_seqscan = off' -c "select count(*) from item where name = 'Ärtikel ' || md5('17')")" = 1
	check "statistics are there" test "$(sql -d shop -c "select count(*) > 0 from pg_stats where tablename = 'item'")" = t
}

# onward upgrades 15 to 17, and goes back when all was done.
onward() {
	place on
	exits "15 → 17" 0 json to 17 /srv/on --instance 15/main --confirm --json
	check "the result is JSON" python3 -c 'import json, sys; r = json.load(open(sys.argv[1])); assert r["outcome"] == "upgraded" and len(r["afterwards"]) > 3' "$work/result.json"
	holds "15 → 17" 17
	check "nothing had to be indexed again" test "$(sql -d shop -c "select count(*) from pg_class where relname = 'item_price' and pg_relation_filenode(oid) = oid")" = 1
	sql -d shop -c "insert into item (name) values ('written in 17')"
	exits "back to 15 after all was done" 0 upgrade --backup-dir /srv/on --roll-back --confirm
	holds "back to 15" 15
	check "what clients wrote to 17 is set aside" test -e "$root/var/lib/postgresql/17/main.rolled-back/PG_VERSION"
	exits "what was rolled back is not resumed" 1 upgrade --backup-dir /srv/on --resume --confirm
}

# undoing_killed STEP ARGS…: runs svc, and kills it when it says that it takes the
# step back. Both share a processor, which goes to the one that waited for that.
undoing_killed() {
	local step=$1 pid line processors
	shift
	mkfifo "$work/fifo"
	processors=$(taskset -cp $$)
	processors=${processors##*: }
	taskset -cp "${processors%%[-,]*}" $$ >/dev/null
	nice -n 5 chroot "$root" env HOME=/root svc db upgrade "$@" </dev/null >"$work/run.log" 2>"$work/fifo" &
	pid=$!
	while read -r line; do
		case $line in *", $step: taking back"*) kill -KILL "$pid" 2>/dev/null || true ;; esac
	done <"$work/fifo"
	rm "$work/fifo"
	code=0
	wait "$pid" || code=$?
	taskset -cp "$processors" $$ >/dev/null
	same "SIGKILL as $step is taken back" "$code" 137
} 2>/dev/null # where bash says what was killed

# taken_back kills upgrades in every step, and the roll-back as it takes it back.
taken_back() {
	local step
	for step in check close dump prove upgrade index compare open; do
		place "back-$step"
		delay=0.$((RANDOM % 9)) during started "$step" killed "back-$step" --engine postgresql --to 17 --backup-dir "/srv/back-$step" --confirm
		undoing_killed "$step" --backup-dir "/srv/back-$step" --roll-back --confirm
		exits "SIGKILL in $step and then in its undoing, rolled back" 0 upgrade --backup-dir "/srv/back-$step" --roll-back --confirm
		# A killed open may have let clients in: what they reached is set aside.
		rm -rf "$root/var/lib/postgresql/17"
		as_before "SIGKILL in $step and in its undoing"
	done
	check "the proved dump is kept" test -e "$root/srv/back-upgrade/dump/globals.sql"
}

signals() {
	place int && place term && place hup
	during started dump interrupted int --engine postgresql --to 17 --backup-dir /srv/int --confirm
	same "SIGINT: exit 1" "$code" 1
	said "it says that all was rolled back" "all was rolled back"
	as_before "SIGINT in dump"
	during started upgrade terminated term --engine postgresql --to 17 --backup-dir /srv/term --confirm
	same "SIGTERM: exit 1" "$code" 1
	as_before "SIGTERM in upgrade"
	during started prove hung_up hup --engine postgresql --to 17 --backup-dir /srv/hup --confirm
	same "SIGHUP: exit 1" "$code" 1
	as_before "SIGHUP in prove"
}

# fill_up DIRECTORY: leaves its disk a few pages.
fill_up() {
	fallocate -l "$(($(df --output=avail -B1 "$1" | tail -n 1) - 65536))" "$1/fill" 2>/dev/null ||
		head -c 2g /dev/zero >"$1/fill" 2>/dev/null || true # it has filled a little meanwhile
}
fill_backup() { fill_up "$root/srv/disk"; }
fill_data() { fill_up "$root/var/lib/postgresql/17"; }
read_only() { mount -o remount,abort "$root/srv/disk" && touch "$root/srv/disk/probe" 2>/dev/null || true; }

disks() {
	mkdir -p "$root/var/lib/postgresql/17" && place data
	mount -t tmpfs -o size=500m tmpfs "$root/var/lib/postgresql/17"
	chown --reference="$root/var/lib/postgresql" "$root/var/lib/postgresql/17"
	during started upgrade fill_data data --engine postgresql --to 17 --backup-dir /srv/data --confirm
	same "the data's disk is full: exit 1" "$code" 1
	same "the data's disk is full: nothing is left there" "$(ls "$root/var/lib/postgresql/17")" fill
	umount "$root/var/lib/postgresql/17" && rmdir "$root/var/lib/postgresql/17"
	as_before "the data's disk is full"

	place disk && truncate -s 1g "$work/disk.img" && mke2fs -q -F -t ext4 "$work/disk.img"
	if ! mount -o loop "$work/disk.img" "$root/srv/disk" 2>/dev/null; then
		echo "no loop device: not checked with a full disk for the backup, and one that turns read-only"
		return
	fi
	chmod 711 "$root/srv/disk"
	during started dump fill_backup disk --engine postgresql --to 17 --backup-dir /srv/disk --confirm
	same "the backup's disk is full: exit 1" "$code" 1
	as_before "the backup's disk is full"
	rm -rf "${root:?}"/srv/disk/*
	during started prove read_only disk --engine postgresql --to 17 --backup-dir /srv/disk --confirm
	same "the backup's disk turns read-only: exit 1" "$code" 1
	said "it says so" "could not be cleared or written"
	as_before "the backup's disk turns read-only"
	umount "$root/srv/disk"
	mount -o loop "$work/disk.img" "$root/srv/disk"
	exits "and after a repair all is cleared" 0 upgrade --backup-dir /srv/disk --roll-back --confirm
	as_before "after a repair"
}

# as_account COMMAND…: as the cluster's.
as_account() { chroot "$root" setpriv --reuid postgres --regid postgres --init-groups "$@"; }

make_distribution() {
	reset
	host pg_ctlcluster 13 main stop
	as_distribution "$root"
	rm "$root/usr/bin/pg_lsclusters"
	digest >"$work/digest"
}

# digest: of all that is in the distribution's folder of data, and what is beside it.
digest() { (cd "$root/var/lib/pgsql" && ls && cd data && find . -type f -exec sha256sum {} + | sort && find . -printf '%p %m %U %G %s %T@\n' | sort); }

# untouched NAME: the distribution's data are what they were, byte for byte.
untouched() { digest >"$work/digest.now"; check "$1: the data are byte for byte what they were" diff "$work/digest" "$work/digest.now"; }

# old_server ACTION… and new_server ACTION…: start or stop a server on these data.
old_server() { as_account "/usr/lib64/pgsql/postgresql-13/bin/pg_ctl" "$@" -D /var/lib/pgsql/data -w -s -l /tmp/server.log; }
new_server() { as_account /usr/bin/pg_ctl "$@" -D /var/lib/pgsql/data -w -s -l /tmp/server.log; }

distribution_refusals() {
	local data=$root/var/lib/pgsql/data old=$root/usr/lib64/pgsql/postgresql-13
	mv "$old" "$old.away"
	refused "the old release's server is not there" "dnf install postgresql-upgrade" to 17 /srv/el
	mv "$old.away" "$old"
	refused "another release is installed than is asked for" "install the server of 16 first" to 16 /srv/el
	mv "$root/usr/bin/postgres" "$root/usr/bin/postgres.17"
	cp "$old/bin/postgres" "$root/usr/bin/postgres"
	refused "the old release is installed" "dnf module switch-to postgresql:17" to 17 /srv/el
	mv "$root/usr/bin/postgres.17" "$root/usr/bin/postgres"
	mv "$root/usr/share/postgresql/17/extension/hstore.control" "$work/"
	refused "an extension that the new release lacks" "extension hstore, which PostgreSQL 17 lacks" to 17 /srv/el
	mv "$work/hstore.control" "$root/usr/share/postgresql/17/extension/"
	echo 9.2 >"$data/PG_VERSION"
	refused "data of too old a release" "postgresql-setup --upgrade" to 17 /srv/el
	echo 13 >"$data/PG_VERSION"
	touch "$data/standby.signal"
	refused "a replica" "upgrade the primary" to 17 /srv/el
	rm "$data/standby.signal"
	echo "data_directory = '/var/lib/pgsql/data'" >>"$data/own.conf"
	refused "a configuration that names the data" "sets data_directory" to 17 /srv/el
	sed -i /data_directory/d "$data/own.conf"
	ln -s /srv "$data/pg_tblspc/1"
	refused "a tablespace" "can't be copied as a whole" to 17 /srv/el
	rm "$data/pg_tblspc/1"
	old_server start
	refused "a server that svc could not start again" "systemctl stop postgresql" to 17 /srv/el
	cp -a "$data" "$work/memory/saved/crashed"
	old_server stop
	mv "$data" "$work/memory/saved/whole"
	mv "$work/memory/saved/crashed" "$data"
	refused "a cluster that was not shut down" "was not shut down in order" to 17 /srv/el
	rm -r "$data"
	mv "$work/memory/saved/whole" "$data"
	check "refused: nothing was written" test -z "$(ls "$root/srv/el")"
	digest >"$work/digest"
}

# distribution upgrades that cluster: killed in every step and rolled back, killed
# in all of them and resumed, killed in every step of the roll-back.
distribution() {
	local step steps="stop backup verify upgrade exchange"
	make_distribution
	place el
	distribution_refusals
	exits "the distribution's layout: without --confirm there is a plan: exit 2" 2 to 17 /srv/el
	said "it says what a roll-back is" "dnf module switch-to postgresql:13"
	untouched "after the plan"
	for step in $steps; do
		place "el-$step"
		delay=0.$((RANDOM % 9)) during started "$step" killed "el-$step" --engine postgresql --to 17 --backup-dir "/srv/el-$step" --confirm
		undoing_killed "$step" --backup-dir "/srv/el-$step" --roll-back --confirm
		exits "SIGKILL in $step and then in its undoing, rolled back" 0 upgrade --backup-dir "/srv/el-$step" --roll-back --confirm
		untouched "SIGKILL in $step and in its undoing"
		rm -r "$root/srv/el-$step"
	done
	delay=0 during started stop killed el --engine postgresql --to 17 --backup-dir /srv/el --confirm
	for step in ${steps#* }; do delay=0.$((RANDOM % 7)) during started "$step" killed el --backup-dir /srv/el --resume --confirm; done
	exits "killed in every step, and resumed" 0 upgrade --backup-dir /srv/el --resume --confirm
	said "it says where the old data are" "the old data are /var/lib/pgsql/data.svc-old"
	new_server start
	holds "the distribution's layout" 17
	check "the configuration is carried over" grep -q own.conf "$root/var/lib/pgsql/data/postgresql.conf"
	for step in exchange upgrade verify backup stop; do undoing_killed "$step" --backup-dir /srv/el --roll-back --confirm; done
	exits "and rolled back" 0 upgrade --backup-dir /srv/el --roll-back --confirm
	check "what a server has written to is set aside" test -e "$root/var/lib/pgsql/data.svc-undone/PG_VERSION"
	rm -r "$root/var/lib/pgsql/data.svc-undone"
	untouched "rolled back after it was done"
	old_server start
	holds "the old release's server" 13
}

needs debootstrap:debootstrap mke2fs:e2fsprogs python3:python3
make_root
CGO_ENABLED=0 go build -trimpath -o "$work/svc" ./cmd/svc
mount_root
host pg_createcluster 13 main -e UTF8 --locale en_US.UTF-8 -- --data-checksums >/dev/null
printf 'work_mem = 5MB\noperator_precedence_warning = off\n' >>"$root/etc/postgresql/13/main/postgresql.conf"
host pg_ctlcluster 13 main start
fill
save
sums >"$work/sums"
for part in ${E2E_PARTS:-refusals chain carried onward reset taken_back signals disks distribution}; do "$part"; done
finish
