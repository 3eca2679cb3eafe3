#!/usr/bin/env bash
# Dumps a database where its engine runs on the source, and loads it where it
# runs on the target. Run as root on the target, with SOURCE_SSH=root@SOURCE:
#   dump   counts what the source has, and dumps it; nothing may write to it any more
#   load   loads the dump into a target that holds nothing yet
#   check  holds the target's counts against the source's
# DUMP is the file that the dump is kept in.
set -euo pipefail
export LC_ALL=C
umask 077

# on_source FUNCTION: runs a function of this script where the source is.
on_source() {
	[ -n "${SOURCE_SSH:-}" ] || die "Set SOURCE_SSH=root@HOST: the engine must run where $DIRECTORY is. Nothing was done."
	{
		printf 'set -euo pipefail\nexport LC_ALL=C\n'
		declare -f
		printf '%s </dev/null\n' "$1"
	} | ssh -o BatchMode=yes -- "$SOURCE_SSH" bash -s
}

die() {
	printf '%s\n' "$*" >&2
	exit 1
}

run() {
	case ${1:-} in
	dump)
		on_source count >"$DUMP.before"
		! declare -F accounts >/dev/null || on_source accounts >"$DUMP.accounts"
		on_source dump >"$DUMP.part"
		mv -- "$DUMP.part" "$DUMP"
		sha256sum <"$DUMP" >"$DUMP.sha256"
		;;
	load)
		[ "$(sha256sum <"$DUMP")" = "$(cat -- "$DUMP.sha256")" ] || die "$DUMP is not what was dumped. Nothing was loaded."
		empty || die "The target's engine holds databases already, or does not answer. Nothing was loaded."
		load <"$DUMP" || die "Not all of it was loaded: drop the target's databases before you try again."
		;;
	check)
		count | diff -- "$DUMP.before" - || die "The target has not what the source had (< the source, > the target)."
		echo "The target has what the source had."
		;;
	*)
		echo "Usage: $0 dump | load | check" >&2
		exit 2
		;;
	esac
}
