#!/usr/bin/env bash
# Moves real databases by the scripts of a data plan: PostgreSQL 13, MariaDB 10.5
# and OpenLDAP 2.4 of a running Debian 11 are dumped over a real sshd and loaded
# into a running Debian 13, which runs the scripts; the files of its Redis 6, and of
# a Valkey 8, are copied. What is there afterwards is compared with what was. Needs root. Prints a line for each check and ends with "N passed, N failed".
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=.ci/e2e/checks.sh
. .ci/e2e/checks.sh
# shellcheck source=.ci/e2e/pair.sh
. .ci/e2e/pair.sh

pair dumps

# another ROOT: the file of a second database of OpenLDAP, as the first's is.
another() {
	local config="$1/etc/ldap/slapd.d/cn=config"
	cp -a "$config/olcDatabase={1}mdb.ldif" "$config/olcDatabase={2}mdb.ldif"
	printf '%s' "$config/olcDatabase={2}mdb.ldif"
}

# servers fills those of the source; the target's are as they are installed.
servers() {
	postgresql "$old" 13 -c listen_addresses=
	postgresql "$new" 17 -c listen_addresses=
	mariadb "$old" --skip-networking
	mariadb "$new" --skip-networking
	sql "$old" -c "create role anna login password 'secret'" -c "create database shop owner anna template template0 encoding 'LATIN1' locale 'C'" -c 'create database "we""ird name"' -c "create database \"-d x='y'\""
	sql "$old" shop -c 'create extension hstore' -c 'create schema s' -c 'create table s."T able" (n int, h hstore, b bytea)' \
		-c "insert into s.\"T able\" select i, hstore('k', i::text), decode('ff00', 'hex') from generate_series(1, 1000) i" -c 'create view v as select * from s."T able"' \
		-c 'select lo_create(0)' -c 'create sequence q' -c 'create materialized view m as select 1 x' >/dev/null
	sql "$old" 'we"ird name' -c "create table t as select 'ü' || i x from generate_series(1, 10) i"
	printf '[mysqld2]\ndatadir=/srv/other\n' >"$old/etc/mysql/conf.d/other.cnf" && mkdir -p "$old/srv/other/mysql"
	my "$old" <<-'SQL'
		create database shop character set utf8mb4 collate utf8mb4_unicode_ci; use shop;
		create table a (n int primary key, t text) engine=innodb; insert into a values (1, 'ü'), (2, 'b\n\t\\');
		create table `b ``x` (n int) engine=myisam; insert into `b ``x` values (1), (2), (3);
		create view v as select * from a; create procedure p() select 1; create event ev on schedule every 1 day do select 1;
		create trigger tr before insert on a for each row set new.n = new.n;
		create user 'anna'@'%' identified by 'x'; grant select on shop.* to 'anna'@'%'; create database `od-d`;
	SQL
	local root
	for root in "$old" "$new"; do
		chroot "$root" install -d -o openldap /var/lib/ldap2
		sed -i 's/{1}mdb/{2}mdb/; s/dc=nodomain/o=other/; s#/var/lib/ldap#&2#' "$(another "$root")"
	done
	printf 'dn: o=other\nobjectClass: organization\no: other\n' | chroot "$old" slapadd -b o=other
	chroot "$old" slapadd <<-'LDIF'
		dn: ou=people,dc=nodomain
		objectClass: organizationalUnit
		ou: people
		description: a line that is longer than seventy-six characters, so that slapcat would fold it

		dn: cn=Zoë,ou=people,dc=nodomain
		objectClass: person
		cn: Zoë
		sn: Z
	LDIF
}

# step ENGINE STEP: a script of the plan, run by the target.
step() { chroot "$new" env SOURCE_SSH=source bash -c "cd /plan && bash databases/*-$1.sh $2"; }

# moves NAME ENGINE: the whole way of one database; its target holds nothing.
moves() {
	exits "$1: nothing is loaded before a dump" 1 step "$2" load
	exits "$1: the source is dumped over ssh" 0 step "$2" dump
	exits "$1: it is not on the target yet" 1 step "$2" check
	exits "$1: the dump is loaded" 0 step "$2" load
	exits "$1: the target has what the source had" 0 step "$2" check
	exits "$1: it is not loaded a second time" 1 step "$2" load
}

servers
reach
exits "a plan is made" 0 svc data plan --root "$old" --target debian-13 --out "$work/plan" --source-offline --confirm
exits "its scripts pass shellcheck" 0 sh -c "shellcheck '$work'/plan/databases/*.sh"
cp -a "$work/plan" "$new/plan"

