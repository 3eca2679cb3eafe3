# shellcheck shell=bash
# A private PostgreSQL for tests: sourced, then postgres_install,
# postgres_start (sets POSTGRES_DSN) and postgres_stop. It listens on a Unix
# socket in its own folder and nowhere else.

postgres_bin() { find /usr/lib/postgresql -maxdepth 2 -name bin 2>/dev/null | sort -V | tail -n 1; }

postgres_install() {
	if [ -z "$(postgres_bin)" ] || ! command -v pgbouncer >/dev/null; then
		apt-get update -qq
		# A cluster of Debian's own would only take memory.
		mkdir -p /etc/postgresql-common
		[ -e /etc/postgresql-common/createcluster.conf ] || echo 'create_main_cluster = false' >/etc/postgresql-common/createcluster.conf
		DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends postgresql pgbouncer gcc libc6-dev >/dev/null
	fi
}

# postgres_newest takes the newest minor release of the PostgreSQL that is here, where apt
# has one: the extension does not load in every older one.
postgres_newest() {
	{ [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null && apt-get update -qq; } || return 0
	DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --only-upgrade "postgresql-$(basename "$(dirname "$(postgres_bin)")")" >/dev/null ||
		echo "PostgreSQL stays as it is: apt did not bring a newer one"
}

# As root the server runs as the user postgres: it refuses to run as root.
postgres_as() {
	if [ "$(id -u)" = 0 ]; then runuser -u postgres -- "$@"; else "$@"; fi
}

postgres_start() {
	POSTGRES_DIR=$(mktemp -d)
	chmod 755 "$POSTGRES_DIR"
	[ "$(id -u)" != 0 ] || chown postgres "$POSTGRES_DIR"
	postgres_as "$(postgres_bin)/initdb" -D "$POSTGRES_DIR/data" -U postgres -A trust --no-sync >/dev/null
	postgres_as "$(postgres_bin)/pg_ctl" -D "$POSTGRES_DIR/data" -w -s -l "$POSTGRES_DIR/log" \
		-o "-c listen_addresses='' -c unix_socket_directories=$POSTGRES_DIR -c max_connections=200" start
	POSTGRES_DSN="postgres:///postgres?host=$POSTGRES_DIR&user=postgres"
}

# citus_start starts a Citus of a coordinator and two workers, where a folder beside the
# project has the extension and its scripts; sets CITUS_DSN, empty where there is none.
citus_start() {
	CITUS_DSN='' CITUS_DIR=''
	local from=${SVC_CITUS:-../shared/citus}
	if [ ! -e "$from/start.sh" ] || [ "$(id -u)" != 0 ]; then
		echo "NOT TESTED on Citus: $from/start.sh is not there, or this is not root"
		return
	fi
	CITUS_DIR=$(mktemp -d) CITUS_FROM=$from
	chmod 755 "$CITUS_DIR"
	CITUS_DSN=$(bash "$from/start.sh" "$CITUS_DIR" | tail -n 1) || CITUS_DSN=''
	[ -n "$CITUS_DSN" ] || { echo "NOT TESTED on Citus: it did not start (the extension needs a PostgreSQL newer than 15.18)"; citus_stop; return; }
	# The suite kills svc and no server: nothing needs the disk.
	psql "$CITUS_DSN" -qAtc "SELECT run_command_on_all_nodes('ALTER SYSTEM SET fsync = off')" -c "SELECT run_command_on_all_nodes('SELECT pg_reload_conf()')" >/dev/null
}

citus_stop() {
	[ -n "${CITUS_DIR:-}" ] || return 0
	bash "$CITUS_FROM/stop.sh" "$CITUS_DIR" >/dev/null 2>&1 || true
	rm -rf "$CITUS_DIR"
	CITUS_DIR=''
}

postgres_stop() {
	[ -n "${POSTGRES_DIR:-}" ] || return 0
	postgres_as "$(postgres_bin)/pg_ctl" -D "$POSTGRES_DIR/data" -m immediate -s stop || true
	rm -rf "$POSTGRES_DIR"
	POSTGRES_DIR=
}
