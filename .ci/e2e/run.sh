#!/usr/bin/env bash
# Migrates a real Debian 11 server to Debian 13: assess, plan, apply the role
# to a real root, apply it again, compare, move its data, verify, watch. What people
# changed is merged into the target's own files, out of the archive's packages.
# Needs root and what install.sh installs. Prints a line for each check and ends with "N passed, N failed".
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
target=$work/target
out=$work/out

cleanup() {
	umount -q -l "$target/proc" "$target/dev" "$work/tiny" 2>/dev/null || true
	rm -rf --one-file-system "$work"
}
trap cleanup EXIT

prepare() {
	needs rsync:rsync
	CGO_ENABLED=0 go build -trimpath -o "$work/svc" ./cmd/svc
	bash .ci/e2e/roots.sh
	source=$work/source
	cp -al "$cache/roots/bullseye-server" "$source" 2>/dev/null || { rm -rf "$source" && cp -a "$cache/roots/bullseye-server" "$source"; }
	edit
	make_target
	archives=(--source-archive "$(mirror)" --target-archive "$(mirror)")
}

# edit changes files of packages, as people do; sed writes new ones, so that those
# of the cache stay.
edit() {
	sed -i 's/^Timeout .*/Timeout 60/; s/^LogLevel .*/LogLevel info/' "$source/etc/apache2/apache2.conf"
	sed -i 's/^bind-address .*/bind-address = 0.0.0.0/' "$source/etc/mysql/mariadb.conf.d/50-server.cnf"
	sed -i 's/^pm.max_children = .*/pm.max_children = 20/' "$source/etc/php/7.4/fpm/pool.d/www.conf"
	with_ufw
}

