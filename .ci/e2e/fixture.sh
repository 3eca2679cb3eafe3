#!/usr/bin/env bash
# Makes fixtures/hosts/debian-11-web: what an assessment reads of the real root
# that roots.sh made, and nothing else. Keys are replaced by dummies; git keeps
# neither owners nor modes, so the files are an ordinary user's.
set -euo pipefail
cd "$(dirname "$0")/../.."

root=${XDG_CACHE_HOME:-$HOME/.cache}/svc-e2e/roots/bullseye-server
to=fixtures/hosts/debian-11-web

copy() { # path… relative to the root, links as links
	local path
	for path in "$@"; do
		[ -e "$root/$path" ] || [ -L "$root/$path" ] || continue
		mkdir -p "$to/$(dirname "$path")"
		cp -a --no-preserve=ownership "$root/$path" "$to/$(dirname "$path")/"
	done
}

etc() {
	copy etc
	find "$to/etc/alternatives" -type l -delete
	rm -rf "$to"/etc/ssl/certs/* "$to"/etc/ssh/ssh_host_* \
		"$to"/etc/ld.so.cache "$to"/etc/*- "$to"/etc/rc?.d "$to"/etc/mailcap "$to"/etc/ssl/private/ssl-cert-snakeoil.key
	cp "$root/etc/ssl/certs/shop.pem" "$to/etc/ssl/certs/"
	dummy_key >"$to/etc/ssl/private/shop.key"
	# Not the mirror of whoever makes this.
	sed -i 's|^deb [^ ]*|deb http://ftp.debian.org/debian|' "$to/etc/apt/sources.list"
	printf '[client]\nuser = root\npassword =\n' >"$to/etc/mysql/debian.cnf"
	sed -i -E 's/^([^:]*):[^:]{4,}:/\1:!:/' "$to/etc/shadow"
	find "$to/etc" -type d -empty -delete
}

# dummy_key looks like a key to whoever looks for keys, and is none.
dummy_key() { printf -- '-----BEGIN %s-----\n%s\n-----END %s-----\n' 'PRIVATE KEY' 'dGhpcyBpcyBubyBrZXkK' 'PRIVATE KEY'; }

# database keeps dpkg's own book, its lists cut to what an assessment asks for.
database() {
	local list
	copy var/lib/dpkg/status var/lib/dpkg/arch var/lib/apt/extended_states var/lib/ucf/hashfile var/lib/ucf/registry \
		var/lib/systemd/deb-systemd-helper-enabled
	mkdir -p "$to/var/lib/dpkg/info"
	for list in "$root"/var/lib/dpkg/info/*.list; do
		grep -E '^/(etc|lib/systemd/system|usr/lib/systemd/system)/' "$list" >"$to/var/lib/dpkg/info/${list##*/}" ||
			rm "$to/var/lib/dpkg/info/${list##*/}"
	done
	# The status without the descriptions: a third of its size, read by nobody.
	awk '/^Description:/{skip=1;next} /^[^ ]/||/^$/{skip=0} !skip' "$root/var/lib/dpkg/status" >"$to/var/lib/dpkg/status"
}

rest() {
	copy usr/lib/os-release usr/lib/systemd/system var/spool/cron/crontabs usr/local/bin srv/www home/deploy/.ssh opt \
		usr/share/base-files/profile usr/share/base-files/motd usr/share/libc-bin/nsswitch.conf usr/share/readline/inputrc usr/share/adduser/adduser.conf \
		var/lib/postgresql/13/main/PG_VERSION var/lib/mysql/mysql_upgrade_info
	mkdir -p "$to/usr/lib/systemd"
	printf 'the program itself is not part of this fixture\n' >"$to/usr/lib/systemd/systemd"
	ln -s usr/lib "$to/lib"
}

rm -rf "$to"
etc
database
rest
# The modes that a clone has.
find "$to" -type d -exec chmod 755 {} +
find "$to" -type f -perm /111 -exec chmod 755 {} +
find "$to" -type f ! -perm /111 -exec chmod 644 {} +
du -sh "$to"
