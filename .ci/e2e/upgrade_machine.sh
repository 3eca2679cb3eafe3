#!/usr/bin/env bash
# Upgrades the databases of a machine of its own: Debian 13 in an emulator, whose
# systemd runs them, and whose power is cut in the midst of steps. Then it boots
# again, and svc goes on, or back. Every table is compared by checksums of this
# script's own. E2E_PARTS names the parts, of postgresql (which alone is done where
# none is named: an emulator takes its time), cuts, pgdg, mariadb, redis and distribution,
# whose machine has SELinux; it comes last. Needs root. Ends with "N passed, N failed".
set -euo pipefail
cd "$(dirname "$0")/../.."

work=$(mktemp -d)
root=$work/root
# shellcheck source=.ci/e2e/checks.sh
. .ci/e2e/checks.sh
# shellcheck source=.ci/e2e/shop.sh
. .ci/e2e/shop.sh
# shellcheck source=.ci/e2e/chroots.sh
. .ci/e2e/chroots.sh
disk=${XDG_CACHE_HOME:-$HOME/.cache}/svc-e2e/machine
machine=
trap clear EXIT

clear() {
	[ -z "$machine" ] || cut_power
	awk -v work="$work" 'index($2, work) == 1 {print $2}' /proc/mounts | sort -r | while read -r at; do
		umount -l "$at"
	done
	rm -rf --one-file-system "$work"
}

# furnish_machine ROOT: installs the servers of two releases.
furnish_machine() {
	local suite
	for suite in bullseye trixie; do echo "deb $(mirror) $suite main"; done >"$1/etc/apt/sources.list"
	printf '#!/bin/sh\nexit 101\n' >"$1/usr/sbin/policy-rc.d"
	chmod +x "$1/usr/sbin/policy-rc.d"
	mkdir -p "$1/etc/postgresql-common"
	echo 'create_main_cluster = false' >"$1/etc/postgresql-common/createcluster.conf"
	chroot "$1" apt-get update
	DEBIAN_FRONTEND=noninteractive chroot "$1" apt-get install -y -qq --no-install-recommends postgresql-13 postgresql-17 mariadb-server redis-server
	echo 'en_US.UTF-8 UTF-8' >"$1/etc/locale.gen"
	chroot "$1" locale-gen
	chroot "$1" apt-get clean
	rm "$1/usr/sbin/policy-rc.d"
}

# make_root makes a trixie that boots, with these servers, once.
make_root() { kept "$disk/root" trixie systemd,systemd-sysv,udev,linux-image-cloud-amd64,initramfs-tools,zstd,locales furnish_machine "$disk/root"; }

host() { unshare -n chroot "$root" "$@"; } # its ports are its own
sql() { setpriv --reuid postgres --regid postgres --init-groups psql -X -q -A -t -v ON_ERROR_STOP=1 "$@"; }

# make_disk makes the machine's disk: what is made once is made without emulation.
make_disk() {
	local unit
	mkdir -p "$work/memory" "$root"
	mount -t tmpfs -o size=8g tmpfs "$work/memory"
	mkdir "$work/memory/upper" "$work/memory/work"
	mount -t overlay overlay -o "lowerdir=$disk/root,upperdir=$work/memory/upper,workdir=$work/memory/work" "$root"
	mount -t proc proc "$root/proc"
	mount --bind /dev "$root/dev"
	CGO_ENABLED=0 go build -trimpath -o "$root/usr/local/bin/svc" ./cmd/svc
	for unit in systemd-logind.service apt-daily.timer apt-daily-upgrade.timer e2scrub_all.timer fstrim.timer getty.target e2scrub_reap.service console-setup.service keyboard-setup.service; do
		ln -sf /dev/null "$root/etc/systemd/system/$unit"
	done
	echo '/dev/vda / ext4 defaults 0 1' >"$root/etc/fstab"
	install -d -m 0711 "$root/srv/pg"
	orders >"$root/etc/systemd/system/orders.service"
	host systemctl -q enable orders.service
	make_postgresql
	make_others
	host systemctl -q disable mariadb redis-server
	make_distribution
	umount "$root/proc" "$root/dev"
	mke2fs -q -t ext4 -E lazy_itable_init=0,lazy_journal_init=0 -d "$root" "$work/memory/disk" 4g >/dev/null
	cp "$root"/boot/vmlinuz-* "$work/kernel"
	cp "$root"/boot/initrd.img-* "$work/initrd"
}

