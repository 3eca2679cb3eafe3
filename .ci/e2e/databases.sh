#!/usr/bin/env bash
# Plans real databases: PostgreSQL, MariaDB, Redis, Valkey and OpenLDAP of Debian
# 11 and 13, and MySQL where Debian's unstable has one, each started and filled in a chroot of its own, stopped, and then
# read by svc db plan, whose answers are compared with what the servers and their
# own tools say. Needs root. Prints a line for each check and ends with
# "N passed, N failed".
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=.ci/e2e/checks.sh
. .ci/e2e/checks.sh
# shellcheck source=.ci/e2e/sshd.sh
. .ci/e2e/sshd.sh
# shellcheck source=.ci/e2e/chroots.sh
. .ci/e2e/chroots.sh

work=$(mktemp -d)
trap stop_all EXIT

# equal NAME WANT GOT
equal() { if [ "$2" = "$3" ] && [ -n "$2" ]; then ok "$1 ($2)"; else fail "$1: want $2, got $3"; fi; }

# locales makes the one in which text is sorted by the C library.
locales() {
	local suite
	for suite in bullseye trixie; do
		[ ! -e "$cache/$suite/usr/lib/locale/de_DE.utf8" ] || continue
		DEBIAN_FRONTEND=noninteractive chroot "$cache/$suite" sh -c 'apt-get update -qq && apt-get install -y -qq --no-install-recommends locales && localedef --no-archive -i de_DE -f UTF-8 de_DE.UTF-8 && apt-get clean' \
			>"$cache/$suite.locales.log" 2>&1 || { tail -n 20 "$cache/$suite.locales.log"; return 1; }
	done
}

# in_root COMMAND…: runs it in the chroot that is in use.
in_root() { chroot "$root" "$@"; }
as_postgres() { chroot --userspec=postgres:postgres "$root" "$@"; }

