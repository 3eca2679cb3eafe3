# shellcheck shell=bash
# What makes roots, and the end-to-end tests' other commands of bash, share with what
# moves servers of the usual kinds: sourced. Who checks something sets work, a folder of
# its own: what a check runs writes to $work/last.log, of which a failure shows the end.
passed=0 failed=0

ok() { passed=$((passed + 1)); printf 'ok    %s\n' "$1"; }

# fail NAME: nothing was run; fails NAME: with the end of what was.
fail() { failed=$((failed + 1)); printf 'FAIL  %s\n' "$1"; }
fails() { fail "$1"; tail -n 15 "$work/last.log" | cut -c1-500 | sed 's/^/      /'; }

# check NAME COMMAND…: the command succeeds.
check() {
	local name=$1
	shift
	if "$@" >"$work/last.log" 2>&1; then ok "$name"; else fails "$name"; fi
}

# until_true COMMAND…: tries for some seconds.
until_true() {
	local tries=0
	until "$@" >/dev/null 2>&1; do
		[ $((tries += 1)) -le 200 ] || { echo "no success: $*" >&2; return 1; }
		sleep 0.05
	done
}

# svc is the program under test, with data of its own.
svc() { env XDG_DATA_HOME="$work/data" XDG_CONFIG_HOME="$work/config" XDG_STATE_HOME="$work/state" "$work/svc" "$@"; }

# needs TOOL:PACKAGE…: installs the packages of tools that are not there. Scripts
# run beside each other, and apt doesn't wait for another's lock on its lists.
needs() (
	missing=()
	for pair; do command -v "${pair%%:*}" >/dev/null || missing+=("${pair#*:}"); done
	[ ${#missing[@]} != 0 ] || return 0
	exec 8>"${TMPDIR:-/tmp}/svc-e2e-apt.lock"
	flock 8
	apt-get update -qq
	DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null 8>&-
)

# mirror is the Debian archive that this machine uses.
mirror() {
	# shellcheck disable=SC2016 # apt's own variables
	apt-get indextargets --format '$(REPO_URI) $(SITE)' 'Created-By: Packages' |
		awk '/\/debian\/? /{print $1; exit}'
}

# minimal ROOT SUITE PACKAGES: a minimal root of Debian with packages, separated by commas.
# Its dpkg does not wait for the disk until settled is called. A mirror may lag behind.
minimal() {
	env -u TMPDIR mmdebstrap --quiet --mode=root --variant=minbase --skip=cleanup --aptopt='Acquire::Check-Valid-Until "false"' --dpkgopt=force-unsafe-io ${3:+"--include=$3"} "$2" "$1" "$(mirror)"
}
settled() { rm -rf "$1"/var/cache/apt/{archives/*.deb,*.bin} "$1"/etc/{apt/apt.conf.d,dpkg/dpkg.cfg.d}/??mmdebstrap; }

# kept ROOT SUITE PACKAGES [COMMAND…]: makes a root of Debian, has the command furnish it,
# and keeps it for the next run. Of scripts beside each other one makes it.
kept() (
	root=$1 suite=$2 packages=$3
	shift 3
	mkdir -p "$(dirname "$root")"
	exec 9>"$root.lock"
	flock 9
	[ ! -e "$root.made" ] || return 0
	echo "making $root"
	rm -rf --one-file-system "${root:?}"
	mkdir "$root"
	{ minimal "$root" "$suite" "$packages" && "${@:-true}"; } >"$root.log" 2>&1 || { tail -n 20 "$root.log"; return 1; }
	settled "$root"
	touch "$root.made"
)

# finish says how many passed, and succeeds where none failed.
finish() {
	printf '\n%d passed, %d failed\n' "$passed" "$failed"
	[ "$failed" = 0 ]
}
