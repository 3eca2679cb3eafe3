#!/usr/bin/env bash
# shellcheck disable=SC2016 # the session's shell expands
# Stores API tokens for real: on a Secret Service (gnome-keyring on a session
# bus of its own) and, without one, in a file; against a service that runs.
# Needs root. Prints a line for each check and ends with "N passed, N failed".
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=.ci/e2e/checks.sh
. .ci/e2e/checks.sh

work=$(mktemp -d)
server=

cleanup() {
	[ -z "$server" ] || kill "$server" 2>/dev/null || true
	rm -rf "$work"
}
trap cleanup EXIT

svc() { env HOME="$work/home" XDG_DATA_HOME="$work/data" XDG_CONFIG_HOME="$work/config" XDG_STATE_HOME="$work/state" DBUS_SESSION_BUS_ADDRESS="${bus-unix:path=$work/none}" "$work/svc" "$@"; }

prepare() {
	needs gnome-keyring-daemon:gnome-keyring dbus-run-session:dbus-daemon dbus-daemon:dbus secret-tool:libsecret-tools
	CGO_ENABLED=0 go build -trimpath -o "$work/svc" ./cmd/svc
	mkdir -p "$work/home"
	"$work/svc" serve --db "sqlite:$work/svc.db" --signing-key "$work/key.pem" --listen 127.0.0.1:0 2>"$work/serve.log" &
	server=$!
	local tries=100
	until grep -q '"addr"' "$work/serve.log"; do
		tries=$((tries - 1))
		[ "$tries" -gt 0 ] || { cat "$work/serve.log"; exit 1; }
		sleep 0.1
	done
	url=http://$(grep -o '"addr":"[^"]*"' "$work/serve.log" | head -n 1 | cut -d'"' -f4)
	svc admin account create --db "sqlite:$work/svc.db" --name acme --plan pro >/dev/null
	token=$(svc admin token create --db "sqlite:$work/svc.db" --account 1 --json | grep -o 'svc_[A-Za-z0-9]*')
	other=$(svc admin token create --db "sqlite:$work/svc.db" --account 1 --json | grep -o 'svc_[A-Za-z0-9]*')
	svc admin token disable --db "sqlite:$work/svc.db" --id 2 >/dev/null
}

in_file() {
	exits "a typo is found before the network" 2 svc auth --server http://192.0.2.1 "${token%?}x"
	exits "a token that is disabled is refused" 5 svc auth --server "$url" "$other"
	same "and nothing is stored" "$(find "$work/config" -type f 2>/dev/null)" ""
	exits "without a keyring a token is stored" 0 svc auth --server "$url" - <<<"$token"
	said "in a file, and it says so" "no OS keyring here"
	same "that this user alone can read" "$(stat -c %a "$work/config/svc/token")" 600
	exits "the service takes it" 0 svc auth status
	said "from the file" "token of the file"
	exits "SVC_API_KEY overrides it" 5 env SVC_API_KEY="$other" bash -c "$(declare -f svc); work=$work; svc account"
	exits "it is forgotten" 0 svc auth logout
	same "and its file is gone" "$(find "$work/config" -name token)" ""
	exits "a service that is away can't check a token, which is said" 0 svc auth --server http://127.0.0.1:9 - <<<"$token"
	said "so" "could not be checked"
	exits "and forgotten again" 0 svc auth logout
}

# session runs commands on a session bus of its own, with an open keyring.
session() {
	dbus-run-session -- bash -c "
		$(declare -f svc)
		work=$work url=$url token=$token bus=\$DBUS_SESSION_BUS_ADDRESS
		export HOME=$work/home XDG_DATA_HOME=$work/ring XDG_RUNTIME_DIR=$work/run
		mkdir -p -m 700 \$XDG_RUNTIME_DIR
		printf pw | gnome-keyring-daemon --unlock --components=secrets >/dev/null 2>&1
		$1"
}

in_keyring() {
	exits "on a Secret Service a token is stored" 0 session 'svc auth --server $url - <<<$token && secret-tool lookup service svc username api-token >$work/looked && svc auth status && svc account --json'
	said "in the keyring" "stored in the OS keyring"
	said "from which it is used" "token of the keyring"
	same "another program finds it there" "$(cat "$work/looked")" "$token"
	same "no file has it" "$(grep -rl "$token" "$work/config" "$work/state" 2>/dev/null)" ""
	local list='{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"svc_whoami"}}'
	exits "the agent's server uses it" 0 session "svc mcp <<<'$list' | grep -q '\"name\\\\\":\\\\\"acme' && svc mcp --print-config"
	said "its configuration names the bus" DBUS_SESSION_BUS_ADDRESS
	if grep -q "$token" "$work/last.log" "$work/serve.log"; then fail "the token is printed nowhere"; else ok "the token is printed nowhere"; fi
	exits "it is forgotten in the keyring" 0 session 'svc auth logout && ! secret-tool lookup service svc username api-token'
}

prepare
in_file
in_keyring
finish
