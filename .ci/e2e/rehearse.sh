#!/usr/bin/env bash
# Rehearses a server: a Debian 12 with a web server, a database and a unit of its own,
# to Debian 13. What the rehearsal says is held against what is known of the move; a
# fix mends it; a hostile machine tries to get out, and a rehearsal that is killed
# leaves nothing; without root it goes as far as that does. Needs root. Prints a line for each check and ends with "N passed, N failed".
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=.ci/e2e/checks.sh
. .ci/e2e/checks.sh
work=$(mktemp -d)
roots=${XDG_CACHE_HOME:-$HOME/.cache}/svc-e2e/roots
source=$work/source hostile=$work/hostile
running=${XDG_CACHE_HOME:-$HOME/.cache}/svc/rehearsals/running
trap 'rm -rf --one-file-system "$work"' EXIT

# source_root: a Debian 12 with servers, kept for the next run.
source_root() {
	kept "$roots/bookworm-rehearse" bookworm systemd,systemd-sysv,dbus,procps,python3,nginx-light,redis-server,openssh-server,cron,sudo
	cp -a "$roots/bookworm-rehearse" "$source"
	cp -a "$roots/bookworm-rehearse" "$hostile"
}

# unit ROOT NAME LINE…: an enabled service of its own.
unit() {
	local root=$1 name=$2
	shift 2
	{ printf '[Service]\n' && printf '%s\n' "$@" && printf '[Install]\nWantedBy=multi-user.target\n'; } >"$root/etc/systemd/system/$name.service"
	systemctl --root="$root" enable "$name.service" 2>/dev/null
}

# configure: a site whose files are data, a program of its own, and a drop-in that
# asks for what the target has not.
configure() {
	echo 0123456789abcdef0123456789abcdef >"$source/etc/machine-id"
	mkdir -p "$source/srv/www" "$source/etc/systemd/system/redis-server.service.d"
	echo '<title>The shop</title>' >"$source/srv/www/index.html"
	printf 'server {\n listen 80 default_server;\n server_name shop.example.net;\n root /srv/www;\n}\n' >"$source/etc/nginx/sites-enabled/default.shop"
	rm -f "$source/etc/nginx/sites-enabled/default"
	printf '#!/usr/bin/python3\nimport asyncore, time\ntime.sleep(1e6)\n' >"$source/usr/local/bin/shopd" # Python 3.12 has no asyncore
	chmod 755 "$source/usr/local/bin/shopd"
	unit "$source" shopd ExecStart=/usr/local/bin/shopd
	unit "$source" clock 'ExecStart=/bin/sleep infinity'
	printf '0 3 * * * root /usr/local/bin/nightly\n' >"$source/etc/cron.d/nightly"
	printf '#!/bin/sh\n' >"$source/usr/local/bin/nightly"
	chmod 755 "$source/usr/local/bin/nightly"
	printf '/var/log/shop.log {\n weekly\n missingok\n}\n' >"$source/etc/logrotate.d/shop" # which must be root's
	mkdir -p "$work/checks" "$work/fixes/asyncore/files/usr/local/bin"
	printf '#!/bin/sh\necho "ok 1 - it is asked"\ngrep -q shop /srv/www/index.html && echo "ok 2 - the shop is there" || echo "not ok 2 - the shop is there"\n' >"$work/checks/shop"
	chmod 755 "$work/checks/shop"
	printf '#!/bin/sh\nmkdir -p /usr/local/lib/python3.13/dist-packages && touch /usr/local/lib/python3.13/dist-packages/asyncore.py\n' >"$work/fixes/asyncore/commands"
	rm -r "$work/fixes/asyncore/files"
}

