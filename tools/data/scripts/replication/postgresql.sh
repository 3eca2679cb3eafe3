# On the source start makes, and switch and undo take away: a role svc_move, and
# in every database a publication svc_move and a slot svc_move_N. While a slot is
# there the source keeps what the target has not taken, for ever: do not leave it.
# Not replicated, and so carried by switch: the state of sequences, large objects,
# materialized views. Nobody may change the schema between start and switch.

# Tables whose rows are replicated: what an extension brought is not, nor what is
# temporary or unlogged.
carried="c.relkind = 'r' and n.nspname not in ('pg_catalog', 'information_schema') and n.nspname !~ '^pg_(toast|temp)'
	and not exists (select 1 from pg_depend d where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'e')"
SETTINGS+=(carried)

port() { printf '%s\n' "$PGPORT"; }

facts() { PGDATABASE=postgres query -c 'show server_version_num'; }

# refusals: what the source says against it.
refusals() {
	PGDATABASE=postgres query <<'SQL' || return
with own as (select current_setting('server_version_num')::int as version, (select count(*) from pg_database where datallowconn and not datistemplate) as databases)
select why from (
  select 1, 'The source is older than PostgreSQL 10, which can''t publish: dump and load it.' from own where version < 100000
  union all select 2, 'The source is a standby: replicate from its primary.' where pg_is_in_recovery()
  union all select 3, 'wal_level of the source is ' || current_setting('wal_level') || ': alter system set wal_level = logical; and restart it, which takes seconds.' where current_setting('wal_level') <> 'logical'
  union all select 4, format('The source has %s of %s slots left, and %s databases with a table copied beside them need %s: raise max_replication_slots and restart it.', current_setting('max_replication_slots')::int - (select count(*) from pg_replication_slots), current_setting('max_replication_slots'), databases, databases + 1)
    from own where current_setting('max_replication_slots')::int - (select count(*) from pg_replication_slots) < databases + 1
  union all select 5, format('The source lets %s send, %s do, and %s databases with a table copied beside them need %s: raise max_wal_senders and restart it.', current_setting('max_wal_senders'), (select count(*) from pg_stat_replication), databases, databases + 1)
    from own where current_setting('max_wal_senders')::int - (select count(*) from pg_stat_replication) < databases + 1
  union all select 6, 'The source has a role svc_move already: of an earlier start? Then undo it.' where exists (select 1 from pg_roles where rolname = 'svc_move')
) as all_of_them(rank, why) order by rank;
SQL
	each_database refusals_of
}

refusals_of() {
	query -v carried="$carried" <<'SQL'
select format('%s: %I.%I is unlogged, so that nothing of it is sent: alter table %I.%I set logged;', current_database(), n.nspname, c.relname, n.nspname, c.relname)
from pg_class c join pg_namespace n on n.oid = c.relnamespace where :carried and c.relpersistence = 'u' order by 1;
select format('%s: %I.%I has no primary key or replica identity: updates and deletes would fail on the source. Give it a key, or: alter table %I.%I replica identity full;', current_database(), n.nspname, c.relname, n.nspname, c.relname)
from pg_class c join pg_namespace n on n.oid = c.relnamespace
where :carried and c.relpersistence = 'p' and not (c.relreplident = 'f'
  or c.relreplident = 'd' and exists (select 1 from pg_index i where i.indrelid = c.oid and i.indisprimary and i.indimmediate and i.indisvalid)
  or c.relreplident = 'i' and exists (select 1 from pg_index i where i.indrelid = c.oid and i.indisreplident and i.indisvalid)) order by 1;
select format('%s: the extension %s keeps rows that were added to its tables (%s), which are not carried: dump and load it.', current_database(), e.extname, (select string_agg(t::regclass::text, ', ') from unnest(e.extconfig) t))
from pg_extension e where exists (select 1 from unnest(e.extconfig) t join pg_class c on c.oid = t and c.relkind = 'r') order by 1;
SQL
}

