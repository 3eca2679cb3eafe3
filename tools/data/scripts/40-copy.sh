#!/usr/bin/env bash
# Copies each place from the source, which is quiet, to the target. What stood
# on the target is kept for 90-roll-back.sh. A second run changes nothing. The
# target's services that work in a place are stopped first, until 50-after.sh.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname -- "${BASH_SOURCE[0]}")/lib.sh"

begin
rm -f -- "$STATE/started"
hush
each_place still
each_place last_copy
say "Next: 50-after.sh."
