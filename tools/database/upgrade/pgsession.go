package upgrade

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// session is a way to ask a server.
type session struct {
	*pgRun
	c      cluster
	socket string
	port   int
	role   string
}

// neutral are the settings under which two servers print a value alike, and find
// no function but their own.
const neutral = "-c search_path=pg_catalog -c DateStyle=ISO -c IntervalStyle=postgres -c TimeZone=UTC -c bytea_output=hex -c statement_timeout=0 -c lock_timeout=0 -c row_security=off -c lc_monetary=C -c xmlbinary=base64 -c quote_all_identifiers=off -c standard_conforming_strings=on"

// client is a program of the session's version that connects to a database.
func (s session) client(database, program string, args ...string) command {
	c := s.as(append([]string{s.c.client(program), "-h", s.socket, "-p", strconv.Itoa(s.port), "-U", s.role, "-d", dsn(database)}, args...)...)
	c.env = []string{"PGOPTIONS=" + neutral + " -c extra_float_digits=" + s.floats(), "PGCLIENTENCODING=UTF8", "PGCONNECT_TIMEOUT=30"}
	return c
}

// floats is how exactly numbers are printed: before version 12 the shortest exact
// form was not known, so both sides then print what each number surely has.
func (s session) floats() string {
	if s.p.Old.major() < 12 {
		return "0"
	}
	return "1"
}

// dsn names a database to libpq, which else reads a name with = as settings.
func dsn(database string) string {
	return "dbname='" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(database) + "'"
}

// ready asks whether the server takes clients.
func (s session) ready(ctx context.Context) error {
	c := s.client("template1", "pg_isready", "-q")
	c.quiet = true
	return s.do(ctx, c)
}

// rows runs a script whose every row is a JSON value.
func (s session) rows(ctx context.Context, database, script string) (rows []jsontext.Value, err error) {
	c := s.client(database, "psql", "-X", "-A", "-t", "-q", "-w", "-v", "ON_ERROR_STOP=1", "-f", "-")
	c.stdin = script
	out, err := s.run(ctx, c)
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(out) {
		rows = append(rows, jsontext.Value(strings.TrimSpace(line)))
	}
	return rows, nil
}

// query gives the rows of a script as values of a type.
func query[T any](ctx context.Context, s session, database, script string) ([]T, error) {
	rows, err := s.rows(ctx, database, script)
	if err != nil {
		return nil, err
	}
	all := []T{}
	for _, row := range rows {
		var v T
		if err := json.Unmarshal(row, &v); err != nil {
			return nil, fmt.Errorf("reading what PostgreSQL answered: %w", err)
		}
		all = append(all, v)
	}
	return all, nil
}

// relation is a table, or what is read like one.
type relation struct {
	Name    string   `json:"name"` // quoted, with its schema
	Columns []string `json:"columns"`
}

// Every row of these scripts is one JSON value.
const (
	// pgRelations are all that hold rows of their own.
	pgRelations = `select json_build_object('name', format('%I.%I', n.nspname, c.relname), 'columns',
	(select coalesce(json_agg(quote_ident(a.attname) order by a.attname::text collate "C"), '[]') from pg_attribute a where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and (c.relkind <> 'S' or a.attname <> 'log_cnt')))
from pg_class c join pg_namespace n on n.oid = c.relnamespace
where c.relkind in ('r', 'm', 'S') and n.nspname not in ('pg_catalog', 'information_schema') and n.nspname not like 'pg\_toast%' and n.nspname not like 'pg\_temp%' and (c.relkind <> 'm' or c.relispopulated)`

	// pgLarge has the bytes of large objects, a quarter of a megabyte at a time.
	pgLarge = `(select m.oid::text, pg_get_userbyid(m.lomowner) as owner, i, lo_get(m.oid, i * 262144, 262144) from pg_largeobject_metadata m,
	generate_series(0, (select coalesce(max(l.pageno), 0) from pg_largeobject l where l.loid = m.oid)::bigint * 2048 / 262144) i)`

	// pgObjects are the names of what a database has, but what extensions and types
	// bring,
	// and whether indexes and triggers are in use.
	pgObjects = `with own as (select classid, objid from pg_depend where deptype in ('e', 'i')), here as (select oid, nspname from pg_namespace where nspname not in ('pg_catalog', 'information_schema') and nspname not like 'pg\_toast%' and nspname not like 'pg\_temp%')
select json_build_array('relation', c.relkind::text || ' ' || format('%I.%I', n.nspname, c.relname), pg_get_userbyid(c.relowner)) from pg_class c join here n on n.oid = c.relnamespace where ('pg_class'::regclass, c.oid) not in (select classid, objid from own)
union all select json_build_array('index', i.indexrelid::regclass, (i.indisvalid, i.indisunique, i.indisprimary)::text) from pg_index i join pg_class c on c.oid = i.indexrelid join here n on n.oid = c.relnamespace
union all select json_build_array('function', f.oid::regprocedure, pg_get_userbyid(f.proowner)) from pg_proc f join here n on n.oid = f.pronamespace where ('pg_proc'::regclass, f.oid) not in (select classid, objid from own)
union all select json_build_array('type', format_type(t.oid, null), t.typtype) from pg_type t join here n on n.oid = t.typnamespace where t.typtype in ('d', 'e', 'r') and ('pg_type'::regclass, t.oid) not in (select classid, objid from own)
union all select json_build_array('trigger', t.tgrelid::regclass || ' ' || quote_ident(t.tgname), t.tgenabled) from pg_trigger t where not t.tgisinternal
union all select json_build_array('constraint', k.conrelid::regclass || ' ' || quote_ident(k.conname), k.contype::text || k.convalidated) from pg_constraint k where k.conrelid <> 0 and k.contype <> 'n' and k.connamespace in (select oid from here)
union all select json_build_array('policy', q.polrelid::regclass || ' ' || quote_ident(q.polname), q.polcmd) from pg_policy q
union all select json_build_array('schema', quote_ident(nspname), '') from here
union all select json_build_array('extension', quote_ident(extname), '') from pg_extension`

	// pgCluster is what is of no database.
	pgCluster = `select json_build_array('role', quote_ident(rolname), (rolsuper, rolinherit, rolcreaterole, rolcreatedb, rolcanlogin, rolreplication, rolbypassrls, rolconnlimit, rolvaliduntil, hashtext(rolpassword))::text) from pg_authid where rolname !~ '^pg_'
union all select json_build_array('member', m.member::regrole || ' of ' || m.roleid::regrole, bool_or(m.admin_option)) from pg_auth_members m where m.member::regrole::text !~ '^pg_' group by m.member, m.roleid
union all select json_build_array('database', quote_ident(datname), (pg_get_userbyid(datdba), pg_encoding_to_char(encoding), datcollate, datctype, datistemplate, datallowconn, datconnlimit)::text) from pg_database
union all select json_build_array('setting', coalesce(d.datname, '') || ' ' || s.setrole::regrole || ' ' || c, '') from pg_db_role_setting s left join pg_database d on d.oid = s.setdatabase, unnest(s.setconfig) c`
)

