# SOURCE_URI and TARGET_URI are the connection strings of the servers, where they are
# not the one that answers on port 27017, or ask for a name.
SOURCE_URI=${SOURCE_URI:-} TARGET_URI=${TARGET_URI:-}
SETTINGS+=(SOURCE_URI)
uri=$TARGET_URI

at_source() {
	local has
	uri=$SOURCE_URI
	has=$(shell "print((db.adminCommand({getCmdLineOpts: 1}).parsed.storage || {}).dbPath || '/data/db')") || die "No server of the source answers. Nothing was done."
	[ "$has" -ef "$DIRECTORY" ] || die "The server that answers on the source has its data in $has, not in $DIRECTORY: set SOURCE_URI to the connection string of that which has. Nothing was done."
}

shell() {
	local client
	for client in mongosh mongo; do ! command -v "$client" >/dev/null || break; done
	"$client" ${uri:+"$uri"} --quiet --eval "$1"
}

dump() { mongodump ${uri:+--uri="$uri"} --quiet --archive; }

empty() { [ "$(shell "db.adminCommand({listDatabases: 1}).databases.filter(d => ['admin', 'config', 'local'].indexOf(d.name) < 0).length")" = 0 ]; }

load() { mongorestore ${uri:+--uri="$uri"} --quiet --archive; }

# count: the documents of every collection.
count() {
	shell "db.adminCommand({listDatabases: 1}).databases.map(d => d.name).filter(n => ['admin', 'config', 'local'].indexOf(n) < 0).sort().forEach(n =>
		db.getSiblingDB(n).getCollectionInfos({type: 'collection'}).map(c => c.name).sort().forEach(c => print(n + '.' + c + ' ' + db.getSiblingDB(n).getCollection(c).countDocuments({}))))"
}
