#!/usr/bin/env bash
# shellcheck disable=SC2046,SC2086 # lists of process ids
# Reads running machines over ssh: a real sshd on loopback shows the cached
# Debian 11 server, as root, as a user without and with sudo, through a jump
# host and over IPv6, and a machine that has busybox alone; every way gives what
# reading its root gives. Then what must be refused, and connections that break.
# Needs root. Prints a line for each check and ends with "N passed, N failed".
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=.ci/e2e/checks.sh
. .ci/e2e/checks.sh

# A network of its own: what other scripts listen on meanwhile is not this machine's.
if [ "${1:-}" != alone ]; then
	needs sshd:openssh-server ssh:openssh-client sudo:sudo busybox:busybox ip:iproute2
	bash .ci/e2e/roots.sh
	unshare -n bash .ci/e2e/ssh.sh alone
	exit
fi
ip link set lo up

cache=${XDG_CACHE_HOME:-$HOME/.cache}/svc-e2e
mkdir -p "$cache"
work=$(mktemp -d "$cache/ssh.XXXXXX") # sshd wants no folder that others may write on the way
machine=$work/machine
known=$work/known_hosts
port=$((20000 + RANDOM % 10000))
users=(svc-e2e-plain svc-e2e-sudo)
pids=()

cleanup() {
	local pid user
	for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null || true; done
	for user in "${users[@]}"; do userdel "$user" 2>/dev/null || true; done
	umount -q -l "$machine" 2>/dev/null || true
	rm -rf --one-file-system "$work"
}
trap cleanup EXIT

# says NAME CODE WORDS COMMAND…: the command ends with this exit code, prints
# nothing on stdout, and says this on stderr.
says() {
	local name=$1 want=$2 words=$3 got=0
	shift 3
	"$@" >"$work/last.out" 2>"$work/last.log" || got=$?
	if [ "$got" = "$want" ] && [ ! -s "$work/last.out" ] && grep -qF -- "$words" "$work/last.log"; then ok "$name"; else
		fail "$name: exit $got, not $want"
		tail -n 15 "$work/last.log" | sed 's/^/      /'
	fi
}

# svc finds an ssh that is the user's but for where its configuration is.
svc() { env PATH="$work/bin:$PATH" XDG_DATA_HOME="$work/data" XDG_CONFIG_HOME="$work/config" XDG_STATE_HOME="$work/state" "$work/svc" "$@"; }

prepare() {
	CGO_ENABLED=0 go build -trimpath -o "$work/svc" ./cmd/svc
	mkdir -p /run/sshd "$work"/{upper,overlay,machine,bin}
	mount -t overlay overlay -o "lowerdir=$cache/roots/bullseye-server,upperdir=$work/upper,workdir=$work/overlay" "$machine"
	ssh-keygen -q -t ed25519 -N '' -f "$work/key"
	local name
	for name in target jump other; do ssh-keygen -q -t ed25519 -N '' -f "$work/$name"; done
	for name in "${users[@]}"; do
		userdel "$name" 2>/dev/null || true
		useradd --system --no-create-home --home-dir /tmp --shell /bin/sh --password '*' "$name"
		getent passwd "$name" >>"$machine/etc/passwd"
	done
	echo 'svc-e2e-sudo:*:19000:0:99999:7:::' >>"$machine/etc/shadow"
	echo 'svc-e2e-sudo ALL=(ALL) NOPASSWD: ALL' >"$machine/etc/sudoers.d/svc-e2e"
	chmod 440 "$machine/etc/sudoers.d/svc-e2e"
	printf 'toor:x:0:0:the same id:/root:/bin/sh\n' >>"$machine/etc/passwd"
	ln -sf /proc/kmsg "$machine/etc/issue"
	busybox_machine
	printf '#!/bin/sh\nexec %s -F %s "$@"\n' "$(command -v ssh)" "$work/ssh_config" >"$work/bin/ssh"
	chmod 755 "$work/bin/ssh"
}

# busybox_machine is a server's files on a system that has busybox alone.
busybox_machine() {
	local box=$work/box lib
	cp -a fixtures/hosts/debian-11-web "$box"
	chown -R 0:0 "$box"
	mkdir -p "$box/bin" "$box/dev"
	cp "$(command -v busybox)" "$box/bin/busybox"
	for lib in $(ldd "$box/bin/busybox" 2>/dev/null | grep -o '/[^ ]*'); do
		mkdir -p "$box${lib%/*}"
		cp -L "$lib" "$box$lib"
	done
	mknod -m 666 "$box/dev/null" c 1 3
	printf '#!/bin/sh\nexec /bin/sh "$@"\n' >"$box/bin/bash" # root's login shell, by the host's passwd
	chmod 755 "$box/bin/bash"
	for lib in sh stat head cat dd id readlink; do ln -s busybox "$box/bin/$lib"; done
}