# attack: what a hostile machine does when it is started.
attack() {
	echo 0123456789abcdef0123456789abcdee >"$hostile/etc/machine-id"
	unit "$hostile" bomb 'ExecStart=/bin/bash -c "b() { b | b & }; b"' Restart=always '[Unit]' After=escape.service
	unit "$hostile" never Type=notify 'ExecStart=/bin/sleep infinity' TimeoutStartSec=infinity
	unit "$hostile" escape Type=oneshot 'ExecStart=/bin/bash /usr/local/bin/escape' 'ExecStart=/usr/bin/python3 /usr/local/bin/reach'
	cat >"$hostile/usr/local/bin/escape" <<-'ESCAPE'
		exec >/var/lib/escape 2>&1
		echo h >/proc/sysrq-trigger && echo OUT sysrq
		echo /tmp/x >/proc/sys/kernel/core_pattern && echo OUT core
		echo 1 >/proc/sys/kernel/panic_on_oops && echo OUT panic
		echo 3 >/proc/sys/vm/drop_caches && echo OUT drop_caches
		head -c 1 /proc/kcore && echo OUT kcore
		head -c 1 /dev/kmsg && echo OUT kmsg
		mknod /root/disk b 254 0 && echo OUT mknod
		for d in vda sda nvme0n1 mem fuse kvm; do [ ! -e /dev/$d ] || echo OUT "device $d"; done
		mkdir -p /root/m
		for kind in memory pids devices; do mount -t cgroup -o $kind cgroup /root/m && echo /x >/root/m/release_agent && echo OUT "release_agent of $kind"; done
		mount -t cgroup -o pids cgroup /root/m && echo max >/root/m/pids.max && echo OUT pids.max
		mount -t cgroup -o none,name=svc-e2e cgroup /root/m && echo OUT hierarchy
		for file in pids.max memory.max cpu.max cgroup.max.descendants; do echo max >/sys/fs/cgroup/$file && echo OUT "cgroup $file"; done
		echo $$ >/sys/fs/cgroup/../cgroup.procs && echo OUT "cgroup above"
		mount -o remount,rw /sys && echo 1 >/sys/kernel/mm/ksm/run && echo OUT sys
		for kind in debugfs tracefs securityfs; do mount -t $kind x /root/m && echo OUT $kind; done
		mount -o remount,bind,rw /mnt/svc-source && touch /mnt/svc-source/written && echo OUT source
		mount -o remount,bind,dev,suid,exec /mnt/svc-source && echo OUT "source's flags"
		umount /dev/null && ls -d /dev/vd* && echo OUT "the host's devices"
		ls /proc/1/root/var/lib/svc-e2e-host && echo OUT host
		ls /proc/1/cwd/svc-e2e-host /proc/self/fd/*/svc-e2e-host && echo OUT folder
		grep -ls 'svc-e2e-[p]rocess' /proc/[0-9]*/cmdline && echo OUT process
		nsenter -t 1 -m ls /var/lib/svc-e2e-host && echo OUT nsenter
		[ ! -S /run/docker.sock ] || echo OUT docker
		ip link 2>/dev/null | grep -q eth0 && echo OUT network
		(echo >/dev/tcp/1.1.1.1/53) && echo OUT tcp
		insmod /x.ko && echo OUT module
		date -s 2001-01-01 && echo OUT clock
		kill -9 1 # no signal of its own reaches the first process
		echo done
	ESCAPE
	cat >"$hostile/usr/local/bin/reach" <<-'REACH'
		import ctypes, os, socket, time, urllib.request
		out = open('/var/lib/escape', 'a', buffering=1)
		def reached(name, way):
		    try:
		        way()
		        print('OUT', name, file=out)
		    except OSError:
		        pass
		for name in ('\0svc-e2e-host', '/tmp/svc-e2e-host', '/run/dbus/../../tmp/svc-e2e-host'):
		    reached('socket ' + name[1:], lambda: socket.socket(socket.AF_UNIX).connect(name))
		reached('port', lambda: socket.create_connection(('127.0.0.1', 34567), 2))
		for address in ('http://127.0.0.1:34567/', 'http://localhost:34567/', 'https://127.0.0.1:34567/'):
		    proxy = urllib.request.build_opener(urllib.request.ProxyHandler({'http': 'http://127.0.0.1:3142', 'https': 'http://127.0.0.1:3142'}))
		    reached('proxy to ' + address, lambda: proxy.open(address, timeout=3))
		for kind in (socket.AF_NETLINK, 40):  # 40: to the hypervisor
		    reached('kernel socket', lambda: socket.socket(kind, socket.SOCK_DGRAM if kind == 16 else socket.SOCK_STREAM, 31 if kind == 16 else 0).connect((0, 0) if kind == 16 else (2, 1024)))
		# programs of the host that come in to ask: is one left that can be written to, or held?
		libc, held, end = ctypes.CDLL(None), {}, time.time() + 60
		while time.time() < end:
		    for pid in filter(str.isdigit, os.listdir('/proc')):
		        try:
		            if pid not in held and os.stat(f'/proc/{pid}/exe').st_uid == 65534:
		                held[pid] = os.open(f'/proc/{pid}/exe', os.O_PATH)
		                libc.ptrace(16, int(pid), 0, 0)  # attach
		            if pid in held and os.stat(f'/proc/{pid}/root/var/lib/svc-e2e-host'):
		                print('OUT root of', pid, file=out)
		        except OSError:
		            pass
		    for pid, fd in held.items():
		        reached('program', lambda: os.open(f'/proc/self/fd/{fd}', os.O_WRONLY | os.O_NONBLOCK))
		print('reached', file=out)
	REACH
	rm -rf "${hostile:?}/dev" && ln -s /etc "$hostile/dev"
	mkdir -p "$work/escaped"
	printf '#!/bin/sh\ntail -n 60 /var/lib/escape; grep OUT /var/lib/escape; grep -q done /var/lib/escape && grep -q reached /var/lib/escape && ! grep -q OUT /var/lib/escape\n' >"$work/escaped/escape"
	chmod 755 "$work/escaped/escape"
}

