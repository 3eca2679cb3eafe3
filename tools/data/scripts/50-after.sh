#!/usr/bin/env bash
# Holds the target against the source: the counts and digests of 30-before.sh,
# and whether rsync finds anything left to do. Changes nothing.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname -- "${BASH_SOURCE[0]}")/lib.sh"
different=0

after() {
	local left checks=(--dry-run --itemize-changes)
	[ -e "$STATE/$NAME.before" ] || die "Run 30-before.sh and 40-copy.sh first."
	manifest "$TO" | sort >"$STATE/$NAME.after"
	if ! diff -- "$STATE/$NAME.before" "$STATE/$NAME.after" >"$STATE/$NAME.diff"; then
		say "$PLACE DIFFERS (< the source, > the target):"
		cat -- "$STATE/$NAME.diff"
		different=1
	fi
	[ "$DIGESTS" = 0 ] || checks+=(--checksum)
	left=$(copy "${checks[@]}")
	if [ -n "$left" ]; then
		say "$PLACE DIFFERS, as rsync sees it:"
		printf '%s\n' "$left" | head -n 20
		different=1
	fi
}

begin
each_place after
[ "$different" = 0 ] || die "The target is not what the source is. Run 40-copy.sh again, or 90-roll-back.sh."
say "All places are on the target as they are on the source."
