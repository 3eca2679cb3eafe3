# Nothing is made on the source. It sends all it has, for which it writes a dump
# and needs the memory of what changes meanwhile. Accounts (ACL) are not carried.

port() { printf '%s\n' "$SOURCE_PORT"; }

# facts: whose it is, its version as a number, its modules.
facts() {
	local valkey version
	valkey=$(info server valkey_version)
	version=${valkey:-$(info server redis_version)}
	[ -n "$version" ] || return
	printf '%s %d %s\n' "$([ -n "$valkey" ] && echo valkey || echo redis)" "$(awk -F. '{ print $1 * 100 + $2 }' <<<"$version")" "$(modules)"
}

modules() { query --json module list 2>/dev/null | grep -oE '"name":"[^"]+"' | cut -d'"' -f4 | sort | tr '\n' ' ' || true; }

refusals() {
	[ "$(info cluster cluster_enabled)" != 1 ] || echo "The source is part of a cluster: move its slots by the cluster's own tools."
}

# refusals_here FACTS: what the target says against such a source.
refusals_here() {
	local engine version modules mine_engine mine mine_modules module
	read -r engine version modules <<<"$1"
	read -r mine_engine mine mine_modules <<<"$(facts)"
	case $engine-$mine_engine in
	redis-valkey) [ "$version" -lt 704 ] || echo "Valkey does not take what Redis 7.4 and newer send." ;;
	valkey-redis) echo "Redis does not take what Valkey sends." ;;
	*) [ "$mine" -ge "$version" ] || echo "The target is older than the source." ;;
	esac
	for module in $modules; do
		[[ " $mine_modules " == *" $module "* ]] || echo "The source has the module $module, the target has not."
	done
	[ "$(info cluster cluster_enabled)" != 1 ] || echo "The target is part of a cluster."
	[ "$(info replication role)" = master ] || echo "The target follows another server already."
}

start() {
	way
	[ -z "$SOURCE_AUTH" ] || printf '%s' "$SOURCE_AUTH" | query -x config set masterauth >/dev/null
	query replicaof 127.0.0.1 "$TUNNEL_PORT" >/dev/null
	until_reached 0
	status
}

status() { query info replication | grep -E '^(role|master_link_status|master_sync_in_progress|master_sync_left_bytes|master_last_io_seconds_ago|slave_repl_offset|slave_read_only)'; }

# others: clients that are no replicas. This client asks who it is first.
others() { printf 'client id\nclient list type normal\n' | query | awk 'NR == 1 { own = "id=" $1; next } $1 != own && NF { print "a client: " $0 }'; }

position() { info replication master_repl_offset; }

reached() { [ "$(info replication master_link_status)" = up ] && [ "$(info replication slave_repl_offset)" -ge "$1" ]; }

carry() { :; }

finish() {
	leave
	query bgsave >/dev/null # where that runs already it is saved all the same
}

leave() {
	query replicaof no one >/dev/null
	[ -z "$SOURCE_AUTH" ] || query config set masterauth '' >/dev/null
}