# refusals_here VERSION: what the target says against a source of that version.
refusals_here() {
	PGDATABASE=postgres query -v version="$1" -v databases="$(on_source databases)" <<'SQL'
select why from (
  select 1, 'The target is older than the source.' where current_setting('server_version_num')::int / 10000 < :version / 10000
  union all select 2, format('The target replicates by %s workers, and %s databases with a table copied beside them need %s: raise max_logical_replication_workers and max_worker_processes and restart it.', current_setting('max_logical_replication_workers'), :databases, :databases + 1)
    where least(current_setting('max_logical_replication_workers')::int, current_setting('max_worker_processes')::int - 1) < :databases + 1
) as all_of_them(rank, why) order by rank;
SQL
}

databases() { PGDATABASE=postgres query -c 'select count(*) from pg_database where datallowconn and not datistemplate'; }

# schema: all but rows, as psql takes it. The engine makes the database postgres itself.
schema() {
	postgres pg_dumpall --globals-only || return
	each_database schema_of
}

schema_of() {
	if [ "$PGDATABASE" = postgres ]; then
		printf '\\connect postgres\n'
		postgres pg_dump --schema-only
	else
		postgres pg_dump --schema-only --create
	fi
}

# publish PASSWORD: a role for the target, and what it is to be sent.
publish() {
	PGDATABASE=postgres query <<<"set password_encryption = 'scram-sha-256'; create role svc_move superuser replication login password '$1'" || return
	each_database publish_database
}

publish_database() {
	query -v carried="$carried" <<'SQL'
select 'create publication svc_move' || coalesce(' for table ' || string_agg(format('only %I.%I', n.nspname, c.relname), ', '), '')
from pg_class c join pg_namespace n on n.oid = c.relnamespace where :carried and c.relpersistence = 'p' \gexec
SQL
}

