#!/usr/bin/env bash
# Migrates servers to releases that are not of Debian's family: a Debian 11 to
# AlmaLinux 9 and to SLES 15, a CentOS 7 to Rocky Linux 10 and to SLES 15. The role is applied by
# the real dnf and zypper to a root that has no other packages of the release than
# those made here, which carry their names, accounts, units and folders; Debian's
# programs in it say what they think of what was converted.
# Needs root and what install.sh installs.
# Prints a line for each check and ends with "N passed, N failed".
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=.ci/e2e/checks.sh
. .ci/e2e/checks.sh
# shellcheck source=.ci/e2e/role.sh
. .ci/e2e/role.sh

cache=${XDG_CACHE_HOME:-$HOME/.cache}/svc-e2e
base=$cache/rpm/trixie-family
work=$(mktemp -d)
target=$work/target
out=$work/out

cleanup() {
	umount -q -l "$work"/*/proc "$work"/*/dev "$base.new/proc" "$base.new/dev" 2>/dev/null || true
	rm -rf --one-file-system "$work"
}
trap cleanup EXIT

programs="dnf dnf-plugins-core rpm createrepo-c zypper apache2-bin php8.4-fpm nginx bind9 bind9-utils mariadb-server postfix dovecot-imapd openssh-server chrony haproxy logrotate rsyslog network-manager"

