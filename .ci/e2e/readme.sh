#!/usr/bin/env bash
# Runs what README has a person type, as it stands, from a fresh clone and with a HOME of
# its own: each line that begins with "$ " in a block of the console, in their order, in
# one shell. Each must succeed. What lines print below is compared where README says it.
set -euo pipefail
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; chmod -R u+w "$work"; rm -rf "$work"' EXIT
git clone -q . "$work/svc"
typed() { awk '/^```/ { on = $0 == "```console"; next } on && sub(/^\$ /, "")' README.md | grep -vx 'go test ./...'; }
printed() { awk '/^```/ { on = $0 == "```"; next } on && /(differences|nothing changed|could not be read|each accounted for|places move, .*)$/' README.md; }
{
	# shellcheck disable=SC2016 # expands where it is run
	echo 'set -e; trap '\''kill $(jobs -p) 2>/dev/null'\'' EXIT'
	typed | while IFS= read -r line; do printf 'printf "%%s\\n" %q >&2\n%s\n' "\$ $line" "$line"; done
} >"$work/typed.sh"
caches=$(go env GOMODCACHE) built=$(go env GOCACHE)
mkdir "$work/home"
(
	cd "$work/svc"
	env -u XDG_DATA_HOME -u XDG_CONFIG_HOME -u XDG_STATE_HOME -u XDG_CACHE_HOME -u SVC_SERVER -u SVC_API_KEY \
		HOME="$work/home" GOMODCACHE="$caches" GOCACHE="$built" DBUS_SESSION_BUS_ADDRESS="unix:path=$work/no-bus" \
		timeout 900 bash "$work/typed.sh" >"$work/log"
) || { tail -20 "$work/log"; echo "README does not run as it stands"; exit 1; }
printed | while IFS= read -r line; do
	grep -qxF -- "$line" "$work/log" || { echo "README has svc print: $line; it did not"; exit 1; }
done
echo "README: $(typed | wc -l) lines run as they stand"