stop_all() {
	local name pid
	for name in "$work"/*.pid; do
		[ -e "$name" ] || continue
		pid=$(cat "$name")
		kill -TERM "$pid" 2>/dev/null || true
	done
	rm -rf "$work"
}

# start NAME COMMAND…: a server in the background, until stop NAME.
start() {
	local name=$1
	shift
	"$@" >"$work/$name.log" 2>&1 &
	echo $! >"$work/$name.pid"
}

stop() {
	local pid
	pid=$(cat "$work/$1.pid")
	kill -TERM "$pid" 2>/dev/null || true
	wait "$pid" 2>/dev/null || true
	rm -f "$work/$1.pid"
}

# plan FILE TARGET: the plan of the chroot.
plan() { svc db plan --root "$root" --target "$2" --json >"$1"; }

# of FILE ENGINE EXPRESSION: what the plan of the engine's first database says.
of() {
	python3 - "$@" <<-'PY'
		import json, sys
		plan = json.load(open(sys.argv[1]))
		d = [d for d in plan["databases"] if d["engine"] == sys.argv[2]][0]
		fact = lambda key: next((f["value"] for f in d["data"]["facts"] if f["key"] == key), "")
		print(eval(sys.argv[3]))
	PY
}

# postgresql VERSION: data, two databases, an extension that is not there by
# default, a row that was written anew; then what the server says of itself.
postgresql() {
	local version=$1 bin=/usr/lib/postgresql/$1/bin data=/var/lib/postgresql/$1/main
	rm -rf "${root:?}$data"
	as_postgres "$bin/initdb" -D "$data" --data-checksums --locale=C.UTF-8 -E UTF8 >/dev/null
	start postgres as_postgres "$bin/postgres" -D "$data" -k /tmp -c listen_addresses= -c "config_file=/etc/postgresql/$version/main/postgresql.conf" -c "data_directory=$data" -c ssl=off
	until_true as_postgres psql -h /tmp -c 'select 1'
	as_postgres psql -q -h /tmp -c "create database shop template template0 encoding 'LATIN1' locale 'C'" -c 'create database "we""ird name"' -c 'create database gone' -c 'drop database gone'
	rm -rf "$root/var/lib/postgresql/space" && as_postgres mkdir /var/lib/postgresql/space
	as_postgres psql -q -h /tmp -c "create tablespace space location '/var/lib/postgresql/space'" -c 'create database elsewhere tablespace space'
	as_postgres psql -q -h /tmp elsewhere -c 'create extension hstore'
	local collate=datcollate
	[ "$version" -lt 17 ] || {
		collate='coalesce(datlocale, datcollate)'
		as_postgres psql -q -h /tmp -c "create database sorted template template0 locale_provider icu icu_locale 'de-DE'"
	}
	as_postgres psql -q -h /tmp shop -c 'create extension pgcrypto' -c 'create extension pg_trgm' -c 'create table t as select generate_series(1,1000) n' -c 'vacuum full pg_extension' -c 'vacuum full pg_class'
	as_postgres psql -q -h /tmp -c "create database german template template0 locale 'de_DE.UTF-8'" -c 'create database everything'
	local name
	for name in "$root/usr/share/postgresql/$version/extension/"*.control; do
		name=$(basename "$name" .control)
		as_postgres psql -q -h /tmp everything -c "create extension if not exists \"$name\" cascade" 2>/dev/null || echo "no $name"
	done
	as_postgres psql -h /tmp -Atc "select datname||' '||pg_encoding_to_char(encoding)||' '||$collate||' '||datctype from pg_database where datname <> 'template0' order by datname collate \"C\"" >"$work/databases"
	as_postgres psql -h /tmp shop -Atc "select extname||' '||extversion from pg_extension order by extname collate \"C\"" >"$work/extensions"
	as_postgres psql -h /tmp -Atc 'show server_version' | cut -d' ' -f1 >"$work/version"
	plan "$work/running.json" debian-13
	equal "postgresql $version: a running server is told" "in production" "$(of "$work/running.json" postgresql 'd["data"]["state"]')"
	check "postgresql $version: and that copying it is not safe" test "$(of "$work/running.json" postgresql 'any("not shut down" in n["text"] for n in d["notes"])')" = True
	as_postgres "$bin/pg_ctl" -D "$data" stop -m fast >/dev/null
	stop postgres
	plan "$work/plan.json" debian-13
	in_root "$bin/pg_controldata" -D "$data" >"$work/control"
	equal "postgresql $version: version" "$(cat "$work/version")" "$(of "$work/plan.json" postgresql 'd["version"]')"
	equal "postgresql $version: catalog version" "catalog $(sed -n 's/^Catalog version number: *//p' "$work/control")" "$(of "$work/plan.json" postgresql 'd["data"]["form"]')"
	equal "postgresql $version: control version" "$(sed -n 's/^pg_control version number: *//p' "$work/control")" "$(of "$work/plan.json" postgresql 'fact("control version")')"
	equal "postgresql $version: state" "$(sed -n 's/^Database cluster state: *//p' "$work/control")" "$(of "$work/plan.json" postgresql 'd["data"]["state"]')"
	equal "postgresql $version: wal level" "$(sed -n 's/^wal_level setting: *//p' "$work/control")" "$(of "$work/plan.json" postgresql 'fact("wal level")')"
	equal "postgresql $version: page checksums" on "$(of "$work/plan.json" postgresql 'd["data"]["checksums"]')"
	equal "postgresql $version: databases, encodings, collations" "$(cat "$work/databases")" "$(of "$work/plan.json" postgresql '"\n".join(" ".join([c["name"], c["encoding"], c["collate"], c["ctype"]]) for c in d["data"]["databases"])')"
	equal "postgresql $version: extensions, of a table that was written anew" "$(cat "$work/extensions")" "$(of "$work/plan.json" postgresql '"\n".join(e["name"]+" "+e["version"] for c in d["data"]["databases"] if c["name"]=="shop" for e in c["extensions"])')"
	equal "postgresql $version: an extension in a tablespace" "hstore" "$(of "$work/plan.json" postgresql '[e["name"] for c in d["data"]["databases"] if c["name"]=="elsewhere" for e in c["extensions"]][0]')"
	equal "postgresql $version: what sorts by the C library is indexed again" "$(indexed_again "$version")" "$(of "$work/plan.json" postgresql '" ".join(x["database"]+":"+x["from"]+">"+x["to"] for x in d["reindex"])')"
	of "$work/plan.json" postgresql '"\n".join(sorted(a["name"]+" "+a["offered"] for a in d["extensions"]))' >"$work/offered"
	while read -r name _; do
		if [ -e "$cache/trixie/usr/share/postgresql/17/extension/$name.control" ]; then echo "$name yes"; else echo "$name no"; fi
	done <"$work/offered" >"$work/there"
	check "postgresql $version: the target has the extensions that it is said to have, all $(wc -l <"$work/offered")" diff "$work/offered" "$work/there"
	equal "postgresql $version: size" "$(find "$root$data" -type f -printf '%s\n' | awk '{s+=$1} END {print s}')" "$(of "$work/plan.json" postgresql 'd["data"]["bytes"]')"
	equal "postgresql $version: peer is a way in" True "$(of "$work/plan.json" postgresql 'any(a["name"]=="peer" for a in d["data"]["auth"])')"
	flip "$root$data/global/pg_control"
	plan "$work/damaged.json" debian-13
	check "postgresql $version: a damaged pg_control is said" grep -q 'pg_control is damaged' "$work/damaged.json"
	flip "$root$data/global/pg_control"
}

