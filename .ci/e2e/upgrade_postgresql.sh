#!/usr/bin/env bash
# Upgrades a real cluster of PostgreSQL in a chroot that has versions 13, 15 and
# 17 installed together, as a host has that went from Debian 11 to 13: with
# refusals, signals, full disks, and a file system that turns read-only; and one in
# the layout of Red Hat's own packages. After each, every table is compared by
# checksums of this script's own. E2E_PARTS names the parts, of which these take long
# and are done where they are named: hard, many, random, large,
# newest. Needs root. Ends with "N passed, N failed".
set -euo pipefail
cd "$(dirname "$0")/../.."

cache=${XDG_CACHE_HOME:-$HOME/.cache}/svc-e2e/upgrade
work=$(mktemp -d)
root=$work/root
unset TMPDIR # chroots have their own
# shellcheck source=.ci/e2e/checks.sh
. .ci/e2e/checks.sh
# shellcheck source=.ci/e2e/shop.sh
. .ci/e2e/shop.sh
trap clear EXIT

# mount_root has all changes to the chroot go to memory.
mount_root() {
	mkdir -p "$work/memory" "$root"
	mount -t tmpfs -o size=3g tmpfs "$work/memory"
	mkdir "$work/memory/upper" "$work/memory/work" "$work/memory/saved"
	mount -t overlay overlay -o "lowerdir=$cache/postgresql,upperdir=$work/memory/upper,workdir=$work/memory/work" "$root"
	mount -t proc proc "$root/proc"
	mount --bind /dev "$root/dev"
	cp "$work/svc" "$root/usr/local/bin/svc"
	echo "listen_addresses = ''" >>"$root/etc/postgresql-common/createcluster.conf" # ports are those of the machine
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

upgrade() { timeout "${patience:-300}" chroot "$root" env HOME=/root svc db upgrade "$@" </dev/null; }
to() { upgrade --engine postgresql --to "$1" --backup-dir "$2" "${@:3}"; }

# json COMMAND…: keeps what it prints in $work/result.json.
json() { "$@" >"$work/result.json"; }

# place NAME: an empty backup directory, which the server's account can enter.
place() { install -d -m 0711 "$root/srv/$1"; }

# holds NAME VERSION: this version serves the port, with everything in it.
holds() {
	local got
	got=$(sql -p 5432 -c 'show server_version' 2>&1 | cut -d. -f1) || true # which is seen below
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
	exits "refused: an engine that is not upgraded" 2 upgrade --engine mongodb --to 5.0 --backup-dir /srv/a --confirm
	said "and why: an engine that is not upgraded" "are not upgraded"
	refused "the new version is not installed" "apt-get install postgresql-16" to 16 /srv/a
	host pg_createcluster 15 main >/dev/null
	refused "the new cluster is there" "pg_dropcluster --stop 15 main" to 15 /srv/a --instance 13/main
	host pg_dropcluster 15 main
	mkdir -p "$root/etc/postgresql/15/main" && echo work_mem=1MB >"$root/etc/postgresql/15/main/ours.conf"
	refused "a configuration that was laid down for the new cluster" "/etc/postgresql/15/main is there already" to 15 /srv/a
	check "and it is left" rm "$root/etc/postgresql/15/main/ours.conf"
	rm -r "$root/etc/postgresql/15"
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
	sql -d shop -c "create subscription s connection 'dbname=none' publication p with (connect = false)" 2>/dev/null
	refused "a logical replica" "1 subscriptions are there" to 15 /srv/a
	sql -d shop -c 'alter subscription s set (slot_name = none)' -c 'drop subscription s'
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

# attacks has the cluster's account try to be root by way of the backup directory, of
# the journal, and of links among its own files.
attacks() {
	local journal=$root/srv/theirs/journal.jsonl start=$root/etc/postgresql/13/main/start.conf
	place theirs
	chmod 777 "$root/srv/theirs"
	refused "a backup directory that all can write to" "can be written to by others" to 15 /srv/theirs
	chmod 711 "$root/srv/theirs" && host chown postgres /srv/theirs
	refused "a backup directory of the account's" "belongs to the account" to 15 /srv/theirs
	host chown root /srv/theirs && host chown postgres /srv
	refused "a backup directory that lies in the account's" "is not root's alone" to 15 /srv/theirs
	host chown root /srv && host install -d -m 0711 /tmp/backup
	refused "a backup directory in /tmp" "its mode is 1777" to 15 /tmp/backup
	echo victim >"$root/etc/victim"
	ln -s /etc/victim "$root/srv/theirs/log"
	refused "a link where the log would be" "a log that svc has not written" to 15 /srv/theirs
	same "and nothing was written through it" "$(cat "$root/etc/victim")" victim
	rm "$root/srv/theirs/log" "$root/etc/victim"
	delay=0 during started check killed theirs --engine postgresql --to 15 --backup-dir /srv/theirs --confirm
	cp -a "$journal" "$work/journal"
	sed -i 's/"Owner":"postgres"/"Owner":"root"/' "$journal" && host chown postgres /srv/theirs/journal.jsonl
	exits "a forged journal is not gone on with" 1 upgrade --backup-dir /srv/theirs --resume --confirm
	said "and it says why" "belongs to the account"
	host chown root /srv/theirs/journal.jsonl
	exits "an account is not believed from the journal" 1 upgrade --backup-dir /srv/theirs --resume --confirm
	said "and it says which" 'belongs to the account "postgres", not to "root"'
	sed 's|/usr/lib/postgresql/15/bin|/tmp/15/bin|g' "$work/journal" >"$journal"
	exits "nor are programs" 1 upgrade --backup-dir /srv/theirs --resume --confirm
	said "and it says which" "/tmp/15/bin"
	cat "$work/journal" >"$journal"
	exits "the journal as it was is" 0 upgrade --backup-dir /srv/theirs --roll-back --confirm
	place link && mv "$start" "$work/start.conf" && ln -s /etc/shadow "$start"
	exits "a link among the account's files leads to no file of root's" 1 to 15 /srv/link --confirm
	check "and nothing of it is kept" not grep -rqF "$(head -n 1 "$root/etc/shadow")" "$root/srv/link" "$root/etc/postgresql"
	rm "$start" && mv "$work/start.conf" "$start"
	as_before "after the attacks"
}

# refused NAME TEXT COMMAND…: fails with the text, confirmed.
refused() {
	local name=$1 text=$2
	shift 2
	exits "refused: $name" 1 "$@" --confirm
	said "and why: $name" "$text"
}

# printed: the commands among what the result says to do afterwards, in its JSON.
printed() { python3 -c 'import json, re, sys; [print(c) for l in json.load(open(sys.argv[1]))["afterwards"] for c in re.findall("`([^`]*)`", l)]' "$work/result.json"; }

# as_printed NAME PATTERN: runs those that match, as they are, in one shell. There is
# nobody whom apt-get could ask.
as_printed() {
	printed | grep -- "$2" >"$work/commands" || true
	check "$1: there are commands" test -s "$work/commands"
	{ echo 'set -e; apt-get() { command apt-get -y "$@"; }'; cat "$work/commands"; } >"$work/commands.sh"
	check "$1: they work as printed" host env HOME=/root DEBIAN_FRONTEND=noninteractive bash -c "$(cat "$work/commands.sh")"
}

# make_orders makes a second cluster of 15, whose ICU is of bookworm, and sorts by it: as
# a database's own order, in columns, in an own collation, within types, conditions and
# partitions. That ICU does not know the letters from U+105C0 on, and has them behind
# Han; trixie's, by which 17 sorts, has them before.
make_orders() {
	local db
	host pg_createcluster 15 icu -p 5440 -e UTF8 --locale C -- --data-checksums >/dev/null
	host pg_ctlcluster 15 icu start
	sql -p 5440 -c "create database own template template0 locale_provider icu icu_locale 'de' locale 'C'" -c 'create database columns' -c 'create database bytes'
	for db in own columns; do
		sql -p 5440 -d $db <<-'SQL'
			create collation mine (provider = icu, locale = 'sv');
			create extension btree_gist; create extension citext;
			create type pair as (k text collate "de-x-icu", n int);
			create type span as range (subtype = text, collation = mine);
			create domain word as text collate mine;
			create domain late as text check (value collate "de-x-icu" > '');
			create type later as range (subtype = late);
			create table checked (k text collate "de-x-icu" constraint small check (k < U&'\4E00'), l late, z text check (z collate "C" > ''), ls late[], lr later_multirange, g text generated always as (greatest(k, 'b' collate "de-x-icu")) stored, b bool generated always as (z collate "C" > 'b') stored);
			insert into checked select t, t, t from unnest(array['a', 'b']) t; update checked set lr = later_multirange(later(l, null));
			create table n (plain text, name text collate "de-x-icu", own text collate mine, w word, p pair, s span, c text collate "C", n int,
				constraint only_one exclude using gist (own with =, n with =));
			insert into n select t, t, t, t, (t, i)::pair, span(t, t, '[]'), t, i from generate_series(1, 400) i, lateral (select chr(case when i % 2 = 0 then 67008 + i % 50 else 19968 + i end) || i) as x(t);
			create index n_plain on n (plain); create unique index n_name on n (name); create index n_own on n (own); create index n_word on n (w); create index n_pair on n (p); create index n_span on n (s);
			create index n_where on n (n) where name > U&'\4E00'; create index n_lower on n (lower(name)); create index n_hash on n using hash (name);
			create index n_bytes on n (c); create index n_number on n (n);
			create table part (k text collate "de-x-icu", v int) partition by range (k);
			create table part_a partition of part for values from (minvalue) to ('m');
			create table part_m partition of part for values from ('m') to (maxvalue);
			insert into part select chr(97 + i % 26) || i, i from generate_series(1, 100) i; insert into part select name, n from n;
		SQL
	done
	# Whoever owns a table has its conditions call what he likes: not as a superuser.
	sql -p 5440 -d columns <<-'SQL'
		create role mallory; create schema evil authorization mallory; set role mallory;
		create function evil.writes() returns void language plpgsql as $$ begin begin reset role; exception when others then null; end; execute 'copy (select 1) to program ''id >> /tmp/owned'''; exception when insufficient_privilege then null; end $$;
		create function evil.calls(text) returns text language plpgsql immutable as $$ begin perform evil.writes(); return $1; end $$;
		create table evil.t (k text collate "de-x-icu" check (evil.calls(k) collate "de-x-icu" > 'A'), n int);
		create index bait on evil.t (n) where evil.calls('x') = 'x';
		insert into evil.t values ('x', 1);
	SQL
	rm -f "$root/tmp/owned"
	sql -p 5440 -d bytes -c 'create table b (t text primary key)' -c "insert into b values ('a'), ('b')"
}

# sorted_right DATABASE: amcheck finds nothing, and a join that relies on order works.
sorted_right() {
	sql -p 5440 -d "$1" <<-'SQL'
		create extension if not exists amcheck;
		select bt_index_check(c.oid, true) from pg_class c join pg_am a on a.oid = c.relam where a.amname = 'btree' and c.relkind = 'i';
		set enable_hashjoin = off; set enable_nestloop = off; set enable_sort = off;
		select count(*) from n a join n b on a.name = b.name;
		drop extension amcheck;
	SQL
}

# orders upgrades that cluster, the only one of its version.
orders() {
	local again name column before differs='select chr(67008) < chr(19968) collate "de-x-icu"'
	reset
	make_orders
	place orders
	exits "sorting by ICU: a plan" 2 to 17 /srv/orders --instance 15/icu
	said "the plan names what is sorted by a library" 'pg_catalog."de-x-icu" (version 153.120)'
	sql -p 5440 -d own -c 'create table cut (k text collate "de-x-icu") partition by range (k)' -c "create table cut_a partition of cut for values from (minvalue) to (U&'\\4E00')" \
		-c "create table cut_m partition of cut for values from (U&'\\4E00') to (maxvalue)" -c "insert into cut values (chr(67008))"
	sql -p 5440 -d own <<-'SQL'
		create domain han as text check (value >= U&'\4E00');
		create domain chinese as han;
		create type two as (n int, c chinese);
		create type spell as range (subtype = chinese);
		create table broken (k text collate "de-x-icu" constraint beyond check (k >= U&'\4E00'), h han, hs chinese[], two two[], spell spell, spells spell_multirange, of_spells spell_multirange[], after bool generated always as (k >= U&'\4E00' collate "de-x-icu") stored);
		insert into broken values (chr(67008), chr(67008), array[chr(19968), chr(67008)], array[(1, chr(67008))::two], spell(chr(67008), null), spell_multirange(spell(chr(67008), null)), array[spell_multirange(spell(chr(67008), null))]);
	SQL
	place cut
	exits "rows that the new order has in another partition, or beyond a constraint" 1 to 17 /srv/cut --instance 15/icu --confirm
	said "are said" 'rows of public.cut_m are in another partition of public.cut'
	said "of a constraint" 'rows of public.broken break its constraint beyond'
	for column in h hs two spell spells of_spells; do said "of a domain, in $column" "rows of public.broken break a constraint of the domain public.han in $column"; done
	said "and of a column that is made of others" 'rows of public.broken have another value in after than would be made'
	sql -p 5440 -d own -c 'drop table cut, broken' -c 'drop domain han cascade' -c 'drop type two'
	before=$(sql -p 5440 -d own -c "$differs")
	exits "sorting by ICU: 15 → 17" 0 to 17 /srv/orders --instance 15/icu --confirm
	said "the result says what was made again" 'public.mine (153.120.42 → 153.128.46)'
	said "and that it was looked at" 'amcheck has looked at'
	said "constraints too, and only those that go by it" 'partitions of 1 tables, 3 constraints and 1 columns that are made of others checked'
	check "and no superuser has called what an owner of tables wrote" test ! -e "$root/tmp/owned"
	check "a database in the order of bytes is left alone" not grep -q 'in bytes' "$work/last.log"
	same "the two orders differ: the test can fail" "$before $(sql -p 5440 -d own -c "$differs")" "f t"
	for name in own columns; do
		check "amcheck finds nothing in $name" sorted_right "$name"
		again=$(sql -p 5440 -d "$name" -c "select string_agg(relname, ' ' order by relname) from pg_class where relname ~ '^n_|only_one' and pg_relation_filenode(oid) <> oid")
		same "what is sorted by ICU was made again in $name, and nothing else" "$again" "n_hash n_lower n_name n_own n_pair $([ "$name" = columns ] || echo 'n_plain ')n_span n_where n_word only_one"
		same "$name: versions are on record" "$(sql -p 5440 -d "$name" -c "select count(*) from pg_collation where collversion <> pg_collation_actual_version(oid)" -c "select count(*) from pg_database where datcollversion <> pg_database_collation_actual_version(oid)" | xargs)" "0 0"
		same "$name: no extension is left" "$(sql -p 5440 -d "$name" -c "select count(*) from pg_extension where extname = 'amcheck'")" 0
	done
}

# elsewhere COMMAND…: runs it while a process of another root, as in a container, has a
# program by the name of the old server.
elsewhere() {
	local other=$work/memory/elsewhere pid status=0
	mkdir -p "$other/upper/postgresql/15/bin" "$other/work"
	cp "$(command -v sleep)" "$other/upper/postgresql/15/bin/postgres"
	unshare --mount sh -c "mount -t overlay overlay -o lowerdir=/usr/lib,upperdir=$other/upper,workdir=$other/work /usr/lib && exec /usr/lib/postgresql/15/bin/postgres 600" &
	pid=$!
	until_true grep -qx postgres "/proc/$pid/comm"
	"$@" || status=$?
	kill "$pid"
	return "$status"
}

# advises NAME TEXT: the result says so; a failure shows what it says instead.
advises() {
	grep -A 20 '"afterwards"' "$work/result.json" >"$work/last.log" || cp "$work/result.json" "$work/last.log"
	said "$@"
}

# advice does what the result of that upgrade says to do afterwards, beside a cluster
# that lives on by the same packages.
advice() {
	check "the result is said again" elsewhere json upgrade --backup-dir /srv/orders --resume --confirm --json
	advises "packages that nothing else uses may go" 'apt-get remove postgresql-15'
	host pg_createcluster 15 second -p 5450 >/dev/null && host pg_ctlcluster 15 second start
	sql -p 5450 -c 'create table precious as select 1 as n'
	cp "$work/result.json" "$work/alone.json"
	check "and again, with another cluster of that version" json upgrade --backup-dir /srv/orders --resume --confirm --json
	check "its packages stay" not grep -q 'apt-get' "$work/result.json"
	advises "and it is said why" 'the cluster 15/second'
	as_printed "afterwards" '^\(rm\|pg_dropcluster\)'
	same "the other cluster lives" "$(sql -p 5450 -c 'select n from precious')" 1
	same "the new cluster lives" "$(sql -p 5440 -d own -c 'select count(*) from n')" 400
	check "the old cluster is gone" test ! -e "$root/var/lib/postgresql/15/icu"
	host pg_dropcluster --stop 15 second
	mv "$work/alone.json" "$work/result.json"
	as_printed "the packages" '^apt-get'
	same "the new cluster lives without them" "$(sql -p 5440 -d own -c 'select count(*) from n')" 400
	host pg_dropcluster --stop 17 icu
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

signals() {
	place int && place term && place hup
	during started sums interrupted int --engine postgresql --to 17 --backup-dir /srv/int --confirm
	same "SIGINT: exit 130" "$code" 130
	said "it says that all was rolled back" "all was rolled back"
	as_before "SIGINT in sums"
	during started upgrade terminated term --engine postgresql --to 17 --backup-dir /srv/term --confirm
	same "SIGTERM: exit 130" "$code" 130
	as_before "SIGTERM in upgrade"
	during started rehearse hung_up hup --engine postgresql --to 17 --backup-dir /srv/hup --confirm
	same "SIGHUP: exit 130" "$code" 130
	as_before "SIGHUP in rehearse"
}

# extensions has those of which a server loads a library when it starts.
extensions() {
	host dpkg -s postgresql-17-pgaudit postgresql-17-cron >/dev/null 2>&1 && return
	chroot "$root" apt-get update -qq
	DEBIAN_FRONTEND=noninteractive chroot "$root" apt-get install -y -qq --no-install-recommends postgresql-{13,17}-{cron,pgaudit} >"$work/last.log" 2>&1
}

# configure_old LINE…: adds them to the configuration of 13, which is started again.
configure_old() {
	printf '%s\n' "$@" >>"$root/etc/postgresql/13/main/postgresql.conf"
	host pg_ctlcluster 13 main restart
}

# hard is what pg_upgrade can do, and a dump and its loading, or a server without
# the cluster's own settings, can't. Whoever owns a database has functions in it that
# have a program run if a superuser calls them.
hard() {
	local db
	reset
	extensions
	configure_old "shared_preload_libraries = 'pgaudit,pg_cron'" "cron.database_name = 'shop'" "max_locks_per_transaction = 10" "max_connections = 30"
	sql -d shop >/dev/null <<-'SQL'
		create extension pgaudit; create extension pg_cron;
		select cron.schedule('every minute', '* * * * *', 'insert into public.none default values') > 0;
		do $$ begin for i in 1..2000 loop execute format('create table public.many%s (n int)', i); commit; end loop; end $$;
		create table parent (n int primary key); create table child (n int references parent);
		insert into parent values (1); insert into child values (1);
		alter table parent disable trigger all; delete from parent; alter table parent enable trigger all;
		create table low (n int); create function any_low() returns bool language sql as 'select exists (select from public.low)';
		create table high (n int check (any_low())); insert into low values (1); insert into high values (1);
		create table twice (n int); insert into twice values (1), (1);
	SQL
	sql -d shop -c 'create unique index concurrently never on twice (n)' 2>/dev/null || true
	sql -c 'create role mallory login' -c 'create database mallory owner mallory'
	sql -d mallory <<-'SQL'
		create schema evil authorization mallory;
		set role mallory;
		set search_path = evil;
		create function evil.writes() returns bool language plpgsql as $$ begin execute 'copy (select 1) to program ''id >> /tmp/owned'''; return true; exception when insufficient_privilege then return true; end $$;
		create function evil.calls(text) returns bool language plpgsql immutable as $$ begin perform evil.writes(); return true; end $$;
		create function evil.format(text, text, text) returns text language plpgsql as $$ begin perform evil.writes(); return ''; end $$;
		create table evil.t (n int, s text check (evil.calls(s)));
		insert into evil.t select i, i from generate_series(1, 100) i;
		create index bait on evil.t (n) where evil.calls('x');
		create index more on evil.t (evil.calls(s));
		create statistics evil.s (dependencies) on n, s from evil.t;
		create materialized view evil.m as select n from evil.t;
		create unique index on evil.m (n) where evil.calls('y');
		create view evil.v as select evil.calls('z') c;
		create domain evil.d as text check (evil.calls(value));
		create table evil.e (d evil.d);
		insert into evil.e values ('x');
	SQL
	sql -c 'alter role mallory set search_path = evil' -c 'alter database mallory set search_path = evil, pg_catalog' -c 'create database still' -c 'alter database still set default_transaction_read_only = on' -c 'alter database still set statement_timeout = 1'
	for db in shop mallory; do
		sql -d "$db" <<-'SQL'
			create table public.said (tag text);
			create function public.says() returns event_trigger language plpgsql as $$ begin insert into public.said values (tg_tag); end $$;
			create event trigger says on ddl_command_end execute function public.says();
			create function public.forbids() returns event_trigger language plpgsql as $$ begin raise exception 'no DDL here'; end $$;
			create event trigger forbids on ddl_command_start execute function public.forbids();
		SQL
	done
	sums >"$work/hard"
	sql -d mallory -c 'select count(*) from evil.t' >/dev/null
	check "a superuser who asks for such a table calls its owner's function" grep -q postgres "$root/tmp/owned"
	rm -f "$root/tmp/owned"
	place hard
	exits "what pg_upgrade can, svc can: 13 → 17" 0 json to 17 /srv/hard --confirm --json
	check "the superuser has called nothing of the database's owner" test ! -e "$root/tmp/owned"
	sums >"$work/now" 2>&1 || true
	check "all of it is there, and no trigger of an event has run" diff <(grep -v ^none "$work/hard") <(grep -v ^none "$work/now")
	same "with the job" "$(sql -d shop -c 'select count(*) from cron.job')" 1
	check "how long clients waited is said" python3 -c 'import json, sys; r = json.load(open(sys.argv[1])); assert 0 < r["waited_seconds"] < 600' "$work/result.json"
}

# connected: a client that asks something long.
connected() { sql -c "select count(*) from pg_stat_activity where query like '%pg_sleep(900)%' and pid <> pg_backend_pid()"; }

# late NAME TEXT: the upgrade fails for this reason, and a client that was connected
# when it began is connected still.
late() {
	local name=$1 text=$2 client
	place late
	chroot "$root" setpriv --reuid postgres --regid postgres --init-groups psql -X -q -A -t -c 'select pg_sleep(900)' >/dev/null 2>&1 &
	client=$!
	until [ "$(connected)" = 1 ]; do sleep 0.1; done
	exits "refused before clients are cut off: $name" 1 to 17 /srv/late --confirm
	said "in the server's words: $name" "$text"
	same "a client is still connected: $name" "$(connected)" 1
	sql -c "select pg_terminate_backend(pid) from pg_stat_activity where query like '%pg_sleep(900)%' and pid <> pg_backend_pid()" >/dev/null
	wait "$client" 2>/dev/null || true
	rm -rf "$root/srv/late"
}

# early is what pg_upgrade can't do either.
early() {
	reset
	extensions
	sql -d shop -c 'create extension unaccent' -c "create function plain(text) returns text language sql immutable as 'select unaccent(\$1)'" -c 'create index plain on item (plain(name))'
	late "an index that does not find its function" "function unaccent(text) does not exist"
	sql -d shop -c 'drop index plain'
	configure_old "shared_preload_libraries = 'pg_cron'"
	mv "$root/usr/lib/postgresql/17/lib/pg_cron.so" "$work/"
	late "a library that is to be loaded first" 'could not access file "pg_cron"'
	mv "$work/pg_cron.so" "$root/usr/lib/postgresql/17/lib/"
	mkdir -p "$root/etc/pg-extra.d" && echo 'operator_precedence_warning = off' >"$root/etc/pg-extra.d/old.conf"
	configure_old "include_dir '/etc/pg-extra.d'"
	late "a setting that went, in a file elsewhere" '"operator_precedence_warning" in file "/etc/pg-extra.d/old.conf"'
	reset
	sql -c $'create database "a\nb"'
	place line
	refused "a database with a newline in its name" "alter database" to 17 /srv/line
	reset
}

# fill_up DIRECTORY: leaves its disk a few pages.
fill_up() {
	fallocate -l "$(($(df --output=avail -B1 "$1" | tail -n 1) - 65536))" "$1/fill" 2>/dev/null ||
		cat /dev/zero >"$1/fill" 2>/dev/null || true # it has filled a little meanwhile
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
	during started copy fill_backup disk --engine postgresql --to 17 --backup-dir /srv/disk --confirm
	same "the backup's disk is full: exit 1" "$code" 1
	as_before "the backup's disk is full"
	rm -rf "${root:?}"/srv/disk/*
	during started rehearse read_only disk --engine postgresql --to 17 --backup-dir /srv/disk --confirm
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

# many has more tables than a transaction may lock, by the settings that are usual.
many() {
	local patience=40000
	reset
	sql -d shop -c "do \$\$ begin for i in 1..${E2E_TABLES:-10000} loop execute format('create table many%s (n int primary key)', i); if i % 100 = 0 then commit; end if; end loop; end \$\$"
	cp "$work/sums" "$work/few"
	sums >"$work/sums"
	place many
	exits "${E2E_TABLES:-10000} tables: 13 → 17" 0 json to 17 /srv/many --confirm --json
	holds "${E2E_TABLES:-10000} tables" 17
	mv "$work/few" "$work/sums"
	durations many
}

# random kills upgrades at any moment, while a client writes, and goes on or back. No
# row that the client was told of is lost.
random() {
	local round pid took begin writer acked=$work/acked step how
	: >"$work/hit"
	for round in $(seq 0 "${E2E_KILLS:-12}"); do
		reset
		sql -d shop -c 'create table written (n int)'
		: >"$acked"
		(n=0; while sleep 0.1; do n=$((n + 1)); sql -p 5432 -d shop -c "insert into written values ($n)" 2>/dev/null && echo "$n" >>"$acked"; done) &
		writer=$!
		place "random$round"
		begin=$(date +%s%N)
		chroot "$root" env HOME=/root svc db upgrade --engine postgresql --to 17 --backup-dir "/srv/random$round" --confirm </dev/null >"$work/run.log" 2>&1 &
		pid=$!
		if [ "$round" != 0 ]; then
			sleep "$(awk -v most="$took" -v seed="$RANDOM" 'BEGIN {srand(seed); print rand() * most / 1e9}')"
			kill -KILL "$pid" 2>/dev/null || true
		fi
		wait "$pid" 2>/dev/null || true
		[ "$round" != 0 ] || took=$(($(date +%s%N) - begin))
		step=$(sed -n 's/.*"step":"\([a-z]*\)","state":"\([a-z]*\)".*/\1 \2/p' "$root/srv/random$round/journal.jsonl" 2>/dev/null | tail -n 1)
		how=--resume
		[ "$((round % 2))" = 1 ] && [ "$step" != "open started" ] && [ "$step" != "open done" ] && how=--roll-back
		if [ -n "$step" ]; then
			exits "killed at any moment ($step), $how" 0 upgrade --backup-dir "/srv/random$round" "$how" --confirm
			echo "$step" >>"$work/hit"
		fi
		sleep 0.5
		kill "$writer" 2>/dev/null || true
		wait "$writer" 2>/dev/null || true
		sql -d shop -c 'select n from written order by 1' >"$work/there"
		check "every row of which a client was told is there, of $(wc -l <"$acked")" test -z "$(comm -23 <(sort "$acked") <(sort "$work/there"))"
		sql -d shop -c 'drop table written'
		holds "killed at any moment" "$(sql -c 'show server_version' | cut -d. -f1)"
		rm -rf "$root/srv/random$round"
	done
	echo "the steps that were hit: $(sort "$work/hit" | uniq -c | xargs)"
} 2>/dev/null # where bash says what was killed

# durations NAME: how long each step of an upgrade in a backup directory took.
durations() {
	python3 - "$root/srv/$1/journal.jsonl" "$work/result.json" <<-'PY'
		import datetime, json, re, sys
		began, took = {}, []
		for line in open(sys.argv[1]):
		    e = json.loads(line)
		    at = datetime.datetime.fromisoformat(re.sub(r"\.(\d{1,6})\d*Z$", r".\1+00:00", e["at"]).replace("Z", "+00:00"))
		    if e.get("state") == "started": began[e["step"]] = at
		    if e.get("state") == "done": took.append("%s %.1f" % (e["step"], (at - began[e["step"]]).total_seconds()))
		r = json.load(open(sys.argv[2]))
		print("seconds: " + ", ".join(took))
		print("clients waited %.1f s; the plan said about %.0f s, after %.0f s of preparation" % (r["waited_seconds"], r["downtime_seconds"], r["preparation_seconds"]))
	PY
}

# large_disk DIRECTORY GIGABYTES: what is mounted there shares blocks where E2E_FS is a
# file system that can: xfs, or btrfs, which also presses what it holds, so that 20 GB
# fit on less. Else it is the disk that this script works on.
large_disk() {
	local fs=${E2E_FS:-}
	mkdir -p "$1"
	[ -n "$fs" ] || return 0
	truncate -s "$(($2 * 6 + 8))g" "$1.img"
	case $fs in
	btrfs) mkfs.btrfs -q "$1.img" >/dev/null && mount -o loop,discard,compress=zstd:1 "$1.img" "$1" ;;
	ext4) mke2fs -q -F -t ext4 "$1.img" && mount -o loop,discard "$1.img" "$1" ;;
	*) "mkfs.$fs" -q "$1.img" && mount -o loop,discard "$1.img" "$1" ;;
	esac
}

