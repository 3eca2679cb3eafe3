# shellcheck shell=bash disable=SC2034 # old and new are for the script
# Two machines with databases, for the tests that move these: sourced, after checks.sh,
# by a test's bash, which sets work. Both are chroots whose changes are thrown away,
# Debian 11 (old) and Debian 13 (new), which reaches the old one by a real sshd.
# shellcheck source=.ci/e2e/sshd.sh
. .ci/e2e/sshd.sh
# shellcheck source=.ci/e2e/chroots.sh
. .ci/e2e/chroots.sh
pids=() roots=()

# trixie_ssh has a client of ssh in the trixie that is kept.
trixie_ssh() {
	[ -x "$cache/trixie/usr/bin/ssh" ] || DEBIAN_FRONTEND=noninteractive chroot "$cache/trixie" sh -c 'apt-get update -qq && apt-get install -y -qq --no-install-recommends openssh-client && apt-get clean' >"$work/apt.log" 2>&1
}

# pair_roots makes the two in $work.
pair_roots() {
	old=$work/old new=$work/new
	chroots bullseye trixie
	trixie_ssh
	root "$old" bullseye
	root "$new" trixie
	chroot "$new" ln -sf mariadbd /usr/sbin/mysqld
	echo 0123456789abcdef0123456789abcdef >"$old/etc/machine-id"
}

# pair_stop ends what was started, and unmounts.
pair_stop() {
	local pid root
	for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null || true; done
	for pid in "${pids[@]}"; do wait "$pid" 2>/dev/null || true; done
	for root in "${roots[@]}"; do umount -q -l "$root/proc" "$root" 2>/dev/null || true; done
}

# root FOLDER SUITE: a Debian whose changes are thrown away.
root() {
	roots+=("$1")
	mkdir -p "$1" "$1.upper" "$1.work"
	mount -t overlay overlay -o "lowerdir=$cache/$2,upperdir=$1.upper,workdir=$1.work" "$1"
	mount -t proc proc "$1/proc"
}

# sql ROOT ARGUMENT… and my ROOT ARGUMENT…: clients as the scripts have them.
sql() { chroot "$1" runuser -u postgres -- psql -qAtX "${@:2}"; }
my() { chroot "$1" mysql -N "${@:2}"; }

# postgresql ROOT VERSION OPTION…: a new one.
postgresql() {
	rm -rf "${1:?}/var/lib/postgresql/$2/main"
	chroot --userspec=postgres:postgres "$1" "/usr/lib/postgresql/$2/bin/initdb" -D "/var/lib/postgresql/$2/main" --locale=C.UTF-8 -E UTF8 >/dev/null 2>&1
	mkdir -p "$1/var/run/postgresql" && chroot "$1" chown postgres /var/run/postgresql
	postgresql_start "$@"
}

postgresql_start() {
	local data=/var/lib/postgresql/$2/main
	chroot --userspec=postgres:postgres "$1" "/usr/lib/postgresql/$2/bin/postgres" -D "$data" -k /var/run/postgresql -c "config_file=/etc/postgresql/$2/main/postgresql.conf" \
		-c "data_directory=$data" -c ssl=off "${@:3}" >>"$work/postgres-$2.log" 2>&1 &
	pids+=($!)
	until_true sql "$1" -c 'select 1'
}

# mariadb ROOT OPTION…: a new one.
mariadb() {
	rm -rf "${1:?}/var/lib/mysql"
	chroot "$1" mysql_install_db --user=mysql --datadir=/var/lib/mysql >/dev/null 2>&1
	mkdir -p "$1/run/mysqld" && chroot "$1" chown mysql /run/mysqld
	mariadb_start "$@"
}

mariadb_start() {
	chroot "$1" mysqld --user=mysql "${@:2}" >>"$work/mariadb.log" 2>&1 &
	pids+=($!)
	until_true my "$1" -e 'select 1'
}

# reach lets the new one connect to the old one as its root.
reach() {
	PATH=${PATH#"$work/bin:"} # a second pair's is another
	rm -f "$work"/host* "$work"/key*
	serve_ssh "ChrootDirectory $old"
	pids+=("$sshd")
	mkdir -p "$new/root/.ssh"
	cp "$work/key" "$new/root/.ssh/id_ed25519"
	cp "$work/known" "$new/root/.ssh/known_hosts"
	head -n 4 "$work/ssh_config" >"$new/root/.ssh/config"
	chmod -R go= "$new/root/.ssh"
	until_true chroot "$new" ssh -o BatchMode=yes source true
}
