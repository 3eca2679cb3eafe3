-- name: orders
-- Lists collations of libraries, with the indexes, the partitioned tables, the conditions of tables
-- and domains and the columns made of others that depend on them: by what they are sorted by, by an
-- expression or a condition in them, or within a type, such as a range of text or a row that has
-- some. In place of the verbs are the version on record of the database's own collation, the one
-- that its library has, whether a library sorts by it, where types of several ranges are, and the
-- columns, "stored".
with recursive part(of, object, type, coll) as (
	select 'pg_class'::regclass, i.indexrelid, 0::oid, o from pg_index i, unnest(i.indcollation) o
	union select 'pg_class'::regclass, i.indexrelid, 0::oid, m[1]::oid from pg_index i, regexp_matches(concat(i.indexprs::text, i.indpred::text), ':inputcollids? (?:\(o )?([0-9]+)', 'g') m
	union select 'pg_class'::regclass, i.indexrelid, a.atttypid, 0::oid from pg_index i join pg_attribute a on a.attrelid = i.indexrelid
	union select 'pg_class'::regclass, p.partrelid, 0::oid, o from pg_partitioned_table p, unnest(p.partcollation) o
	union select 'pg_class'::regclass, p.partrelid, 0::oid, m[1]::oid from pg_partitioned_table p, regexp_matches(p.partexprs::text, ':inputcollids? (?:\(o )?([0-9]+)', 'g') m
	union select 'pg_class'::regclass, p.partrelid, a.atttypid, 0::oid from pg_partitioned_table p join pg_attribute a on a.attrelid = p.partrelid and a.attnum = any (p.partattrs)
	union select 'pg_constraint'::regclass, k.oid, 0::oid, m[1]::oid from pg_constraint k, regexp_matches(k.conbin::text, ':inputcollids? (?:\(o )?([0-9]+)', 'g') m where k.contype = 'c' and k.convalidated
	union select 'pg_constraint'::regclass, k.oid, a.atttypid, 0::oid from pg_constraint k join pg_attribute a on a.attrelid = k.conrelid and a.attnum = any (k.conkey) where k.contype = 'c' and k.convalidated
	union select 'pg_constraint'::regclass, k.oid, t.typbasetype, 0::oid from pg_constraint k join pg_type t on t.oid = k.contypid where k.contype = 'c' and k.convalidated%[5]s
	union select p.of, p.object, x.type, x.coll from part p, lateral (
		select t.typelem, 0::oid from pg_type t where t.oid = p.type
		union all select t.typbasetype, 0::oid from pg_type t where t.oid = p.type
		union all select r.rngsubtype, r.rngcollation from pg_range r where p.type in (r.rngtypid%[4]s)
		union all select a.atttypid, a.attcollation from pg_type t join pg_attribute a on a.attrelid = t.typrelid where t.oid = p.type and t.typrelid <> 0 and a.attnum > 0 and not a.attisdropped
	) x(type, coll)
)
select json_build_object('name', case k.oid when 100 then '' else format('%%I.%%I', k.collnamespace::regnamespace, k.collname) end,
	'recorded', coalesce(case k.oid when 100 then %[1]s else k.collversion end, ''), 'actual', coalesce(case k.oid when 100 then %[2]s else pg_collation_actual_version(k.oid) end, ''),
	'indexes', coalesce(json_agg(distinct format('%%I.%%I', n.nspname, c.relname)) filter (where c.relkind = 'i'), '[]'),
	'tables', coalesce(json_agg(distinct format('%%I.%%I', n.nspname, c.relname)) filter (where c.relkind = 'p'), '[]'),
	'checks', coalesce(json_agg(distinct q.oid::bigint) filter (where q.oid is not null), '[]'),
	'stored', coalesce(json_agg(distinct d.oid::bigint) filter (where d.oid is not null), '[]'))
