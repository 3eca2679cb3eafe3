#!/usr/bin/env bash
# Upgrades real MariaDB, 10.5 → 10.11 → 11.8, and Redis, 6.0 → 7.0 → 8.0 and to
# Valkey, on hosts made of Debian 11, 12 and 13, with the old server stopped and
# running; kills svc at every step and then goes on or goes back; fills the disk;
# and asks the servers themselves what is there each time. E2E_PARTS names some
# of the parts. Needs root. All
# of it happens in namespaces of its own, so that no process and no mount is left.
set -euo pipefail
cd "$(dirname "$0")/../.."

# shellcheck source=.ci/e2e/checks.sh
. .ci/e2e/checks.sh
# shellcheck source=.ci/e2e/chroots.sh
. .ci/e2e/chroots.sh

# equal NAME WANT GOT
equal() { same "$1" "$3" "$2"; }

# tells NAME PATTERN: svc has said so; a failure shows what it said instead.
tells() { if grep -q -- "$2" "$work/said"; then ok "$1"; else cp "$work/said" "$work/last.log"; fails "$1"; fi; }

# hosts gives each suite a root of its own over its chroot. All share a disk for
# data, /srv/db, one for backups, and the sockets: as one host has them whose
# system was upgraded in between.
hosts() {
	local suite root engine number=0
	mount -t tmpfs -o size=3g none "$work"
	mkdir -p "$work"/{disk,backups,run,home}
	mount -t tmpfs -o size=800m none "$work/disk"
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
			number=$((number % 3 + 1)) # the same on every host
			! chroot "$root" id "$engine" >/dev/null 2>&1 || chroot "$root" sh -c "usermod -o -u 90$number $engine && groupmod -o -g 90$number $engine && { [ ! -e /etc/$engine ] || chown -R $engine:$engine /etc/$engine; }"
		done
		printf '[mysqld]\ninnodb_log_file_size=8M\nskip-networking\n' >"$root/etc/mysql/mariadb.conf.d/99-e2e.cnf"
		sed -i 's/^port .*/port 0/; s/^logfile .*/logfile ""/' "$root"/etc/{redis,valkey}/*.conf 2>/dev/null || true
		echo 'unixsocket /run/redis/redis.sock' >>"$root/etc/redis/redis.conf"
		[ ! -e "$root/etc/valkey" ] || echo 'unixsocket /run/redis/valkey.sock' >>"$root/etc/valkey/valkey.conf"
		cp "$work/svc" "$root/usr/local/bin/svc"
	done
}

# on SUITE COMMAND…: runs it on that host.
on() { chroot "$work/$1" "${@:2}"; }

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
again() { on "$1" env HOME=/tmp /usr/local/bin/svc db upgrade --backup-dir "$dir" "${@:2}" --confirm 2>&1 | tee "$work/said"; }

# lost NAME SUITE: a roll-back that would lose writes is refused; then it is done, and
# the commands that it prints dump what is kept.
lost() {
	check "$1: a roll-back that would lose writes is refused" not again "$2" --roll-back
	tells "$1: and says what allows it" --discard-writes
	check "$1: a roll-back when all is done" again "$2" --roll-back --discard-writes
	check "$1: the commands that dump what is kept work as printed" on "$2" env HOME=/tmp bash -c "$(sed -n 's/^ *`\(.*\)`$/\1/p' "$work/said"); wait"
}

# cleaned NAME SUITE: does what the result says to do afterwards, as printed, but for
# the way back.
cleaned() {
	grep -o '`[^`]*`' "$work/said" | tr -d '`' | grep -v roll-back >"$work/commands" || true
	equal "$1: there are commands to look at it, and to remove what was" 3 "$(wc -l <"$work/commands")"
	check "$1: they work as printed" on "$2" env HOME=/root bash -ec "$(cat "$work/commands")"
	check "$1: the old data are gone" test ! -e "$work/disk/$1.svc-old"
	check "$1: and the backup" test ! -e "$work/$2$dir"
}

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
			[ "${late:-0}" = 0 ] || sleep "$late"
			kill "-$signal" "$pid" 2>/dev/null || true
			if [ "$signal" = STOP ]; then fill; kill -CONT "$pid"; fi
			;;
		esac
	done <"$work/fifo"
	rm "$work/fifo"
	wait "$pid" || status=$?
	return "$status"
} 2>/dev/null # where bash says what was killed

# struck STEP COMMAND…: SIGKILL the moment svc says that it begins the step, or, of late,
# so much later. Both share a processor, which goes to the one that waited for that.
struck() {
	local processors
	processors=$(taskset -cp $$)
	processors=${processors##*: }
	taskset -cp "${processors%%[-,]*}" $$ >/dev/null
	late=${late:-0} nicely="nice -n 5" at "$@" || true
	taskset -cp "$processors" $$ >/dev/null
	tail -n 1 "$work/backups/one/journal.jsonl" | grep -q "\"step\":\"$1\",\"state\":\"started\""
}

# hit ENGINE VERSION STEP BEGIN: begins, until SIGKILL comes in the midst of the step: some
# are over in a moment.
hit() {
	local try
	for try in 1 2 3 4 5 6 7 8 9 10; do
		"$4"
		late=$([ "$3" = stop ] && echo "0.0$((RANDOM % 9))" || echo 0) struck "$3" KILL svc_upgrade trixie "$1" "$2" && { ok "$1: killed in the midst of $3, try $try"; return; }
		again trixie --roll-back >/dev/null || true
		kill "$server" 2>/dev/null || true
		wait "$server" 2>/dev/null || true
	done
	fail "$1: killed in the midst of $3"
}

svc_upgrade() { exec ${nicely:-} chroot "$work/$1" env HOME=/tmp /usr/local/bin/svc db upgrade --engine "$2" --to "$3" --backup-dir "$dir" --confirm; }
svc_again() { exec ${nicely:-} chroot "$work/$1" env HOME=/tmp /usr/local/bin/svc db upgrade --backup-dir "$dir" "$2" --confirm; }

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

# mariadb_data makes the data of 10.5 that everything begins with.
mariadb_data() {
	mkdir "$work/disk/mysql"
	on bullseye chown mysql:mysql /srv/db/mysql
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
	rm -rf "$work"/disk/*
	cp -a "$work/pristine" "$work/disk/mysql"
	was=$(digest "$work/disk/mysql")
	backup
}

# mariadb_is NAME SUITE: the server of the suite has everything.
mariadb_is() {
	mariadb_start "$2"
	mariadb_facts "$2" >"$work/now" 2>&1 || true
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
	tells "mariadb: that names the steps" 'exchange.*changes the host'
	refused() { check "mariadb: refuses $1" not upgrade trixie mariadb "${3:-11.8}"; tells "mariadb: and says why ($2)" "$2"; }
	refused "a version that is not installed" "installed is mariadb 11.8" 10.11
	dir=/srv/backups/none refused "a backup directory that is not there" "does not exist"
	mkdir "$work/disk/mysql/backup"
	dir=/srv/db/mysql/backup refused "a backup directory among the data" "/srv/db/mysql belongs to the account"
	rmdir "$work/disk/mysql/backup"
	mkdir "$work/backups/small"
	mount -t tmpfs -o size=20m,mode=755 none "$work/trixie/srv/backups/small"
	dir=/srv/backups/small refused "a backup disk that is too small" "too little room"
	umount "$work/trixie/srv/backups/small"
	echo x >"$work/disk/mysql/master.info"
	refused "a replica" "this server is a replica"
	rm "$work/disk/mysql/master.info"
	chown 904 "$work/disk/mysql"
	refused "what belongs to another account" "chown -R mysql:"
	on trixie chown mysql /srv/db/mysql
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
	was=$(digest "$work/disk/mysql")
	check "mariadb: data of a crashed server are not upgraded" not upgrade trixie mariadb 11.8
	tells "mariadb: the server's reason is said" 'Upgrade after a crash is not supported'
	mariadb_back "mariadb: after a crashed server's data"
	mariadb_start bullseye
	equal "mariadb: and the old server recovers them" 201 "$(sql bullseye -e 'select count(*) from shop.parts')"
	mariadb_stop bullseye
}

# mariadb_chain: from release to release, each upgraded data being the next ones.
mariadb_chain() {
	mariadb_old bookworm
	check "mariadb: 10.5 → 10.11" upgrade bookworm mariadb 10.11
	tells "mariadb: says where the old data are" 'mysql.svc-old'
	equal "mariadb: which are what they were" "$was" "$(digest "$work/disk/mysql.svc-old")"
	mariadb_is "mariadb: 10.11 has everything" bookworm
	rm -rf "$work/disk/mysql.svc-old"
	backup
	check "mariadb: 10.11 → 11.8" upgrade trixie mariadb 11.8
	mariadb_is "mariadb: 11.8 has everything" trixie
	rm -rf "$work/disk/mysql.svc-old"
	backup
	check "mariadb: 11.8 → 11.8 is refused" not upgrade trixie mariadb 11.8
}

# replica ARGS…: asks the replica of a pair.
replica() { on trixie mysql --socket=/run/mysqld/replica.sock -BN "$@"; }

replica_has() { [ "$(replica -e "select count(*) from pair.rows")" = "$1" ]; }

# follows NAME ROWS: the replica has as many of the primary's rows, and goes on by GTIDs.
follows() {
	until_true replica_has "$2" || true
	equal "$1: the replica has what was written" "$2" "$(replica -e 'select count(*) from pair.rows')"
	on trixie mysql --socket=/run/mysqld/replica.sock -e 'show slave status\G' >"$work/last.log"
	equal "$1: by GTID, and goes on" "Slave_IO_Running: Yes Slave_SQL_Running: Yes Using_Gtid: Slave_Pos" "$(grep -oE '(Slave_(IO|SQL)_Running|Using_Gtid): .*' "$work/last.log" | xargs)"
}

# mariadb_pair: a primary of 10.5 with a replica that is of 11.8 already, as it has to be.
mariadb_pair() {
	local suite follower
	mariadb_old bullseye
	for suite in bullseye trixie; do
		printf '[mysqld]\nskip-networking=0\nbind-address=127.0.0.1\nport=3306\nserver-id=1\nlog-bin=bin\n' >"$work/$suite/etc/mysql/mariadb.conf.d/99-pair.cnf"
	done
	on trixie mariadb-install-db --user=mysql --datadir=/srv/db/replica --auth-root-authentication-method=socket >"$work/last.log" 2>&1
	chroot "$work/trixie" mariadbd --user=mysql --datadir=/srv/db/replica --socket=/run/mysqld/replica.sock --pid-file=/tmp/replica.pid --port=3399 --server-id=2 --skip-log-bin >"$work/replica.log" 2>&1 &
	follower=$!
	until_true replica -e 'select 1'
	mariadb_start bullseye
	replica -e "set global gtid_slave_pos = '$(sql bullseye -e 'select @@gtid_binlog_pos')'; change master to master_host='127.0.0.1', master_user='rep', master_password='secret', master_use_gtid=slave_pos, master_connect_retry=1, master_ssl=0, master_ssl_verify_server_cert=0"
	sql bullseye -e "create user rep@localhost identified by 'secret'; grant replication slave on *.* to rep@localhost; create database pair; create table pair.rows (n int primary key); insert into pair.rows values (1)"
	replica -e "start slave"
	follows "mariadb, a pair: before" 1
	check "mariadb, a pair: the primary, 10.5 → 11.8" upgrade trixie mariadb 11.8
	tells "mariadb, a pair: says what replicas have to be" 'its replicas, if it has any, have to be of the new version'
	wait "$server" 2>/dev/null || true
	sql trixie -e 'insert into pair.rows values (2)'
	follows "mariadb, a pair: upgraded" 2
	on trixie mysqladmin --socket=/run/mysqld/replica.sock shutdown
	wait "$follower" 2>/dev/null || true
	check "mariadb, a pair: back" again trixie --roll-back --discard-writes
	equal "mariadb, a pair: 10.5 has what it had" 1 "$(mariadb_start bullseye && sql bullseye -e 'select count(*) from pair.rows')"
	on bullseye mysqladmin --socket=$socket shutdown
	until_true not sql bullseye -e 'select 1'
	rm "$work"/{bullseye,trixie}/etc/mysql/mariadb.conf.d/99-pair.cnf
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
	lost mariadb trixie
	check "mariadb: with what was written" grep -q 'CREATE TABLE `later`' "$work/backups/one/written.sql"
	check "mariadb: what clients have written since is kept aside" test -e "$work/disk/mysql.svc-undone/shop/later.ibd"
	rm -rf "$work/disk/mysql.svc-undone"
	check "mariadb: and no new server runs on the old data" not sql trixie -e 'select 1'
	mariadb_is "mariadb: which 10.5 serves again" bullseye
}

# mariadb_cleaned: beside a server of the old version that is to live on.
mariadb_cleaned() {
	local other
	mariadb_old bullseye
	cp -a "$work/pristine" "$work/disk/other"
	chroot "$work/bullseye" mariadbd --user=mysql --datadir=/srv/db/other --socket=/run/mysqld/other.sock --pid-file=/run/mysqld/other.pid --skip-networking >"$work/other.log" 2>&1 &
	other=$!
	until_true on bullseye mysql --socket=/run/mysqld/other.sock -e 'select 1'
	mariadb_start bullseye
	check "mariadb: beside another server, 10.5 → 11.8" upgrade trixie mariadb 11.8
	wait "$server" 2>/dev/null || true
	cleaned mysql trixie
	mariadb_facts trixie >"$work/now" 2>&1 || true
	check "mariadb: which has everything without them" diff "$work/facts" "$work/now"
	equal "mariadb: and the other server lives" "10.5 5000" "$(on bullseye mysql --socket=/run/mysqld/other.sock -BNe 'select left(version(), 4), count(*) from shop.orders' | xargs)"
	on trixie mysqladmin --socket=$socket shutdown
	on bullseye mysqladmin --socket=/run/mysqld/other.sock shutdown
	wait "$other" || true
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

# mariadb_struck: SIGKILL while a server that runs is stopped, and while files are
# exchanged.
mariadb_struck() {
	local step how
	for step in stop exchange start; do
		for how in --roll-back --resume; do
			hit mariadb 11.8 "$step" mariadb_begin
			check "mariadb: killed in $step, $how" again trixie "$how"
			struck_then mariadb sql "$how"
			mariadb_facts "$on" >"$work/now" 2>&1 || true
			check "mariadb: killed in $step, $how: all is there" diff "$work/facts" "$work/now"
			on "$on" mysqladmin --socket=$socket shutdown
			wait "$server" 2>/dev/null || true
		done
	done
}

mariadb_begin() { mariadb_old bullseye && mariadb_start bullseye; }
redis_begin() { redis_old bullseye redis rdb && redis_start bullseye redis && cli bullseye redis set k1 changed >/dev/null; }

# struck_then ENGINE ASK HOW: starts the old server where the roll-back can't, which runs
# no longer; the host that serves is in $on.
struck_then() {
	on=trixie
	[ "$3" = --roll-back ] || return 0
	on=bullseye
	kill -0 "$server" 2>/dev/null && "$2" bullseye 2>/dev/null </dev/null && return 0
	wait "$server" 2>/dev/null || true
	"$1_start" bullseye "$1"
}

# mariadb_interrupts: also while a server starts, of which MariaDB never ends by itself.
mariadb_interrupts() {
	local late step
	for late in 0.2 0.4 0.6 0.8 1; do
		for step in verify upgrade; do
			mariadb_old trixie
			late=$late at "$step" INT timeout 60 chroot "$work/trixie" env HOME=/tmp /usr/local/bin/svc db upgrade --engine mariadb --to 11.8 --backup-dir "$dir" --confirm || true
			tells "mariadb: SIGINT $late s after $step begins rolls back by itself" 'all was rolled back'
			mariadb_back "mariadb: after SIGINT $late s after $step begins"
		done
	done
}

# full DISK STEP NAME: the disk is filled when the step begins.
full() {
	local disk=$1
	fill() { cat /dev/zero >"$disk/filler" || true; }
	at "$2" STOP svc_upgrade trixie "$3" "$4" || true
	rm -f "$disk/filler"
	tells "$3: a disk that is full at $2 is said" 'there is no space left for\|has no room left'
	tells "$3: and all is rolled back" 'all was rolled back'
}

mariadb_full() {
	local step
	mariadb_old trixie
	mkdir "$work/backups/disk"
	mount -t tmpfs -o size=400m,mode=755 none "$work/trixie/srv/backups/disk"
	dir=/srv/backups/disk full "$work/trixie/srv/backups/disk" backup mariadb 11.8
	umount "$work/trixie/srv/backups/disk"
	mariadb_back "mariadb: after a full backup disk"
	for step in verify upgrade; do
		mariadb_old trixie
		full "$work/disk" $step mariadb 11.8
		mariadb_back "mariadb: after a disk of the data that was full at $step"
	done
}

# mariadb_readonly: the disk of the data goes read-only, as after an error of it.
mariadb_readonly() {
	mariadb_old trixie
	fill() { mount -o remount,ro "$work/disk"; }
	at backup STOP svc_upgrade trixie mariadb 11.8 || true
	tells "mariadb: a disk that went read-only is said" 'is on a file system that is read-only'
	mariadb_back "mariadb: on a disk that went read-only"
	mount -o remount,rw "$work/disk"
	again trixie --roll-back >/dev/null || true
	mariadb_back "mariadb: once the disk is written to again"
	mariadb_is "mariadb: which 10.5 serves" bullseye
}

# — Redis and Valkey —

# cli SUITE [ENGINE] …
cli() { on "$1" "$2-cli" -s "/run/redis/$2.sock" "${@:3}"; }

# redis_start SUITE ENGINE / redis_stop: as the host runs it.
redis_start() {
	chroot --userspec="$2:$2" "$work/$1" "/usr/bin/$2-server" "/etc/$2/$2.conf" --daemonize no --supervised no >"$work/$2.log" 2>&1 &
	server=$!
	until_true pings "$1" "$2" || { tail -n 20 "$work/$2.log"; return 1; }
}

pings() { cli "$1" "$2" ping | grep -q PONG; }

redis_stop() {
	kill -TERM "$server"
	wait "$server" 2>/dev/null || true
}

# appending yes|no: what the configuration of every host says.
appending() { sed -i "s/^appendonly .*/appendonly $1/" "$work"/*/etc/{redis,valkey}/*.conf 2>/dev/null || true; }

# redis_data makes the data of 6.0: a dump, and append-only files beside it.
redis_data() {
	mkdir "$work/disk/redis"
	on bullseye chown redis:redis /srv/db/redis
	appending yes
	redis_start bullseye redis
	for i in $(seq 500); do
		printf 'set k%d v%d\nrpush list a%d\nsadd set m%d\nzadd sorted %d n%d\nhset hash f%d %d\nxadd stream %d-1 a %d\n' "$i" "$i" "$i" "$i" "$i" "$i" "$i" "$i" "$i" "$i"
	done >"$work/commands"
	printf 'setbit bits 1000 1\npfadd seen a b c\nset "with space \\xff" 1\nset short 1 px 1000\nset long 1\nexpireat long 4102444800\nset days 1 ex 172800\nselect 3\nset other db\nsadd ints 1 2 3\n' >>"$work/commands"
	cli bullseye redis <"$work/commands" >/dev/null
	sleep 1.1
	redis_facts bullseye redis >"$work/redis-facts"
	cli bullseye redis save >/dev/null
	redis_stop
	mv "$work/disk/redis" "$work/redis-pristine"
}

# redis_facts SUITE ENGINE: every key with its type and what it holds.
redis_facts() {
	local db
	for db in 0 3; do
		cli "$1" "$2" -n "$db" --no-raw keys '*' | sed -n 's/^ *[0-9]*) //p' | sort >"$work/keys"
		wc -l <"$work/keys"
		sed 's/^/type /' "$work/keys" | cli "$1" "$2" -n "$db" | paste - "$work/keys" | tr '\t' ' ' >"$work/typed"
		cat "$work/typed"
		sed -e 's/^string \(.*\)/get \1/; s/^list \(.*\)/lrange \1 0 -1/; s/^zset \(.*\)/zrange \1 0 -1 withscores/; s/^stream \(.*\)/xrange \1 - +/' \
			-e 's/^set \(.*\)/sort \1 alpha/; s/^hash \(.*\)/hgetall \1/' "$work/typed" | cli "$1" "$2" -n "$db" | sha256sum
	done
	cli "$1" "$2" ttl long | awk '{print ($1 > 1000000)}'
	cli "$1" "$2" ttl days | awk '{print ($1 > 100000 && $1 < 172801)}'
}

# redis_old SUITE ENGINE rdb|aof|both: the data of 6.0, fresh, on the host.
redis_old() {
	rm -rf "$work"/disk/*
	cp -a "$work/redis-pristine" "$work/disk/$2"
	[ "$3" != rdb ] || rm "$work/disk/$2/appendonly.aof"
	[ "$3" != aof ] || rm "$work/disk/$2/dump.rdb"
	on "$1" chown -R "$2:$2" "/srv/db/$2"
	was=$(digest "$work/disk/$2")
	backup
}

# redis_is NAME SUITE ENGINE: the server of the suite has everything.
redis_is() {
	redis_start "$2" "$3"
	redis_facts "$2" "$3" >"$work/now" 2>&1 || true
	check "$1" diff "$work/redis-facts" "$work/now"
	redis_stop
}

redis_back() {
	equal "$1: the old data are byte for byte what they were" "$was" "$(digest "$work/disk/redis")"
	check "$1: and nothing is left beside them" test "$(ls "$work/disk")" = redis
}

redis_chain() {
	appending no
	redis_old bookworm redis rdb
	check "redis: 6.0 → 7.0 by its dump" upgrade bookworm redis 7.0
	equal "redis: the old data are kept as they were" "$was" "$(digest "$work/disk/redis.svc-old")"
	redis_is "redis: 7.0 has everything" bookworm redis
	rm -rf "$work/disk/redis.svc-old"
	backup
	check "redis: 7.0 → 8.0" upgrade trixie redis 8.0
	redis_is "redis: 8.0 has everything" trixie redis
	appending yes
	redis_old trixie redis both
	check "redis: 6.0 → 8.0 by its append-only file" upgrade trixie redis 8.0
	redis_is "redis: 8.0 has everything by append-only files" trixie redis
	redis_old trixie redis rdb
	check "redis: 6.0 → 8.0, a dump alone where append-only files are to be" upgrade trixie redis 8.0
	redis_is "redis: 8.0 does not start empty" trixie redis
	redis_old trixie valkey rdb
	check "valkey: Redis 6.0's files → 8.1" upgrade trixie valkey 8.1
	redis_is "valkey: 8.1 has everything" trixie valkey
	appending no
}

# redis_running: 6.0 runs, with keys that are not on the disk yet.
redis_running() {
	appending no
	redis_old bullseye redis rdb
	redis_start bullseye redis
	cli bullseye redis set k1 changed >/dev/null
	check "redis: 6.0, which runs, → 8.0, which runs then" upgrade trixie redis 8.0
	wait "$server" 2>/dev/null || true
	equal "redis: with what was not on the disk" changed "$(cli trixie redis get k1)"
	cli trixie redis set k1 v1 >/dev/null
	redis_facts trixie redis >"$work/now" 2>&1 || true
	check "redis: and all else" diff "$work/redis-facts" "$work/now"
	cli trixie redis save >/dev/null
	lost redis trixie
	check "redis: with what was written" test -s "$work/backups/one/written.rdb"
	check "redis: what clients have written since is kept aside" test -e "$work/disk/redis.svc-undone/dump.rdb"
	check "redis: and nothing new serves the old data" not pings trixie redis
	redis_start bullseye redis
	equal "redis: which 6.0 serves again" changed "$(cli bullseye redis get k1)"
	redis_stop
}

# redis_cleaned: beside a server of the old version that is to live on.
redis_cleaned() {
	local other
	appending no
	redis_old bullseye redis rdb
	cp -a "$work/disk/redis" "$work/disk/other"
	chroot --userspec=redis:redis "$work/bullseye" redis-server --port 0 --dir /srv/db/other --unixsocket /run/redis/other.sock >"$work/other.log" 2>&1 &
	other=$!
	until_true on bullseye redis-cli -s /run/redis/other.sock ping
	redis_start bullseye redis
	check "redis: beside another server, 6.0 → 8.0" upgrade trixie redis 8.0
	wait "$server" 2>/dev/null || true
	cleaned redis trixie
	redis_facts trixie redis >"$work/now" 2>&1 || true
	check "redis: which has everything without them" diff "$work/redis-facts" "$work/now"
	equal "redis: and the other server lives" v1 "$(on bullseye redis-cli -s /run/redis/other.sock get k1)"
	cli trixie redis shutdown nosave || true
	on bullseye redis-cli -s /run/redis/other.sock shutdown nosave || true
	wait "$other" || true
}

redis_refusals() {
	appending no
	redis_old trixie redis rdb
	upgrade trixie redis 8.0 >/dev/null
	rm -rf "$work/disk/redis.svc-old"
	was=$(digest "$work/disk/redis")
	backup
	check "redis: 8.0's files are refused for valkey 8.1" not upgrade trixie redis valkey/8.1
	tells "redis: and what would do is said" 'logical copy key by key'
	cp -a "$work/disk/redis" "$work/disk/valkey"
	on trixie chown -R valkey:valkey /srv/db/valkey
	check "valkey: refuses them in its own directory" not upgrade trixie valkey 8.1
	tells "valkey: and says why" 'RDB version is 12 or newer'
	rm -rf "$work/disk/valkey"
	redis_back "redis: after the refusals"
	redis_old trixie redis both
	touch "$work/disk/redis/appendonly.aof"
	check "redis: append-only files that would be passed over are refused" not upgrade trixie redis 8.0
	tells "redis: and what to set is said" 'set appendonly yes'
	redis_old trixie redis rdb
	printf x | dd of="$work/disk/redis/dump.rdb" bs=1 seek=5000 conv=notrunc 2>/dev/null
	was=$(digest "$work/disk/redis")
	check "redis: a damaged dump is not upgraded" not upgrade trixie redis 8.0
	redis_back "redis: after a damaged dump"
	echo 'replicaof 10.0.0.1 6379' >>"$work/trixie/etc/redis/redis.conf"
	check "redis: a replica is refused" not upgrade trixie redis 8.0
	sed -i '/^replicaof/d' "$work/trixie/etc/redis/redis.conf"
	redis_old trixie redis rdb
	echo 'loadmodule /usr/lib/none.so' >>"$work/trixie/etc/redis/redis.conf"
	check "redis: a module that is not there is refused" not upgrade trixie redis 8.0
	tells "redis: and named, before anything is begun" 'module loaded that can.t be.*none.so'
	sed -i '/^loadmodule/d' "$work/trixie/etc/redis/redis.conf"
	printf 'save ""\nrename-command CONFIG ""\nrename-command SAVE hidden\n' | tee -a "$work/bullseye/etc/redis/redis.conf" >>"$work/trixie/etc/redis/redis.conf"
	redis_start bullseye redis
	check "redis: a server that can't be told to save is refused" not upgrade trixie redis 8.0
	tells "redis: while it runs" 'does not take SAVE and CONFIG'
	check "redis: and runs on" pings bullseye redis
	redis_stop
	sed -i '/^save ""/d; /^rename-command/d' "$work"/{bullseye,trixie}/etc/redis/redis.conf
}

redis_kills() {
	local step late
	appending yes
	for step in stop backup verify upgrade exchange; do
		redis_old trixie redis both
		late=0.02 at "$step" KILL svc_upgrade trixie redis 8.0 || true
		check "redis: killed at $step, rolled back" again trixie --roll-back
		redis_back "redis: killed at $step"
	done
	redis_is "redis: which 6.0 serves again" bullseye redis
	redis_old trixie redis both
	at stop KILL svc_upgrade trixie redis 8.0 || true
	for step in backup verify upgrade exchange; do
		late=0.02 at "$step" KILL svc_again trixie --resume || true
	done
	check "redis: killed at each step in turn, and resumed" again trixie --resume
	redis_is "redis: 8.0 has everything after five kills" trixie redis
	appending no
}

# redis_struck: the same, with what was not on the disk when it began.
redis_struck() {
	local step how
	appending no
	for step in stop exchange start; do
		for how in --roll-back --resume; do
			hit redis 8.0 "$step" redis_begin
			check "redis: killed in $step, $how" again trixie "$how"
			struck_then redis pinged "$how"
			equal "redis: killed in $step, $how: what was not on the disk is there" changed "$(cli "$on" redis get k1)"
			cli "$on" redis set k1 v1 >/dev/null
			redis_facts "$on" redis >"$work/now" 2>&1 || true
			check "redis: killed in $step, $how: and all else" diff "$work/redis-facts" "$work/now"
			cli "$on" redis shutdown nosave || true
			wait "$server" 2>/dev/null || true
		done
	done
}

pinged() { pings "$1" redis; }

redis_full() {
	appending no
	redis_old trixie redis rdb
	mkdir "$work/backups/disk"
	mount -t tmpfs -o size=30m,mode=755 none "$work/trixie/srv/backups/disk"
	dir=/srv/backups/disk full "$work/trixie/srv/backups/disk" backup redis 8.0
	umount "$work/trixie/srv/backups/disk"
	redis_back "redis: after a full backup disk"
}

if [ "${1:-}" != inside ]; then
	needs ip:iproute2
	chroots bullseye bookworm trixie
	work=$(mktemp -d)
	trap 'rmdir "$work"' EXIT
	unshare --mount --pid --net --fork --kill-child --propagation private bash "$PWD/.ci/e2e/upgrade_mariadb_redis.sh" inside "$work"
	exit
fi
work=$2
unset TMPDIR # chroots have their own
mount -t proc proc /proc
ip link set lo up
hosts
mariadb_data
redis_data
parts="$(echo mariadb_{refusals,crashed,chain,running,pair,cleaned,kills,struck,interrupts,full,readonly} redis_{refusals,chain,running,cleaned,kills,struck,full})"
for part in ${E2E_PARTS:-$parts}; do
	begin=$SECONDS
	"$part"
	echo "      $part: $((SECONDS - begin)) s"
done
finish