# indexed_again VERSION: what the plan for Debian 13 has to list. ICU sorts by its
# own rules, which may be others on the target.
indexed_again() { if [ "$1" = 13 ]; then echo "german:2.31>2.41"; else echo "sorted:$(as_icu)>"; fi; }

# as_icu is the version of ICU's rules that the server made the database with.
as_icu() { of "$work/plan.json" postgresql '[c["collation_version"] for c in d["data"]["databases"] if c["name"]=="sorted"][0]'; }

# sqlite: files as SQLite makes them, and what it says of them itself.
sqlite() {
	local dir=$root/var/lib/app
	rm -rf "$dir" && mkdir -p "$dir"
	python3 - "$dir" >"$work/sqlite" <<-'PY'
		import sqlite3, sys
		for name, encoding, journal, size in (("plain.db", "UTF-8", "delete", 4096), ("wide.sqlite", "UTF-16le", "delete", 1024), ("log.sqlite3", "UTF-8", "wal", 8192)):
		    c = sqlite3.connect(sys.argv[1] + "/" + name)
		    for pragma in (f"encoding='{encoding}'", f"page_size={size}", f"journal_mode={journal}"): c.execute("pragma " + pragma)
		    c.execute("create table t (x)"); c.execute("insert into t values (1)"); c.commit()
		    said = lambda p: c.execute("pragma " + p).fetchone()[0]
		    print(name, said("encoding"), said("page_size"), "wal" if said("journal_mode") == "wal" else "", sqlite3.sqlite_version)
		    if journal != "wal": c.close()
		    else: c.execute("pragma wal_checkpoint(truncate)")
	PY
	echo "SQLite format 4" >"$dir/other.db"
	plan "$work/plan.json" debian-13
	python3 - "$work/plan.json" >"$work/stated" <<-'PY'
		import json, sys
		for d in json.load(open(sys.argv[1]))["databases"]:
		    if d["engine"] != "sqlite" or not d["directory"].startswith("/var/lib/app/"): continue
		    f = {x["key"]: x["value"] for x in d["data"]["facts"]}
		    print(d["name"], d["data"]["databases"][0]["encoding"], f["page size"], "wal" if "journal" in f else "", f["written by"])
	PY
	check "sqlite: each file, its encoding, pages, log and maker" diff <(sort "$work/sqlite") <(sort "$work/stated")
}

# flip FILE: turns a bit over, and back.
flip() {
	python3 - "$1" <<-'PY'
		import sys
		f = open(sys.argv[1], "r+b"); f.seek(40); b = f.read(1); f.seek(40); f.write(bytes([b[0] ^ 1]))
	PY
}

