# shellcheck shell=bash
# Debian with the servers of databases, for the scripts that run them: sourced,
# after checks.sh. A suite's chroot is made once, in $cache.
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
	needs debootstrap:debootstrap
	for suite in "$@"; do kept "$cache/$suite" "$suite" "" furnish "$cache/$suite" "${servers[$suite]}" || return; done
}
