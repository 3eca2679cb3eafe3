#!/usr/bin/env bash
# Verifies a machine that runs and is asked: a Debian 13 under its own systemd with
# nginx, Apache and chrony. A service that somebody stopped, one that can't start,
# and a configuration that its program does not take are differences; without --ask
# the last is not, and that is said. Needs root. Prints a line for each check and
# ends with "N passed, N failed".
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=.ci/e2e/checks.sh
. .ci/e2e/checks.sh
work=$(mktemp -d)
# shellcheck source=.ci/e2e/booted.sh
. .ci/e2e/booted.sh
roots=${XDG_CACHE_HOME:-$HOME/.cache}/svc-e2e/roots
target=$work/target
trap 'halt target; rm -rf --one-file-system "$work"' EXIT

# target_root: a Debian 13 with servers, kept for the next run.
target_root() {
	kept "$roots/trixie-asked" trixie systemd,systemd-sysv,dbus,procps,nginx,apache2,memcached,openssh-server,sudo
	cp -a "$roots/trixie-asked" "$target"
	echo 0123456789abcdef0123456789abcdef >"$target/etc/machine-id"
	sed -i 's/^Listen 80$/Listen 8080/' "$target/etc/apache2/ports.conf"
	sed -i 's/\*:80>/*:8080>/' "$target/etc/apache2/sites-available/000-default.conf"
	printf '[Service]\nExecStart=/bin/sleep infinity\n[Install]\nWantedBy=multi-user.target\n' >"$target/etc/systemd/system/own.service"
	systemctl --root="$target" enable own.service 2>/dev/null
	install -d -m 700 "$target/root/.ssh"
	ssh-keygen -q -t ed25519 -N '' -f "$work/key"
	cp "$work/key.pub" "$target/root/.ssh/authorized_keys"
}

# reach: ssh to the machine goes into its namespaces, where there is no network.
reach() {
	mkdir -p "$work/bin"
	printf '%s\n' '#!/bin/bash' "work=$work" ". $PWD/.ci/e2e/booted.sh" 'inside target /usr/sbin/sshd -i' >"$work/bin/proxy"
	printf '#!/bin/sh\nexec %s -o ProxyCommand=%s -o IdentitiesOnly=yes -i %s -o UserKnownHostsFile=%s -o StrictHostKeyChecking=no "$@"\n' \
		"$(command -v ssh)" "$work/bin/proxy" "$work/key" "$work/known" >"$work/bin/ssh"
	chmod 755 "$work/bin/proxy" "$work/bin/ssh"
	PATH=$work/bin:$PATH
	until_true ssh root@target true
}

# verifies NAME CODE OPTION…: and what differs among the services.
verifies() {
	local name=$1 code=$2
	shift 2
	exits "$name" "$code" svc verify --quiet --ssh root@target --source "$work/out" --json "$@"
	differs=$(python3 -c 'import json,sys; print(*sorted(c["subject"] for c in json.load(sys.stdin)["checks"] if c["dimension"]=="services" and c["result"]=="differs"), sep="; ")' <"$work/stdout")
}

asked() { python3 -c 'import json,sys; print(sum(c["dimension"]=="services" and c["subject"].startswith("/") and c["result"]=="match" for c in json.load(sys.stdin)["checks"]))' <"$work/stdout"; }

# breaks: two services are stopped, one can't be started any more, one would not
# start again, and a file of sudo's is none.
breaks() {
	inside target systemctl stop memcached own apache2
	mkdir -p "$target/etc/systemd/system/apache2.service.d"
	printf '[Unit]\nRequires=php7.4-fpm.service\n' >"$target/etc/systemd/system/apache2.service.d/php.conf"
	inside target systemctl daemon-reload
	not inside target systemctl start apache2
	echo 'no_such_directive on;' >>"$target/etc/nginx/nginx.conf"
	printf 'evil \033[31m{{ x }}\n' >"$target/etc/sudoers.d/broken"
}

CGO_ENABLED=0 go build -trimpath -o "$work/svc" ./cmd/svc
needs debootstrap:debootstrap capsh:libcap2-bin nsenter:util-linux ssh:openssh-client
target_root
exits "the machine is planned" 0 svc migrate --root "$target" --target debian-13 --out "$work/out" --confirm
boot target "$target"
reach
verifies "as it is, nothing differs" 0 --ask
same "and its services were asked" "$(asked)" 6
verifies "without --ask nothing differs either" 0
said "and that is said" "--ask has the migrated machine run them"
exits "a folder can't be asked" 2 svc verify --root "$target" --source "$work/out" --ask
listens='my $s = IO::Socket::INET->new(LocalAddr => "0.0.0.0", LocalPort => shift, Listen => 1) or die; sleep 600'
check "a program listens that nobody announced" inside target systemd-run -q --unit=innocent perl -MIO::Socket::INET -e "$listens" 4444
verifies "which differs" 6
said "by its port and program" '"subject": "4444/tcp, running"'
check "it is ended" inside target systemctl stop innocent
check "it is broken" breaks
stopped="apache2.service, running; memcached.service, running; own.service, running"
verifies "what does not run differs" 6
same "by name" "$differs" "$stopped"
verifies "what would not start differs" 6 --ask
same "by the command that says so" "$differs" "/usr/bin/systemd-analyze verify --man=no apache2.service; /usr/sbin/nginx -t -q; /usr/sbin/visudo -c; $stopped"
said "with what it says" 'unknown directive'
same "and nothing for a terminal" "$(grep -c $'\033' "$work/last.log")" 0
finish
