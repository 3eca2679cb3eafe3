# The server's own databases are not carried: the target's server, which may be
# another version or engine, has its own. Accounts are written down, for a person
# to make anew.
# SOURCE_SOCKET is that of the source's server where there are several; MYSQL_UNIX_PORT
# is the target's, as its clients take it.
SOURCE_SOCKET=${SOURCE_SOCKET:-}
SETTINGS+=(SOURCE_SOCKET)

at_source() {
	local has
	[ -z "$SOURCE_SOCKET" ] || export MYSQL_UNIX_PORT=$SOURCE_SOCKET
	has=$(query -e 'select @@datadir') || die "No server of the source answers root. Nothing was done."
	[ "$has" -ef "$DIRECTORY" ] || die "The server that answers on the source has its data in $has, not in $DIRECTORY: set SOURCE_SOCKET to the socket of that which has. Nothing was done."
}

# rouse: a server that waited for its data, a folder or a secret is started.
rouse() {
	local unit
	! query -e 'select 1' </dev/null >/dev/null 2>&1 || return 0
	for unit in mariadb mysql mysqld; do
		systemctl cat "$unit.service" >/dev/null 2>&1 || continue
		systemctl reset-failed "$unit.service" || true
		! systemctl start "$unit.service" </dev/null || break
	done
}

query() {
	local client
	for client in mariadb mysql; do ! command -v "$client" >/dev/null || break; done
	"$client" --default-character-set=utf8mb4 -NBr "$@"
}

databases() { query -e "select schema_name from information_schema.schemata where schema_name not in ('mysql', 'sys', 'information_schema', 'performance_schema') order by 1"; }

# dumper: the program, of which there are two.
dumper() {
	local program
	for program in mariadb-dump mysqldump; do ! command -v "$program" >/dev/null || break; done
	"$program" "$@"
}

# dumps_with OPTION: whether the program has it.
dumps_with() { [[ $(dumper --help) == *"$1"* ]]; }

# dump OPTION…: MySQL's would set the target's own GTIDs, too.
dump() {
	local names options=(--single-transaction --routines --events --triggers --hex-blob --default-character-set=utf8mb4 "$@")
	mapfile -t names < <(databases)
	[ ${#names[@]} != 0 ] || return 0
	if dumps_with --set-gtid-purged; then options+=(--set-gtid-purged=OFF); fi
	dumper "${options[@]}" --databases -- "${names[@]}"
}

# accounts: what makes them, where the engine says; those of the system are left. All are
# there before the first is granted, for roles are granted to others. MariaDB's roles have
# no host. What a digest is made of MySQL writes in hexadecimal, where it can.
accounts() {
	local own="user not in ('', 'root', 'mysql', 'mariadb.sys', 'mysql.sys', 'mysql.session', 'mysql.infoschema', 'debian-sys-maint', 'PUBLIC')" roles="host = '' and false"
	[ -z "$(query -e "show columns from mysql.user like 'is_role'")" ] || roles="binary is_role = 'Y'" # of a view, whose collation may be another than the connection's
	{
		echo '/*!80017 set print_identified_with_as_hex = 1 */;'
		query -e "select concat('select concat(''create role '', quote(', quote(user), '));') from mysql.user where $own and $roles order by user"
		query -e "select concat('show create user ', quote(user), '@', quote(host), ';') from mysql.user where $own and host <> '' order by user, host"
		query -e "select concat('show grants for ', quote(user), ';') from mysql.user where $own and $roles order by user"
		query -e "select concat('show grants for ', quote(user), '@', quote(host), ';') from mysql.user where $own and host <> '' order by user, host"
	} | query | sed 's/$/;/'
}

# empty: an installation may have made a database, but nothing is in it.
empty() { [ "$(query -e "select count(*) from information_schema.tables where table_schema not in ('mysql', 'sys', 'information_schema', 'performance_schema')")" = 0 ]; }

# load: MariaDB's columns that are generated take no NOT NULL, which MySQL writes behind it.
load() {
	if into_mariadb; then
		sed -E '/^  `/s/( GENERATED ALWAYS AS \(.*\) (VIRTUAL|STORED)) NOT NULL/\1/' | query
	else
		query
	fi
}

into_mariadb() { [[ $(query -e 'select version()' </dev/null) == *MariaDB* ]]; }

# count: the rows of every table, and how many routines, triggers, events and
# views each database has.
count() {
	local own="('mysql', 'sys', 'information_schema', 'performance_schema')" q="char(96)"
	query -e "select concat('select ', quote(concat('table ', table_schema, '.', table_name)), ', count(*) from ', $q, replace(table_schema, $q, concat($q, $q)), $q, '.', $q, replace(table_name, $q, concat($q, $q)), $q, ';')
		from information_schema.tables where table_type = 'BASE TABLE' and table_schema not in $own order by table_schema, table_name" | query || return
	query -e "select 'routines', routine_schema, count(*) from information_schema.routines where routine_schema not in $own group by 2 order by 2;
		select 'triggers', trigger_schema, count(*) from information_schema.triggers where trigger_schema not in $own group by 2 order by 2;
		select 'events', event_schema, count(*) from information_schema.events where event_schema not in $own group by 2 order by 2;
		select 'views', table_schema, count(*) from information_schema.views where table_schema not in $own group by 2 order by 2"
}
