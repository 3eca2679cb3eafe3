#!/usr/bin/env bash
# Holds the target against the source: the counts and digests of 30-before.sh,
# and whether rsync finds anything left to do. It starts the services that were stopped
# for the copy, but for those of places that differ, and changes nothing else. It ends
# with 0, with 2 where the data are equal and a service does not start, else with 1.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname -- "${BASH_SOURCE[0]}")/lib.sh"
begin
each_place after
[ "$different" = 0 ] || {
	again
	die "The target is not what the source is: ${#held[@]} places differ, as said above: ${held[*]}. All others are whole, and their services run. Where the source was written to since, run 30-before.sh first; then 40-copy.sh and this again, or 90-roll-back.sh."
}
say "All places are on the target as they are on the source."
again
