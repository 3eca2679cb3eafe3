#!/usr/bin/env bash
# Copies each place from the source, which is quiet, to the target. What stood
# on the target is kept for 90-roll-back.sh. A second run changes nothing.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname -- "${BASH_SOURCE[0]}")/lib.sh"

last_copy() {
	say "$PLACE"
	[ -e "$STATE/$NAME.before" ] || die "Run 30-before.sh first. Nothing of $PLACE was copied."
	keep
	(umask 022 && mkdir -p -- "$TO")
	copy --quiet
	if command -v restorecon >/dev/null && [ -z "$TARGET_ROOT" ]; then
		restorecon -R -- "$TO"
	fi
}

begin
each_place last_copy
say "Next: 50-after.sh."
