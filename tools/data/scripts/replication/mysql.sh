# On the source start makes, and switch and undo take away: an account svc_move
# that may read the binary log. The dump that the target begins with stops writers
# for the moment in which it notes where the log is. Accounts are not replicated.
# What a statement changes on the source it changes on the target, schemas too.

port() { query -e 'select @@port'; }

# facts: whose it is, its version as a number, and what both must agree in.
facts() { query -e "select if(version() like '%mariadb%', 'mariadb', 'mysql'), $numeric, @@server_id, @@lower_case_table_names, (select count(*) from information_schema.events where status = 'ENABLED')"; }
numeric="substring_index(version(), '.', 1) * 100 + substring_index(substring_index(version(), '.', 2), '.', -1)"
SETTINGS+=(numeric)

# refusals: what the source says against it.
refusals() {
	local filters
	query <<'SQL' || return
select 'The source writes no binary log: set log_bin and a server_id of its own in its my.cnf, and restart it.' from dual where @@log_bin = 0;
select 'The source takes no connections on its loopback: take skip_networking out of its my.cnf, and restart it.' from dual where @@skip_networking;
select 'The source has server_id 0: set global server_id to a number of its own.' from dual where @@server_id = 0;
select 'The source writes statements to its binary log, which may do something else on the target: set global binlog_format = row, and have its clients connect again.' from dual where @@global.binlog_format = 'STATEMENT';
select concat(table_schema, '.', table_name, ' is ', engine, ', of which a dump while the source is written to does not fit the log: alter table … engine = InnoDB, or dump and load it.') from information_schema.tables
where table_type = 'BASE TABLE' and table_schema not in ('mysql', 'sys', 'information_schema', 'performance_schema')
and engine not in (select engine from information_schema.engines where transactions = 'YES') order by table_schema, table_name;
select 'The source has an account svc_move already: of an earlier start? Then undo it.' from dual where exists (select 1 from mysql.user where user = 'svc_move');
SQL
	[ -n "$(databases)" ] || echo "The source has no databases: there is nothing to replicate."
	filters=$(log_at | cut -f 3-4 | tr -d '\t\n') || return
	[ -z "$filters" ] || echo "The source leaves databases out of its binary log ($filters): take binlog_do_db and binlog_ignore_db out of its my.cnf, and restart it."
}

# log_at: the binary log's file and place; newer MySQL has another word for it.
log_at() { query -e 'show master status' 2>/dev/null || query -e 'show binary log status'; }

# refusals_here FACTS: what the target says against such a source.
refusals_here() {
	local engine version id names events mine_engine mine mine_id mine_names
	read -r engine version id names events <<<"$1"
	read -r mine_engine mine mine_id mine_names _ <<<"$(facts)"
	[ "$mine_engine" = "$engine" ] || echo "The source is $engine and the target $mine_engine: neither follows the other. Dump and load it."
	[ "$mine" -ge "$version" ] || echo "The target is older than the source."
	[ "$engine $version" != "mysql 507" ] || [ "$mine" = 507 ] || [ "$mine" = 800 ] || echo "The target must be MySQL 8.0, the next version after 5.7: newer ones do not follow it."
	[ "$mine_id" != "$id" ] && [ "$mine_id" != 0 ] || echo "Source and target both have server_id $id: give the target one of its own in its my.cnf, or set global server_id = $((id + 1));"
	[ "$mine_names" = "$names" ] || echo "lower_case_table_names is $names on the source and $mine_names on the target: it must be the same."
	[ "$events" = 0 ] || [ "$(query -e 'select @@event_scheduler')" != ON ] || echo "The target would run the source's events too: set global event_scheduler = off there, until it was switched."
	[ -z "$(replica_status)" ] || echo "The target follows another server already."
}

# modern: whether the target speaks of replicas, not slaves.
modern() { [ "$(query -e "select version() not like '%mariadb%' and $numeric >= 804")" = 1 ]; }

replica() { if modern; then query --column-names --vertical -e "$1 replica $2"; else query --column-names --vertical -e "$1 slave $2"; fi; }

replica_status() { replica show status; }

# follows: whether it reads the source's log, and does what that says.
follows() { [ "$(replica_status | grep -cE '^ *(Slave|Replica)_(IO|SQL)_Running: Yes$')" = 2 ]; }

