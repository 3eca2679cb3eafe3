#!/usr/bin/env bash
# Copies each place from the source, which is quiet, to the target. What stood
# on the target is kept for 90-roll-back.sh. A second run changes nothing. The
# target's services that work in a place are stopped first, until 50-after.sh. Where
# a place can't be copied whole, the others are, and 50-after.sh follows at once.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname -- "${BASH_SOURCE[0]}")/lib.sh"

failed=()
counted() { [ -e "$STATE/$NAME.before" ] || die "Run 30-before.sh first. Nothing was copied."; }

# one: a place that fails ends nothing but itself.
one() {
	local code
	set +e
	(set -e && last_copy)
	code=$?
	set -e
	[ "$code" = 0 ] || failed+=("$NAME")
}

begin
each_place counted
rm -f -- "$STATE/started"
still_all
each_place one
[ ${#failed[@]} = 0 ] || {
	say "Not whole, as said above: ${failed[*]}. What is, is compared and started."
	exec bash "$plan/50-after.sh"
}
say "Next: 50-after.sh."
