# shellcheck shell=bash
# Debian with the servers of databases, for the scripts that run them: sourced,
# after checks.sh. A suite's chroot is made once, in $cache. And what has roots left.
cache=${XDG_CACHE_HOME:-$HOME/.cache}/svc-e2e/databases

declare -A servers=(
	[bullseye]="postgresql mariadb-server redis-server slapd ldap-utils"
	[bookworm]="postgresql mariadb-server redis-server slapd ldap-utils"
	[trixie]="postgresql mariadb-server redis-server slapd ldap-utils valkey-server"
	[sid]="mysql-server-core mysql-client-core openssh-client" # no release has MySQL
)

# furnish ROOT PACKAGES: installs them; nothing of them starts.
furnish() {
	printf '#!/bin/sh\nexit 101\n' >"$1/usr/sbin/policy-rc.d" &&
		chmod +x "$1/usr/sbin/policy-rc.d" &&
		DEBIAN_FRONTEND=noninteractive chroot "$1" sh -c "apt-get install -y -qq --no-install-recommends $2" &&
		# A cluster of this machine's own may have the port that a package chooses.
		{ ! compgen -G "$1/etc/postgresql/*/main/postgresql.conf" >/dev/null || sed -i 's/^port = .*/port = 5432/' "$1"/etc/postgresql/*/main/postgresql.conf; } &&
		chroot "$1" apt-get clean
}

# chroots SUITE…
chroots() {
	local suite
	needs mmdebstrap:mmdebstrap
	for suite in "$@"; do kept "$cache/$suite" "$suite" "" furnish "$cache/$suite" "${servers[$suite]}" || return; done
}

# end_in FOLDER: kills what runs in roots that are in a folder, or are it, and what that
# has just started.
end_in() {
	local dir found=1
	while [ "$found" = 1 ]; do
		found=0
		for dir in /proc/[0-9]*; do
			case $(readlink "$dir/root" 2>/dev/null)/ in "$1"/*) kill -KILL "${dir#/proc/}" 2>/dev/null && found=1 ;; esac
		done
		sleep 0.1
	done
}

# leave FOLDER: has nothing that runs in roots in it, and no mount.
leave() {
	end_in "$1"
	awk -v at="$1" '$2 == at || index($2, at "/") == 1 {print $2}' /proc/mounts | sort -r | xargs -r -d '\n' umount -l
}
