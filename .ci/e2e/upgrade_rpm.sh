#!/usr/bin/env bash
# Has dnf do what svc db upgrade prints, as printed, in the two layouts of the rpm
# distributions: in that of PostgreSQL's own packages, beside a cluster of the same
# version that a unit of a person's runs, and beside the new one; and in that of Red
# Hat's, which has one release at a time, with a module for each and without one for the
# first. The packages are made here, with
# the names, dependencies, scripts, units, alternatives and paths that the distributions'
# have, of Debian's programs. It all runs in a root with a systemd of its own. E2E_PARTS names the parts.
# Needs root. Ends with "N passed, N failed".
set -euo pipefail
cd "$(dirname "$0")/../.."

cache=${XDG_CACHE_HOME:-$HOME/.cache}/svc-e2e/upgrade
work=$(mktemp -d)
root=$work/root
unset TMPDIR # chroots have their own
# shellcheck source=.ci/e2e/checks.sh
. .ci/e2e/checks.sh
# shellcheck source=.ci/e2e/shop.sh
. .ci/e2e/shop.sh
# shellcheck source=.ci/e2e/booted.sh
. .ci/e2e/booted.sh
trap clear EXIT

clear() {
	local at
	halt rpm
	awk -v work="$work/" 'index($2, work) == 1 {print $2}' /proc/mounts | sort -r | while read -r at; do
		umount -l "$at"
	done
	rm -rf --one-file-system "$work"
}

# mount_root has all changes to the root go to memory, and a package manager in it.
mount_root() {
	mkdir -p "$work/memory" "$root"
	mount -t tmpfs -o size=4g tmpfs "$work/memory"
	mkdir "$work/memory/upper" "$work/memory/work"
	mount -t overlay overlay -o "lowerdir=$cache/postgresql,upperdir=$work/memory/upper,workdir=$work/memory/work" "$root"
	mount -t proc proc "$root/proc"
	mount --bind /dev "$root/dev"
	CGO_ENABLED=0 go build -trimpath -o "$root/usr/bin/svc" ./cmd/svc
	DEBIAN_FRONTEND=noninteractive chroot "$root" sh -ec 'get() { apt-get install -y -qq --no-install-recommends -t trixie systemd systemd-sysv dbus dnf rpm createrepo-c; }; get || { apt-get update -qq; get; }' >"$work/last.log" 2>&1 || { tail -n 20 "$work/last.log"; return 1; }
}

# clients are the programs that come without a server.
clients="clusterdb createdb createuser dropdb dropuser pg_basebackup pg_dump pg_dumpall pg_isready pg_receivewal pg_restore pgbench psql reindexdb vacuumdb"

# unit DATA PROGRAMS LINE: a unit as the packages have them.
unit() {
	cat <<-UNIT
		[Unit]
		After=network.target
		[Service]
		Type=notify
		User=postgres
		Environment=PGDATA=$1
		$3
		ExecStart=$2/postgres -D \${PGDATA}
		KillMode=mixed
		KillSignal=SIGINT
		TimeoutSec=0
		[Install]
		WantedBy=multi-user.target
	UNIT
}