# mariadb: tables of three engines, accounts, what the server says.
mariadb() {
	local data=/var/lib/mysql
	rm -rf "${root:?}$data"
	in_root mysql_install_db --user=mysql --datadir="$data" >/dev/null
	mkdir -p "$root/run/mysqld" && in_root chown mysql "/run/mysqld"
	start mariadb in_root "$(in_root sh -c 'command -v mariadbd')" --user=mysql --datadir="$data" --skip-networking --socket=/run/mysqld/e2e.sock
	until_true in_root mysql -S /run/mysqld/e2e.sock -e 'select 1'
	in_root mysql -S /run/mysqld/e2e.sock -e "create database shop character set utf8mb4 collate utf8mb4_unicode_ci; use shop; create table a (n int) engine=innodb; create table b (n int) engine=myisam; create table c (n int) engine=aria; create user old@localhost identified via mysql_native_password using password('x')"
	in_root mysql_upgrade -S /run/mysqld/e2e.sock --force >/dev/null 2>&1 || in_root mariadb-upgrade -S /run/mysqld/e2e.sock --force >/dev/null
	in_root mysql -S /run/mysqld/e2e.sock -BNe 'select version()' | cut -d- -f1 >"$work/version"
	in_root mysqladmin -S /run/mysqld/e2e.sock shutdown
	stop mariadb
	plan "$work/plan.json" debian-13
	equal "mariadb: version" "$(cat "$work/version")" "$(of "$work/plan.json" mariadb 'd["version"]')"
	equal "mariadb: who wrote the redo log" "MariaDB $(cat "$work/version")" "$(of "$work/plan.json" mariadb 'fact("redo log by")')"
	equal "mariadb: storage engines" "Aria 1 InnoDB 1 MyISAM 1" "$(of "$work/plan.json" mariadb '" ".join("%s %d"%(c["name"],c["count"]) for c in d["data"]["engines"] if "." not in c["name"])')"
	equal "mariadb: a database's defaults" "utf8mb4 utf8mb4_unicode_ci" "$(of "$work/plan.json" mariadb '[c["encoding"]+" "+c["collate"] for c in d["data"]["databases"] if c["name"]=="shop"][0]')"
	equal "mariadb: an account's way to authenticate" True "$(of "$work/plan.json" mariadb 'any(a["name"]=="mysql_native_password" for a in d["data"]["auth"])')"
}

# mysql_start: a server on the data that are there.
mysql_start() {
	start mysql in_root mysqld --no-defaults --user=mysql --datadir=/var/lib/mysql --skip-networking --mysqlx=OFF --socket=/run/mysqld/e2e.sock --pid-file=/run/mysqld/e2e.pid
	until_true in_root mysql -S /run/mysqld/e2e.sock -e 'select 1'
}

# mysql: tables of four engines, accounts, a binary log; what the server says, of
# files that it shut down and of such that it had no time for.
mysql() {
	local data=/var/lib/mysql client=(in_root mysql -S /run/mysqld/e2e.sock -BN --default-character-set=utf8mb4)
	rm -rf "${root:?}$data"
	in_root id -u mysql >/dev/null 2>&1 || in_root useradd -r mysql
	in_root install -d -o mysql "$data" "$data-files" /run/mysqld # where files of SQL may be
	in_root mysqld --no-defaults --user=mysql --initialize-insecure --datadir="$data" >"$work/last.log" 2>&1
	mysql_start
	"${client[@]}" <<-'SQL'
		install plugin auth_socket soname 'auth_socket.so';
		create database `é-я x` collate utf8mb4_0900_bin; create database shop character set latin1 collate latin1_german1_ci; use shop;
		create table a (n int) engine=innodb; create table b (n int) engine=myisam; create table c (n int not null) engine=csv; create table d (n int) engine=archive;
		create user anna@'%' identified by 'x'; create user peer@localhost identified with auth_socket; create user gone; drop user gone;
	SQL
	seq 300 | sed "s/.*/create user 'user&'@'host-&.example' identified with auth_socket;/" | "${client[@]}"
	"${client[@]}" -e 'select version()' | cut -d- -f1 >"$work/version"
	"${client[@]}" -e "select engine, count(*) from information_schema.tables where table_schema = 'shop' group by 1 order by 1" | tr '\t\n' '  ' | sed 's/ $//' >"$work/engines"
	"${client[@]}" -e "select plugin, count(*) from mysql.user where user not like 'mysql.%' group by 1 order by 1" | tr '\t' ' ' >"$work/plugins"
	"${client[@]}" -e "select schema_name, default_character_set_name, default_collation_name from information_schema.schemata where schema_name in ('shop', 'é-я x') order by 1" | tr '\t' ' ' >"$work/schemata"
	kill -KILL "$(cat "$root/run/mysqld/e2e.pid")"
	stop mysql
	rm -f "$root"/run/mysqld/e2e.* # it may be a zombie yet, which its lock takes for a server
	plan "$work/killed.json" debian-13
	mysql_start
	in_root mysqladmin -S /run/mysqld/e2e.sock shutdown
	stop mysql
	plan "$work/plan.json" debian-13
	equal "mysql: version" "$(cat "$work/version")" "$(of "$work/plan.json" mysql 'd["data"]["version"]')"
	equal "mysql: storage engines" "$(cat "$work/engines")" "$(of "$work/plan.json" mysql '" ".join("%s %d"%(c["name"],c["count"]) for c in d["data"]["engines"] if "." not in c["name"])')"
	equal "mysql: its own redo log is read, not a spare one" True "$(of "$work/plan.json" mysql 'int(fact("redo log form")) > 0')"
	equal "mysql: pages have checksums" on "$(of "$work/plan.json" mysql 'd["data"]["checksums"]')"
	equal "mysql: accounts by their ways to authenticate" "$(cat "$work/plugins")" "$(of "$work/plan.json" mysql '"\n".join("%s %d"%(c["name"],c["count"]) for c in d["data"]["auth"])')"
	equal "mysql: databases, character sets, collations" "$(cat "$work/schemata")" "$(of "$work/plan.json" mysql '"\n".join(sorted(" ".join([c["name"], c["encoding"], c["collate"]]) for c in d["data"]["databases"]))')"
	equal "mysql: a plugin" "auth_socket of auth_socket.so" "$(of "$work/plan.json" mysql 'fact("plugin")')"
	equal "mysql: killed and ended servers are told" "in production, shut down" "$(of "$work/killed.json" mysql 'd["data"]["state"]'), $(of "$work/plan.json" mysql 'd["data"]["state"]')"
	equal "mysql: what a killed one has in its log alone is said to be unread" "True False" "$(of "$work/killed.json" mysql 'any("last checkpoint" in u for u in d["data"]["unread"])') $(of "$work/plan.json" mysql 'bool(d["data"]["unread"])')"
	equal "mysql: it writes a binary log, which alone is no replication" "[True, False]" "$(of "$work/plan.json" mysql '[any(t in n["text"] for n in d["notes"]) for t in ("writes a binary log", "part of a replication")]')"
	equal "mysql: Debian 13 has another engine in its place" "engine change" "$(of "$work/plan.json" mysql 'd["gap"]')"
	equal "mysql: in place is said to be impossible" True "$(of "$work/plan.json" mysql 'any(b["method"] == "in place" for b in d["barriers"])')"
}

