shell() {
	local client
	for client in mongosh mongo; do ! command -v "$client" >/dev/null || break; done
	"$client" --quiet --eval "$1"
}

dump() { mongodump --quiet --archive; }

empty() { [ "$(shell "db.adminCommand({listDatabases: 1}).databases.filter(d => ['admin', 'config', 'local'].indexOf(d.name) < 0).length")" = 0 ]; }

load() { mongorestore --quiet --archive; }

# count: the documents of every collection.
count() {
	shell "db.adminCommand({listDatabases: 1}).databases.map(d => d.name).filter(n => ['admin', 'config', 'local'].indexOf(n) < 0).sort().forEach(n =>
		db.getSiblingDB(n).getCollectionInfos({type: 'collection'}).map(c => c.name).sort().forEach(c => print(n + '.' + c + ' ' + db.getSiblingDB(n).getCollection(c).countDocuments({}))))"
}
