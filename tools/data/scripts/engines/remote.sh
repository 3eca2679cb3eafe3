set -euo pipefail
export LC_ALL=C
umask 077

die() {
	printf '%s\n' "$*" >&2
	exit 1
}

say() { printf '== %s\n' "$*"; }

# on_source FUNCTION ARGUMENT…: runs a function of this script where the source is,
# after the engine's at_source, which finds the server that has DIRECTORY.
on_source() {
	[ -n "${SOURCE_SSH:-}" ] || die "Set SOURCE_SSH=root@HOST: the engine must run where $DIRECTORY is. Nothing was done."
	{
		printf 'set -euo pipefail\nexport LC_ALL=C\n'
		declare -p "${SETTINGS[@]}"
		declare -f
		! declare -F at_source >/dev/null || printf 'at_source </dev/null\n'
		printf '%q ' "$@"
		printf '</dev/null\n'
	} | ssh -o BatchMode=yes -- "$SOURCE_SSH" bash -s
}

# visibly COMMAND…: runs it; what the source says is shown, and obeyed by no terminal.
visibly() { { "$@" 2>&1 >&3 3>&- | cat -v >&2; } 3>&1 | cat -v; }