# key_value ENGINE: keys and a dump, and append-only files; what the server says.
key_value() {
	local engine=$1 data=/var/lib/$1
	rm -rf "${root:?}$data" && mkdir "$root$data"
	start "$engine" in_root "$engine-server" --port 0 --unixsocket /tmp/e2e.sock --dir "$data" --appendonly yes --save ''
	until_true in_root "$engine-cli" -s /tmp/e2e.sock ping
	in_root "$engine-cli" -s /tmp/e2e.sock mset a 1 b 2 c 3 >/dev/null
	in_root "$engine-cli" -s /tmp/e2e.sock save >/dev/null
	in_root "$engine-cli" -s /tmp/e2e.sock info server | tr -d '\r' | sed -n "s/^${engine}_version://p" >"$work/version"
	in_root "$engine-cli" -s /tmp/e2e.sock dbsize >"$work/keys"
	in_root "$engine-cli" -s /tmp/e2e.sock shutdown nosave >/dev/null || true
	stop "$engine"
	plan "$work/plan.json" almalinux-10
	equal "$engine: version" "$(cat "$work/version")" "$(of "$work/plan.json" "$engine" 'd["version"]')"
	equal "$engine: keys" "$(cat "$work/keys")" "$(of "$work/plan.json" "$engine" 'fact("keys of the first database")')"
	equal "$engine: the form is the file's" "rdb $(head -c 9 "$root$data/dump.rdb" | tr -dc 0-9 | sed 's/^0*//')" "$(of "$work/plan.json" "$engine" 'd["data"]["form"]')"
	equal "$engine: append-only files are seen" True "$(of "$work/plan.json" "$engine" 'bool(fact("append-only files") or fact("append-only file"))')"
}

# reads_dump FOLDER: Valkey starts with the dump there.
reads_dump() {
	(timeout 5 chroot "$root" valkey-server --port 0 --unixsocket /tmp/e2e.sock --dir "$1" --dbfilename dump.rdb --appendonly no 2>&1 || true) | tee "$work/reads.log"
	grep -q 'Ready to accept' "$work/reads.log"
}