from part join pg_collation k on k.oid = part.coll left join pg_class c on c.oid = part.object and part.of = 'pg_class'::regclass left join pg_index i on i.indexrelid = c.oid
left join pg_constraint q on q.oid = part.object and part.of = 'pg_constraint'::regclass left join pg_attrdef d on d.oid = part.object and part.of = 'pg_attrdef'::regclass left join pg_class g on g.oid = d.adrelid
join pg_namespace n on n.oid = coalesce(c.relnamespace, q.connamespace, g.relnamespace)
where (k.oid = 100 and %[3]s or k.collprovider = 'i' or k.collprovider = 'c' and k.collcollate not in ('C', 'POSIX')) and (c.relkind in ('i', 'p') or q.oid >= 16384 or g.relkind = 'r' and d.oid >= 16384) and n.nspname !~ '^pg_(toast|temp)' and coalesce(i.indisvalid, true)
group by k.oid, k.collnamespace, k.collname, k.collversion

-- name: stored
-- Columns that are made of others and stored, by what their expression goes by, and by the types of
-- their table's columns.
union select 'pg_attrdef'::regclass, d.oid, 0::oid, m[1]::oid from pg_attrdef d join pg_attribute g on g.attrelid = d.adrelid and g.attnum = d.adnum, regexp_matches(d.adbin::text, ':inputcollids? (?:\(o )?([0-9]+)', 'g') m where g.attgenerated = 's'
	union select 'pg_attrdef'::regclass, d.oid, a.atttypid, 0::oid from pg_attrdef d join pg_attribute g on g.attrelid = d.adrelid and g.attnum = d.adnum join pg_attribute a on a.attrelid = d.adrelid and a.attnum > 0 and not a.attisdropped where g.attgenerated = 's'

-- name: check
-- Has amcheck look at every entry of B-trees, and whether each row has one. The extension, where it
-- is not there already, goes again with the transaction.
begin;
select format('create schema svc_check; create extension amcheck schema svc_check') where not exists (select from pg_extension where extname = 'amcheck') \gexec
select format('select to_json(1) from %%I.bt_index_check(%%L::regclass, true)', n.nspname, c.oid::regclass) from pg_extension e join pg_namespace n on n.oid = e.extnamespace, pg_class c join pg_am a on a.oid = c.relam
	where e.extname = 'amcheck' and a.amname = 'btree' and c.oid in (%s) \gexec
rollback;

-- name: bounds
-- Makes a table like another one, with its partitions' bounds: the server then says whether one is
-- empty, or overlaps another.
select json_build_object('name', format('the bounds of the partitions of %%s are in another order', p.oid::regclass), 'owner', quote_ident(pg_get_userbyid(p.relowner)),
	'ask', format('create table svc_check.t (like %%s) partition by %%s; ', p.oid::regclass, pg_get_partkeydef(p.oid)) || coalesce((
		select string_agg(format('create table svc_check.t%%s partition of svc_check.t %%s; ', c.oid, pg_get_expr(c.relpartbound, c.oid)), '') from pg_inherits i join pg_class c on c.oid = i.inhrelid where i.inhparent = p.oid), ''))
from pg_class p where p.oid = %[1]s::regclass

-- name: partitions
-- The bounds of all partitions below a table, by what has the rows.
with recursive part as (select i.inhrelid as oid from pg_inherits i where i.inhparent = %[1]s::regclass union all select i.inhrelid from part p join pg_inherits i on i.inhparent = p.oid)
select json_build_object('name', format('rows of %%s are in another partition of %%s', c.oid::regclass, %[1]s::regclass), 'owner', quote_ident(pg_get_userbyid(c.relowner)),
	'ask', format('exists (select from only %%s where not (%%s))', c.oid::regclass, pg_get_partition_constraintdef(c.oid)))
from part join pg_class c using (oid) where c.relkind = 'r' and pg_get_partition_constraintdef(c.oid) is not null

-- name: constraints
-- The conditions of tables.
select json_build_object('name', format('rows of %%s break its constraint %%I', k.conrelid::regclass, k.conname), 'owner', quote_ident(pg_get_userbyid(c.relowner)),
	'ask', format('exists (select from only %%s where not (%%s))', c.oid::regclass, pg_get_expr(k.conbin, k.conrelid)))