# with_ufw lets the source have had ufw, with the rules of its converter's test.
with_ufw() {
	{
		cat "$source/var/lib/dpkg/status"
		printf '\nPackage: ufw\nStatus: install ok installed\nArchitecture: all\nVersion: 0.36-7.1\nMaintainer: Jamie Strandboge <jdstrand@ubuntu.com>\n\n'
	} >"$work/status"
	mv "$work/status" "$source/var/lib/dpkg/status"
	python3 - "$source" tools/convert/registry/testdata/ubuntu-22.04-ufw.txtar <<-'PY'
		import os, re, sys
		parts = re.split(r"(?m)^-- (\S+) --\n", open(sys.argv[2]).read())
		for name, text in zip(parts[1::2], parts[2::2]):
		    path = os.path.join(sys.argv[1], name)
		    os.makedirs(os.path.dirname(path), exist_ok=True)
		    open(path, "w").write(text)
	PY
	chmod 640 "$source"/etc/ufw/*.rules
}

migrate() {
	exits "a preflight is done" 0 svc migrate --root "$source" --target debian-13 --preflight
	same "a preflight writes nothing" "$(find "$work/out" 2>/dev/null)" ""
	exits "without confirm nothing is done" 2 svc migrate --root "$source" --target debian-13 --out "$out"
	exits "a migration is done" 0 svc migrate --root "$source" --target debian-13 "${archives[@]}" --out "$out" --confirm
	check "its attestation verifies offline" svc attest verify "$out/attestation.dsse.json"
	(cd "$out" && find . -type f ! -name attestation.dsse.json -exec sha256sum {} + | sort) >"$work/first"
	exits "a repeat is done" 0 svc migrate --root "$source" --target debian-13 "${archives[@]}" --out "$out" --confirm
	(cd "$out" && find . -type f ! -name attestation.dsse.json -exec sha256sum {} + | sort) >"$work/second"
	check "a repeat gives the same bytes" diff "$work/first" "$work/second"
	same "a repeat claims no second seat" "$(svc account --json | jsonget billable_instances)" 1
	tamper
	check "ansible-lint passes its production profile" lint
}

jsonget() { python3 -c 'import json,sys; print(json.load(sys.stdin)[sys.argv[1]])' "$1"; }

# tamper changes one byte of the payload of a copy.
tamper() {
	python3 - "$out/attestation.dsse.json" "$work/tampered.json" <<-'PY'
		import json, sys
		e = json.load(open(sys.argv[1]))
		p = e["payload"]
		e["payload"] = p[:40] + ("A" if p[40] != "A" else "B") + p[41:]
		json.dump(e, open(sys.argv[2], "w"))
	PY
	exits "a changed byte is found" 1 svc attest verify "$work/tampered.json"
}

lint() { (cd "$out" && ansible-lint --nocolor --offline --profile production site.yml role); }

# compare_files holds every file that the role carries as it is against the source;
# what was converted is put to its own program.
compare_files() {
	local wrong=""
	while IFS=$'\t' read -r from to mode owner group; do
		cmp -s "$source$from" "$target$to" || wrong="$wrong $to(content)"
		[ "$(chroot "$target" stat -c '%04a %U %G' "$to" 2>/dev/null)" = "$mode $owner $group" ] || wrong="$wrong $to(mode)"
	done < <(plan 'for c in p["configuration"]:
 if c["action"] in ("copy","convert") and not c["link"] and not c.get("converter"): print(c["from"],c["to"],c["mode"],c["owner"],c["group"],sep="\t")')
	same "all carried files are there, byte by byte, with mode and owner" "$wrong" ""
}

# changed PACKAGE FILE [TEMPLATE]: the lines of a file on the target that are not as
# the package ships it, and how many of the package's are not there.
changed() {
	local deb
	deb=$(find "$target/var/cache/apt/archives" -name "$1_*.deb")
	diff <(dpkg-deb --fsys-tarfile "$deb" | tar -xO ".${3:-$2}") "$target$2" | awk '/^> /{print substr($0, 3)} /^</{n++} END{print n+0}' | tr '\n' ' '
}

# compare_merged holds files that people changed against those of the target's own
# packages, and against what the programs read.
compare_merged() {
	same "sshd_config is the target's own, but for what a person changed" "$(changed openssh-server /etc/ssh/sshd_config /usr/share/openssh/sshd_config)" "PermitRootLogin no X11Forwarding no 2 "
	same "so is apache2.conf" "$(changed apache2 /etc/apache2/apache2.conf)" "Timeout 60 LogLevel info 2 "
	same "so is security.conf" "$(changed apache2 /etc/apache2/conf-available/security.conf)" "ServerTokens Prod 1 "
	same "so is MariaDB's 50-server.cnf" "$(changed mariadb-server /etc/mysql/mariadb.conf.d/50-server.cnf)" "bind-address = 0.0.0.0 1 "
	same "so is php.ini" "$(changed php8.4-common /etc/php/8.4/fpm/php.ini /usr/lib/php/8.4/php.ini-production)" "memory_limit = 256M 1 "
	same "so is FPM's pool" "$(changed php8.4-fpm /etc/php/8.4/fpm/pool.d/www.conf)" "pm.max_children = 20 1 "
	check "postgresql.conf is that of 17, with what 13 had no word for" grep -q '^#summarize_wal' "$target/etc/postgresql/17/main/postgresql.conf"
	check "and without what 17 has none for" not grep -q stats_temp_directory "$target/etc/postgresql/17/main/postgresql.conf"
	same "PostgreSQL reads what a person set" "$(chroot "$target" runuser -u postgres -- /usr/lib/postgresql/17/bin/postgres -D /etc/postgresql/17/main -C max_connections 2>/dev/null)" 150
	same "MariaDB too" "$(chroot "$target" mariadbd --user=mysql --help --verbose 2>/dev/null | awk '$1=="bind-address"{print $2}')" 0.0.0.0
	same "sshd too" "$(chroot "$target" /usr/sbin/sshd -T 2>/dev/null | grep -cE '^(permitrootlogin|x11forwarding|passwordauthentication) no$')" 3
	check "the plan names the packages that were used" test "$(plan 'print(len({c["merge"]["target"]["package_sha256"] for c in p["configuration"] if c["action"]=="merge"}))')" -ge 6
}

# firewall is what a person does when the machine takes over, in a network of its own.
firewall() {
	same "ufw is off until then" "$(grep -h ^ENABLED "$target/etc/ufw/ufw.conf" "$target/etc/svc/network/etc/ufw/ufw.conf" | tr '\n' ' ')" "ENABLED=no ENABLED=yes "
	cp -a "$target/etc/svc/network/etc/." "$target/etc/"
	unshare -n chroot "$target" sh -c 'ufw --force enable && ufw status verbose' >"$work/last.log" 2>&1 || true
	said "put in place, ufw keeps its policies" "Default: deny (incoming), allow (outgoing)"
	said "and its rules" "22/tcp                     LIMIT IN    Anywhere"
	said "those of applications too" "80,443/tcp (Apache Full)   ALLOW IN    Anywhere"
	sed '1,/^-- .*nftables.conf --$/d' tools/convert/registry/testdata/ubuntu-22.04-ufw-rocky.golden >"$target/root/ufw.nft"
	check "nftables takes what is made of it where there is no ufw" unshare -n chroot "$target" nft -c -f /root/ufw.nft
}

# clash changes a line that the target's package changed too.
clash() {
	sed -i 's/^AcceptEnv .*/AcceptEnv SHOP_*/' "$source/etc/ssh/sshd_config"
	exits "a clash with the target's own file stops nothing" 0 svc migrate --root "$source" --target debian-13 "${archives[@]}" --preflight
	said "and is a question" configuration.merge-clash
	exits "an archive that can't be read is an error" 1 svc migrate --root "$source" --target debian-13 --target-archive "$work/foreign" --preflight
}