# orders is a shell that does what comes over a line of the machine.
orders() {
	cat <<-'UNIT'
		[Service]
		Environment=HOME=/root
		ExecStartPre=/bin/sh -c 'until [ -e /dev/virtio-ports/orders ]; do sleep 0.1; done'
		ExecStart=/bin/bash -c 'exec bash <>/dev/virtio-ports/orders >&0 2>&0'
		[Install]
		WantedBy=multi-user.target
	UNIT
}

make_postgresql() {
	host pg_createcluster 13 main -e UTF8 --locale en_US.UTF-8 -- --data-checksums >/dev/null
	printf 'work_mem = 5MB\n' >>"$root/etc/postgresql/13/main/postgresql.conf"
	{ declare -f sql fill sums; echo '"$@"'; } >"$root/root/shop.sh"
	host pg_ctlcluster 13 main start
	host bash -e /root/shop.sh fill
	host bash -e /root/shop.sh sums >"$work/sums"
	host pg_ctlcluster 13 main stop
	make_pgdg
}

# make_pgdg has the same cluster in the layout of PostgreSQL's own packages for Red
# Hat and the like, with their units.
make_pgdg() {
	local version data=$root/var/lib/pgsql/13/data
	host install -d -o postgres -g postgres -m 0700 /var/lib/pgsql{,/13,/17,/17/data}
	for version in 13 17; do
		mkdir "$root/usr/pgsql-$version"
		cp -a "$root/usr/lib/postgresql/$version"/{bin,lib} "$root/usr/pgsql-$version/"
		ln -s "../share/postgresql/$version" "$root/usr/pgsql-$version/share"
		cat >"$root/etc/systemd/system/postgresql-$version.service" <<-UNIT
			[Service]
			Type=notify
			User=postgres
			Environment=PGDATA=/var/lib/pgsql/$version/data/
			Environment=PG_OOM_ADJUST_FILE=/proc/self/oom_score_adj
			ExecStart=/usr/pgsql-$version/bin/postgres -D \${PGDATA}
			KillMode=mixed
			KillSignal=SIGINT
			TimeoutSec=0
			[Install]
			WantedBy=multi-user.target
		UNIT
	done
	cp -a "$root/var/lib/postgresql/13/main" "$data"
	cp -a "$root"/etc/postgresql/13/main/*.conf "$data/"
	rm "$data"/start.conf "$data"/pg_ctl.conf
	sed -i -E '/^(data_directory|hba_file|ident_file|external_pid_file|cluster_name|include_dir)/d' "$data/postgresql.conf"
	echo 'shared_buffers = 64MB' >"$data/own.conf"
	echo "include 'own.conf'" >>"$data/postgresql.conf"
}

# make_distribution has what puts the cluster into the layout of Red Hat's own
# packages, with their unit: it refuses data of another version.
make_distribution() {
	[[ $parts == *distribution* ]] || return 0
	cat >"$root/root/postgresql.service" <<-'UNIT'
		[Service]
		Type=notify
		User=postgres
		Environment=PGDATA=/var/lib/pgsql/data
		ExecStartPre=/bin/sh -c 'test "$(cat $PGDATA/PG_VERSION)" = 17'
		ExecStart=/usr/bin/postgres -D ${PGDATA}
		KillMode=mixed
		KillSignal=SIGINT
		[Install]
		WantedBy=multi-user.target
	UNIT
	{
		declare -f as_distribution
		cat <<-'SH'
			systemctl -q disable --now postgresql-13 postgresql-17 postgresql
			pg_ctlcluster 13 main stop
			rm -rf /usr/pgsql-* /var/lib/pgsql
			as_distribution ""
			rm /usr/bin/pg_lsclusters
			restorecon -R /var/lib/pgsql /usr/bin /usr/lib64/pgsql
			mv /root/postgresql.service /etc/systemd/system/
			systemctl daemon-reload
			systemctl -q enable postgresql
		SH
	} >"$root/root/distribution.sh"
	cat >"$root/root/state.sh" <<-'SH'
		cd /var/lib/pgsql && ls && cd data
		find . -type f -exec sha256sum {} + | sort
		find . -printf '%p %m %U %G %s %T@ %Z\n' | sort
	SH
	make_labels
}

# make_labels has SELinux on the machine, where it forbids nothing, and the labels of
# its policy on files.
make_labels() {
	chroot "$root" apt-get update -qq
	DEBIAN_FRONTEND=noninteractive chroot "$root" apt-get install -y -qq --no-install-recommends selinux-policy-default policycoreutils selinux-utils >"$work/last.log" 2>&1
	printf 'SELINUX=permissive\nSELINUXTYPE=default\n' >"$root/etc/selinux/config"
	host setfiles -F /etc/selinux/default/contexts/files/file_contexts / >>"$work/last.log" 2>&1
	security="security=selinux selinux=1"
}

# make_others has a MariaDB 10.5 and a Redis 6.0 leave their data to the servers of
# the machine, whose units start on them, as after an upgrade of the system. What
# MariaDB's unit would do to them by itself is put off.
make_others() {
	local old=$work/old
	mkdir -p "$old" "$work/memory/old" "$work/memory/oldwork"
	mount -t overlay overlay -o "lowerdir=$cache/bullseye,upperdir=$work/memory/old,workdir=$work/memory/oldwork" "$old"
	mount -t proc proc "$old/proc"
	mount --bind /dev "$old/dev"
	rm -rf "$old"/var/lib/{mysql,redis}
	unshare -n chroot "$old" bash -e >"$work/last.log" 2>&1 <<-'SH'
		install -d -o mysql -g mysql /var/lib/mysql /run/mysqld
		install -d -o redis -g redis /var/lib/redis
		mysql_install_db --user=mysql --auth-root-authentication-method=socket >/dev/null
		mariadbd --user=mysql --skip-networking & server=$!
		until mysql -e 'select 1'; do sleep 0.2; done
		mysql <<-'SQL'
			create database shop; use shop;
			create table orders (n int primary key, t varchar(100), x decimal(10,3), key (t)) engine=innodb;
			insert into orders select seq, concat('Größe ', seq), seq/7 from seq_1_to_2000;
			create table words (n int, t text, fulltext(t)) engine=myisam;
			insert into words select seq, concat('word', seq) from seq_1_to_1000;
		SQL
		mysqladmin shutdown
		wait $server
		cd /var/lib/redis
		redis-server --port 0 --unixsocket /tmp/redis & server=$!
		until [ "$(redis-cli -s /tmp/redis ping)" = PONG ]; do sleep 0.2; done
		for i in $(seq 500); do echo "set key$i value$i"; done | redis-cli -s /tmp/redis
		redis-cli -s /tmp/redis save
		redis-cli -s /tmp/redis shutdown nosave
		wait $server
	SH
	rm -rf "$root"/var/lib/{mysql,redis}
	cp -a "$old/var/lib/mysql" "$old/var/lib/redis" "$root/var/lib/"
	host chown -R mysql:mysql /var/lib/mysql
	host chown -R redis:redis /var/lib/redis
	umount "$old/proc" "$old/dev" "$old"
	printf '#!/bin/sh\nexit 0\n' >"$root/etc/mysql/debian-start"
	cat >"$root/root/others.sh" <<-'SH'
		case $1 in
		mariadb) mariadb -BN -e "select substring_index(version(), '.', 2); checksum table shop.orders, shop.words extended; select count(*) from shop.words where match(t) against ('word77')" ;;
		redis) redis-cli eval "local k = redis.call('keys', '*') table.sort(k) local t = {} for _, x in ipairs(k) do t[#t+1] = x .. redis.call('get', x) end return #k .. ' ' .. redis.sha1hex(table.concat(t, ';'))" 0 ;;
		esac
	SH
}

# boot turns the machine on, and waits until it is up. A kernel that the emulator
# makes panic is a machine that lost its power once more: it is turned on again.
boot() {
	local try
	for try in 1 2 3; do
		turn_on
		order systemctl is-system-running --wait >/dev/null || true
		grep -qa 'Kernel panic' "$work/console" || return 0
		echo "the emulated kernel panicked, $try:"
		tail -n 40 "$work/console"
		cut_power
	done
	turn_on
}

# turn_on: the machine has one processor, and that lacks an instruction: emulators
# get that one wrong, and what several processors do at a time.
turn_on() {
	rm -f "$work/line.in" "$work/line.out"
	mkfifo "$work/line.in" "$work/line.out"
	qemu-system-x86_64 -machine pc -accel tcg -cpu qemu64,-cx16 -smp 1 -m 1536 -nodefaults -display none -no-reboot \
		-kernel "$work/kernel" -initrd "$work/initrd" -append "root=/dev/vda rw console=ttyS0 loglevel=4 panic=-1 mitigations=off apparmor=0 audit=0 $security" -serial "file:$work/console" \
		-drive "file=$work/memory/disk,if=virtio,format=raw,cache=writeback" -device virtio-rng-pci \
		-device virtio-serial-pci -chardev "pipe,id=line,path=$work/line" -device virtserialport,chardev=line,name=orders &
	machine=$!
	exec 7>"$work/line.in" 8<"$work/line.out"
}

# cut_power: what the machine has not written to its disk is lost.
cut_power() {
	kill -KILL "$machine"
	wait "$machine" 2>/dev/null || true
	machine=
}

# order COMMAND…: has the machine run it, and ends as it does.
order() {
	local text
	printf '%s </dev/null; echo "@@ $?"\n' "${*@Q}" >&7
	while IFS= read -r -t 580 text <&8; do
		case $text in
		*"@@ "[0-9]*) printf '%s' "${text%@@ *}"; return "${text##*@@ }" ;;
		esac
		printf '%s\n' "$text"
	done
	echo "the machine does not answer"
	tail -n 5 "$work/console"
	return 1
}

# cut_in STEP DELAY COMMAND…: cuts the power that long after a step has begun.
cut_in() {
	local step=$1 delay=$2 text
	shift 2
	printf '%s </dev/null; echo "@@ $?"\n' "${*@Q}" >&7
	: >"$work/last.log"
	while IFS= read -r -t 580 text <&8; do
		printf '%s\n' "$text" >>"$work/last.log"
		case $text in
		*"@@ "[0-9]*) break ;;
		"svc: "*", $step: "*) sleep "$delay"; cut_power; boot; ok "the power is cut in $step"; return ;;
		esac
	done
	fails "the power is cut in $step: it did not get there"
}

upgrade() { order svc db upgrade "$@"; }

# runs NAME UNIT STATE: what systemd says.
runs() { same "$1" "$(order systemctl is-active "$2" || true)" "$3"; }

# holds NAME VERSION: this version serves the port, with everything in it.
holds() {
	local got
	got=$(order bash /root/shop.sh sql -p 5432 -c 'show server_version' | cut -d. -f1)
	order bash -e /root/shop.sh sums >"$work/now" || true
	if [ "$got" = "$2" ] && diff "$work/sums" "$work/now" >"$work/last.log" 2>&1; then ok "$1: PostgreSQL $2 has everything"; else fails "$1: PostgreSQL $got is not $2 with everything"; fi
}

# postgresql: the power is cut in the midst of the upgrade.
postgresql() {
	runs "systemd has started the old server" postgresql@13-main active
	holds "before" 13
	cut_in upgrade 3 svc db upgrade --engine postgresql --to 17 --backup-dir /srv/pg --confirm
	runs "a boot does not start the old server" postgresql@13-main inactive
	check "the rest is resumed" upgrade --backup-dir /srv/pg --resume --confirm
	runs "systemd runs the new server" postgresql@17-main active
	holds "resumed" 17
	check "and taken back" upgrade --backup-dir /srv/pg --roll-back --confirm
	runs "systemd runs the old server" postgresql@13-main active
	holds "rolled back" 13
}

# cuts: the power is cut in every other step, and in the roll-back. Before, it is cut
# while nobody upgrades: PostgreSQL empties unlogged tables then, which is no loss of svc's.
cuts() {
	local step
	cut_power
	boot
	cp "$work/sums" "$work/sums.whole"
	order bash -e /root/shop.sh sums >"$work/sums"
	same "a cut alone costs what is unlogged, and no more" "$(diff "$work/sums.whole" "$work/sums" | grep '^[<>]' | cut -d'|' -f1,2 | xargs -d '\n')" "< scratch|1 > scratch|0"
	order install -d -m 0711 /srv/cuts
	cut_in close 0 svc db upgrade --engine postgresql --to 17 --backup-dir /srv/cuts --confirm
	for step in sums index compare open; do
		cut_in "$step" 0 svc db upgrade --backup-dir /srv/cuts --resume --confirm
	done
	check "cut in each step in turn, and resumed" upgrade --backup-dir /srv/cuts --resume --confirm
	runs "cut in each step: systemd runs the new server" postgresql@17-main active
	holds "cut in each step" 17
	cut_in upgrade 0 svc db upgrade --backup-dir /srv/cuts --roll-back --confirm
	check "a roll-back that the power was cut in is gone on with" upgrade --backup-dir /srv/cuts --roll-back --confirm
	runs "cut in the roll-back: systemd runs the old server" postgresql@13-main active
	holds "cut in the roll-back" 13
	order bash /root/shop.sh sql -p 5432 -d shop -c 'insert into scratch values (1)'
	mv "$work/sums.whole" "$work/sums"
}

# pgdg: the same in the other layout, in which units are switched on and off.
pgdg() {
	order pg_dropcluster --stop 13 main
	order systemctl -q enable --now postgresql-13
	holds "the other layout" 13
	order install -d -m 711 /srv/pgdg
	check "the other layout: 13 → 17" upgrade --engine postgresql --to 17 --backup-dir /srv/pgdg --confirm
	runs "the other layout: systemd runs the new server" postgresql-17 active
	holds "the other layout: upgraded" 17
	same "the other layout: what starts at a boot" "$(order systemctl is-enabled postgresql-13 postgresql-17 | xargs)" "disabled enabled"
	same "the other layout: the configuration is carried over" "$(order bash /root/shop.sh sql -c 'show shared_buffers' -c 'show work_mem' | xargs)" "64MB 5MB"
	check "the other layout: and back" upgrade --backup-dir /srv/pgdg --roll-back --confirm
	holds "the other layout: rolled back" 13
	same "the other layout: the old one starts at a boot again" "$(order systemctl is-enabled postgresql-13 postgresql-17 | xargs)" "enabled disabled"
	check "the other layout: the new one's folder is empty again" order rmdir /var/lib/pgsql/17/data
}

# labels: what of the data has another label than the policy gives it.
labels() { order restorecon -R -n -v /var/lib/pgsql/data; }

# distribution: the power is cut in the layout in which a host has one version.
distribution() {
	order bash -e /root/distribution.sh
	check "one version at a time: SELinux is there" order selinuxenabled
	check "one version at a time: the new server does not start on the old data" not order systemctl start postgresql
	order bash /root/state.sh >"$work/state"
	order install -d -m 711 /srv/el
	cut_in upgrade 5 svc db upgrade --engine postgresql --to 17 --backup-dir /srv/el --confirm
	check "one version at a time: nobody starts the server meanwhile" not order systemctl start postgresql
	cut_in start 0 svc db upgrade --backup-dir /srv/el --resume --confirm
	check "one version at a time: the rest is resumed" upgrade --backup-dir /srv/el --resume --confirm
	runs "one version at a time: systemd runs the new server" postgresql active
	holds "one version at a time" 17
	same "one version at a time: labels are the policy's" "$(labels)" ""
	cut_in exchange 0 svc db upgrade --backup-dir /srv/el --roll-back --confirm
	check "one version at a time: and back" upgrade --backup-dir /srv/el --roll-back --confirm
	order rm -rf /var/lib/pgsql/data.svc-undone
	order bash /root/state.sh >"$work/now"
	check "one version at a time: the data are byte for byte what they were, with their labels" diff "$work/state" "$work/now"
	order runuser -u postgres -- /usr/lib64/pgsql/postgresql-13/bin/pg_ctl -D /var/lib/pgsql/data -w -s -l /tmp/log start
	holds "one version at a time: rolled back" 13
}

mariadb() { other mariadb 11.8 mariadb upgrade; }
redis() { other redis 8.0 redis-server verify; }

# other ENGINE VERSION UNIT STEP: the power is cut in a step. The unit is started
# at no boot, and by nobody, from when svc has stopped it until svc starts it.
other() {
	local engine=$1 version=$2 unit=$3 step=$4 had
	order systemctl -q enable --now "$unit"
	had=$(order bash /root/others.sh "$engine")
	order install -d -m 711 "/srv/$engine"
	cut_in "$step" 0 svc db upgrade --engine "$engine" --to "$version" --backup-dir "/srv/$engine" --confirm
	runs "$engine: a boot does not start the server" "$unit" inactive
	check "$engine: nor does a person" not order systemctl start "$unit"
	check "$engine: the rest is resumed" upgrade --backup-dir "/srv/$engine" --resume --confirm
	runs "$engine: systemd runs the server" "$unit" active
	same "$engine: it has everything" "$(order bash /root/others.sh "$engine")" "$had"
	check "$engine: nothing keeps it from starting" order test ! -e "/etc/systemd/system/$unit.service.d"
	check "$engine: and back" upgrade --backup-dir "/srv/$engine" --roll-back --confirm
	runs "$engine: systemd runs the server on the old data" "$unit" active
	same "$engine: they are all there" "$(order bash /root/others.sh "$engine")" "$had"
}

parts=${E2E_PARTS:-postgresql} security=
needs debootstrap:debootstrap mke2fs:e2fsprogs qemu-system-x86_64:qemu-system-x86
chroots bullseye
make_root
make_disk
boot
echo "      the machine is up: $SECONDS s"
for part in $parts; do
	begin=$SECONDS
	"$part"
	echo "      $part: $((SECONDS - begin)) s"
done
finish