# serve NAME OFFSET KEY LINE…: an sshd on loopback.
serve() {
	local name=$1 offset=$2 key=$3
	shift 3
	{
		printf '%s\n' "Port $((port + offset))" "ListenAddress 127.0.0.1" "ListenAddress ::1" "HostKey $work/$key" "AuthorizedKeysFile none" \
			"AuthorizedKeysCommand /bin/cat $work/key.pub" "AuthorizedKeysCommandUser root" \
			"PidFile none" "StrictModes no" "UsePAM no" "AllowUsers root ${users[*]}" "PasswordAuthentication no" "KbdInteractiveAuthentication no" "PermitRootLogin prohibit-password" "$@"
	} >"$work/sshd_$name"
	"$(command -v sshd)" -D -f "$work/sshd_$name" 2>"$work/sshd_$name.log" &
	pids+=($!)
}

configure() {
	serve target 0 target "ChrootDirectory $machine"
	serve jump 1 jump
	serve box 2 target "ChrootDirectory $work/box"
	local offset address
	for offset in 0 1 2; do
		for address in 127.0.0.1 ::1; do
			printf '[%s]:%d %s\n' "$address" $((port + offset)) "$(cut -d' ' -f1-2 "$work/$([ $offset = 1 ] && echo jump || echo target).pub")"
		done
	done >"$known"
	cat >"$work/ssh_config" <<-EOF2
		Host web
		  HostName 127.0.0.1
		  Port $port
		  User root
		Host behind
		  HostName 127.0.0.1
		  Port $port
		  User root
		  ProxyJump jump
		Host jump
		  HostName ::1
		  Port $((port + 1))
		  User root
		Host *
		  IdentityFile $work/key
		  IdentitiesOnly yes
		  UserKnownHostsFile $known
		  GlobalKnownHostsFile none
		  StrictHostKeyChecking no
	EOF2
	local tries=0
	until "$work/bin/ssh" -o BatchMode=yes web true 2>/dev/null || [ $((tries += 1)) -gt 50 ]; do sleep 0.1; done
}

# document is an assessment but for what only a running machine tells.
document() { python3 -c 'import json,sys; d=json.load(sys.stdin); d.pop("running", None); json.dump(d, sys.stdout, indent=1, sort_keys=True)'; }

# equal NAME ROOT DESTINATION: both ways to a machine give one document.
equal() {
	svc assess --root "$2" --json 2>"$work/last.log" | document >"$work/by-root" || true
	svc assess --ssh "$3" --json 2>"$work/last.log" | document >"$work/by-ssh" || true
	check "$1" diff "$work/by-root" "$work/by-ssh"
	[ -s "$work/by-ssh" ] || { fail "$1: there is no document"; cat "$work/last.log"; }
}

same_machine() {
	touch "$work/stamp"
	equal "a key: the same as from the root" "$machine" "root@127.0.0.1:$port"
	equal "a name of ssh's configuration, the same" "$machine" web
	equal "a jump host, the same" "$machine" behind
	equal "IPv6, the same" "$machine" "root@[::1]:$port"
	equal "a user with sudo, the same" "$machine" "svc-e2e-sudo@127.0.0.1:$port"
	equal "a machine with busybox alone, the same" "$work/box" "root@127.0.0.1:$((port + 2))"
	check "what runs is said too" python3 -c 'import json,sys; assert "sockets" in json.load(open(sys.argv[1]))["running"]' <(svc assess --ssh web --json)
	check "a preflight over ssh is done" svc migrate --ssh web --target debian-13 --preflight
	svc migrate --root "$machine" --target debian-13 --out "$work/one" --confirm >/dev/null 2>&1 || true
	svc migrate --ssh web --target debian-13 --out "$work/two" --confirm >/dev/null 2>&1 || true
	check "a migration over ssh writes the same role" diff -r "$work/one/role" "$work/two/role"
	# Over ssh, programs that are no newer than their packages are not fetched to be compared.
	check "and the same plan, but for how many files were compared" diff <(unlooked "$work/one/plan.json") <(unlooked "$work/two/plan.json")
	as_user
	same "nothing was written on the machines" "$(find "$machine" "$work/box" -xdev \( -newer "$work/stamp" -o -cnewer "$work/stamp" \) 2>/dev/null | head)" ""
	check "its memory stays below 64 MB" python3 - "$work/svc" "$work/bin" <<-'PY'
		import os, resource, subprocess, sys
		subprocess.run([sys.argv[1], "assess", "--ssh", "web"], env={**os.environ, "PATH": sys.argv[2] + ":" + os.environ["PATH"]}, stdout=subprocess.DEVNULL)
		peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
		print(peak, "KB")
		sys.exit(peak > 64 << 10)
	PY
}