# large_taken DIRECTORY: what of the real disk is taken, where that is another one.
large_taken() { [ ! -e "$1.img" ] || echo "$2: $(du -sm "$1.img" | cut -f1) MiB of the disk below"; }

# large_fill GIGABYTES: as it is in a cluster that has run for long: looked over by
# VACUUM, so that the first to read a row has nothing to write. What is loaded in the
# transaction that makes its table needs no log at the least level of it.
large_fill() {
	local i conf=$root/etc/postgresql/13/large/postgresql.conf
	cp "$conf" "$work/large.conf"
	printf 'fsync = off\nwal_level = minimal\nmax_wal_senders = 0\nmaintenance_work_mem = 256MB\n' >>"$conf"
	host pg_ctlcluster 13 large start
	sql -p 5460 <<-SQL
		create table narrow as select i as n, md5(i::text) as name, now() as at from generate_series(1, $1 * 1000000) i;
		alter table narrow add primary key (n);
		create index narrow_name on narrow (name);
	SQL
	for i in 1 2 3 4; do sql -p 5460 -c "create table wide$i as select i as n, repeat(md5(i::text), 30) as t from generate_series(1, $1 * 200000) i"; done
	sql -p 5460 -c 'vacuum analyze'
	cat "$work/large.conf" >"$conf"
	host pg_ctlcluster 13 large restart
}

