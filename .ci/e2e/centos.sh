#!/usr/bin/env bash
# Migrates a web, mail and database server of CentOS 7 to Debian 13: a real rpm
# database with the packages of the server added, what people wrote into /etc,
# the role on a real root, each program's own opinion of what was converted.
# Needs root and what install.sh installs.
# Prints a line for each check and ends with "N passed, N failed".
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=.ci/e2e/checks.sh
. .ci/e2e/checks.sh
# shellcheck source=.ci/e2e/role.sh
. .ci/e2e/role.sh
# shellcheck source=.ci/e2e/parity.sh
. .ci/e2e/parity.sh

cache=${XDG_CACHE_HOME:-$HOME/.cache}/svc-e2e
work=$(mktemp -d)
source=$work/source
target=$work/target
out=$work/out

cleanup() {
	umount -q -l "$target/proc" "$target/dev" 2>/dev/null || true
	rm -rf --one-file-system "$work" "$cache/rpm/bullseye/svc"
}
trap cleanup EXIT

# The packages of the server, with the versions that CentOS 7 has.
server="httpd-2.4.6 mod_ssl-2.4.6 nginx-1.20.1 php-fpm-5.4.16 mariadb-server-5.5.68 bind-9.11.4 postfix-2.10.1 dovecot-2.2.36 chrony-3.4 haproxy-1.5.18 logrotate-3.8.6 openssh-server-7.4p1 sudo-1.8.23 cronie-1.4.11 samba-4.10.16 sssd-1.16.5 sssd-tools-1.16.5 keepalived-1.3.5 fail2ban-0.11.2 cronie-anacron-1.4.11 nfs-utils-1.3.0 rsyslog-8.24.0 nftables-0.8 firewalld-0.6.3 iptables-services-1.4.21"

# build makes a package of nothing: its name, version and unit are what counts.
build() { # name version
	mkdir -p "$work/specs"
	printf 'Name: %s\nVersion: %s\nRelease: 1.el7\nSummary: %s\nLicense: none\nVendor: CentOS\nBuildArch: noarch\n%%description\nnone\n%%files\n' "$1" "$2" "$1" >"$work/specs/$1.spec"
	HOME=$work rpmbuild --quiet -bb --define "_topdir $work/build" --define "_rpmdir $work/rpms" --define "_binary_payload w6.gzdio" "$work/specs/$1.spec" >"$work/build.log" 2>&1 || { cat "$work/build.log"; return 1; }
}