openldap() {
	plan "$work/plan.json" debian-13
	equal "openldap: form" mdb "$(of "$work/plan.json" openldap 'd["data"]["form"]')"
	equal "openldap: largest size" "$(od -An -tu8 -j32 -N8 "$root/var/lib/ldap/data.mdb" | tr -d ' ')" "$(of "$work/plan.json" openldap 'fact("largest size allowed")')"
}

# gap NAME TARGET ENGINE WANT: the gap of the engine's first database.
gap() { equal "$1 → $2: $3 is $4" "$4" "$(svc db plan --root "$root" --target "$2" --json >"$work/gap.json" && of "$work/gap.json" "$3" 'd["gap"]')"; }

# stays NAME TARGET ENGINE: the engine's first database stays in its series; the
# archive may have a newer minor release than the index knew.
stays() { check "$1 → $2: $3 stays in its series" sh -c "case '$(svc db plan --root "$root" --target "$2" --json >"$work/gap.json" && of "$work/gap.json" "$3" 'd["gap"]')' in none | minor) ;; *) exit 1 ;; esac"; }

# databases_of NAME COMMAND…: the plans alone, by another way to the machine.
databases_of() {
	local name=$1
	shift
	svc db plan "$@" --target debian-13 --json | python3 -c 'import json,sys; print(json.dumps(json.load(sys.stdin)["databases"], indent=1))' >"$work/$name.databases"
}

# by_image compares a disk image of the machine's files with its root.
by_image() {
	local tree=$work/tree
	mkdir -p "$tree/etc" "$tree/var/lib" "$tree/usr/lib"
	cp -a "$root"/etc/. "$tree/etc/"
	cp -a "$root"/usr/lib/os-release "$tree/usr/lib/"
	for name in dpkg postgresql mysql redis ldap valkey; do [ ! -e "$root/var/lib/$name" ] || cp -a "$root/var/lib/$name" "$tree/var/lib/"; done
	truncate -s 1200M "$work/disk.img"
	mke2fs -q -F -t ext4 -d "$tree" "$work/disk.img"
	databases_of tree --root "$tree"
	databases_of image --image "$work/disk.img"
	check "an image gives what the root gives" cmp "$work/tree.databases" "$work/image.databases"
	rm -rf "$tree" "$work/disk.img"
}

# by_ssh compares a machine that is reached over ssh with its root.
by_ssh() {
	serve_ssh "ChrootDirectory $root"
	databases_of root --root "$root"
	databases_of ssh --ssh "root@127.0.0.1:$port"
	kill "$sshd"
	check "ssh gives what the root gives" cmp "$work/root.databases" "$work/ssh.databases"
}

needs debootstrap:debootstrap python3:python3 mke2fs:e2fsprogs sshd:openssh-server ssh:openssh-client
chroots bullseye trixie
locales
CGO_ENABLED=0 go build -trimpath -o "$work/svc" ./cmd/svc

root=$cache/bullseye
postgresql 13
mariadb
key_value redis
openldap
gap bullseye debian-13 postgresql major
stays bullseye debian-11 postgresql
gap bullseye debian-13 openldap major
gap bullseye almalinux-10 redis "engine change"

root=$cache/trixie
postgresql 17
sqlite
mariadb
key_value redis
equal "redis 8.0: its files do not go to EL 10's valkey" True "$(of "$work/plan.json" redis 'd["gap"]=="engine change" and any("dump.rdb" in b["method"] for b in d["barriers"])')"
key_value valkey
openldap
gap trixie debian-12 postgresql "not offered"
stays trixie debian-13 postgresql

# What the plan says of files is what Valkey itself does with them.
check "valkey 8.1 refuses redis 8.0's dump" not reads_dump /var/lib/redis
check "valkey 8.1 reads its own dump" reads_dump /var/lib/valkey
rm -f "$root"/tmp/e2e.sock
find "$root/var/lib/redis" "$root/var/lib/postgresql" -printf '%p %s %T@ %C@\n' | sort >"$work/before"
plan "$work/plan.json" debian-13
find "$root/var/lib/redis" "$root/var/lib/postgresql" -printf '%p %s %T@ %C@\n' | sort >"$work/after"
check "reading changes nothing" cmp "$work/before" "$work/after"
by_image
by_ssh
if chroots sid; then
	root=$cache/sid
	mysql
else
	echo "skipped: MySQL can't be installed from Debian's unstable now"
fi
finish