field() { python3 -c 'import json,sys; d=json.load(open(sys.argv[1])); print(eval(sys.argv[2]))' "$1/rehearsal.json" "$2"; }
verdict() { field "$1" "' '.join(sorted({c['verdict'] for c in d['checks'] if (c['kind']+' '+c['subject']).startswith('$2')}))"; }

rehearse() { svc rehearse --target debian-13 --archive "$(mirror)" "$@"; }
fingerprints() { find "$1" -xdev -printf '%p %m %U %s %T@\n' | sort | sha256sum; }

functions() {
	local before
	before=$(fingerprints "$source")
	exits "without data it tells what does not run" 6 rehearse --root "$source" --out "$work/first" --checks "$work/checks"
	same "the source is only read" "$(fingerprints "$source")" "$before"
	same "the target was booted" "$(field "$work/first" "d['level']+' '+d['compared']")" "booted a copy of the source, booted"
	same "the role came to its end" "$(field "$work/first" "d['role']['applied']")" True
	same "nginx runs" "$(verdict "$work/first" "unit nginx.service")" runs
	same "a unit of its own runs" "$(verdict "$work/first" "unit clock.service")" runs
	same "a program that is data is not judged" "$(verdict "$work/first" "unit shopd.service")" "could not be tried"
	same "nor a site" "$(verdict "$work/first" "site http://shop.example.net")" "could not be tried"
	same "a check of one's own fails" "$(verdict "$work/first" "own shop: the shop is there")" "does not run"
	exits "with data the program fails" 6 rehearse --root "$source" --out "$work/second" --with-data --checks "$work/checks"
	same "by name" "$(field "$work/second" "[c['subject'] for c in d['checks'] if c['verdict']=='does not run']")" "['shopd.service']"
	same "with what it said" "$(field "$work/second" "any('asyncore' in l for c in d['checks'] for l in c.get('log') or [])")" True
	same "the site is there" "$(verdict "$work/second" "site http://shop.example.net")" runs
	same "the data are equal" "$(verdict "$work/second" "data ")" runs
	exits "a fix mends it" 0 rehearse --root "$source" --out "$work/second" --with-data --fixes "$work/fixes"
	same "and that is said" "$(field "$work/second" "d['fixes'][0]['mended']")" "['unit shopd.service']"
	exits "a migration takes the fix and names the rehearsal" 0 svc migrate --root "$source" --target debian-13 --out "$work/out" --fixes "$work/fixes" --rehearsal "$work/second" --confirm
	check "by its digest" grep -q "$(sha256sum <"$work/second/rehearsal.json" | cut -c1-64)" <(python3 -c 'import json,sys,base64; print(base64.b64decode(json.load(open(sys.argv[1]))["payload"]).decode())' "$work/out/attestation.dsse.json")
}