unit_is() { same "$1 is $2" "$(systemctl --root="$target" is-enabled "$1" 2>/dev/null)" "$2"; }

compare_machine() {
	compare_packages
	compare_files
	unit_is shop-worker.service enabled
	unit_is report.timer enabled
	unit_is apt-daily.timer masked
	unit_is fail2ban.service disabled
	unit_is nftables.service enabled
	unit_is apache2.service enabled
	unit_is php8.4-fpm.service enabled
	same "deploy has its ids and groups" "$(chroot "$target" id deploy)" "uid=1500(deploy) gid=1500(deploy) groups=1500(deploy),33(www-data),1600(webteam)"
	same "anna is there, with a group of the system" "$(chroot "$target" id anna)" "uid=1501(anna) gid=1501(anna) groups=1501(anna),901(printers)"
	same "a system user that a person made is there" "$(chroot "$target" id -u upload)" 902
	check "deploy's key is there" grep -q deploy@ci "$target/home/deploy/.ssh/authorized_keys"
	same "deploy's key is closed to others" "$(stat -c %a "$target/home/deploy/.ssh/authorized_keys")" 600
	check "sudo takes its rules" chroot "$target" visudo -c
	takes apache apache2ctl configtest
	check "apache has the virtual host" sh -c "chroot '$target' apache2ctl -t -D DUMP_VHOSTS 2>&1 | grep -q shop.example.org"
	takes sshd sh -c 'mkdir -p /run/sshd && /usr/sbin/sshd -t'
	takes php-fpm php-fpm8.4 -t
	takes mariadb mariadbd --user=mysql --help --verbose
	takes postgresql runuser -u postgres -- /usr/lib/postgresql/17/bin/postgres -D /etc/postgresql/17/main -C max_connections
	compare_merged
	check "the site is enabled" test -L "$target/etc/apache2/sites-enabled/shop.conf"
	same "the time zone is carried over" "$(readlink "$target/etc/localtime")" /usr/share/zoneinfo/Europe/Vienna
	check "no secret was carried over" test ! -e "$target/etc/ssl/private/shop.key"
}

compare_assessments() {
	svc assess --root "$source" --json >"$work/before.json" || true
	svc assess --root "$target" --json >"$work/after.json" || true
	same "the machine keeps its fingerprint" "$(jsonget fingerprint <"$work/after.json")" "$(jsonget fingerprint <"$work/before.json")"
	same "the machine is a Debian 13" "$(jsonget release <"$work/after.json")" debian-13
}

# data moves the data by the scripts of a plan, before they are verified.
data() {
	exits "the data are planned" 0 svc data plan --root "$source" --target debian-13 --out "$work/data-plan" --source-offline --confirm
	local step
	for step in 10-check 30-before 40-copy 50-after; do
		check "its script $step runs" env SOURCE_ROOT="$source" TARGET_ROOT="$target" bash "$work/data-plan/$step.sh"
	done
}

# of DIMENSION RESULT: how many checks of the last verification ended so.
of() { python3 -c 'import json,sys; print(sum(c["dimension"] == sys.argv[2] and c["result"] == sys.argv[3] for c in json.load(open(sys.argv[1]))["checks"]))' "$work/parity/parity.json" "$1" "$2"; }

# verify has the migrated machine verified, with its data, and its attestation
# checked by svc and by the program of somebody else.
verify() {
	verifies
	same "without a data plan no data are checked" "$(of data not-checkable)" 5
	data
	exits "nor differs it with its data" 0 svc verify --root "$target" --source "$out" --data "$work/data-plan" --digests --out "$work/parity"
	same "of which counts, sizes and contents match" "$(of data match)/$(of data not-checkable)" 10/0
	exits "a repeat gives the same parity" 0 svc verify --root "$target" --source "$out" --data "$work/data-plan" --digests --out "$work/parity2"
	check "byte by byte" cmp "$work/parity/parity.json" "$work/parity2/parity.json"
	if bash .ci/e2e/cosign.sh "$work" "$cache" >"$work/last.log" 2>&1; then ok "cosign verifies it, and refuses what was changed"; else fails "cosign verifies it"; fi
	printf X | dd of="$target/srv/www/shop/index.php" bs=1 conv=notrunc status=none
	exits "a byte of the data that changed is found" 6 svc verify --root "$target" --source "$out" --data "$work/data-plan" --digests
	cp "$source/srv/www/shop/index.php" "$target/srv/www/shop/"
	echo >>"$work/parity2/report.html"
	exits "a file that is not as it was signed is found" 1 svc attest verify "$work/parity2/attestation.dsse.json"
	rotate
}