from pg_constraint k join pg_class c on c.oid = k.conrelid where k.oid in (%[1]s) and c.relkind = 'r'

-- name: domains
-- The conditions of domains, by the columns whose type is one, or has one somewhere within: what
-- such a value is printed as is read again, and the server looks at every domain in it. %[2]s is
-- "multiranges", or nothing.
with recursive has(domain, type) as (select distinct k.contypid, k.contypid from pg_constraint k where k.oid in (%[1]s) and k.contypid <> 0
	union select h.domain, t.oid from has h join pg_type t on t.typelem = h.type or t.typbasetype = h.type or exists (select from pg_attribute a where a.attrelid = t.typrelid and a.atttypid = h.type and a.attnum > 0 and not a.attisdropped)
		or exists (select from pg_range r where r.rngsubtype = h.type and r.rngtypid = t.oid%[2]s))
select json_build_object('name', format('rows of %%s break a constraint of the domain %%s in %%I', c.oid::regclass, h.domain::regtype, a.attname), 'owner', quote_ident(pg_get_userbyid(c.relowner)),
	'ask', format('exists (select from only %%1$s where %%2$I::text is not null and ((%%2$I::text)::%%3$s)::text is null)', c.oid::regclass, a.attname, format_type(a.atttypid, a.atttypmod)))
from has h join pg_attribute a on a.atttypid = h.type and a.attnum > 0 and not a.attisdropped join pg_class c on c.oid = a.attrelid where c.relkind = 'r'

-- name: multiranges
-- Goes on from a range to the type of several of them.
or r.rngtypid = h.type and r.rngmultitypid = t.oid

-- name: stored again
-- Columns that are made of others: whether they would be the same, bit by bit, if they were made
-- now.
select json_build_object('name', format('rows of %%s have another value in %%I than would be made of their other columns now', c.oid::regclass, a.attname), 'owner', quote_ident(pg_get_userbyid(c.relowner)),
	'ask', format('exists (select from only %%s where row(%%I)::record operator(pg_catalog.*<>) row((%%s)::%%s)::record)', c.oid::regclass, a.attname, pg_get_expr(d.adbin, d.adrelid), format_type(a.atttypid, a.atttypmod)))
from pg_attrdef d join pg_attribute a on a.attrelid = d.adrelid and a.attnum = d.adnum join pg_class c on c.oid = d.adrelid where d.oid in (%[1]s) and c.relkind = 'r'

-- name: as owner
-- Asks as an owner. What his functions put off to the end of the transaction never happens.
\set VERBOSITY verbose
begin;
set local check_function_bodies = off;
create schema svc_check;
grant usage, create on schema svc_check to %[2]s;
create function svc_check.broken() returns setof text language sql security definer set search_path = pg_catalog as %[1]s;
alter function svc_check.broken() owner to %[2]s;
select to_json(b) from svc_check.broken() b;
rollback;

-- name: relations
-- All that hold rows of their own. To plan a query of a relation, the server may run what
-- expressions and conditions of its indexes and statistics call, as whoever asks. Tables are
-- therefore read by COPY, which plans nothing; materialized views can't be, and those that have
-- such a thing are left out.
select json_build_object('name', format('%%I.%%I', n.nspname, c.relname), 'kind', c.relkind, 'bytes', pg_relation_size(c.oid))
from pg_class c join pg_namespace n on n.oid = c.relnamespace
where n.nspname not in ('pg_catalog', 'information_schema') and n.nspname not like 'pg\_toast%%' and n.nspname not like 'pg\_temp%%'
and (c.relkind in ('r', 'S') or c.relkind = 'm' and c.relispopulated
	and not exists (select from pg_index i where i.indrelid = c.oid and (i.indexprs is not null or i.indpred is not null)) %s)

-- name: plain statistics
-- Leaves out materialized views with statistics on expressions, which there are since 14.
and not exists (select from pg_statistic_ext x where x.stxrelid = c.oid and x.stxexprs is not null)