# base_root is a Debian 13 with package managers of others and the programs that
# servers run; it is made once for each version of this list.
base_root() {
	local recipe
	recipe=$(cat "$cache/roots/trixie-base.recipe" - <<<"$programs" | sha256sum | cut -c1-16)
	[ "$(cat "$base.recipe" 2>/dev/null)" != "$recipe" ] || return 0
	echo "making $base"
	rm -rf --one-file-system "$base" "$base.new"
	mkdir -p "${base%/*}"
	cp -a "$cache/roots/trixie-base" "$base.new"
	mount -t proc proc "$base.new/proc"
	mount --bind /dev "$base.new/dev"
	# shellcheck disable=SC2086
	DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 chroot "$base.new" apt-get install -y -qq --no-install-recommends $programs >"$base.log" 2>&1 || { tail -n 20 "$base.log"; return 1; }
	umount -l "$base.new/proc" "$base.new/dev"
	# What a fresh system of the rpm families has not.
	rm -rf "$base.new"/var/cache/apt/archives/*.deb "$base.new"/etc/{php,mysql,apache2,bind,chrony,nginx/sites-enabled,network,default,sudoers,sudoers.d} "$base.new"/etc/systemd/system/*.wants
	mkdir -p "$base.new/etc/sudoers.d"
	mv "$base.new" "$base"
	echo "$recipe" >"$base.recipe"
}

# system makes the target: a base of the given release.
system() { # os-release…
	umount -q -l "$target/proc" "$target/dev" 2>/dev/null || true
	rm -rf --one-file-system "$target"
	cp -a "$base" "$target"
	mount -t proc proc "$target/proc"
	mount --bind /dev "$target/dev"
	rm -f "$target/etc/os-release" "$target/usr/lib/os-release"
	printf '%s\n' "$@" >"$target/etc/os-release"
	cp "$target/etc/os-release" "$target/usr/lib/os-release"
	rm -rf "$target/etc/debian_version" "$target/etc/dpkg" "$target/var/lib/rpm"
	mkdir -p "$target/etc/rpm"
	echo '%__transaction_unshare %{nil}' >"$target/etc/rpm/macros" # / of a chroot is no mount
}

# archive makes a repository of the packages that families.spec describes and, by
# the names of the plan, of packages of nothing; the target knows no other.
archive() {
	local name
	mkdir -p "$target/srv/archive"
	{
		cat .ci/e2e/families.spec
		for name in $(plan 'print(*p["install"], *(p.get("archives") or {}).get("packages", []))'); do
			grep -q "^%package -n $name\$" .ci/e2e/families.spec || printf '%%package -n %s\nSummary: none\n%%description -n %s\nnone\n%%files -n %s\n' "$name" "$name" "$name"
		done
	} >"$target/srv/families.spec"
	cp .ci/e2e/families-modules.yaml "$target/srv/modules.yaml"
	chroot "$target" env HOME=/root sh -ec '
		cd /srv
		rpmbuild --quiet -bb --define "_topdir /srv/build" --define "_rpmdir /srv/archive" --define "_binary_payload w1.gzdio" families.spec
		rm -rf build /var/lib/rpm /etc/yum.repos.d/* /etc/zypp/repos.d/*
		createrepo_c --quiet archive
		modifyrepo_c --mdtype=modules modules.yaml archive/repodata
		mkdir -p /etc/yum.repos.d /etc/zypp/repos.d
		printf "[base]\nname=base\nbaseurl=file:///srv/archive\ngpgcheck=0\nenabled=1\n" | tee /etc/yum.repos.d/base.repo >/etc/zypp/repos.d/base.repo
		printf "[crb]\nname=crb\nbaseurl=file:///srv/archive\ngpgcheck=0\nenabled=0\n" >/etc/yum.repos.d/crb.repo
	' >"$work/archive.log" 2>&1 || { tail -n 20 "$work/archive.log"; return 1; }
}

lint() { (cd "$out" && ansible-lint --nocolor --offline --profile production site.yml role); }

# moved SOURCE TARGET OS-RELEASE…: a root is migrated, and its role applied.
moved() {
	local from=$1 to=$2 code=0
	shift 2
	echo "== to $to"
	out=$work/$to
	svc migrate --root "$from" --target "$to" --out "$out" --include-secrets --confirm >"$work/last.log" 2>&1 || code=$?
	check "a migration to $to is written ($code)" test -s "$out/plan.json" -a \( "$code" = 0 -o "$code" = 6 \)
	system "$@"
	archive
	apply_twice
	compare_rpms
	written
}

compare_rpms() {
	local name absent=""
	for name in $(plan 'print(*p["install"])'); do
		chroot "$target" rpm -q "$name" >/dev/null 2>&1 || absent="$absent $name"
	done
	same "all packages of the plan are installed" "$absent" ""
}

# written holds every file that the plan says the role writes: that it is there,
# with its mode, and what is carried over as it is byte by byte.
written() {
	local wrong="" from to mode owner group
	while IFS=$'\t' read -r from to mode owner group; do
		[ -n "$from" ] && { cmp -s "$from" "$target$to" || wrong="$wrong $to(content)"; }
		[ "$(chroot "$target" stat -c '%04a %U %G' "$to" 2>/dev/null)" = "$mode $owner $group" ] || wrong="$wrong $to($(chroot "$target" stat -c '%04a %U %G' "$to" 2>&1))"
	done < <(python3 - "$out" <<-'PY'
		import json, sys, yaml
		yaml.SafeLoader.add_constructor("!unsafe", lambda l, n: n.value)
		v = yaml.safe_load(open(sys.argv[1] + "/role/defaults/main.yml"))
		for f in v["role_files"]:
		    print(sys.argv[1] + "/role/files/" + f["src"], f["dest"], f["mode"], f["owner"], f["group"], sep="\t")
	PY
	)
	same "every file of the role is there, byte by byte, with mode and owner" "$wrong" ""
}

unit_is() { same "$1 is $2" "$(systemctl --root="$target" is-enabled "$1" 2>/dev/null)" "$2"; }

# files puts the files of a converter's own test into a root, and its links.
files() { # root archive
	python3 - "$@" <<-'PY'
		import os, re, sys
		root, text = sys.argv[1], open(sys.argv[2]).read()
		parts = re.split(r"(?m)^-- (\S+) --\n", text)
		def at(name):
		    path = root + "/" + name.strip("/")
		    os.makedirs(os.path.dirname(path), exist_ok=True)
		    if os.path.islink(path): os.unlink(path)
		    return path
		for name, content in zip(parts[1::2], parts[2::2]):
		    open(at(name), "w").write(content)
		for line in parts[0].splitlines():
		    if line.startswith("@"):
		        os.symlink(line.split()[1], at(line.split()[0][1:]))
	PY
	chmod 440 "$1"/etc/sudoers.d/* # git keeps no modes
	chmod 600 "$1/etc/ssh/sshd_config"
}

# key_pair makes a key and certificate.
key_pair() { # key certificate
	mkdir -p "${1%/*}" "${2%/*}"
	openssl req -x509 -newkey rsa:2048 -nodes -days 30 -subj /CN=shop.example.org -keyout "$1" -out "$2" 2>/dev/null
	chmod 600 "$1"
}

# debian_machine is the fixture with more servers, and what is written for them.
debian_machine() {
	local package
	cp -a fixtures/hosts/debian-11-web "$debian"
	for package in nginx=1.18.0 bind9=1:9.16.50 postfix=3.5.25 haproxy=2.2.9 nodejs=18.19.0 htop=3.0.5; do
		printf '\nPackage: %s\nStatus: install ok installed\nArchitecture: amd64\nVersion: %s\n' "${package%=*}" "${package#*=}" >>"$debian/var/lib/dpkg/status"
	done
	files "$debian" tools/convert/registry/testdata/debian-11-almalinux-9.txtar
	key_pair "$debian/etc/ssl/private/shop.key" "$debian/etc/ssl/certs/shop.pem"
}

# The packages of the CentOS 7, with the versions that it has.
server="httpd-2.4.6 mod_ssl-2.4.6 nginx-1.20.1 php-fpm-5.4.16 mariadb-server-5.5.68 bind-9.11.4 postfix-2.10.1 haproxy-1.5.18 logrotate-3.8.6 openssh-server-7.4p1 sudo-1.8.23 cronie-1.4.11 chrony-3.4 rsyslog-8.24.0 curl-7.29.0"

# centos_machine is a root with a database of rpm and what is written for servers.
centos_machine() {
	local package
	mkdir -p "$base/svc/root" "$centos/etc"
	{
		printf 'Name: centos\nVersion: 7\nRelease: 1.el7\nSummary: none\nLicense: none\nVendor: CentOS\nBuildArch: noarch\n%%description\nnone\n'
		for package in $server; do
			printf '%%package -n %s\nVersion: %s\nSummary: none\n%%description -n %s\nnone\n%%files -n %s\n' "${package%-*}" "${package##*-}" "${package%-*}" "${package%-*}"
		done
	} >"$base/svc/centos.spec"
	# shellcheck disable=SC2016 # the shell of the root
	chroot "$base" env HOME=/root sh -ec '
		rpmbuild --quiet -bb --define "_topdir /svc/build" --define "_rpmdir /svc/rpms" --define "_binary_payload w1.gzdio" /svc/centos.spec
		rpm --root /svc/root --dbpath /var/lib/rpm -i --justdb --nodeps $(find /svc/rpms -name "*.rpm" | sort)
	' >"$work/centos.log" 2>&1 || { tail -n 20 "$work/centos.log"; return 1; }
	cp -a "$base/svc/root/var" "$centos/"
	rm -rf "${base:?}/svc"
	printf 'ID="centos"\nVERSION_ID="7"\nNAME="CentOS Linux"\n' >"$centos/etc/os-release"
	printf '0123456789abcdef0123456789abcdef\n' >"$centos/etc/machine-id"
	printf 'LANG=de_AT.UTF-8\n' >"$centos/etc/locale.conf"
	printf 'root:x:0:0:root:/root:/bin/bash\napache:x:48:48::/usr/share/httpd:/sbin/nologin\nanna:x:1000:1000:Anna:/home/anna:/bin/bash\n' >"$centos/etc/passwd"
	printf 'root:x:0:\nwheel:x:10:anna\napache:x:48:\nanna:x:1000:\n' >"$centos/etc/group"
	printf 'root:!:19000::::::\nanna:!:19000::::::\n' >"$centos/etc/shadow"
	files "$centos" tools/convert/registry/testdata/centos-7-rocky-9.txtar
}

prepare() {
	bash .ci/e2e/install.sh
	CGO_ENABLED=0 go build -trimpath -o "$work/svc" ./cmd/svc
	bash .ci/e2e/roots.sh
	base_root
	debian=$work/debian centos=$work/centos
	debian_machine
	centos_machine
}

# accepted BUFFER-POOL HTTPD PHP: the programs take what both machines have, with
# the main files that the release has of these.
accepted() {
	local logs
	for logs in httpd apache2; do
		mkdir -p "$target/var/log/$logs/shop" "$target/run/sshd"
		touch "$target/var/log/$logs/shop/access.log"
	done
	takes httpd apache2 -t -f "$2"
	check "httpd has the virtual host" sh -c "chroot '$target' apache2 -S -f '$2' | grep -q shop.example.org"
	takes nginx nginx -t
	takes php-fpm php-fpm8.4 -t -y "$3/php-fpm.conf" -c "$3/php.ini"
	takes mariadb mariadbd --defaults-file=/etc/my.cnf --user=mysql --help --verbose
	same "mariadb has the buffer pool of the source" "$(chroot "$target" mariadbd --defaults-file=/etc/my.cnf --user=mysql --help --verbose 2>/dev/null | awk '$1=="innodb-buffer-pool-size"{print $2}')" "$1"
	takes named named-checkconf /etc/named.conf
	takes postfix postfix check
	same "postfix has the name of the source" "$(chroot "$target" postconf -h myhostname 2>/dev/null)" mail.example.org
	takes haproxy haproxy -c -f /etc/haproxy/haproxy.cfg
	takes chrony chronyd -p -f /etc/chrony.conf
	takes sudo visudo -c
	# The rpm families' own option is none of Debian's sshd.
	takes sshd sh -c 'grep -v GSSAPIEnablek5users /etc/ssh/sshd_config >/tmp/sshd_config && /usr/sbin/sshd -t -f /tmp/sshd_config'
	takes logrotate logrotate -d /etc/logrotate.d/shop
	takes sysctl grep -q '^net.ipv4.ip_forward = 1' /etc/sysctl.conf
}

# debian_to_el: what Debian has in another way, and what has to be enabled first.
debian_to_el() {
	moved "$debian" almalinux-9 ID=almalinux VERSION_ID=9.6 NAME=AlmaLinux PLATFORM_ID=platform:el9
	check "ansible-lint passes its production profile" lint
	accepted 268435456 /etc/httpd/conf/httpd.conf /etc
	unit_is httpd.service enabled
	unit_is crond.service enabled
	unit_is mariadb.service enabled
	unit_is report.timer enabled
	same "deploy has the groups that the release has" "$(chroot "$target" id -nG deploy)" "deploy apache webteam"
	same "apache has the jobs of www-data" "$(chroot "$target" stat -c '%a %U' /var/spool/cron/apache)" "600 apache"
	check "the stream of the source's version is enabled" grep -q '^stream=18' "$target/etc/dnf/modules.d/nodejs.module"
	check "so is the archive that EPEL needs" sh -c "chroot '$target' dnf -q repolist --enabled | grep -q ^crb"
	same "the locale is carried over" "$(cat "$target/etc/locale.conf")" LANG=de_AT.UTF-8
	check "nothing of the network is in place" test -e "$target/etc/svc/network/etc/NetworkManager/system-connections/ens3.nmconnection" -a ! -e "$target/etc/NetworkManager/system-connections/ens3.nmconnection"
}

# el_to_el: what stays in its place, for newer programs.
el_to_el() {
	moved "$centos" rocky-10 ID=rocky VERSION_ID=10.0 NAME=Rocky PLATFORM_ID=platform:el10
	accepted 536870912 /etc/httpd/conf/httpd.conf /etc
}

el_to_suse() {
	moved "$centos" sles-15 ID=sles VERSION_ID=15.6 NAME=SLES
	check "ansible-lint passes its production profile" lint
	rm "$target/etc/nginx/conf.d/old.conf" # a directive that its nginx takes, and Debian's does not
	accepted 536870912 /etc/apache2/httpd.conf /etc/php8/fpm
}

# debian_to_suse: the same machine, by the other package manager.
debian_to_suse() {
	moved "$debian" sles-15 ID=sles VERSION_ID=15.6 NAME=SLES
	accepted 268435456 /etc/apache2/httpd.conf /etc/php8/fpm
	same "wwwrun has the jobs of www-data" "$(chroot "$target" stat -c '%a %U' /var/spool/cron/tabs/wwwrun)" "600 root"
}

prepare
debian_to_el
el_to_el
el_to_suse
debian_to_suse
finish
