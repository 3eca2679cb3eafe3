# SOURCE_PORT and SOURCE_AUTH are the source's port and password; REDISCLI_AUTH is
# the target's password, as its client takes it.
SOURCE_PORT=${SOURCE_PORT:-6379}
SOURCE_AUTH=${SOURCE_AUTH:-}
SETTINGS+=(SOURCE_PORT SOURCE_AUTH)

at_source() {
	PORT=$SOURCE_PORT
	[ -z "$SOURCE_AUTH" ] || export REDISCLI_AUTH=$SOURCE_AUTH
	[ "$(setting dir)" = "$DIRECTORY" ] || die "The server on port $PORT of the source does not keep its data in $DIRECTORY, or wants a password: set SOURCE_PORT and SOURCE_AUTH. Nothing was done."
}

query() {
	local client
	for client in valkey-cli redis-cli; do ! command -v "$client" >/dev/null || break; done
	"$client" -p "${PORT:-6379}" "$@" | tr -d '\r'
}

setting() { query config get "$1" | tail -n 1; }

# info SECTION KEY
info() { query info "$1" | sed -n "s/^$2://p"; }

empty() { [ -z "$(query info keyspace | sed -n '/^db/p')" ] && [ "$(query ping)" = PONG ]; }

# count: the keys of each database that do not end by themselves.
count() { query info keyspace | sed -nE 's/^(db[0-9]+):keys=([0-9]+),expires=([0-9]+).*/\1 \2 \3/p' | awk '{ print $1, $2 - $3 }'; }