-- name: large
-- Has the bytes of large objects, a quarter of a megabyte at a time.
select m.oid::text, pg_get_userbyid(m.lomowner) as owner, i, lo_get(m.oid, i * 262144, 262144) from pg_largeobject_metadata m,
	generate_series(0, (select coalesce(max(l.pageno), 0) from pg_largeobject l where l.loid = m.oid)::bigint * 2048 / 262144) i

-- name: objects
-- The names of what a database has, but what extensions and types bring, and whether triggers are
-- in use. Indexes that are not valid, such as an interrupted CREATE INDEX CONCURRENTLY leaves, are
-- left out: pg_upgrade leaves them behind.
with own as (select classid, objid from pg_depend where deptype in ('e', 'i') union all select 'pg_class'::regclass, indexrelid from pg_index where not indisvalid), here as (select oid, nspname from pg_namespace where nspname not in ('pg_catalog', 'information_schema') and nspname not like 'pg\_toast%' and nspname not like 'pg\_temp%')
select json_build_array('relation', c.relkind::text || ' ' || format('%I.%I', n.nspname, c.relname), pg_get_userbyid(c.relowner)) from pg_class c join here n on n.oid = c.relnamespace where ('pg_class'::regclass, c.oid) not in (select classid, objid from own)
union all select json_build_array('index', i.indexrelid::regclass, (i.indisunique, i.indisprimary)::text) from pg_index i join pg_class c on c.oid = i.indexrelid join here n on n.oid = c.relnamespace where i.indisvalid
union all select json_build_array('function', f.oid::regprocedure, pg_get_userbyid(f.proowner)) from pg_proc f join here n on n.oid = f.pronamespace where ('pg_proc'::regclass, f.oid) not in (select classid, objid from own)
union all select json_build_array('type', format_type(t.oid, null), t.typtype) from pg_type t join here n on n.oid = t.typnamespace where t.typtype in ('d', 'e', 'r') and ('pg_type'::regclass, t.oid) not in (select classid, objid from own)
union all select json_build_array('trigger', t.tgrelid::regclass || ' ' || quote_ident(t.tgname), t.tgenabled) from pg_trigger t where not t.tgisinternal
union all select json_build_array('event trigger', quote_ident(evtname), evtenabled) from pg_event_trigger
union all select json_build_array('constraint', k.conrelid::regclass || ' ' || quote_ident(k.conname), k.contype::text || k.convalidated) from pg_constraint k where k.conrelid <> 0 and k.contype <> 'n' and k.connamespace in (select oid from here)
union all select json_build_array('policy', q.polrelid::regclass || ' ' || quote_ident(q.polname), q.polcmd) from pg_policy q
union all select json_build_array('schema', quote_ident(nspname), '') from here
union all select json_build_array('extension', quote_ident(extname), '') from pg_extension

-- name: cluster
-- What is of no database.
select json_build_array('role', quote_ident(rolname), (rolsuper, rolinherit, rolcreaterole, rolcreatedb, rolcanlogin, rolreplication, rolbypassrls, rolconnlimit, rolvaliduntil, hashtext(rolpassword))::text) from pg_authid where rolname !~ '^pg_'
union all select json_build_array('member', m.member::regrole || ' of ' || m.roleid::regrole, bool_or(m.admin_option)) from pg_auth_members m where m.member::regrole::text !~ '^pg_' group by m.member, m.roleid
union all select json_build_array('database', quote_ident(datname), (pg_get_userbyid(datdba), pg_encoding_to_char(encoding), datcollate, datctype, datistemplate, datallowconn, datconnlimit)::text) from pg_database
union all select json_build_array('setting', coalesce(d.datname, '') || ' ' || s.setrole::regrole || ' ' || c, '') from pg_db_role_setting s left join pg_database d on d.oid = s.setdatabase, unnest(s.setconfig) c

-- name: unlogged
-- The tables, and what else has rows, that PostgreSQL empties when it recovers.
select to_json(format('%I.%I', n.nspname, c.relname)) from pg_class c join pg_namespace n on n.oid = c.relnamespace where c.relpersistence = 'u' and c.relkind in ('r', 'm', 'S')
