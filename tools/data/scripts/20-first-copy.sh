#!/usr/bin/env bash
# Copies what is there while the source may still run, so that the last copy is
# short. It may be run as often as you like. On the target it stops the services
# that work in a place, until 50-after.sh or 90-roll-back.sh.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname -- "${BASH_SOURCE[0]}")/lib.sh"

first_copy() {
	local code=0
	say "$SHOWN"
	packaged
	keep
	(umask 022 && mkdir -p -- "$TO")
	copy --quiet || code=$?
	[ "$code" = 0 ] || [ "$code" = 24 ] || exit "$code" # 24: a file went while it was copied
}

begin
[ -e "$STATE/users.map" ] || die "Run 10-check.sh first. Nothing was done."
still_all
each_place first_copy
say "Next: make the source quiet (see README.txt), then 30-before.sh."