# compose makes the root: the real database and the server's packages in it,
# accounts, and the files of the converters' own tests.
compose() {
	local data package chroot=$cache/rpm/bullseye
	data=$(go list -m -f '{{.Dir}}' github.com/anchore/go-rpmdb)/pkg/testdata/centos7-plain
	for package in $server; do build "${package%-*}" "${package##*-}"; done
	rm -rf "$chroot/svc"
	mkdir -p "$chroot/svc/root/var/lib/rpm"
	cp "$data/Packages" "$chroot/svc/root/var/lib/rpm/"
	chmod 644 "$chroot/svc/root/var/lib/rpm/Packages"
	cp -r "$work/rpms" "$chroot/svc/"
	chroot "$chroot" sh -ec '
		rpm --root /svc/root --dbpath /var/lib/rpm --define "_db_backend bdb" -i --justdb --force --nodeps --noscripts --nosignature --nodigest --ignoreos --ignorearch $(find /svc/rpms -name "*.rpm" | sort)
	' >"$work/rpm.log" 2>&1 || { cat "$work/rpm.log"; return 1; }
	mv "$chroot/svc/root" "$source"
	accounts
	python3 - "$source" tools/convert/registry/testdata/centos-7*.txtar tools/convert/registry/testdata/httpd-el6.txtar <<-'PY'
		import os, re, sys
		for archive in sys.argv[2:]:
		    parts = re.split(r"(?m)^-- (\S+) --\n", open(archive).read())
		    for name, text in zip(parts[1::2], parts[2::2]):
		        path = os.path.join(sys.argv[1], name)
		        os.makedirs(os.path.dirname(path), exist_ok=True)
		        open(path, "w").write(text)
	PY
	chmod 600 "$source/etc/ssh/sshd_config" "$source/etc/sssd/sssd.conf"
	chmod 440 "$source"/etc/sudoers "$source"/etc/sudoers.d/*
	chmod 755 "$source/etc/cron.daily/shop.sh"
	mkdir -p "$source/srv/share" "$source/srv/my share" "$source/srv/public"
	mkdir -p "$source/etc/pki/tls/certs" "$source/etc/pki/tls/private"
	openssl req -x509 -newkey rsa:2048 -nodes -days 30 -subj /CN=shop.example.org -keyout "$source/etc/pki/tls/private/shop.key" -out "$source/etc/pki/tls/certs/shop.crt" 2>/dev/null
	printf 'shop:x\n' >"$source/etc/httpd/conf.d/users"
	chown 0:48 "$source/etc/httpd/conf.d/users"
	chmod 640 "$source/etc/httpd/conf.d/users"
}

accounts() {
	mkdir -p "$source/etc"
	printf 'ID="centos"\nVERSION_ID="7"\nNAME="CentOS Linux"\n' >"$source/etc/os-release"
	printf '0123456789abcdef0123456789abcdef\n' >"$source/etc/machine-id"
	printf 'root:x:0:0:root:/root:/bin/bash\napache:x:48:48:Apache:/usr/share/httpd:/sbin/nologin\nmysql:x:27:27::/var/lib/mysql:/sbin/nologin\nanna:x:1000:1000:Anna:/home/anna:/bin/bash\n' >"$source/etc/passwd"
	printf 'root:x:0:\nwheel:x:10:anna\napache:x:48:\nmysql:x:27:\nanna:x:1000:\n' >"$source/etc/group"
	printf 'root:!:19000::::::\nanna:!:19000::::::\n' >"$source/etc/shadow"
}

prepare() {
	bash .ci/e2e/install.sh
	needs rpmbuild:rpm openssl:openssl python3:python3
	CGO_ENABLED=0 go build -trimpath -o "$work/svc" ./cmd/svc
	bash .ci/e2e/roots.sh
	kept "$cache/rpm/bullseye" bullseye rpm # which still writes Berkeley DB; rpm.sh has the same
	compose
	make_target
}

# holds NAME EXPRESSION: it is true of the plan p, with rows by their source.
holds() {
	check "$1" python3 -c 'import json,sys; p=json.load(open(sys.argv[1])); rows=lambda f: [c for c in p["configuration"] if c["from"]==f]; sys.exit(0 if eval(sys.argv[2]) else 1)' "$out/plan.json" "$2"
}

migrate() {
	local code=0
	svc migrate --root "$source" --target debian-13 --out "$out" --include-secrets --confirm >"$work/migrate.log" 2>&1 || code=$?
	check "a migration is written ($code)" test -s "$out/plan.json" -a \( "$code" = 0 -o "$code" = 6 \)
	holds "the server's packages are installed by name" '{"apache2","nginx","mariadb-server","bind9","postfix","chrony","haproxy"} <= set(p["install"])'
	holds "httpd is converted line by line" '[c for c in rows("/etc/httpd/conf.d/shop.conf") if c["to"]=="/etc/apache2/sites-available/shop.conf" and len(c["changes"])>10]'
	holds "what is not understood is left to a person, with the line" '[c for c in rows("/etc/httpd/conf.d/strange.conf") if c["action"]=="manual" and c["refusals"][0]["line"]==2]'
	holds "removed options are named" '"Barracuda" in str([x["was"] for x in rows("/etc/my.cnf")[0]["changes"]])'
}

# written holds every file that was converted against what the role carries.
written() {
	local wrong=""
	while read -r to; do
		[ -e "$target$to" ] || wrong="$wrong $to"
	done < <(plan 'for c in p["configuration"]:
 if c["action"]=="convert" and not c["link"]: print(c["to"])')
	same "every converted file is there" "$wrong" ""
}

accepted() {
	takes apache2 apache2ctl configtest
	check "apache2 has the virtual hosts" sh -c "chroot '$target' apache2ctl -t -D DUMP_VHOSTS 2>&1 | grep -q 'port 443 namevhost shop.example.org\|:443 .*shop.example.org'"
	check "and no default site" test ! -e "$target/etc/apache2/sites-enabled/000-default.conf"
	takes nginx nginx -t
	takes php-fpm php-fpm8.4 -t
	takes sshd sh -c 'mkdir -p /run/sshd && /usr/sbin/sshd -t'
	takes mariadb mariadbd --user=mysql --help --verbose
	same "mariadb has the buffer pool of the source" "$(chroot "$target" mariadbd --user=mysql --help --verbose 2>/dev/null | awk '$1=="innodb-buffer-pool-size"{print $2}')" 536870912
	takes bind9 named-checkconf
	takes postfix postfix check
	same "postfix has the name of the source" "$(chroot "$target" postconf -h myhostname)" mail.example.org
	takes dovecot doveconf -n
	takes samba testparm -s
	check "samba knows every parameter" sh -c "! chroot '$target' testparm -s 2>&1 | grep -i unknown"
	takes sssd sssctl config-check
	takes libc getent passwd anna
	takes keepalived keepalived -t
	takes fail2ban sh -c 'touch /var/log/apache2/shop.log && fail2ban-client -t'
	takes chrony chronyd -p
	takes haproxy haproxy -c -f /etc/haproxy/haproxy.cfg
	takes sudo visudo -c
	takes sysctl sh -c 'grep -q "^net.ipv4.ip_forward = 1" /etc/sysctl.d/99-local.conf && ! grep -q "^net.ipv4.tcp_tw_recycle" /etc/sysctl.d/99-local.conf'
	same "what apache may read www-data may read" "$(chroot "$target" stat -c '%a %U %G' /etc/apache2/conf-available/users)" "640 root www-data"
	same "anna may become root as before" "$(chroot "$target" id -nG anna)" "anna sudo"
}

# jobs, limits, logs and shares: what people wrote for the system itself.
accepted_system() {
	takes cron sh -c 'crontab -n /etc/cron.d/crontab && crontab -n /etc/cron.d/backup_shop && crontab -n /var/spool/cron/crontabs/www-data'
	same "apache's jobs are www-data's" "$(chroot "$target" stat -c '%a %U' /var/spool/cron/crontabs/www-data)" "600 www-data"
	check "run-parts runs a script whose name had a dot" sh -c "chroot '$target' run-parts --test /etc/cron.daily | grep -q shop_sh"
	takes anacron anacron -T
	same "limits of everybody hold, for root too" "$(chroot "$target" sh -c 'su nobody -s /bin/sh -c "ulimit -Hn"; su root -s /bin/sh -c "ulimit -Hn"' | tr '\n' ' ')" "8192 8192 "
	takes rsyslog rsyslogd -N1
	mkdir -p "$target/srv/share" "$target/srv/my share" "$target/srv/public"
	takes exportfs exportfs -ra
	same "lockd has its port" "$(chroot "$target" nfsconf --get lockd port)" 32803
	takes firewalld firewall-offline-cmd --check-config
}

# in_place is what a person does when the machine takes over, in a network of its
# own with an interface of the source's hardware address and another name.
in_place() {
	cp -a "$target/etc/svc/network/." "$target/"
	unshare -n -m bash -ec '
		mount -t sysfs sysfs "$1/sys" && mount -t tmpfs tmpfs "$1/run"
		ip link set lo up
		ip link add ens3 address 52:54:00:12:34:56 type veth peer name switch && ip link set switch up
		chroot "$1" iptables-restore --test /etc/iptables/rules.v4 && echo iptables
		chroot "$1" nft -c -f /etc/nftables.conf && echo nftables
		chroot "$1" ifup eth0 >/dev/null 2>&1 || true
		ip -o addr show eth0 scope global | awk "{print \$4}" | sort
		ip route | grep -c "via 192.0.2.[19] "
		cat /sys/class/net/eth0/mtu
	' - "$target"
}

accepted_network() {
	holds "what decides who reaches the machine waits" 'all(c["to"].startswith("/etc/svc/network/") for c in p["configuration"] if c.get("converter") in ("network","iptables","nftables") and c["to"] and c["action"]=="convert")'
	check "and nothing of it is in place" test ! -e "$target/etc/network/interfaces.d/eth0"
	same "put in place, the interface is known by its hardware address and has its addresses, routes and MTU; the firewalls take their rules" "$(in_place 2>"$work/last.log" | tr '\n' ' ')" "iptables nftables 192.0.2.2/24 192.0.2.3/24 192.0.2.4/32 2001:db8::2/64 3 1400 "
	check "every interface is described" sh -c "for i in '$target'/etc/network/interfaces.d/*; do chroot '$target' ifquery \$(basename \$i) >/dev/null || exit 1; done"
}

prepare
migrate
apply_twice
compare_packages
written
accepted
accepted_system
verifies
drifts logrotate postfix.service /etc/nginx/nginx.conf
accepted_network
finish
