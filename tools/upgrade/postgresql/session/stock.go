package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"runtime"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"svc/tools/upgrade/engine"
	"svc/tools/upgrade/inplace"
)

// relation is what holds rows of its own.
type relation struct {
	Name  string `json:"name"` // quoted, with its schema
	Kind  string `json:"kind"` // of pg_class: r, m or S; L stands for the large objects
	Bytes int64  `json:"bytes"`
}

// Every row of these scripts is one JSON value. They name no function and no
// operator that a database could have brought: see neutral.
const (
	// pgRelations are all that hold rows of their own. To plan a query of a relation,
	// the server may run what expressions and conditions of its indexes and statistics
	// call, as whoever asks. Tables are therefore read by COPY, which plans nothing;
	// materialized views can't be, and those that have such a thing are left out.
	pgRelations = `select json_build_object('name', format('%%I.%%I', n.nspname, c.relname), 'kind', c.relkind, 'bytes', pg_relation_size(c.oid))
from pg_class c join pg_namespace n on n.oid = c.relnamespace
where n.nspname not in ('pg_catalog', 'information_schema') and n.nspname not like 'pg\_toast%%' and n.nspname not like 'pg\_temp%%'
and (c.relkind in ('r', 'S') or c.relkind = 'm' and c.relispopulated
	and not exists (select from pg_index i where i.indrelid = c.oid and (i.indexprs is not null or i.indpred is not null)) %s)`

	// pgPlainStatistics leaves out materialized views with statistics on expressions,
	// which there are since 14.
	pgPlainStatistics = `and not exists (select from pg_statistic_ext x where x.stxrelid = c.oid and x.stxexprs is not null)`

	// pgLarge has the bytes of large objects, a quarter of a megabyte at a time.
	pgLarge = `select m.oid::text, pg_get_userbyid(m.lomowner) as owner, i, lo_get(m.oid, i * 262144, 262144) from pg_largeobject_metadata m,
	generate_series(0, (select coalesce(max(l.pageno), 0) from pg_largeobject l where l.loid = m.oid)::bigint * 2048 / 262144) i`

	// pgObjects are the names of what a database has, but what extensions and types
	// bring, and whether triggers are in use. Indexes that are not valid, such as
	// an interrupted CREATE INDEX CONCURRENTLY leaves, are left out: pg_upgrade
	// leaves them behind.
	pgObjects = `with own as (select classid, objid from pg_depend where deptype in ('e', 'i') union all select 'pg_class'::regclass, indexrelid from pg_index where not indisvalid), here as (select oid, nspname from pg_namespace where nspname not in ('pg_catalog', 'information_schema') and nspname not like 'pg\_toast%' and nspname not like 'pg\_temp%')
select json_build_array('relation', c.relkind::text || ' ' || format('%I.%I', n.nspname, c.relname), pg_get_userbyid(c.relowner)) from pg_class c join here n on n.oid = c.relnamespace where ('pg_class'::regclass, c.oid) not in (select classid, objid from own)
union all select json_build_array('index', i.indexrelid::regclass, (i.indisunique, i.indisprimary)::text) from pg_index i join pg_class c on c.oid = i.indexrelid join here n on n.oid = c.relnamespace where i.indisvalid
union all select json_build_array('function', f.oid::regprocedure, pg_get_userbyid(f.proowner)) from pg_proc f join here n on n.oid = f.pronamespace where ('pg_proc'::regclass, f.oid) not in (select classid, objid from own)
union all select json_build_array('type', format_type(t.oid, null), t.typtype) from pg_type t join here n on n.oid = t.typnamespace where t.typtype in ('d', 'e', 'r') and ('pg_type'::regclass, t.oid) not in (select classid, objid from own)
union all select json_build_array('trigger', t.tgrelid::regclass || ' ' || quote_ident(t.tgname), t.tgenabled) from pg_trigger t where not t.tgisinternal
union all select json_build_array('event trigger', quote_ident(evtname), evtenabled) from pg_event_trigger
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

// Fingerprint is what a cluster has: names, owners, digests of every table, by
// database, kind and name.
func (s Session) Fingerprint(ctx context.Context, databases []Database) (inplace.Stock, error) {
	all := inplace.Stock{}
	if err := s.collect(ctx, all, "", "template1", pgCluster); err != nil {
		return nil, err
	}
	relations := map[string][]relation{}
	for _, d := range databases {
		has, err := s.relations(ctx, d.Name)
		if err != nil {
			return nil, fmt.Errorf("listing the tables of %s: %w", d.Name, err)
		}
		relations[d.Name] = has
	}
	s.expect(relations)
	for _, d := range databases {
		if err := s.collect(ctx, all, d.Name, d.Name, pgObjects); err != nil {
			return nil, fmt.Errorf("listing what %s has: %w", d.Name, err)
		}
		sums, err := s.sums(ctx, d.Name, relations[d.Name])
		if err != nil {
			return nil, fmt.Errorf("reading the tables of %s: %w", d.Name, err)
		}
		maps.Copy(all, sums)
	}
	return all, nil
}

// pgUnlogged are the tables, and what else has rows, that PostgreSQL empties when it recovers.
const pgUnlogged = `select to_json(format('%I.%I', n.nspname, c.relname)) from pg_class c join pg_namespace n on n.oid = c.relnamespace where c.relpersistence = 'u' and c.relkind in ('r', 'm', 'S')`

// Unlogged are the names of what a database keeps in no log, quoted, with their schemas.
func (s Session) Unlogged(ctx context.Context, database string) ([]string, error) {
	return Query[string](ctx, s, database, pgUnlogged)
}

// relations lists what of a database is read.
func (s Session) relations(ctx context.Context, database string) ([]relation, error) {
	plain := ""
	if s.Cluster.Major() >= 14 {
		plain = pgPlainStatistics
	}
	all, err := Query[relation](ctx, s, database, fmt.Sprintf(pgRelations, plain))
	return append(all, relation{Name: "large objects", Kind: "L"}), err
}

// expect tells those who wait how much is to be read.
func (s Session) expect(relations map[string][]relation) {
	var tables, bytes int64
	for _, of := range relations {
		tables += int64(len(of))
		for _, r := range of {
			bytes += r.Bytes
		}
	}
	s.Reach.Begin(tables, bytes)
}

// read is a statement that writes a relation's rows.
func (r relation) read() string {
	switch r.Kind {
	case "r":
		return "copy " + r.Name + " to stdout"
	case "S":
		return "copy (select last_value, is_called from " + r.Name + ") to stdout"
	case "L":
		return "copy (" + strings.ReplaceAll(pgLarge, "\n", " ") + ") to stdout"
	}
	return "copy (select * from " + r.Name + ") to stdout"
}

// MaxReaders bounds how many relations are read at a time.
const MaxReaders = 4

// sums reads relations, some at a time.
func (s Session) sums(ctx context.Context, database string, relations []relation) (inplace.Stock, error) {
	readers := shared(relations, func(r relation) int64 { return r.Bytes })
	parts := make([]inplace.Stock, len(readers))
	var tasks []func(context.Context) error
	for i, its := range readers {
		tasks = append(tasks, func(ctx context.Context) (err error) {
			parts[i], err = s.read(ctx, database, its)
			return err
		})
	}
	err := engine.AtOnce(ctx, tasks...)
	has := inplace.Stock{}
	for _, part := range parts {
		maps.Copy(has, part)
	}
	return has, err
}

// shared are things in parts of about the same size, one for each processor: the largest
// first, each to the part that has the least.
func shared[T any](all []T, bytes func(T) int64) [][]T {
	all = slices.SortedStableFunc(slices.Values(all), func(a, b T) int { return cmp.Compare(bytes(b), bytes(a)) })
	parts := make([][]T, min(MaxReaders, runtime.NumCPU(), len(all)))
	taken := make([]int64, len(parts))
	for _, x := range all {
		i := slices.Index(taken, slices.Min(taken))
		parts[i], taken[i] = append(parts[i], x), taken[i]+bytes(x)+pageBytes
	}
	return parts
}

// pageBytes is what even an empty table costs.
const pageBytes = 8 << 10

// read reads relations one after the other.
func (s Session) read(ctx context.Context, database string, relations []relation) (inplace.Stock, error) {
	var script strings.Builder
	for i, r := range relations {
		fmt.Fprintf(&script, "\\echo '\\%s%d'\n%s;\n", heading, i, r.read())
	}
	from, to := io.Pipe()
	c := s.Client(database, "psql", "-X", "-A", "-t", "-q", "-w", "-v", "ON_ERROR_STOP=1", "-f", "-")
	c.Stdin, c.Rows = script.String(), to
	ended := make(chan error, 1)
	go func() {
		_, err := s.Run(ctx, c)
		ended <- errors.Join(err, to.Close())
	}()
	sums, err := readSums(from, len(relations), &s.Reach)
	from.CloseWithError(err) // the program then ends by itself
	if failed := <-ended; failed != nil {
		err = failed
	}
	has := inplace.Stock{}
	for i := range sums {
		has[fmt.Sprintf("%s: rows of %s", database, relations[i].Name)] = sums[i].String()
	}
	return has, err
}

// collect adds what a script's rows tell: kind, name and value.
func (s Session) collect(ctx context.Context, all inplace.Stock, prefix, database, script string) error {
	rows, err := Query[[3]jsontext.Value](ctx, s, database, script)
	for _, r := range rows {
		all[fmt.Sprintf("%s: %s %s", prefix, r[0], r[1])] = string(r[2])
	}
	return err
}