start() {
	local password log place tries=0
	password=$(od -An -N 16 -tx1 /dev/urandom | tr -d ' \n')
	on_source publish "$password"
	say "dumping the source"
	on_source dump_with_place >"$STATE.dump"
	IFS=$'\t' read -r log place < <(sed -nE "/^-- CHANGE (MASTER|REPLICATION SOURCE) TO /{s/.*_LOG_FILE='([A-Za-z0-9._-]+)', [A-Z]+_LOG_POS=([0-9]+);.*/\1\t\2/p;q}" <"$STATE.dump") ||
		die "The dump does not say where the source's log was: undo. Nothing was loaded."
	say "loading it"
	load <"$STATE.dump" || die "Not all of it was loaded: undo, and drop the target's databases before you try again."
	way
	follow "$password" "$log" "$place"
	replica start ''
	until follows; do
		[ "$((tries += 1))" -le 20 ] || die "The target does not follow: $(status)"$'\n'"Undo, and drop the target's databases before you try again."
		sleep 1
	done
}

# publish PASSWORD: an account for the target, that comes over the loopback.
publish() {
	local host
	for host in 127.0.0.1 localhost; do
		printf "create user svc_move@'%s' identified by '%s'; grant replication slave on *.* to svc_move@'%s';\n" "$host" "$1" "$host"
	done | query
}

dump_with_place() {
	if dumps_with --source-data; then dump --source-data=2; else dump --master-data=2; fi
}

# follow PASSWORD FILE PLACE: from there in the source's log, but for accounts.
follow() {
	local change="change master to master" key=""
	if modern; then change="change replication source to source"; fi
	case $(facts) in
	mysql*)
		# 5.7 sends no password by the source's public key.
		if modern; then key=", get_source_public_key=1"; elif [ "$(query -e "select $numeric")" = 800 ]; then key=", get_master_public_key=1"; fi
		query -e "change replication filter replicate_wild_ignore_table = ('mysql.%')"
		;;
	*)
		query -e "set global replicate_wild_ignore_table = 'mysql.%'"
		key=", master_use_gtid=no, master_ssl=0" # the way is ssh's
		;;
	esac
	query <<<"${change}_host='127.0.0.1', ${change##* }_port=$TUNNEL_PORT, ${change##* }_user='svc_move', ${change##* }_password='$1', ${change##* }_connect_retry=5, ${change##* }_log_file='$2', ${change##* }_log_pos=$3$key"
}

status() {
	replica_status | grep -E '^ *(Slave|Replica|Last|Seconds|Relay_(Master|Source))_[A-Za-z_]*(Running|Error|Behind[A-Za-z_]*|Log_File): .|^ *Exec_(Master|Source)_Log_Pos'
}

others() {
	query <<'SQL'
select concat('a client as ', user, ' from ', host, ', in ', coalesce(db, 'no database'), ', connection ', id) from information_schema.processlist
where id <> connection_id() and user not in ('svc_move', 'system user', 'event_scheduler');
select concat('the event ', event_schema, '.', event_name, ' (set global event_scheduler = off)') from information_schema.events where status = 'ENABLED' and @@event_scheduler = 'ON';
SQL
}

position() { log_at | cut -f 1-2; }

# reached FILE PLACE
reached() {
	local wait=master_pos_wait said
	modern && wait=source_pos_wait
	said=$(query -e "select $wait('${1%%$'\t'*}', ${1##*$'\t'}, 1)")
	[ "$said" != NULL ] || die "The target does not follow: $(status)"
	[ "$said" -ge 0 ]
}

carry() { :; }

# finish: events that were made meanwhile were not the target's to run.
finish() {
	leave
	query -e "select concat('Enable it: alter event ', event_schema, '.', event_name, ' enable') from information_schema.events where status like '%SIDE_DISABLED'"
}

leave() {
	if [ -n "$(replica_status)" ]; then
		replica stop ''
		replica reset all
	fi
	case $(facts) in
	mysql*) query -e "change replication filter replicate_wild_ignore_table = ()" ;;
	*) query -e "set global replicate_wild_ignore_table = ''" ;;
	esac
	on_source withdraw
}

withdraw() { query -e "drop user if exists svc_move@'127.0.0.1'; drop user if exists svc_move@localhost"; }
