# shellcheck shell=bash
# Roots that run under a systemd of their own, in namespaces: sourced, after
# checks.sh. They have no network but loopback. boot NAME ROOT; inside NAME
# COMMAND…; halt NAME. It takes root, and mounts, so a script calls halt at its end.

booted=${work:?}/booted
mkdir -p "$booted"

# group is where control groups are, of the second version.
group() { findmnt -nt cgroup2 -o TARGET | head -n 1; }

# boot NAME ROOT: comes back when all units are started, or have failed.
boot() {
	local name=$1 root group tries
	root=$(realpath -- "$2")
	group=$(group)/svc-e2e-$$-$name
	mkdir -p "$group" "$root"/{proc,sys,dev,run,tmp,mnt}
	cat >"$booted/$name.sh" <<-INIT
		set -e
		mount --make-rprivate /
		mount --bind "$root" "$root"
		cd "$root"
		mount -t proc proc proc
		mount -t sysfs -o ro sysfs sys
		mount -t tmpfs -o mode=755 tmpfs dev
		for n in null zero full random urandom tty; do touch dev/\$n; mount --bind /dev/\$n dev/\$n; done
		mkdir dev/pts dev/shm
		mount -t devpts -o newinstance,ptmxmode=0666,mode=620,gid=5 devpts dev/pts
		ln -s pts/ptmx dev/ptmx
		ln -s /proc/self/fd dev/fd
		mount -t tmpfs tmpfs dev/shm
		mount -t tmpfs -o mode=755 tmpfs run
		mount -t tmpfs -o mode=1777 tmpfs tmp
		mount -t cgroup2 cgroup2 sys/fs/cgroup
		mount --bind proc/sys proc/sys && mount -o remount,bind,ro proc/sys
		hostname $name
		pivot_root . mnt
		cd /
		umount -l mnt
		hash -r # the root may have its programs elsewhere
		mount --make-rshared / # systemd leaves this to who starts a container, and hands credentials over by it
		exec env -i container=svc-e2e PATH=/usr/sbin:/usr/bin:/sbin:/bin /lib/systemd/systemd --system
	INIT
	# shellcheck disable=SC2016 # of the inner shell
	setsid bash -c 'echo $$ >"$0/cgroup.procs"; exec unshare --net --mount --uts --ipc --cgroup --pid --fork --kill-child capsh --drop=cap_sys_time,cap_sys_module,cap_sys_rawio -- "$1"' "$group" "$booted/$name.sh" >"$booted/$name.log" 2>&1 </dev/null &
	echo $! >"$booted/$name.pid"
	for ((tries = 0; tries < 400; tries++)); do
		{ pgrep -P "$(cat "$booted/$name.pid")" || true; } | head -n 1 >"$booted/$name.init"
		case $(inside "$name" systemctl is-system-running 2>/dev/null) in running | degraded) return 0 ;; esac
		sleep 0.5
	done
	tail -n 20 "$booted/$name.log" >&2
	return 1
}

# inside NAME COMMAND…: runs in a booted root, and never in this host's own namespaces.
inside() {
	local init
	init=$(cat "$booted/$1.init" 2>/dev/null)
	shift
	[ -n "$init" ] && [ "$(cat "/proc/$init/comm")" = systemd ] && ! [ "/proc/$init/ns/mnt" -ef /proc/self/ns/mnt ] || return 99
	nsenter -t "$init" -m -u -i -n -p -C -r -w env -i HOME=/root TERM=dumb LC_ALL=C.UTF-8 PATH=/usr/sbin:/usr/bin:/sbin:/bin "$@"
}

# halt NAME: shuts it down as a person would, and takes away what is left.
halt() {
	local tries pid
	pid=$(cat "$booted/$1.pid" 2>/dev/null) || return 0
	kill -s SIGRTMIN+4 "$(cat "$booted/$1.init")" 2>/dev/null || true
	for ((tries = 0; tries < 60; tries++)); do
		kill -0 "$pid" 2>/dev/null || break
		sleep 0.5
	done
	kill -9 "$pid" 2>/dev/null || true
	rm -f "$booted/$1.pid" "$booted/$1.init"
	find "$(group)/svc-e2e-$$-$1" -depth -type d -exec rmdir {} \; 2>/dev/null || true
}