# own_packages VERSION: the spec of PostgreSQL's own. These builds look for libraries
# beside their programs, and for what is shared where Debian has it.
own_packages() {
	local v=$1 name list
	list=$(for name in $clients; do echo "/usr/pgsql-$v/bin/$name"; done)
	unit "/var/lib/pgsql/$v/data/" "/usr/pgsql-$v/bin" "" >"$root/srv/postgresql-$v.service"
	cat <<-SPEC
		Name: postgresql$v
		Version: $v.9
		Release: 1PGDG
		Summary: PostgreSQL client programs
		License: PostgreSQL
		AutoReqProv: no
		%description
		None.
		%package server
		Summary: PostgreSQL server
		AutoReqProv: no
		Requires: postgresql$v = %{version}-%{release}
		%description server
		None.
		%package contrib
		Summary: PostgreSQL extensions
		AutoReqProv: no
		Requires: postgresql$v-server = %{version}-%{release}
		%description contrib
		None.
		%install
		mkdir -p %{buildroot}/usr/pgsql-$v %{buildroot}/usr/share/postgresql %{buildroot}/usr/lib/{systemd/system,tmpfiles.d} %{buildroot}/var/lib/pgsql/$v/{data,backups}
		cp -a /usr/lib/postgresql/$v/{bin,lib} %{buildroot}/usr/pgsql-$v/
		rm -rf %{buildroot}/usr/pgsql-$v/lib/bitcode
		cp -a /usr/share/postgresql/$v %{buildroot}/usr/share/postgresql/
		ln -s ../share/postgresql/$v %{buildroot}/usr/pgsql-$v/share
		cp /srv/postgresql-$v.service %{buildroot}/usr/lib/systemd/system/
		echo 'd /run/postgresql 0755 postgres postgres -' >%{buildroot}/usr/lib/tmpfiles.d/postgresql-$v.conf
		%post
		update-alternatives --install /usr/bin/psql pgsql-psql /usr/pgsql-$v/bin/psql ${v}0
		%postun
		[ \$1 != 0 ] || update-alternatives --remove pgsql-psql /usr/pgsql-$v/bin/psql
		%post server
		systemctl daemon-reload || :
		systemd-tmpfiles --create || :
		%preun server
		[ \$1 != 0 ] || systemctl --no-reload disable --now postgresql-$v.service || :
		%postun server
		systemctl daemon-reload || :
		%files
		$list
		%files server
		/usr/lib/systemd/system/postgresql-$v.service
		/usr/lib/tmpfiles.d/postgresql-$v.conf
		$(cd "$root/usr/lib/postgresql/$v/bin" && for name in *; do [[ " $clients " == *" $name "* ]] || echo "/usr/pgsql-$v/bin/$name"; done)
		$(cd "$root/usr/lib/postgresql/$v/lib" && find . -path ./bitcode -prune -o \( -type f -o -type l \) ! -name 'hstore*' ! -name 'pg_trgm*' ! -name 'pgcrypto*' -printf "/usr/pgsql-$v/lib/%P\n")
		$(cd "$root/usr/share/postgresql/$v" && find . \( -type f -o -type l \) ! -name 'hstore*' ! -name 'pg_trgm*' ! -name 'pgcrypto*' -printf "/usr/share/postgresql/$v/%P\n")
		/usr/pgsql-$v/share
		%attr(700,postgres,postgres) %dir /var/lib/pgsql
		%attr(700,postgres,postgres) %dir /var/lib/pgsql/$v
		%attr(700,postgres,postgres) %dir /var/lib/pgsql/$v/data
		%attr(700,postgres,postgres) %dir /var/lib/pgsql/$v/backups
		%files contrib
		/usr/pgsql-$v/lib/{hstore,pg_trgm,pgcrypto}*
		/usr/share/postgresql/$v/extension/{hstore,pg_trgm,pgcrypto}*
	SPEC
}

