# at_source: there may be several clusters; this is the one that DIRECTORY is of.
at_source() {
	[ -r "$DIRECTORY/postmaster.pid" ] || die "No server runs on $DIRECTORY on the source. Nothing was done."
	PGPORT=$(sed -n 4p "$DIRECTORY/postmaster.pid") PGHOST=$(sed -n 5p "$DIRECTORY/postmaster.pid")
	export PGPORT PGHOST
}

# rouse: a server that waited for a secret, such as the key of its certificate, is started.
rouse() {
	local name=${DATABASE:-main} version
	! PGDATABASE=postgres query -c "select 1" >/dev/null 2>&1 || return 0
	if command -v pg_lsclusters >/dev/null; then
		version=$(pg_lsclusters -h | DATABASE=$name awk '$2 == ENVIRON["DATABASE"] && $4 ~ /^down/ { print $1 }' | tail -n 1)
		[ -z "$version" ] || pg_ctlcluster "$version" "$name" start </dev/null || true
	else
		systemctl start postgresql </dev/null || true
	fi
}

# at_target: of several clusters of Debian's, that with the name of the source's, if
# PGPORT does not say which.
at_target() {
	[ -z "${PGPORT:-}" ] && [ -n "$DATABASE" ] && [ "$DATABASE" != main ] && command -v pg_lsclusters >/dev/null || return 0
	PGPORT=$(pg_lsclusters -h | DATABASE=$DATABASE awk '$2 == ENVIRON["DATABASE"] { print $3 }' | tail -n 1)
	[ -n "$PGPORT" ] || die "The target has no cluster $DATABASE: make it by pg_createcluster VERSION $DATABASE -p PORT --start, with the version that is below /usr/lib/postgresql and the port that its programs know, and try again. Nothing was loaded."
	export PGPORT
}

# postgres PROGRAM: as the engine's own user; a database is named by PGDATABASE,
# which takes any name for what it is.
postgres() (
	cd /
	exec runuser -u postgres -- "$@"
)

query() { postgres psql -XAtq -v ON_ERROR_STOP=1 "$@"; }

# each_database COMMAND…: runs it with the name of each in PGDATABASE.
each_database() {
	local ids id PGDATABASE=postgres
	export PGDATABASE
	ids=$(query -c "select oid from pg_database where datallowconn and not datistemplate order by datname collate \"C\"") || return
	for id in $ids; do
		PGDATABASE=$(PGDATABASE=postgres query -c "select datname || '/' from pg_database where oid = $id") || return
		PGDATABASE=${PGDATABASE%/} # kept the newlines that a name may end with
		"$@" || return
	done
}

dump() { postgres pg_dumpall; }

# empty: nothing but what initdb makes is there.
empty() { [ "$(PGDATABASE=postgres query -c "select count(*) from pg_database where datname not in ('postgres', 'template0', 'template1')")" = 0 ]; }

# load: the one error that is expected, and not said, is that the target has its superuser.
load() {
	query -v ON_ERROR_STOP=0 -d postgres 2>&1 >/dev/null | sed -E '/ERROR: +role "postgres" already exists$/d' | tee "$STATE.messages" >&2
	[ "$(grep -cE '(ERROR|FATAL|PANIC):' "$STATE.messages")" = 0 ]
}

# settings: what a server's own configuration says that stands in its folder, where no role
# brings it from: names and values, and the lines of who may connect, and as whom. Where it
# keeps files, logs, archives and its replicas is the target's own to say.
settings() {
	local PGDATABASE=postgres
	export PGDATABASE
	[ "$(query -c "select strpos(current_setting('config_file'), current_setting('data_directory') || '/') = 1")" = t ] || return 0
	query -F $'\t' -c "select 'set', name, current_setting(name) from pg_settings where source = 'configuration file' and current_setting(name) !~ '[\t\n]'
		and name !~ '^lc_|^jit_provider$|(_file|_director(y|ies)|_libraries|_path|_command|_tablespaces)$' and category !~ '^(Replication|File Locations)|SSL$|Where to Log$|Archiv|Recovery' order by name collate \"C\"" || return
	sed 's/^/hba\t/' -- "$(query -c 'show hba_file')" && sed 's/^/ident\t/' -- "$(query -c 'show ident_file')"
}

# settle: gives the server these, as far as it knows them. Its superuser gets in as before.
settle() {
	local PGDATABASE=postgres kind rest hba=$'local all postgres peer\n' ident="" wrong=0
	export PGDATABASE
	while IFS=$'\t' read -r kind rest; do
		case $kind in
		hba) hba+=$rest$'\n' ;;
		ident) ident+=$rest$'\n' ;;
		set) setting "${rest%%$'\t'*}" "${rest#*$'\t'}" || wrong=1 ;;
		esac
	done
	replace hba_file pg_hba_file_rules "$hba" || wrong=1
	replace ident_file pg_ident_file_mappings "$ident" || wrong=1
	query -c 'select pg_reload_conf()' >/dev/null
	echo "The server has the source's settings; those that need it to start anew hold from then on."
	return "$wrong"
}

# setting NAME VALUE: a name that this version has not, or that an extension will have, is said.
setting() {
	[ "$(query -v "name=$1" <<<"select count(*) from pg_settings where name = :'name'")" = 1 ] || { printf 'This version has no setting %q: %q stays behind.\n' "$1" "$2" && return; }
	query -v "name=$1" -v "value=$2" <<<"alter system set :\"name\" = :'value'"
}

# replace SETTING VIEW TEXT: puts a text in place of the file, and the file back where the
# view finds a fault in it. Versions without the view say it in their log alone.
replace() {
	local file faults=0
	file=$(query -c "show $1") && postgres cp -n -- "$file" "$file.before-the-move" && postgres tee -- "$file" <<<"$3" >/dev/null || return
	[ -z "$(query -c "select to_regclass('$2')")" ] || faults=$(query -c "select count(*) from $2 where error is not null") || return
	[ "$faults" = 0 ] || { printf '%s of the source has %s lines that this version does not take: the target keeps its own.\n' "$1" "$faults" && postgres cp -- "$file.before-the-move" "$file" && return 1; }
}

# count: roles, and of every database the rows of its tables, its views,
# sequences, extensions and large objects. What an extension brought is left out. The load
# refreshes materialized views, so only whether they are filled can be compared: on the
# source they hold what was true when they were last refreshed.
count() {
	PGDATABASE=postgres query -c "select 'role ' || rolname from pg_roles where rolname !~ '^pg_' and rolname <> 'svc_move' order by rolname collate \"C\"" || return
	each_database count_database
}

count_database() {
	printf 'database %q\n' "$PGDATABASE"
	query <<'SQL'
select line from (
  select format('%s %I.%I %s', case c.relkind when 'v' then 'view' when 'm' then 'materialized view' when 'S' then 'sequence' else 'table' end, n.nspname, c.relname,
    case c.relkind when 'r' then (xpath('/row/n/text()', query_to_xml(format('select count(*) as n from only %I.%I', n.nspname, c.relname), false, true, '')))[1]::text
      when 'm' then case when c.relispopulated then 'filled' else 'empty' end end)
  from pg_class c join pg_namespace n on n.oid = c.relnamespace
  where c.relkind in ('r', 'p', 'v', 'm', 'S') and n.nspname not in ('pg_catalog', 'information_schema') and n.nspname !~ '^pg_(toast|temp)'
    and not exists (select 1 from pg_depend d where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'e')
  union all select 'extension ' || extname from pg_extension
  union all select 'large objects ' || count(*) from pg_largeobject_metadata
) as lines(line) order by line collate "C";
SQL
}