# left: what no rehearsal that runs has: others may run beside this one.
left() {
	local at pid
	for at in "$(findmnt -nt cgroup2 -o TARGET | head -n 1)"/svc-sandbox-*; do
		pid=${at##*/svc-sandbox-}
		[ ! -e "$at" ] || kill -0 "${pid%%-*}" 2>/dev/null || echo "$at"
	done
	for pid in $(pgrep -f '^svc-sandbox' || true); do
		ps -o args= -p "$(ps -o ppid= -p "$pid" | tr -d ' ')" | grep -E '^svc-sandbox| rehearse |[.]test' >/dev/null || echo "process $pid"
	done 2>/dev/null
	for at in "$running"/*.lock; do
		[ ! -e "$at" ] || ! flock -n "$at" true || echo "$at"
	done
}

# host: what attacks would change of this machine; its kernel's settings but those that count.
host() {
	grep -rs . /proc/sys/kernel /proc/sys/vm /proc/sys/fs | grep -vE '/(ns_last_pid|random/[a-z_]*|dentry-state|(file|inode|aio|dquot)-(nr|state)|pty/nr|quota/syncs):' || true # some are for nobody to read
	hostname
	mount | grep -vE ' (/tmp|/dev/shm|[^ ]*/svc-e2e)/' # where scripts beside this one mount
	ip -o link
	sha256sum "$(command -v nsenter)" "$work/svc"
	ls /dev /sys/fs/cgroup
}

attacks() {
	local before source bait
	mkdir -p /var/lib/svc-e2e-host
	rm -f /tmp/svc-e2e-host
	python3 -c 'import socket, time
bait = [socket.socket(socket.AF_UNIX) for _ in range(2)] + [socket.create_server(("127.0.0.1", 34567))]
for s, name in zip(bait, ("\0svc-e2e-host", "/tmp/svc-e2e-host")): s.bind(name); s.listen()
time.sleep(3600)' svc-e2e-process &
	bait=$!
	before=$(host) source=$(fingerprints "$hostile")
	# What it starts again and again may or may not run when it is asked.
	same "a hostile machine is rehearsed to the end" "$(rehearse --root "$hostile" --out "$work/hostile.out" --with-data --time 10m --checks "$work/escaped" >"$work/last.log" 2>&1 || echo $?)" "$([ -s "$work/hostile.out/rehearsal.json" ] && field "$work/hostile.out" "6 if d['sum']['fails'] else ''")"
	check "nothing of the host is changed" diff <(echo "$before") <(host)
	same "its disk is only read" "$(fingerprints "$hostile")" "$source"
	check "what it tried to reach is still there" kill "$bait"
	same "nothing is left" "$(left)" ""
	same "nor a mount" "$(grep -F "$running" /proc/self/mounts)" ""
	same "nothing got out, of the source's copy or the target" "$(field "$work/hostile.out" "[(c['verdict'], c.get('source')) for c in d['checks'] if c['kind']=='own']")" "[('runs', 'passes')]"
	same "its bombs were ended, and that is said" "$(field "$work/hostile.out" "sorted(r.split()[2] for r in d['remarks'] if 'bomb.service' in r)")" "['source,', 'target,']"
	rm -rf /var/lib/svc-e2e-host /tmp/svc-e2e-host
}

