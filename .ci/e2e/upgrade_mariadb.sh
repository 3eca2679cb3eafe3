#!/usr/bin/env bash
# Upgrades real MariaDB, 10.5 → 10.11 → 11.8, on hosts made of Debian 11, 12 and
# 13, with the old server stopped and running; kills svc at every step and then
# goes on or goes back; fills the disk; and asks the servers themselves what is
# there each time. Needs root. All
# of it happens in namespaces of its own, so that no process and no mount is left.
set -euo pipefail
cd "$(dirname "$0")/../.."

cache=${XDG_CACHE_HOME:-$HOME/.cache}/svc-e2e/databases
passed=0 failed=0

ok() { passed=$((passed + 1)); printf 'ok    %s\n' "$1"; }
fail() { failed=$((failed + 1)); printf 'FAIL  %s\n' "$1"; }

# check NAME COMMAND…: the command succeeds.
check() {
	local name=$1
	shift
	if "$@" >"$work/last.log" 2>&1; then ok "$name"; else fail "$name"; tail -n 15 "$work/last.log" | sed 's/^/      /'; fi
}

# equal NAME WANT GOT
equal() { if [ "$2" = "$3" ] && [ -n "$2" ]; then ok "$1"; else fail "$1: want $2, got $3"; fi; }

# shellcheck disable=SC2016
mirror() {
	apt-get indextargets --format '$(REPO_URI) $(SITE)' 'Created-By: Packages' |
		awk '/\/debian\/? /{print $1; exit}'
}

# chroots makes a Debian with the servers for each suite, once. Those of
# databases.sh are the same.
chroots() {
	local suite extra
	for suite in bullseye bookworm trixie; do
		[ ! -e "$cache/$suite.made" ] || continue
		echo "making $cache/$suite"
		extra=$([ "$suite" != trixie ] || echo valkey-server)
		rm -rf --one-file-system "${cache:?}/$suite"
		mkdir -p "$cache/$suite"
		{
			debootstrap --variant=minbase "$suite" "$cache/$suite" "$(mirror)"
			printf '#!/bin/sh\nexit 101\n' >"$cache/$suite/usr/sbin/policy-rc.d"
			chmod +x "$cache/$suite/usr/sbin/policy-rc.d"
			# shellcheck disable=SC2086
			DEBIAN_FRONTEND=noninteractive chroot "$cache/$suite" apt-get install -y -qq --no-install-recommends postgresql mariadb-server redis-server slapd ldap-utils $extra
			chroot "$cache/$suite" apt-get clean
		} >"$cache/$suite.log" 2>&1 || { tail -n 20 "$cache/$suite.log"; return 1; }
		touch "$cache/$suite.made"
	done
}

# hosts gives each suite a root of its own over its chroot. All share a disk for
# data, /srv/db, one for backups, and the sockets: as one host has them whose
# system was upgraded in between.
hosts() {
	local suite root engine
	mount -t tmpfs -o size=3g none "$work"
	mkdir -p "$work"/{disk,backups,run,home}
	chmod 755 "$work"/{disk,backups,run}
	mkdir -m 1777 "$work/run/mysqld" "$work/run/redis"
	CGO_ENABLED=0 go build -trimpath -o "$work/svc" ./cmd/svc
	for suite in bullseye bookworm trixie; do
		root=$work/$suite
		mkdir -p "$root" "$work/over/$suite" "$work/overwork/$suite"
		mount -t overlay -o "lowerdir=$cache/$suite,upperdir=$work/over/$suite,workdir=$work/overwork/$suite" none "$root"
		mount -t proc proc "$root/proc"
		mount --bind /dev "$root/dev"
		mount -t tmpfs -o mode=1777 none "$root/tmp"
		mount -t tmpfs none "$root/run"
		mkdir -p "$root/srv/db" "$root/srv/backups" "$root/run/mysqld" "$root/run/redis"
		mount --bind "$work/disk" "$root/srv/db"
		mount --bind "$work/backups" "$root/srv/backups"
		mount --bind "$work/run/mysqld" "$root/run/mysqld"
		mount --bind "$work/run/redis" "$root/run/redis"
		for engine in mysql redis valkey; do
			rm -rf "$root/var/lib/$engine"
			ln -s "/srv/db/$engine" "$root/var/lib/$engine"
		done
		printf '[mysqld]\ninnodb_log_file_size=8M\n' >"$root/etc/mysql/mariadb.conf.d/99-e2e.cnf"
		sed -i 's/^port .*/port 0/; s#^\# unixsocket .*#unixsocket /run/redis/e2e.sock#' "$root"/etc/redis/redis.conf
		cp "$work/svc" "$root/usr/local/bin/svc"
	done
}