moves postgresql database-main
values="select count(*), sum((h->'k')::int), max(encode(b, 'hex')) from s.\"T able\""
same "postgresql: rows, values and an extension" "$(sql "$old" shop -c "$values")" "$(sql "$new" shop -c "$values")"
same "postgresql: another encoding, and a weird name" "$(sql "$old" 'we"ird name' -c 'select max(x) from t')" "$(sql "$new" 'we"ird name' -c 'select max(x) from t')"
same "postgresql: the password of a role" "$(sql "$old" -c "select rolpassword from pg_authid where rolname = 'anna'")" "$(sql "$new" -c "select rolpassword from pg_authid where rolname = 'anna'")"
sql "$new" shop -c 'delete from s."T able" where n = 7'
exits "postgresql: a row that is lost is found" 1 step database-main check

moves mariadb database-mysql
same "mariadb: what the rows say" "$(my "$old" shop -e 'select n, hex(t) from a order by n')" "$(my "$new" shop -e 'select n, hex(t) from a order by n')"
exits "mariadb: the accounts are written down" 0 grep -F "CREATE USER \`anna\`" "$new"/plan/*-database-mysql.dump.accounts
exits "mariadb: and can be made of that" 0 sh -c "chroot '$new' mysql <'$(echo "$new"/plan/*-database-mysql.dump.accounts)'"
same "mariadb: with their rights" "$(my "$old" -e "show grants for anna" | tail -n 1)" "$(my "$new" -e "show grants for anna" | tail -n 1)"
exits "mariadb: what another server has is not dumped" 1 step database-other dump
said "mariadb: and that is said" "set SOURCE_SOCKET"
my "$new" shop -e 'drop trigger tr'
exits "mariadb: a trigger that is lost is found" 1 step database-mysql check

moves "a second openldap" database-ldap2
exits "openldap: the source is dumped over ssh" 0 step database-ldap dump
seq 2000 | sed 's/.*/dn: cn=n&,dc=nodomain\nobjectClass: person\ncn: n&\nsn: n\n/' | chroot "$new" slapadd -q -b dc=nodomain
exits "openldap: it is not loaded over what is there" 1 step database-ldap load
rm -f "$new"/var/lib/ldap/*.mdb
exits "openldap: into nothing it is" 0 step database-ldap load
exits "openldap: the target has what the source had" 0 step database-ldap check
same "openldap: the files are the engine's own" "$(chroot "$new" stat -c %U /var/lib/ldap/data.mdb)" openldap

# redis ROOT ARGUMENT…: its client, or Valkey's.
redis() { chroot "$1" redis-cli -s /tmp/redis "${@:2}"; }

# keys_of ROOT ENGINE [FILL]: what a server that starts on its data has, as a count
# and a digest.
keys_of() {
	chroot "$1" runuser -u "$2" -- "$2-server" --port 0 --unixsocket /tmp/redis --dir "/var/lib/$2" --appendonly yes >>"$work/redis.log" 2>&1 &
	until_true redis "$1" get loaded
	[ -z "${3:-}" ] || redis "$1" eval "$3" 0 >/dev/null
	redis "$1" eval "
		local ask = {string = {'get'}, zset = {'zrange', 0, -1, 'withscores'}, stream = {'xrange', '-', '+'}}
		local keys, all = redis.call('keys', '*'), {}
		table.sort(keys)
		for i, key in ipairs(keys) do
			local how = ask[redis.call('type', key).ok]
			all[i] = key .. cjson.encode(redis.call(how[1], key, unpack(how, 2)))
		end
		return #keys .. ' ' .. redis.sha1hex(table.concat(all))" 0
	redis "$1" shutdown
	wait $! || true
}

# copies ENGINE: the way of files: the source's server is stopped, the target's
# starts on them.
copies() {
	local file before
	for file in "$old" "$new"; do
		rm -rf "${file:?}/var/lib/${1:?}"
		chroot "$file" install -d -o "$1" -g "$1" "/var/lib/$1"
	done
	before=$(keys_of "$old" "$1" "for i = 1, 5000 do redis.call('set', 'key:' .. i, 'ü' .. i) redis.call('zadd', 'z' .. i % 7, i, i) redis.call('xadd', 's', i .. '-1', 'f', i) end")
	same "$1: the source has keys" "${before% *}" 5008
	rm -rf "$new/plan" "$new/var/lib/svc"
	exits "$1: a plan is made" 0 svc data plan --root "$old" --target debian-13 --out "$work/plan" --source-offline --confirm
	cp -a "$work/plan" "$new/plan"
	for file in "$new"/plan/places/*; do [[ $file == *-database-$1.sh ]] || rm "$file"; done
	for file in 10-check 30-before 40-copy 50-after; do
		exits "$1: $file" 0 chroot "$new" env SOURCE_SSH=source bash "/plan/$file.sh"
	done
	same "$1: the target's has every key" "$(keys_of "$new" "$1")" "$before"
}

copies redis
old=$work/valkey-old
root "$old" trixie
echo 0123456789abcdef0123456789abcdef >"$old/etc/machine-id"
reach
copies valkey
finish
