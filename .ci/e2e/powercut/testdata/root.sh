# shellcheck shell=bash
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