# large upgrades a cluster of E2E_SIZE GB on a disk, and has pg_upgrade do it by hand,
# which clones where the file system can and links where not, with what else there is to
# do before clients may come back.
large() {
	local patience=40000 gigabytes=${E2E_SIZE:-3} disk=$work/disk begin way=--link
	large_disk "$disk" "$gigabytes"
	case ${E2E_FS:-} in xfs | btrfs) way=--clone ;; esac
	mkdir -p "$root/srv/large"
	mount --bind "$disk" "$root/srv/large"
	host install -d -o postgres /srv/large/13
	install -d -m 0711 "$root/srv/large/backup"
	host pg_createcluster 13 large -p 5460 -d /srv/large/13/large -e UTF8 --locale en_US.UTF-8 -- --data-checksums >/dev/null
	large_fill "$gigabytes"
	echo "there are $(du -sm --apparent-size "$root/srv/large/13" | cut -f1) MiB"
	large_taken "$disk" "with the cluster"
	exits "a large cluster: 13 → 17" 0 large_upgraded
	large_taken "$disk" "with the upgraded one, and the copy"
	{ grep -c "so far\|tables of" "$work/progress" || true; } | sed 's/$/ lines of progress, such as:/'
	grep 'tables of' "$work/progress" | tail -n 1 || true
	check "how long clients will wait is said before, by the rehearsal" grep 'close: .*by the rehearsal they wait about' "$work/progress"
	cat "$work/last.log"
	large_durations | tee "$work/durations"
	exits "a large cluster: and back" 0 upgrade --backup-dir /srv/large/backup --roll-back --confirm
	rm -rf --one-file-system "$root/srv/large/backup"
	begin=$(date +%s%N)
	host pg_ctlcluster 13 large stop
	host install -d -o postgres -m 0700 /srv/large/hand /srv/large/run
	as_account /usr/lib/postgresql/17/bin/initdb --no-sync -D /srv/large/hand --data-checksums --locale en_US.UTF-8 -U postgres >/dev/null
	check "by hand: pg_upgrade $way" chroot "$root" setpriv --reuid postgres --regid postgres --init-groups sh -c 'cd /srv/large/run && /usr/lib/postgresql/17/bin/pg_upgrade '"$way"' -j 2 -b /usr/lib/postgresql/13/bin -B /usr/lib/postgresql/17/bin -d /srv/large/13/large -D /srv/large/hand -o "-c config_file=/etc/postgresql/13/large/postgresql.conf" --socketdir /srv/large/run'
	since "by hand: pg_upgrade $way" "$begin"
	as_account /usr/lib/postgresql/17/bin/pg_ctl -D /srv/large/hand -o "-p 5460 -k /srv/large/run -c listen_addresses=" -l /srv/large/run/log -w start >/dev/null
	sql -h /srv/large/run -p 5460 -c 'reindex database'
	since "and indexes made again" "$begin" | tee -a "$work/durations"
	chroot "$root" setpriv --reuid postgres --regid postgres --init-groups vacuumdb -h /srv/large/run -p 5460 --all --analyze-only -q
	since "and statistics" "$begin" | tee -a "$work/durations"
	as_account /usr/lib/postgresql/17/bin/pg_ctl -D /srv/large/hand -w stop >/dev/null
	host pg_createcluster 17 hand -p 5460 -d /srv/large/hand >/dev/null
	host pg_ctlcluster 17 hand start
	same "by hand: clients are back" "$(sql -p 5460 -c 'show server_version' | cut -d. -f1)" 17
	since "and clients are back" "$begin" | tee -a "$work/durations"
	large_taken "$disk" "by hand"
	large_compared
	end_servers
	umount "$root/srv/large"
	umount "$disk" 2>/dev/null || true
	rm -rf --one-file-system "$disk" "$disk.img" "$root"/etc/postgresql/13/large "$root"/etc/postgresql/17/hand
}