# module_packages VERSION OLDER: the spec of Red Hat's own; postgresql-upgrade has what it
# has of the older release, where that is here, and else is empty.
module_packages() {
	local v=$1 older=$2 name list
	list=$(for name in $clients; do echo "/usr/bin/$name"; done)
	unit /var/lib/pgsql/data /usr/bin "ExecStartPre=/bin/sh -c 'test \"\$(cat \$PGDATA/PG_VERSION)\" = $v'" >"$root/srv/postgresql.service.$v"
	cat <<-SPEC
		Name: postgresql
		Version: $v.9
		Release: 1.el9
		Summary: PostgreSQL client programs
		License: PostgreSQL
		AutoReqProv: no
		%description
		None.
		%package server
		Summary: PostgreSQL server
		AutoReqProv: no
		Requires: postgresql = %{version}-%{release}
		%description server
		None.
		%package contrib
		Summary: PostgreSQL extensions
		AutoReqProv: no
		Requires: postgresql-server = %{version}-%{release}
		%description contrib
		None.
		%install
		mkdir -p %{buildroot}/usr/bin %{buildroot}/usr/lib %{buildroot}/usr/share/postgresql %{buildroot}/usr/lib/{systemd/system,tmpfiles.d} %{buildroot}/var/lib/pgsql/data
		cp -a /usr/lib/postgresql/$v/bin/* %{buildroot}/usr/bin/
		cp -a /usr/lib/postgresql/$v/lib/*.so %{buildroot}/usr/lib/
		cp -a /usr/share/postgresql/$v %{buildroot}/usr/share/postgresql/
		ln -s postgresql/$v %{buildroot}/usr/share/pgsql
		cp /srv/postgresql.service.$v %{buildroot}/usr/lib/systemd/system/postgresql.service
		echo 'd /run/postgresql 0755 postgres postgres -' >%{buildroot}/usr/lib/tmpfiles.d/postgresql.conf
		$([ -z "$older" ] || cat <<-OLDER
			mkdir -p %{buildroot}/usr/lib64/pgsql/postgresql-$older
			cp -a /usr/lib/postgresql/$older/{bin,lib} %{buildroot}/usr/lib64/pgsql/postgresql-$older/
			cp -a /usr/share/postgresql/$older %{buildroot}/usr/share/postgresql/
			cd %{buildroot}/usr/lib64/pgsql/postgresql-$older/bin && rm -f initdb $clients
			cd %{buildroot}/usr/share/postgresql/$older && rm -r *.bki *.sample *.sql *.txt tsearch_data extension/*.sql extension/*.control
		OLDER
		)
		%post server
		systemctl daemon-reload || :
		systemd-tmpfiles --create || :
		%preun server
		[ \$1 != 0 ] || systemctl --no-reload disable --now postgresql.service || :
		%postun server
		systemctl daemon-reload || :
		%files
		$list
		%files server
		/usr/lib/systemd/system/postgresql.service
		/usr/lib/tmpfiles.d/postgresql.conf
		$(cd "$root/usr/lib/postgresql/$v/bin" && for name in *; do [[ " $clients " == *" $name "* ]] || echo "/usr/bin/$name"; done)
		$(cd "$root/usr/lib/postgresql/$v/lib" && find . -maxdepth 1 -name '*.so' ! -name 'hstore*' ! -name 'pg_trgm*' ! -name 'pgcrypto*' -printf "/usr/lib/%P\n")
		$(cd "$root/usr/share/postgresql/$v" && find . \( -type f -o -type l \) ! -name 'hstore*' ! -name 'pg_trgm*' ! -name 'pgcrypto*' -printf "/usr/share/postgresql/$v/%P\n")
		/usr/share/pgsql
		%attr(700,postgres,postgres) %dir /var/lib/pgsql
		%attr(700,postgres,postgres) %dir /var/lib/pgsql/data
		%files contrib
		/usr/lib/{hstore,pg_trgm,pgcrypto}*.so
		/usr/share/postgresql/$v/extension/{hstore,pg_trgm,pgcrypto}*
		%package upgrade
		Summary: the release before
		AutoReqProv: no
		Requires: postgresql-server = %{version}-%{release}
		%description upgrade
		None.
		%files upgrade
		$([ -z "$older" ] || printf '%s\n' "/usr/lib64/pgsql/postgresql-$older" "/usr/share/postgresql/$older")
	SPEC
}

# module VERSION: a stream of the module postgresql.
module() {
	local v=$1
	cat <<-YAML
		---
		document: modulemd
		version: 2
		data:
		  name: postgresql
		  stream: "$v"
		  version: 1
		  context: "0000000$v"
		  arch: x86_64
		  summary: PostgreSQL
		  description: PostgreSQL
		  license:
		    module: [MIT]
		  profiles:
		    server:
		      rpms: [postgresql-server]
		  artifacts:
		    rpms: [$(printf "postgresql%s-0:$v.9-1.el9.x86_64, " "" -server -contrib -upgrade | sed 's/, $//')]
		...
	YAML
}

# streams VERSION…: the archive has these as modules; what else it has of PostgreSQL has none.
streams() {
	local v
	for v; do module "$v"; done >"$root/srv/modules.yaml"
	m sh -ec 'cd /srv; modifyrepo_c --remove modules archive/repodata || true; modifyrepo_c --mdtype=modules modules.yaml archive/repodata; dnf -q clean all' >/dev/null 2>&1
}

# archive makes all packages, and takes Debian's away: what there is then comes by dnf.
# Its configuration says what that of Debian doesn't: the distribution's release, by
# which modules are chosen, that these packages have no signature, and yes to whatever
# it asks, so that what svc prints runs as it is.
archive() {
	local v name
	printf 'Name: basesystem\nVersion: 1\nRelease: 1\nSummary: none\nLicense: none\nBuildArch: noarch\nProvides: /bin/sh\n%%description\nNone.\n%%files\n' >"$root/srv/basesystem.spec"
	for v in 13 17; do own_packages "$v" >"$root/srv/own$v.spec"; done
	module_packages 13 "" >"$root/srv/module13.spec"
	module_packages 17 13 >"$root/srv/module17.spec"
	mkdir -p "$root/etc/rpm"
	printf '%%__transaction_unshare %%{nil}\n%%_build_id_links none\n%%debug_package %%{nil}\n%%__os_install_post %%{nil}\n%%_buildshell /bin/bash\n' >"$root/etc/rpm/macros"
	# shellcheck disable=SC2016 # of the inner shell
	chroot "$root" env HOME=/root bash -ec '
		cd /srv
		for spec in *.spec; do rpmbuild --quiet -bb --define "_topdir /srv/build" --define "_rpmdir /srv/archive" --define "_binary_payload w1.gzdio" "$spec"; done
		rm -rf build /var/lib/rpm
		createrepo_c --quiet archive
		mkdir -p /etc/yum.repos.d /etc/dnf/vars
		printf "[base]\nname=base\nbaseurl=file:///srv/archive\nenabled=1\n" >/etc/yum.repos.d/base.repo
		printf "[main]\ngpgcheck=False\nassumeyes=True\nbest=True\nclean_requirements_on_remove=True\nmodule_platform_id=platform:el9\n" >/etc/dnf/dnf.conf
		echo 9 >/etc/dnf/vars/releasever
		mkdir -p /opt/lib/postgresql /opt/share/postgresql
		cp -a /usr/lib/postgresql/13 /opt/lib/postgresql/
		cp -a /usr/share/postgresql/13 /opt/share/postgresql/
		dpkg --force-depends --remove postgresql-common postgresql-client-common postgresql-{13,15,17} postgresql-client-{13,15,17} 2>/dev/null
		rm -rf /usr/lib/postgresql /usr/share/postgresql /usr/bin/psql /usr/bin/pg_* /etc/postgresql /var/lib/postgresql
		mkdir -p /usr/share/postgresql
	' >"$work/last.log" 2>&1 || { tail -n 20 "$work/last.log"; return 1; }
}

m() { inside rpm "$@"; }
account() { m setpriv --reuid postgres --regid postgres --init-groups "$@"; }
sql() { account psql -X -q -A -t -v ON_ERROR_STOP=1 "$@"; }
upgrade() { m timeout 900 svc db upgrade "$@" </dev/null; }

# json COMMAND…: keeps what it prints in $work/result.json.
json() { "$@" >"$work/result.json"; }

# printed: the commands in what the result notes, and says to do afterwards.
# shellcheck disable=SC2016 # a backquote is what it looks for
printed() { python3 -c 'import json, re, sys; r = json.load(open(sys.argv[1])); [print(c) for l in r["notes"] + r["afterwards"] for c in re.findall("`([^`]*)`", l)]' "$work/result.json"; }

# run_printed NAME LINE…: in one shell, as they are.
run_printed() {
	local name=$1
	shift
	printf '      %s\n' "$@"
	check "$name: works as printed" m bash -ec "$(printf '%s\n' "$@")"
}

# advised NAME PATTERN: runs the printed commands that match.
advised() {
	printed | grep -- "$2" >"$work/commands" || true
	check "$1: there are commands" test -s "$work/commands"
	mapfile -t lines <"$work/commands"
	run_printed "$1" "${lines[@]}"
}

# said_command PATTERN: the command within what was said last, from there to the end of its
# line.
said_command() { grep -oE -- "$1.*" "$work/last.log" | head -n 1; }

# holds NAME VERSION: this version serves the port, with everything in it.
holds() {
	local got
	got=$(sql -p 5432 -c 'show server_version' 2>&1 | cut -d. -f1) || true # which is seen below
	sums >"$work/now" 2>&1 || true
	if [ "$got" = "$2" ] && diff "$work/sums" "$work/now" >"$work/last.log" 2>&1; then ok "$1: PostgreSQL $2 has everything"; else fails "$1: PostgreSQL $got is not $2 with everything"; fi
}

# served PROGRAMS DATA UNIT: makes a cluster there, and its unit serves it at each boot.
served() {
	account "$1/initdb" -D "$2" -E UTF8 --locale en_US.UTF-8 --data-checksums >/dev/null
	m systemctl -q enable --now "$3" || { m journalctl -n 20; return 1; }
}

# second PROGRAMS: has these serve a cluster of a person's, made where there is none,
# by a unit of his.
second() {
	unit /srv/second "$1" "Environment=PGPORT=5433" >"$root/etc/systemd/system/second.service"
	m systemctl daemon-reload
	if [ -e "$root/srv/second" ]; then m systemctl -q restart second; return; fi
	m install -d -o postgres -g postgres -m 0700 /srv/second
	served "$1" /srv/second second
	sql -p 5433 -c 'create table precious as select 1 as n'
}

# lives NAME: the second cluster goes on, without a new start and with one.
lives() {
	same "$1: the second cluster goes on" "$(sql -p 5433 -c 'select n from precious' 2>&1)" 1
	check "$1: it is started again" m systemctl restart second
	same "$1: and has its rows" "$(sql -p 5433 -c 'select n from precious' 2>&1)" 1
}

# no_second takes it away.
no_second() {
	m systemctl -q disable --now second
	rm "$root/etc/systemd/system/second.service"
	m systemctl daemon-reload
	rm -r "$root/srv/second"
}

# own: PostgreSQL's own packages. A person has a second cluster of 13 by a unit of his.
own() {
	check "dnf installs 13" m dnf -y install postgresql13-server postgresql13-contrib
	served /usr/pgsql-13/bin /var/lib/pgsql/13/data postgresql-13
	fill
	sums >"$work/sums"
	second /usr/pgsql-13/bin
	m install -d -m 0711 /srv/own
	exits "without the new version it is refused" 1 upgrade --engine postgresql --to 17 --backup-dir /srv/own --confirm
	run_printed "the install" "$(said_command 'dnf install postgresql17')"
	exits "13 → 17" 0 json upgrade --engine postgresql --to 17 --backup-dir /srv/own --confirm --json
	holds "upgraded" 17
	cp "$work/result.json" "$work/last.log"
	said "the other cluster's unit is named" "the unit second.service"
	check "and its packages are to stay" not grep -q 'dnf remove' "$work/result.json"
	m cp -a /var/lib/pgsql/13/data /srv/kept
	advised "what goes with the old cluster" '^systemctl disable'
	check "the old data are gone" m test ! -e /var/lib/pgsql/13/data
	lives "beside 17"
	m cp -a /srv/kept /var/lib/pgsql/13/data # as if it had not been run yet
	second /opt/lib/postgresql/13/bin
	check "the result is said again, while nobody uses the packages" json upgrade --backup-dir /srv/own --resume --confirm --json
	advised "all of it" '^systemctl disable\|^rm -r\|^dnf remove'
	check "that is all three" test "$(wc -l <"$work/commands")" = 3
	lives "without the packages of 13"
	check "13's server is gone, and 17's is not" m sh -c '! rpm -q postgresql13-server && rpm -q postgresql17-server postgresql17-contrib postgresql17 && test ! -e /usr/pgsql-13/bin/postgres'
	same "files of 17's packages are as they were" "$(m rpm -V postgresql17-server postgresql17-contrib postgresql17 | grep -v ' /var/lib/pgsql' | xargs)" ""
	m systemctl restart postgresql-17
	holds "without 13, and the copy" 17
	m systemctl -q disable --now postgresql-17
	no_second
	check "dnf removes what is left" m dnf -q remove 'postgresql1*'
	m rm -rf /var/lib/pgsql
}

# modules: Red Hat's packages, of which each release is a module's stream.
modules() {
	streams 13 17
	check "dnf installs the stream 13" m sh -ec 'dnf -q module enable postgresql:13; dnf -q install postgresql-server postgresql-contrib'
	distribution "^dnf module switch-to postgresql:13"
}

# first: those of a release whose first PostgreSQL has no module, as that of EL 9.
first() {
	streams 17
	check "dnf installs 13, which has no module" m dnf -q install postgresql-server postgresql-contrib
	distribution '^dnf module reset'
}

# distribution BACK: there and back, and there; the second cluster has programs of its
# own once svc has said that it has to.
distribution() {
	served /usr/bin /var/lib/pgsql/data postgresql
	fill
	sums >"$work/sums"
	m install -d -m 0711 /srv/one /srv/two
	second /usr/bin
	exits "beside a cluster that has its server from the same packages it is refused" 1 upgrade --engine postgresql --to 17 --backup-dir /srv/one --confirm
	said "which it names" "the cluster in /srv/second, the unit second.service"
	check "and says no command that would end it" not grep -q 'dnf' "$work/last.log"
	second /opt/lib/postgresql/13/bin
	there /srv/one
	exits "and back" 0 upgrade --backup-dir /srv/one --roll-back --discard-writes --confirm
	advised "the old release" "$1"
	check "13 is installed" m rpm -q postgresql-server-13.9
	holds "rolled back" 13
	lives "beside the one that came back"
	m rm -r /var/lib/pgsql/data.svc-undone
	there /srv/two
	advised "what is left" '^rm -r'
	check "the old data are gone" m test ! -e /var/lib/pgsql/data.svc-old
	m systemctl restart postgresql
	holds "without them" 17
	lives "without them"
	no_second
	m systemctl -q disable --now postgresql
	check "dnf removes what is left" m dnf -q remove 'postgresql*'
	m sh -ec 'dnf -q module reset postgresql; rm -r /var/lib/pgsql /srv/one'
}

# there BACKUP: to 17, as svc says how.
there() {
	exits "while 13 is installed it is refused" 1 upgrade --engine postgresql --to 17 --backup-dir "$1" --confirm
	run_printed "the other stream" "$(said_command 'systemctl stop postgresql')"
	check "17 is installed, with what is of 13" m rpm -q postgresql-server-17.9 postgresql-upgrade-17.9
	lives "beside the stream 17"
	check "its service does not take the old data" not m systemctl start postgresql
	exits "13 → 17" 0 json upgrade --engine postgresql --to 17 --backup-dir "$1" --confirm --json
	holds "upgraded" 17
	m systemctl restart postgresql
	holds "and started again" 17
	lives "beside the upgraded one"
}

needs debootstrap:debootstrap capsh:libcap2-bin findmnt:util-linux python3:python3
servers_root "$cache"
mount_root
archive
umount "$root/proc" "$root/dev"
boot rpm "$root"
for part in ${E2E_PARTS:-own modules first}; do
	begin=$SECONDS
	"$part"
	echo "      $part: $((SECONDS - begin)) s"
done
finish
