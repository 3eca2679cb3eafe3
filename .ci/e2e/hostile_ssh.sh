#!/usr/bin/env bash
# Reads machines over ssh whose shell is not honest: a real sshd runs, in the place of
# every command, a program that floods, is silent, drips, lies about sizes and names,
# writes to the terminal, closes midway. Each ends soon, in bounded memory, with an
# error or a document that a terminal can show. With the argument all it tries every
# kind of lie, else one of each sort. Needs root.
# Prints a line for each check and ends with "N passed, N failed".
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=.ci/e2e/checks.sh
. .ci/e2e/checks.sh
# shellcheck source=.ci/e2e/sshd.sh
. .ci/e2e/sshd.sh

cache=${XDG_CACHE_HOME:-$HOME/.cache}/svc-e2e
mkdir -p "$cache"
work=$(mktemp -d "$cache/hostile.XXXXXX")
cleanup() {
	[ -z "${sshd:-}" ] || kill "$sshd" 2>/dev/null || true
	rm -rf --one-file-system "$work"
}
trap cleanup EXIT

needs sshd:openssh-server ssh:openssh-client python3:python3 busybox:busybox
CGO_ENABLED=0 go build -trimpath -o "$work/svc" ./cmd/svc

# The machine's shell, but for what the user's name says is done to its answers.
cat >"$work/shell" <<'PY'
#!/usr/bin/python3
import os, re, subprocess, sys, threading, time
root, way = open(os.path.dirname(__file__) + "/root").read().strip(), open(os.path.dirname(__file__) + "/way").read().strip()
out = sys.stdout.buffer
if way == "probe":
    sys.exit()
if way == "flood":
    while True: out.write(b"A" * 65536)
if way == "silent":
    time.sleep(600)
if way == "drip":
    while True: out.write(b"."); out.flush(); time.sleep(1)
if way == "errors":
    while True: os.write(2, b"\x1b]0;owned\x07\x1b[2J\xc2\x9b31m" * 4096)
if way == "escapes":
    os.write(2, b"\x1b]0;owned\x07\x1b[2J\xe2\x80\xaeowned\xc2\x9b31m\r\n"); sys.exit(7)
sh = subprocess.Popen(["chroot", root, "/bin/busybox", "sh"], stdin=0, stdout=subprocess.PIPE, bufsize=0)
sent = 0
while True:
    b = sh.stdout.read(65536)
    if not b: break
    sent += len(b)
    if way == "names":
        b = re.sub(rb"(/etc/)(hostname|fstab|hosts)//", rb"\1../../../../\2//", b)
    if way == "slash":
        b = b.replace(b"/hostname//", b"/a/../../host\x00name//")
    if way == "sizes":
        b = re.sub(rb"^(81a4\|\d+\|\d+\|)\d+", rb"\g<1>9223372036854775807", b, flags=re.M)
    if way == "short":
        b = re.sub(rb"^(81a4\|\d+\|\d+\|)\d+", rb"\g<1>1", b, flags=re.M)
    if way == "negative":
        b = re.sub(rb"^(81a4\|\d+\|\d+\|)\d+", rb"\g<1>-5", b, flags=re.M)
    if way == "types":
        b = re.sub(rb"^81a4\|", rb"41ed|", b, flags=re.M)
    if way == "noise":
        b = bytes(c ^ (c * 31 + i & 1) for i, c in enumerate(b))
    if way == "escaped":
        b = b.replace(b"web1", b"\x1b[2J\x07\xe2\x80\xae\xc2\x9bx")
    if way == "midway" and sent > 20000:
        out.write(b[:100]); out.flush(); os._exit(0)
    if way == "endless" and sent > 20000:
        while True: out.write(b"\n0000 0\n" * 4096)
    out.write(b); out.flush()
PY
chmod 755 "$work/shell"

box=$work/box
cp -a fixtures/hosts/debian-11-web "$box"
mkdir -p "$box/bin" "$box/dev"
cp "$(command -v busybox)" "$box/bin/busybox"
for lib in $(ldd "$box/bin/busybox" 2>/dev/null | grep -o '/[^ ]*'); do
	mkdir -p "$box${lib%/*}"
	cp -L "$lib" "$box$lib"
done
mknod -m 666 "$box/dev/null" c 1 3
for name in sh stat head cat dd id readlink; do ln -sf busybox "$box/bin/$name"; done
echo "$box" >"$work/root"
echo probe >"$work/way"
serve_ssh "ForceCommand $work/shell"

# reads WAY: an assessment of a machine that answers so; how it ended, how long it
# took, and how much memory, is in $work/last.log.
reads() {
	echo "$1" >"$work/way"
	python3 - "$work/svc" "$work" "$1" <<-'PY'
		import os, re, resource, subprocess, sys, time
		svc, work, way = sys.argv[1:]
		env = {**os.environ, **{k: work + "/" + k for k in ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME")}}
		began = time.time()
		p = subprocess.run([svc, "assess", "--ssh", "source"], env=env, capture_output=True, timeout=150)
		took, peak = time.time() - began, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
		said = p.stdout + p.stderr
		sys.stdout.buffer.write(p.stderr[-400:])
		print("exit %d, %.1f s, %.0f MB, %d bytes" % (p.returncode, took, peak, len(p.stdout)))
		raw = re.search(rb"[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80[\xaa-\xae]", said)
		sys.exit(not (p.returncode in (0, 1, 6) and peak < 160 and not raw and b"panic" not in said and b"goroutine" not in said))
	PY
}

ways="honest flood escapes names sizes midway endless"
[ "${1:-}" != all ] || ways+=" drip slash short negative types noise escaped"
for way in $ways; do
	check "a machine that is $way" reads $way
	tail -n 1 "$work/last.log" | sed 's/^/      /'
done
finish