# large_compared: how svc's downtime is to that by hand, without a proof and with it.
large_compared() {
	python3 - "$work/durations" <<-'PY'
		import re, sys
		text = open(sys.argv[1]).read()
		of = lambda what: float(re.search(what + r"\D*? ([\d.]+)", text)[1])
		hand, statistics = of("and clients are back:") / 1000, (of("and statistics:") - of("and indexes made again:")) / 1000
		waited, proof = of("clients waited"), of("sums") + of("compare") - statistics
		print("by hand %.1f s, digests and amcheck %.1f s; svc %.1f s: %.2f of by hand, %.2f of that with the proof" % (hand, proof, waited, waited / hand, waited / (hand + proof)))
	PY
}

large_upgraded() { to 17 /srv/large/backup --instance 13/large --confirm --json >"$work/result.json" 2>"$work/progress"; }
large_durations() { durations large/backup; }

# since WHAT BEGIN: how long ago that was.
since() { echo "$1: $((($(date +%s%N) - $2) / 1000000)) ms"; }

# newest has a release that Debian's next one has, where that can be had.
newest() {
	reset
	echo "deb [check-valid-until=no] $(mirror) forky main" >"$root/etc/apt/sources.list.d/forky.list"
	if ! chroot "$root" apt-get update -qq || ! DEBIAN_FRONTEND=noninteractive chroot "$root" apt-get install -y -qq --no-install-recommends -t forky postgresql-18 >"$work/last.log" 2>&1; then
		echo "PostgreSQL 18 is not to be had: not tried"
		rm "$root/etc/apt/sources.list.d/forky.list"
		return
	fi
	reset
	place newest
	exits "13 → 18" 0 json to 18 /srv/newest --confirm --json
	holds "13 → 18" 18
	exits "18 → 13" 0 upgrade --backup-dir /srv/newest --roll-back --confirm
	holds "back from 18" 13
}

needs debootstrap:debootstrap mke2fs:e2fsprogs python3:python3
servers_root "$cache"
CGO_ENABLED=0 go build -trimpath -o "$work/svc" ./cmd/svc
mount_root
host pg_createcluster 13 main -e UTF8 --locale en_US.UTF-8 -- --data-checksums >/dev/null
printf 'work_mem = 5MB\noperator_precedence_warning = off\n' >>"$root/etc/postgresql/13/main/postgresql.conf"
host pg_ctlcluster 13 main start
fill
save
sums >"$work/sums"
for part in ${E2E_PARTS:-refusals attacks orders advice reset signals early disks distribution}; do
	begin=$SECONDS
	"$part"
	echo "      $part: $((SECONDS - begin)) s"
done
finish
