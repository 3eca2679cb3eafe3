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

# chroots SUITE…
chroots() (
	mkdir -p "$cache"
	exec 9>"$cache/lock"
	flock 9
	local suite
	needs debootstrap:debootstrap
	for suite in "$@"; do
		[ ! -e "$cache/$suite.made" ] || continue
		echo "making $cache/$suite"
		rm -rf --one-file-system "${cache:?}/$suite"
		mkdir -p "$cache/$suite"
		{ # a failure of any ends it, also where the caller goes on without
			debootstrap --variant=minbase "$suite" "$cache/$suite" "$(mirror)" &&
				printf '#!/bin/sh\nexit 101\n' >"$cache/$suite/usr/sbin/policy-rc.d" &&
				chmod +x "$cache/$suite/usr/sbin/policy-rc.d" &&
				DEBIAN_FRONTEND=noninteractive chroot "$cache/$suite" sh -c "apt-get install -y -qq --no-install-recommends ${servers[$suite]}" &&
				# A cluster of this machine's own may have the port that a package chooses.
				{ ! compgen -G "$cache/$suite/etc/postgresql/*/main/postgresql.conf" >/dev/null || sed -i 's/^port = .*/port = 5432/' "$cache/$suite"/etc/postgresql/*/main/postgresql.conf; } &&
				chroot "$cache/$suite" apt-get clean
		} >"$cache/$suite.log" 2>&1 || { tail -n 20 "$cache/$suite.log"; return 1; }
		touch "$cache/$suite.made"
	done
)