# as_user reads what a user without sudo may: what is closed is "unreadable", and
# nothing is taken for missing.
as_user() {
	svc assess --ssh "svc-e2e-plain@127.0.0.1:$port" --json >"$work/plain.json" 2>"$work/last.log" || true
	check "a user without sudo: what is closed is unreadable, nothing missing" python3 - "$work/plain.json" "$work/by-root-full" <<-'PY'
		import json, sys
		plain, root = (json.load(open(f)) for f in sys.argv[1:])
		state = {s["what"]: s["state"] for s in plain["sources"]}
		assert state["accounts.shadow"] == "unreadable" and state["accounts.sudoers"] == "unreadable", state
		assert plain["packages"] == root["packages"] and plain["fingerprint"] == root["fingerprint"]
		missing = lambda a: {c["path"] for c in a["configuration"] if c["state"] == "missing"}
		assert missing(plain) == missing(root), missing(plain) ^ missing(root)
		assert any(c["state"] == "unreadable" for c in plain["configuration"])
		assert "assessment.incomplete" in {f["key"] for f in plain["findings"]}
		absent = lambda a: {s["what"] for s in a["sources"] if s["state"] == "absent"}
		assert absent(plain) <= absent(root), absent(plain) - absent(root)
	PY
}

# watched verifies the running machine against what it was, and then has a program
# listen on another port: drift names that, and nothing else.
watched() {
	mount -t proc proc "$machine/proc"
	svc assess --ssh web --json >"$work/before.json"
	exits "over ssh a machine is verified, by the ports it listens on" 0 svc verify --ssh web --source "$work/before.json" --out "$work/parity"
	check "which are among the checks that match" python3 - "$work/parity/parity.json" "$port" <<-'PY'
		import json, sys
		checks = json.load(open(sys.argv[1]))["checks"]
		ports = [c for c in checks if c["dimension"] == "ports" and c["result"] == "match"]
		sys.exit(not any(sys.argv[2] in c["subject"] for c in ports))
	PY
	exits "nothing has changed since" 0 svc drift --ssh web --source "$work/parity"
	python3 -c 'import signal, socket, sys; s = socket.socket(); s.bind(("127.0.0.1", int(sys.argv[1]))); s.listen(); signal.pause()' "$((port + 7))" &
	pids+=($!)
	until grep -q "$(printf ':%04X 00000000:0000 0A' "$((port + 7))")" /proc/net/tcp; do sleep 0.1; done
	local code=0
	svc drift --ssh web --source "$work/parity" --json >"$work/drift.json" 2>"$work/last.log" || code=$?
	same "a port that is new is drift" "$code" 6
	check "and all that is named" python3 - "$work/drift.json" "$((port + 7))" <<-'PY'
		import json, sys
		checks = [c for c in json.load(open(sys.argv[1]))["checks"] if c["result"] == "differs"]
		print(checks)
		sys.exit(not (len(checks) == 1 and checks[0]["dimension"] == "ports" and sys.argv[2] in str(checks[0])))
	PY
	umount -l "$machine/proc"
}

refused() {
	cp "$known" "$work/known.kept"
	grep -vF "[127.0.0.1]:$port " "$work/known.kept" >"$known"
	cp "$known" "$work/known.before"
	says "an unknown host key is an error that says what to do" 1 "connect once by hand with \`ssh web\`" svc assess --ssh web --json
	check "and is not accepted" cmp "$known" "$work/known.before"
	printf '[127.0.0.1]:%d %s\n' "$port" "$(cut -d' ' -f1-2 "$work/other.pub")" >>"$known"
	cp "$known" "$work/known.before"
	says "a changed host key is an error" 1 "its host key is not the one that is known" svc assess --ssh web --json
	check "and is not accepted either" cmp "$known" "$work/known.before"
	says "nor does a migration go on" 1 "its host key is not the one that is known" svc migrate --ssh web --target debian-13 --preflight --json
	cp "$work/known.kept" "$known"
	says "a user without a key is told how" 1 "ssh-add" env PATH="$work/bin:$PATH" "$work/svc" assess --ssh "nobody@127.0.0.1:$port"
	says "a destination that is an option is refused" 2 "not an ssh destination" svc assess --ssh "-oProxyCommand=touch $work/pwned"
	says "or holds one" 2 "not an ssh destination" svc assess --ssh "root@-oProxyCommand=touch$work/pwned"
	says "or a command" 2 "not an ssh destination" svc assess --ssh "root@\$(touch $work/pwned)"
	check "and nothing of it is run" test ! -e "$work/pwned"
	says "a host that is not there is an error" 1 "can't connect" svc assess --ssh "root@127.0.0.1:$((port + 9))"
}