# rotate changes the service's key: what the old one signed stays good.
rotate() {
	cp "$work/data/svc/keys/embedded.pem" "$work/old.pem"
	check "the service gets a new key" svc admin key rotate
	exits "which signs from now on" 0 svc verify --root "$target" --source "$out" --out "$work/parity3"
	exits "and not the old one" 1 svc attest verify "$work/parity3/attestation.dsse.json" --key "$work/old.pem"
	check "what the new one signed verifies" svc attest verify "$work/parity3/attestation.dsse.json"
	check "what the old one signed verifies too" svc attest verify "$work/parity/attestation.dsse.json"
}

# watch finds what changed, data that are gone too.
watch() {
	drifts fail2ban shop-worker.service /etc/nftables.conf
	rm -r "$target/srv/www/shop"
	svc drift --root "$target" --source "$work/parity" --json >"$work/gone.json" || true
	check "and data that are gone" grep -q '"/srv/www/shop"' "$work/gone.json"
}

agents() {
	check "the MCP Inspector is content, in both eras" env XDG_DATA_HOME="$work/data" XDG_CACHE_HOME="${cache%/svc-e2e}" bash .ci/e2e/inspector.sh "$work/svc" "$source"
}

bad_input() {
	mkdir "$work/foreign" "$work/tiny" && echo mine >"$work/foreign/thesis.txt" && echo x >"$work/file"
	exits "an unknown target is not found" 4 svc migrate --root "$source" --target debain-13 --out "$work/o" --confirm
	exits "no system is an error" 1 svc migrate --root "$work/foreign" --target debian-13 --out "$work/o" --confirm
	exits "a foreign folder is refused" 1 svc migrate --root "$source" --target debian-13 --out "$work/foreign" --confirm
	same "and is left as it was" "$(cd "$work/foreign" && ls)" thesis.txt
	exits "a file is refused" 1 svc migrate --root "$source" --target debian-13 --out "$work/file" --confirm
	exits "an older target is planned, and inhibited" 6 svc migrate --root "$target" --target debian-12 --preflight
	mount -t tmpfs -o size=64k tmpfs "$work/tiny"
	exits "a full disk is an error" 1 svc migrate --root "$source" --target debian-13 --out "$work/tiny/o" --confirm
	same "and leaves nothing behind" "$(find "$work/tiny" -mindepth 1)" ""
	same "nothing was written beside" "$(find "$work" -maxdepth 1 -name '.svc-staging-*' -o -maxdepth 1 -name o)" ""
	exits "an empty package database is an error" 1 svc assess --root "$(broken_root)"
	exits "and can't be migrated" 1 svc migrate --root "$(broken_root)" --target debian-13 --out "$work/o" --confirm
}

broken_root() {
	mkdir -p "$work/broken/etc" "$work/broken/var/lib/dpkg"
	cp "$source/etc/os-release" "$source/etc/machine-id" "$work/broken/etc/"
	: >"$work/broken/var/lib/dpkg/status"
	echo "$work/broken"
}

# taken_ids gives the ids of a source to others of the target: an account whose id is taken
# gets one that is nobody's, and those whose are free have theirs, whatever comes first.
taken_ids() {
	chroot "$target" sh -c 'groupadd -g 1700 taken && useradd -u 1700 -g 1700 taken'
	cat >"$work/taken.yml" <<-PLAY
		- hosts: all
		  gather_facts: false
		  vars:
		    role_groups: [{name: shopd, gid: 1700, system: true}, {name: dora, gid: 1701, system: false}]
		    role_users:
		      - {name: shopd, uid: 1700, group: shopd, groups: [], comment: "", home: /srv, shell: /bin/false, system: true, password: "!"}
		      - {name: dora, uid: 1701, group: dora, groups: [shopd], comment: "", home: /home/dora, shell: /bin/sh, system: false, password: "!"}
		      - {name: dora-too, uid: 1701, group: dora, groups: [], comment: "", home: /home/dora, shell: /bin/sh, system: false, password: "!"}
		  tasks:
		    - ansible.builtin.import_tasks: $out/role/tasks/accounts.yml
	PLAY
	check "accounts are made where some of their ids are taken" env ANSIBLE_NOCOWS=1 ansible-playbook -i "$target," -c community.general.chroot "$work/taken.yml"
	same "who can have it has the id of the source, shared ones too" "$(chroot "$target" sh -c 'id -u dora; id -g dora; id -u dora-too' | tr '\n' ' ')" "1701 1701 1701 "
	check "who can't has one of the system's" test "$(chroot "$target" id -u shopd)" -lt 1000
}

prepare
migrate
apply_twice
compare_machine
compare_assessments
verify
watch
agents
bad_input
clash
firewall
taken_ids
finish
