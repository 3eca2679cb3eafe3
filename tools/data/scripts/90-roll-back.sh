#!/usr/bin/env bash
# Makes the target's places what they were before the first copy. What was
# changed there since is lost; the source is not touched. A second run changes
# nothing.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname -- "${BASH_SOURCE[0]}")/lib.sh"

back() {
	if [ -e "$STATE/$NAME.absent" ]; then
		say "$SHOWN was not there"
		rm -rf --one-file-system -- "$TO"
	elif [ -e "$STATE/$NAME.saved" ]; then
		say "$SHOWN as it was"
		restore "$STATE/$NAME.saved/" "$TO/"
		rm -rf -- "$STATE/$NAME.saved"
	fi
	rm -f -- "$STATE/$NAME.absent" "$STATE/$NAME.before" "$STATE/$NAME.after" "$STATE/$NAME.diff" "$STATE/$NAME.packaged"
}

begin
each_place still
each_place_back back
again
say "The target's places are as they were."