# remote_shell is the process that reads for svc on the machine.
remote_shell() {
	local pid
	for pid in $(pgrep -x sh); do
		[ "$(readlink "/proc/$pid/root")" != "$machine" ] || echo "$pid"
	done
}

# stopped starts an assessment that hangs because the machine's shell is stopped.
stopped() {
	PATH="$work/bin:$PATH" XDG_CONFIG_HOME="$work/config" "$work/svc" assess --ssh web --json >"$work/last.out" 2>"$work/last.err" &
	local_pid=$! remote=
	local tries=0
	until remote=$(remote_shell) && [ -n "$remote" ] || [ $((tries += 1)) -gt 500 ]; do sleep 0.01; done
	kill -STOP $remote
}

# on_a_terminal assesses the machine, whose shell is stopped, on a terminal: what
# is being done appears, and Ctrl-C takes it away and ends it.
on_a_terminal() {
	PATH="$work/bin:$PATH" XDG_CONFIG_HOME="$work/config" python3 - "$work/svc" <<-'PY' &
		import fcntl, os, pty, select, struct, sys, termios, time
		pid, fd = pty.fork()
		if pid == 0:
		    fcntl.ioctl(2, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
		    os.execv(sys.argv[1], [sys.argv[1], "assess", "--ssh", "web"])
		said, began, interrupted = b"", time.time(), 0
		while time.time() - began < 30:
		    try:
		        if select.select([fd], [], [], 0.05)[0]:
		            said += os.read(fd, 65536)
		    except OSError:
		        break
		    if b"opening the machine" in said and not interrupted:
		        interrupted = time.time()
		        os.write(fd, b"\x03")
		print(said)
		code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
		sys.exit(not (interrupted - began > 0.9 and time.time() - interrupted < 5 and code == 130 and b"interrupted. Nothing was changed" in said))
	PY
	local_pid=$! remote=
	local tries=0
	until remote=$(remote_shell) && [ -n "$remote" ] || [ $((tries += 1)) -gt 500 ]; do sleep 0.01; done
	kill -STOP $remote
}

# ended PID…: the processes are gone, or go within five seconds; one whose parent
# has not asked after it yet is gone.
ended() {
	local tries=0
	while grep -qs '^State:.[^Z]' $(printf '/proc/%s/status ' "$@"); do
		[ $((tries += 1)) -le 50 ] || return 1
		sleep 0.1
	done
}

unlooked() { python3 -c 'import json, sys; p = json.load(open(sys.argv[1])); del p["files"]["looked"]; print(json.dumps(p, indent=1))' "$1"; }

interrupted() {
	local code=0
	stopped
	kill -INT "$local_pid"
	check "Ctrl-C ends it at once" ended "$local_pid"
	wait "$local_pid" || code=$?
	same "as interrupted" "$code" 130
	same "without output" "$(cat "$work/last.out")" ""
	same "and leaves no ssh behind" "$(pgrep -f "ssh -F $work/ssh_config")" ""
	kill -CONT $remote
	check "nor a shell on the machine" ended $remote
	stopped
	pkill -KILL -P "$local_pid"
	check "a connection that breaks ends it" ended "$local_pid"
	code=0
	wait "$local_pid" || code=$?
	same "as a failure too" "$code" 1
	check "that says so" grep -E "^svc: reading web over ssh: (the connection was lost|can't connect)" "$work/last.err" # by how far it was
	same "and has no output either" "$(cat "$work/last.out")" ""
	kill -CONT $remote
	check "nor leaves a shell on the machine" ended $remote
	on_a_terminal
	check "a terminal says what takes longer than a second, until Ctrl-C" wait "$local_pid"
	kill -CONT $remote
	check "which leaves nothing either" ended $remote
}

prepare
configure
svc assess --root "$machine" --json >"$work/by-root-full"
same_machine
watched
refused
interrupted
finish