# follow PASSWORD: the target's database asks for what its counterpart publishes.
follow() {
	slot=$((slot + 1))
	query -v password="$1" -v port="$TUNNEL_PORT" -v slot="svc_move_$slot" <<'SQL'
select format('create subscription svc_move connection %L publication svc_move with (slot_name = %L)', format('host=127.0.0.1 port=%s user=svc_move password=%s dbname=''%s''',
  :'port', :'password', replace(replace(current_database(), '\', '\\'), '''', '\''')), :'slot') \gexec
SQL
}

start() {
	local password slot=0
	password=$(od -An -N 32 -tx1 /dev/urandom | tr -d ' \n')
	on_source schema >"$STATE.schema"
	on_source publish "$password"
	way
	PGPASSWORD=$password query -h 127.0.0.1 -p "$TUNNEL_PORT" -U svc_move -d postgres -c '' || {
		on_source withdraw
		no_way
		die "The source does not let svc_move in from its loopback: its pg_hba.conf needs a line 'host all svc_move 127.0.0.1/32 scram-sha-256', and listen_addresses localhost. Nothing was done."
	}
	load <"$STATE.schema" || die "Not all of the schema was loaded: undo, and drop the target's databases before you try again."
	each_database follow "$password" || die "Not every database follows: undo, and drop the target's databases before you try again."
}

# tables: how many of each database are there, and follow.
tables() {
	query <<'SQL'
select format('%s: %s of %s tables were copied and follow', current_database(), count(*) filter (where srsubstate = 'r'), count(*)) from pg_subscription_rel;
SQL
}

behind() {
	PGDATABASE=postgres query <<'SQL'
select format('%s is %s behind and keeps %s on the source%s', slot_name, pg_size_pretty(pg_wal_lsn_diff(pg_current_wal_lsn(), confirmed_flush_lsn)), pg_size_pretty(pg_wal_lsn_diff(pg_current_wal_lsn(), restart_lsn)), case when not active then ', and the target does not take it' else '' end)
from pg_replication_slots where slot_name ~ '^svc_move_' order by slot_name;
SQL
}

status() {
	each_database tables
	on_source behind
}

others() {
	PGDATABASE=postgres query <<'SQL'
select format('%s as %s in %s, process %s', coalesce(nullif(application_name, ''), 'a client'), usename, datname, pid) from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid() and usename <> 'svc_move'
union all select format('the prepared transaction %s in %s', gid, database) from pg_prepared_xacts;
SQL
}

position() { PGDATABASE=postgres query -c 'select pg_current_wal_lsn()'; }

# missing POSITION: how many databases have not been sent all up to there.
missing() {
	PGDATABASE=postgres query -v position="$1" <<'SQL'
select (select count(*) from pg_database where datallowconn and not datistemplate) - (select count(*) from pg_replication_slots where slot_name ~ '^svc_move_[0-9]+$' and confirmed_flush_lsn >= :'position');
SQL
}

copied() { [ "$(query -c "select count(*) from pg_subscription_rel where srsubstate <> 'r'")" = 0 ]; }

reached() { each_database copied && [ "$(on_source missing "$1")" = 0 ]; }

# state: of each database, as psql takes it: where its sequences are, the views that
# are materialized, each after those that it needs, and its large objects.
state() { each_database state_of; }

state_of() {
	query <<'SQL' || return
select '\connect -reuse-previous=on "' || replace('dbname=''' || replace(replace(current_database(), '\', '\\'), '''', '\''') || '''', '"', '""') || '"';
select format('select format(''select pg_catalog.setval(%%L, %%s, %%L);'', %L, last_value, is_called) from %I.%I', format('%I.%I', n.nspname, c.relname), n.nspname, c.relname)
from pg_class c join pg_namespace n on n.oid = c.relnamespace where c.relkind = 'S' and c.relpersistence <> 't' order by c.oid \gexec
with recursive needs(it, what) as (
  select distinct r.ev_class, d.refobjid from pg_depend d join pg_rewrite r on d.classid = 'pg_rewrite'::regclass and r.oid = d.objid where d.refclassid = 'pg_class'::regclass and d.refobjid <> r.ev_class
), depth(it, n) as (
  select oid, 0 from pg_class where relkind = 'm' union select needs.it, n + 1 from depth join needs on needs.what = depth.it where n < 100
)
select format('refresh materialized view %I.%I;', s.nspname, c.relname)
from pg_class c join pg_namespace s on s.oid = c.relnamespace where c.relkind = 'm' and c.relispopulated order by (select max(n) from depth where depth.it = c.oid);
SQL
	[ "$(query -c 'select count(*) from pg_largeobject_metadata')" = 0 ] || {
		echo 'select pg_catalog.lo_unlink(oid) from pg_catalog.pg_largeobject_metadata;'
		postgres pg_dump --data-only --blobs --exclude-table='*.*'
	}
}

carry() {
	say "carrying sequences and large objects"
	on_source state >"$STATE.state"
	load <"$STATE.state" || die "Not all sequences and large objects were carried. The target was not switched, and follows."
}

withdraw() {
	PGDATABASE=postgres query -c "select pg_terminate_backend(active_pid) from pg_replication_slots where slot_name ~ '^svc_move_' and active" >/dev/null || return
	PGDATABASE=postgres query -c "select pg_drop_replication_slot(slot_name) from pg_replication_slots where slot_name ~ '^svc_move_'" >/dev/null || return
	each_database query -c 'drop publication if exists svc_move' || return
	PGDATABASE=postgres query -c 'drop role if exists svc_move'
}

unfollow() {
	[ "$(query -c "select count(*) from pg_subscription s join pg_database d on d.oid = s.subdbid where subname = 'svc_move' and datname = current_database()")" != 0 ] || return 0
	query -c 'alter subscription svc_move disable' -c 'alter subscription svc_move set (slot_name = none)' -c 'drop subscription svc_move'
}

finish() { leave; }

leave() {
	each_database unfollow || say "The target still has a subscription svc_move, or does not answer: drop it there."
	on_source withdraw
}
