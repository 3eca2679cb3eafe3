#!/usr/bin/env bash
# Counts and digests the source, which must be quiet by now: what was written to
# it afterwards would be lost.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname -- "${BASH_SOURCE[0]}")/lib.sh"

begin
[ -e "$STATE/users.map" ] || die "Run 10-check.sh first. Nothing was done."
each_place before
say "Next: 40-copy.sh."