# on SUITE COMMAND…: runs it on that host.
on() { chroot "$work/$1" "${@:2}"; }

# until_true COMMAND…: tries for some seconds.
until_true() {
	local i
	for i in $(seq 200); do
		"$@" >/dev/null 2>&1 && return 0
		sleep 0.05
	done
	echo "no success after $i tries: $*" >&2
	return 1
}

not() { ! "$@"; }

# digest DIRECTORY: of all in it: names, owners, modes, times and bytes.
digest() {
	(cd "$1" && find . ! -type s -printf '%p %y %m %U:%G %s\n' | sort && find . -type f -printf '%p %T@\n' | sort && find . -type f -print0 | sort -z | xargs -0 sha256sum) | sha256sum | cut -c1-16
}

# backup: an empty backup directory; its name on the hosts is in $dir.
backup() {
	rm -rf "$work"/backups/*
	mkdir "$work/backups/one"
	dir=/srv/backups/one
}

# upgrade SUITE ENGINE VERSION: what svc says is in $work/said.
upgrade() { on "$1" env HOME=/tmp /usr/local/bin/svc db upgrade --engine "$2" --to "$3" --backup-dir "$dir" --confirm 2>&1 | tee "$work/said"; }

# again SUITE --resume|--roll-back
again() { on "$1" env HOME=/tmp /usr/local/bin/svc db upgrade --backup-dir "$dir" "$2" --confirm 2>&1 | tee "$work/said"; }

# at STEP SIGNAL COMMAND…: runs svc and sends it the signal when it says that it
# begins the step, or with "stall COMMAND" has the command run meanwhile.
at() {
	local step=$1 signal=$2 pid line status=0
	shift 2
	mkfifo "$work/fifo"
	"$@" >"$work/out" 2>"$work/fifo" &
	pid=$!
	: >"$work/said"
	while read -r line; do
		echo "$line" >>"$work/said"
		case $line in
		"svc: "*", $step: "*)
			sleep "${late:-0}"
			kill "-$signal" "$pid" 2>/dev/null || true
			if [ "$signal" = STOP ]; then fill; kill -CONT "$pid"; fi
			;;
		esac
	done <"$work/fifo"
	rm "$work/fifo"
	wait "$pid" || status=$?
	return "$status"
} 2>/dev/null # where bash says what was killed

svc_upgrade() { exec chroot "$work/$1" env HOME=/tmp /usr/local/bin/svc db upgrade --engine "$2" --to "$3" --backup-dir "$dir" --confirm; }
svc_again() { exec chroot "$work/$1" env HOME=/tmp /usr/local/bin/svc db upgrade --backup-dir "$dir" "$2" --confirm; }

# — MariaDB —

socket=/run/mysqld/mysqld.sock
sql() { on "$1" mysql --socket=$socket --default-character-set=utf8mb4 -BN "${@:2}"; }

# mariadb_start SUITE / mariadb_stop SUITE: the server as the host runs it.
mariadb_start() {
	chroot "$work/$1" "$(on "$1" sh -c 'command -v mariadbd')" --user=mysql >"$work/mariadb.log" 2>&1 &
	server=$!
	until_true sql "$1" -e 'select 1' || { tail -n 20 "$work/mariadb.log"; return 1; }
}

mariadb_stop() {
	on "$1" mysqladmin --socket=$socket shutdown
	wait "$server" 2>/dev/null || true
}

# ours SUITE: the data are the server's account's, as after a move.
ours() { on "$1" chown -R mysql:mysql /srv/db/mysql; }

# mariadb_data makes the data of 10.5 that everything begins with.
mariadb_data() {
	mkdir "$work/disk/mysql"
	ours bullseye
	on bullseye mysql_install_db --user=mysql --auth-root-authentication-method=socket >"$work/last.log" 2>&1
	mariadb_start bullseye
	sql bullseye <<-'SQL'
		create database shop character set utf8mb4 collate utf8mb4_german2_ci;
		use shop;
		create table orders (n int primary key auto_increment, t varchar(100), d datetime, x decimal(10,3), f double, b blob, j json, key (t)) engine=innodb;
		insert into orders (t,d,x,f,b,j) select concat('Größe ', seq), '2021-01-01' + interval seq hour, seq/7, seq/3, repeat(char(seq%256), 30), json_object('a', seq) from seq_1_to_5000;
		create table words (n int, t text, fulltext(t)) engine=myisam;
		insert into words select seq, concat('word', seq, ' and') from seq_1_to_3000;
		create table places (n int, g geometry) engine=aria;
		insert into places select seq, point(seq, seq) from seq_1_to_100;
		create table parts (n int, y int) engine=innodb partition by range(y) (partition p0 values less than (10), partition p1 values less than maxvalue);
		insert into parts select seq, seq%20 from seq_1_to_200;
		create table `we"ird ``nämé	tab` (n int) engine=innodb;
		insert into `we"ird ``nämé	tab` values (1);
		create view totals as select count(*) c from orders;
		create sequence numbers;
		select nextval(numbers);
		delimiter //
		create procedure pr(in n int) begin select n+1; end//
		create function twice(n int) returns int deterministic return n*2//
		create trigger bang before insert on orders for each row set new.t=concat(new.t,'!')//
		create event tidy on schedule every 1 day do delete from places where n<0//
		delimiter ;
		create user u@localhost identified by 'secret';
		grant select, execute on shop.* to u@localhost;
		create role r; grant r to u@localhost;
		grant insert (n) on shop.words to u@localhost;
	SQL
	mariadb_facts bullseye >"$work/facts"
	mariadb_stop bullseye
	mv "$work/disk/mysql" "$work/pristine"
}

# mariadb_facts SUITE: what the server says that is there.
mariadb_facts() {
	sql "$1" -e "checksum table shop.orders, shop.words, shop.places, shop.parts, shop.numbers, shop.\`we\"ird \`\`nämé	tab\` extended;
		select count(*), sum(n), md5(group_concat(md5(concat_ws('|', n, t, d, x, f, b, j)) order by n)) from shop.orders;
		select count(*) from shop.words where match(t) against ('word77');
		select count(*), sum(st_x(g)) from shop.places; select y, count(*) from shop.parts group by y;
		select c from shop.totals; select shop.twice(21); call shop.pr(1);
		select table_name, engine from information_schema.tables where table_schema = 'shop' order by 1;
		select trigger_name, action_statement from information_schema.triggers where trigger_schema = 'shop';
		select name, body, status from mysql.event; select user, host, role from mysql.roles_mapping where user = 'u';
		select user, host, plugin, authentication_string from mysql.user where user in ('u', 'root', 'mysql') and host = 'localhost' order by 1;
		select table_name, column_name, column_priv from mysql.columns_priv"
	on "$1" mysql --socket=$socket -u u -psecret -BNe 'select count(*) from shop.orders; show databases like "shop"'
}

# mariadb_old: the data of 10.5, fresh, on the host SUITE.
mariadb_old() {
	rm -rf "$work"/disk/mysql*
	cp -a "$work/pristine" "$work/disk/mysql"
	ours "$1"
	was=$(digest "$work/disk/mysql")
	backup
}

# mariadb_is NAME SUITE: the server of the suite has everything.
mariadb_is() {
	ours "$2"
	mariadb_start "$2" && mariadb_facts "$2" >"$work/now" 2>&1 || true
	mariadb_stop "$2" || true
	check "$1" diff "$work/facts" "$work/now"
}

# mariadb_back NAME: the old data are where they were, byte for byte.
mariadb_back() {
	equal "$1: the old data are byte for byte what they were" "$was" "$(digest "$work/disk/mysql")"
	check "$1: and nothing is left beside them" test "$(ls "$work/disk")" = mysql
}

mariadb_refusals() {
	mariadb_old trixie
	check "mariadb: without --confirm it is a plan" not on trixie env HOME=/tmp /usr/local/bin/svc db upgrade --engine mariadb --to 11.8 --backup-dir $dir
	cp "$work/last.log" "$work/said"
	check "mariadb: that names the steps" grep -q 'exchange.*changes the host' "$work/said"
	refused() { check "mariadb: refuses $1" not upgrade trixie mariadb "${3:-11.8}"; check "mariadb: and says why ($2)" grep -q "$2" "$work/said"; }
	refused "a version that is not installed" "installed is mariadb 11.8" 10.11
	dir=/srv/backups/none refused "a backup directory that is not there" "does not exist"
	mkdir "$work/backups/small"
	mount -t tmpfs -o size=20m none "$work/trixie/srv/backups/small"
	dir=/srv/backups/small refused "a backup disk that is too small" "too little room"
	umount "$work/trixie/srv/backups/small"
	echo x >"$work/disk/mysql/master.info"
	refused "a replica" "this server is a replica"
	rm "$work/disk/mysql/master.info"
	mkdir "$work/disk/mysql.svc-old"
	refused "what another upgrade has left" "of an earlier upgrade"
	rmdir "$work/disk/mysql.svc-old"
	ln -s /srv/db "$work/disk/mysql/elsewhere"
	refused "files elsewhere" "can't be copied as a whole"
	rm "$work/disk/mysql/elsewhere"
	mount --bind "$work/disk/mysql" "$work/trixie/srv/db/mysql"
	refused "a mount point" "where a file system is mounted"
	umount "$work/trixie/srv/db/mysql"
	printf 'innodb_thread_concurrencies=3\n' >>"$work/trixie/etc/mysql/mariadb.conf.d/99-e2e.cnf"
	refused "a configuration that the new server does not take" "unknown variable"
	sed -i '/concurrencies/d' "$work/trixie/etc/mysql/mariadb.conf.d/99-e2e.cnf"
	mariadb_back "mariadb: after all that was refused"
}

# mariadb_crashed: the old server was killed, so that its redo log is not empty.
mariadb_crashed() {
	mariadb_old bullseye
	mariadb_start bullseye
	sql bullseye -e 'insert into shop.parts values (7, 7)'
	kill -9 "$server"
	wait "$server" 2>/dev/null || true
	ours trixie
	was=$(digest "$work/disk/mysql")
	check "mariadb: data of a crashed server are not upgraded" not upgrade trixie mariadb 11.8
	check "mariadb: the server's reason is said" grep -q 'Upgrade after a crash is not supported' "$work/said"
	mariadb_back "mariadb: after a crashed server's data"
	ours bullseye
	mariadb_start bullseye
	equal "mariadb: and the old server recovers them" 201 "$(sql bullseye -e 'select count(*) from shop.parts')"
	mariadb_stop bullseye
}

# mariadb_chain: from release to release, each upgraded data being the next ones.
mariadb_chain() {
	mariadb_old bookworm
	check "mariadb: 10.5 → 10.11" upgrade bookworm mariadb 10.11
	check "mariadb: says where the old data are" grep -q 'mysql.svc-old' "$work/said"
	equal "mariadb: which are what they were" "$was" "$(digest "$work/disk/mysql.svc-old")"
	mariadb_is "mariadb: 10.11 has everything" bookworm
	rm -rf "$work/disk/mysql.svc-old"
	ours trixie
	backup
	check "mariadb: 10.11 → 11.8" upgrade trixie mariadb 11.8
	mariadb_is "mariadb: 11.8 has everything" trixie
	rm -rf "$work/disk/mysql.svc-old"
	backup
	check "mariadb: 11.8 → 11.8 is refused" not upgrade trixie mariadb 11.8
}

# mariadb_running: the old server runs while the new one's files are there.
mariadb_running() {
	mariadb_old bullseye
	mariadb_start bullseye
	check "mariadb: 10.5, which runs, → 11.8, which runs then" upgrade trixie mariadb 11.8
	wait "$server" 2>/dev/null || true
	mariadb_facts trixie >"$work/now" 2>&1 || true
	check "mariadb: and has everything" diff "$work/facts" "$work/now"
	equal "mariadb: it is the new one" 11.8 "$(sql trixie -e 'select left(version(), 4)')"
	sql trixie -e "create table shop.later (n int); insert into shop.later values (1)"
	check "mariadb: a roll-back when all is done" again trixie --roll-back
	check "mariadb: what clients have written since is kept aside" test -e "$work/disk/mysql.svc-undone/shop/later.ibd"
	rm -rf "$work/disk/mysql.svc-undone"
	check "mariadb: and no new server runs on the old data" not sql trixie -e 'select 1'
	mariadb_is "mariadb: which 10.5 serves again" bullseye
}

mariadb_steps="stop backup verify upgrade exchange"

# mariadb_kills: SIGKILL at every step, and back; then at every step, and on.
mariadb_kills() {
	local step late
	for step in $mariadb_steps; do
		mariadb_old trixie
		late=$([ "$step" = upgrade ] && echo 1 || echo 0.05) at "$step" KILL svc_upgrade trixie mariadb 11.8 || true
		check "mariadb: killed at $step, rolled back" again trixie --roll-back
		mariadb_back "mariadb: killed at $step"
	done
	mariadb_is "mariadb: which 10.5 serves again" bullseye
	mariadb_old trixie
	at stop KILL svc_upgrade trixie mariadb 11.8 || true
	for step in ${mariadb_steps#* }; do
		late=0.1 at "$step" KILL svc_again trixie --resume || true
	done
	check "mariadb: killed at each step in turn, and resumed" again trixie --resume
	equal "mariadb: the old data are kept as they were" "$was" "$(digest "$work/disk/mysql.svc-old")"
	mariadb_is "mariadb: 11.8 has everything after five kills" trixie
	check "mariadb: to resume what is done is nothing" again trixie --resume
}

mariadb_interrupts() {
	mariadb_old trixie
	late=0.5 at upgrade INT svc_upgrade trixie mariadb 11.8 || true
	check "mariadb: SIGINT rolls back by itself" grep -q 'all was rolled back' "$work/said"
	mariadb_back "mariadb: after SIGINT"
}

# full DISK STEP NAME: the disk is filled when the step begins.
full() {
	local disk=$1
	fill() { fallocate -l "$(($(stat -f -c '%a * %S' "$disk")))" "$disk/filler" 2>/dev/null || true; }
	at "$2" STOP svc_upgrade trixie "$3" "$4" || true
	rm -f "$disk/filler"
	check "$3: a disk that is full at $2 is said" grep -qi 'no space left\|full\|Errcode: 28' "$work/said"
	check "$3: and all is rolled back" grep -q 'all was rolled back' "$work/said"
}

mariadb_full() {
	mariadb_old trixie
	mkdir "$work/backups/disk"
	mount -t tmpfs -o size=400m none "$work/trixie/srv/backups/disk"
	dir=/srv/backups/disk full "$work/trixie/srv/backups/disk" backup mariadb 11.8
	umount "$work/trixie/srv/backups/disk"
	mariadb_back "mariadb: after a full backup disk"
}

install() {
	command -v debootstrap >/dev/null && return
	apt-get update -qq
	DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends debootstrap >/dev/null
}

if [ "${1:-}" != inside ]; then
	install
	chroots
	work=$(mktemp -d)
	trap 'rmdir "$work"' EXIT
	unshare --mount --pid --fork --kill-child --propagation private bash "$PWD/.ci/e2e/upgrade_mariadb.sh" inside "$work" "${@}"
	exit
fi
work=$2
mount -t proc proc /proc
hosts
mariadb_data
[ -z "${E2E_SHELL:-}" ] || { mariadb_old trixie; eval "$E2E_SHELL"; exit; }
for part in ${3:-${E2E_PARTS:-refusals crashed chain running kills interrupts full}}; do "mariadb_$part"; done
printf '%d passed, %d failed\n' "$passed" "$failed"
[ "$failed" = 0 ]