// sum is a statement that gives the count and the checksum of the rows of a
// relation: the sum of two halves of each row's digest, whatever their order.
func (s session) sum(kind, name, from string, columns []string) string {
	digest := "sha256(convert_to(row(%s)::text, 'SQL_ASCII'))"
	if s.p.Old.major() < 11 {
		digest = "decode(md5(row(%s)::text), 'hex')"
	}
	digest = fmt.Sprintf(digest, strings.Join(columns, ", "))
	half := "sum(('x' || substr(h, %d, 16))::bit(64)::bigint::numeric)"
	return fmt.Sprintf("select json_build_array(%s, %s, json_build_array(count(*), %s, %s)::text) from (select encode(%s, 'hex') h from %s t) s;\n",
		literal(kind), literal(name), fmt.Sprintf(half, 1), fmt.Sprintf(half, 17), digest, from)
}

// literal quotes a text as SQL wants it.
func literal(text string) string {
	return " E'" + strings.NewReplacer(`\`, `\\`, `'`, `''`).Replace(text) + "'"
}

// fingerprint is what a cluster has: names, owners, checksums of every table, by
// database, kind and name.
func (s session) fingerprint(ctx context.Context) (map[string]string, error) {
	all := map[string]string{}
	if err := s.collect(ctx, all, "", "template1", pgCluster); err != nil {
		return nil, err
	}
	for _, d := range s.p.Databases {
		relations, err := query[relation](ctx, s, d.Name, pgRelations)
		if err != nil {
			return nil, fmt.Errorf("listing the tables of %s: %w", d.Name, err)
		}
		var script strings.Builder
		script.WriteString(pgObjects + ";\n")
		for _, r := range relations {
			script.WriteString(s.sum("rows", r.Name, "only "+r.Name, prefixed(r.Columns)))
		}
		script.WriteString(s.sum("rows", "large objects", pgLarge, []string{"t.*"}))
		if err := s.collect(ctx, all, d.Name, d.Name, script.String()); err != nil {
			return nil, fmt.Errorf("taking the checksums of %s: %w", d.Name, err)
		}
	}
	return all, nil
}

// prefixed are columns of the relation t: one may be called like a function.
func prefixed(columns []string) []string {
	all := []string{}
	for _, c := range columns {
		all = append(all, "t."+c)
	}
	return all
}

// collect adds what a script's rows tell: kind, name and value.
func (s session) collect(ctx context.Context, all map[string]string, prefix, database, script string) error {
	rows, err := query[[3]jsontext.Value](ctx, s, database, script)
	for _, r := range rows {
		all[fmt.Sprintf("%s: %s %s", prefix, r[0], r[1])] = string(r[2])
	}
	return err
}

// differences is an error that names what is not as it was.
func differences(what string, before, after map[string]string) error {
	var names []string
	for name, value := range before {
		if after[name] != value {
			names = append(names, fmt.Sprintf("%s (%s, was %s)", name, after[name], value))
		}
	}
	for name := range after {
		if _, known := before[name]; !known {
			names = append(names, name+" (new)")
		}
	}
	if names == nil {
		return nil
	}
	slices.Sort(names)
	return fmt.Errorf("%s differs from the old one in %d things, such as %s", what, len(names), strings.Join(names[:min(5, len(names))], "; "))
}
