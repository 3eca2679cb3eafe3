#!/usr/bin/env bash
# Migrates a server to releases that are not of Debian's family: a Debian 11 to
# AlmaLinux 9 and to SLES 15. The role is
# applied by the real dnf and zypper to a root that has no other packages of the
# release than those made here, which carry their names, accounts, units and
# folders; the programs of Debian in it say what they think of what was converted.
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
	svc migrate --root "$from" --target "$to" --out "$out" --confirm >"$work/last.log" 2>&1 || code=$?
	check "a migration to $to is written ($code)" test -s "$out/plan.json" -a \( "$code" = 0 -o "$code" = 6 \)
	check "ansible-lint passes its production profile" lint
	system "$@"
	archive
	apply_twice
	compare_rpms
	written
}

compare_rpms() {
	local name missing=""
	for name in $(plan 'print(*p["install"])'); do
		chroot "$target" rpm -q "$name" >/dev/null 2>&1 || missing="$missing $name"
	done
	same "all packages of the plan are installed" "$missing" ""
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

prepare() {
	bash .ci/e2e/install.sh
	CGO_ENABLED=0 go build -trimpath -o "$work/svc" ./cmd/svc
	bash .ci/e2e/roots.sh
	base_root
	debian=$work/debian
	cp -a fixtures/hosts/debian-11-web "$debian"
	chmod 440 "$debian"/etc/sudoers.d/* # git keeps no modes
}

# debian_to_el: a web and database server of Debian 11.
debian_to_el() {
	moved "$debian" almalinux-9 ID=almalinux VERSION_ID=9.6 NAME=AlmaLinux PLATFORM_ID=platform:el9
	unit_is httpd.service enabled
	unit_is crond.service enabled
	unit_is report.timer enabled
	same "deploy has the groups that the release has" "$(chroot "$target" id -nG deploy)" "deploy apache webteam"
	takes sudo visudo -c
	takes sshd sh -c 'mkdir -p /run/sshd && /usr/sbin/sshd -t'
}

debian_to_suse() {
	moved "$debian" sles-15 ID=sles VERSION_ID=15.6 NAME=SLES
}

prepare
debian_to_el
debian_to_suse
finish