killed() {
	local pid
	"$work/svc" rehearse --target debian-13 --root "$source" --out "$work/killed" >"$work/killed.log" 2>&1 &
	pid=$!
	until_true pgrep -f '^svc-sandbox-mount'
	sleep 3
	kill -9 "$pid"
	wait "$pid" || true
	until_true not pgrep -f '^svc-sandbox-mount'
	exits "a killed rehearsal is followed by one" 0 rehearse --root "$source" --out "$work/after"
	same "which takes away what was left" "$(left)" ""
	exits "an interrupted one ends at once" 124 timeout -s INT 6 "$work/svc" rehearse --target debian-13 --root "$source" --out "$work/interrupted"
	same "and leaves nothing" "$(left)" ""
}

# user: as far as it goes without root.
user() {
	local account=svc-e2e-user home group # no name that a check has
	needs newuidmap:uidmap
	id "$account" >/dev/null 2>&1 || useradd --create-home "$account"
	home=$(getent passwd "$account" | cut -d: -f6)
	chmod 755 "$work"
	as() { runuser -u "$account" -- env -C "$home" HOME="$home" "$@"; }
	exits "without root it goes as far as it can" 0 as "$work/svc" rehearse --root "$source" --target debian-13 --archive "$(mirror)" --out chroot
	said "and says how far" "Level chroot"
	same "nothing was started" "$(field "$home/chroot" "d['level']+' '+d['compared']")" "chroot the source's files"
	same "the role came to its end" "$(field "$home/chroot" "d['role']['applied']")" True
	same "a unit of its own is there, and could not be tried" "$(verdict "$home/chroot" "unit clock.service")" "could not be tried"
	same "nginx was asked for its configuration" "$(verdict "$home/chroot" "configuration /usr/sbin/nginx")" runs
	same "what is root's is root's" "$(verdict "$home/chroot" "configuration /usr/sbin/logrotate")" runs
	same "a site was not" "$(verdict "$home/chroot" "site ")" "could not be tried"
	group=$(findmnt -nt cgroup2 -o TARGET | head -n 1)/svc-e2e-user # as systemd gives its users
	mkdir "$group" && chown -R "$account" "$group"
	grouped() { bash -c 'echo 0 >"$1/cgroup.procs" && shift && exec "$@"' _ "$group" runuser -u "$account" -- env -C "$home" HOME="$home" "$work/svc" rehearse --root "$source" --target debian-13 --archive "$(mirror)" "$@"; }
	exits "with a control group of one's own it boots" 0 grouped --out booted
	same "and runs" "$(field "$home/booted" "d['level']+' '+d['compared']") $(verdict "$home/booted" "unit clock.service")" "booted a copy of the source, booted runs"
	exits "with data the program fails without root, too" 6 grouped --out data --with-data
	same "and nothing else" "$(field "$home/data" "[c['subject'] for c in d['checks'] if c['verdict']=='does not run']")" "['shopd.service']"
	same "the data are equal" "$(verdict "$home/data" "data files, as")" runs
	same "but for what could not be read" "$(verdict "$home/data" "data files that could not be read")" "could not be tried"
	same "a server whose settings only root reads is asked for, too" "$(verdict "$home/data" "unit redis-server.service")" runs
	same "nothing is left" "$(as ls "$home/.cache/svc/rehearsals/running"; pgrep -u "$account" -l || true)" ""
	find "$group" -depth -type d -exec rmdir {} \;
	userdel --remove "$account" 2>/dev/null
}

CGO_ENABLED=0 go build -trimpath -o "$work/svc" ./cmd/svc
needs debootstrap:debootstrap ansible-playbook:ansible rsync:rsync nsenter:util-linux
source_root
configure
attack
for part in ${E2E_PARTS:-functions killed}; do $part; done
finish
